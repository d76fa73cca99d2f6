//! Checks the files of a site for what will not work once they are published: missing files, references that
//! leave the site, resources that the content security policy blocks.
//!
//! Only references that stand in HTML, style sheets and imports of scripts are checked, and only those whose
//! target is certain. Nothing is fetched. The number of warnings and the work are bounded.

mod css;
mod html;
mod js;
mod judge;
mod reference;
mod report;
mod site;
#[cfg(test)]
mod tests;
mod title;

use domain::{ContentPolicy, PageTitle, SitePath, Warning};
use encoding_rs::UTF_8;
use url::Url;

use judge::Judge;
use report::Report;
use site::Site;

/// Where the site will be served, and what its pages may load.
#[derive(Clone, Debug)]
pub struct Terms {
    root: Url,
    policy: ContentPolicy,
}

impl Terms {
    /// `root` is the address of the site. `None` if it is not an address that can have a path.
    pub fn new(root: &str, policy: ContentPolicy) -> Option<Self> {
        let mut root = Url::parse(root).ok().filter(Url::has_host)?;
        if !root.path().ends_with('/') {
            root.set_path(&format!("{}/", root.path()));
        }
        root.set_query(None);
        root.set_fragment(None);
        Some(Self { root, policy })
    }
}

/// The warnings about a site, at most [`Warning::COUNT_MAX`]: first those about the whole site, then those of
/// each file, ordered by path and line.
pub fn check<'f>(files: impl IntoIterator<Item = (&'f SitePath, &'f [u8])>, terms: &Terms) -> Vec<Warning> {
    let site = Site::new(files);
    let mut report = Report::default();
    site.check_index(&mut report);
    site.check_configs(&mut report);
    let judge = Judge { site: &site, terms };
    for (file, bytes) in site.files() {
        if report.is_full() {
            break;
        }
        site::check_image(file, &mut report);
        judge.check_file(file, bytes, &mut report);
    }
    report.warnings
}

/// The file that a visitor should open first if the site has no front page: its only page, or else its first,
/// or else its only file. `None` if the site has a front page, or nothing to begin with.
pub fn entry_page<'f>(paths: impl IntoIterator<Item = &'f SitePath>) -> Option<SitePath> {
    let site = Site::new(paths.into_iter().map(|path| (path, &[][..])));
    site.entry_page()
}

/// The title of the page that the site shows at its address. `None` if it shows none there, or one without a
/// title.
pub fn title<'f>(files: impl IntoIterator<Item = (&'f SitePath, &'f [u8])>) -> Option<PageTitle> {
    let site = Site::new(files);
    let front = site.front_page()?;
    // A byte order mark takes precedence, as in browsers.
    let (text, ..) = UTF_8.decode(front);
    title::title(&text)
}
