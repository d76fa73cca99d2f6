//! Checks that concern the site as a whole, or a file without its contents.

use std::collections::BTreeMap;

use domain::site_rules::{FileAtPath, RedirectMatch, RequestPath, RuleFault, SiteRules};
use domain::{BlobHash, Manifest, ManifestFile, SitePath, Warning, WarningCode, content_type_of};

use crate::report::Report;

/// Configuration files of other services, at the root of a site.
const CONFIGS: [&str; 9] = [
    "CNAME",
    "_config.yml",
    "_routes.json",
    "firebase.json",
    "netlify.toml",
    "staticwebapp.config.json",
    "vercel.json",
    "web.config",
    "wrangler.toml",
];
/// The same, in any folder.
const HTACCESS: &str = ".htaccess";
/// Larger images delay a page.
const IMAGE_BYTES_MAX: u64 = MIB;
const MIB: u64 = 1_048_576;

pub struct Site<'f> {
    /// Used only to resolve paths.
    pub manifest: Manifest,
    /// The site's redirects, rewrites and headers.
    pub rules: SiteRules,
    rule_faults: Vec<RuleFault>,
    contents: BTreeMap<&'f SitePath, &'f [u8]>,
}

impl<'f> Site<'f> {
    pub fn new(files: impl IntoIterator<Item = (&'f SitePath, &'f [u8])>) -> Self {
        let contents: BTreeMap<_, _> = files.into_iter().collect();
        // Paths are resolved without contents.
        let hash = BlobHash::of(b"");
        let file = |(path, bytes): (&&SitePath, &&[u8])| ManifestFile {
            path: (*path).clone(),
            hash,
            size_bytes: bytes.len() as u64,
            content_type: content_type_of(path),
            variants: vec![],
            bundled: None,
        };
        let manifest = Manifest::new(contents.iter().map(file).collect());
        let bytes_of = |name: &str| {
            let file = manifest.find(name).and_then(|file| contents.get(&file.path));
            file.copied().unwrap_or_default()
        };
        let (redirects, headers) = (bytes_of(Manifest::REDIRECTS), bytes_of(Manifest::HEADERS));
        let (rules, mut rule_faults) = SiteRules::parse(redirects, headers);
        rule_faults.extend(rules.faults_in(&manifest));
        Self { manifest, rules, rule_faults, contents }
    }

    /// The files and their contents, ordered by path.
    pub fn files(&self) -> impl Iterator<Item = (&ManifestFile, &'f [u8])> {
        let content_of = |file: &ManifestFile| self.contents.get(&file.path).copied().unwrap_or_default();
        self.manifest.files().iter().map(move |file| (file, content_of(file)))
    }

    /// The HTML page at the site's address, without the site's own rules.
    pub fn front_page(&self) -> Option<&'f [u8]> {
        let file = self.manifest.find(Manifest::INDEX).or_else(|| self.manifest.only_page())?;
        let is_page = file.essence() == "text/html";
        self.contents.get(&file.path).copied().filter(|_| is_page)
    }

    pub fn entry_page(&self) -> Option<SitePath> {
        if self.manifest.find(Manifest::INDEX).is_some() {
            return None;
        }
        let first_page = self.manifest.pages().next();
        let only_file = || {
            let mut files = self.manifest.files().iter().filter(|file| !file.holds_rules());
            files.next().filter(|_| files.next().is_none())
        };
        first_page.or_else(only_file).map(|file| file.path.clone())
    }

    pub fn check_index(&self, report: &mut Report) {
        // As at the edge, the only page of a site takes precedence over a rule.
        let is_led_on =
            || self.manifest.at("").is_none() && rule_at(&self.rules, &self.manifest, "/").is_some();
        if self.manifest.find(Manifest::INDEX).is_some() || is_led_on() {
            return;
        }
        let first_page = self.manifest.pages().next();
        let (message, hint, target) = match (self.manifest.only_page(), first_page) {
            (Some(page), _) => {
                let page = &page.path;
                let message = format!("the site has no index.html, so its URL shows its only page, {page}");
                (message, format!("rename {page} to index.html"), Some(page))
            }
            (None, Some(_)) => {
                let message = "the site has no index.html, so its URL shows nothing".to_owned();
                (message, "name the front page index.html, at the root of the site".to_owned(), None)
            }
            (None, None) => {
                let message = "the site has no HTML page, so its URL shows nothing".to_owned();
                (message, "add an index.html, or link to the files by their URLs".to_owned(), None)
            }
        };
        let target = target.map(SitePath::to_string);
        report.add(Warning {
            code: WarningCode::NoIndex,
            path: SitePath::index(),
            line: None,
            target,
            message,
            hint,
        });
    }

    pub fn check_configs(&self, report: &mut Report) {
        for fault in &self.rule_faults {
            let Some(file) = self.manifest.find(fault.file) else { continue };
            report.add(Warning {
                code: WarningCode::BadConfig,
                path: file.path.clone(),
                line: Some(fault.line),
                target: None,
                message: fault.message.clone(),
                hint: fault.hint.clone(),
            });
        }
        for file in self.manifest.files() {
            let path = file.path.as_str();
            let name = path.rsplit('/').next().unwrap_or(path);
            if CONFIGS.contains(&path) || name == HTACCESS {
                report.add(Warning {
                    code: WarningCode::UnusedConfig,
                    path: file.path.clone(),
                    line: None,
                    target: None,
                    message: format!("{name} configures other services and has no effect here"),
                    hint: "leave it out; it is published as a plain file".to_owned(),
                });
            }
        }
    }
}

/// What the site's rules show for a path without a file.
pub enum ShownByRule<'m> {
    Redirect,
    File(&'m ManifestFile),
}

/// `path` starts with a slash and has percent encoding. `None` if visitors would find nothing there.
pub fn rule_at<'m>(rules: &SiteRules, manifest: &'m Manifest, path: &str) -> Option<ShownByRule<'m>> {
    match rules.redirects.find(&RequestPath::new(path), FileAtPath::Absent, None)? {
        RedirectMatch::Redirect { .. } => Some(ShownByRule::Redirect),
        RedirectMatch::Rewrite { path } => manifest.shown_at(&path).map(ShownByRule::File),
        RedirectMatch::NotFound { .. } => None,
    }
}

pub fn check_image(file: &ManifestFile, report: &mut Report) {
    if file.essence().starts_with("image/") && file.size_bytes > IMAGE_BYTES_MAX {
        let tenths = file.size_bytes.saturating_mul(10).div_ceil(MIB);
        report.add(Warning {
            code: WarningCode::LargeImage,
            path: file.path.clone(),
            line: None,
            target: None,
            message: format!("this image is {}.{} MB in size", tenths / 10, tenths % 10),
            hint: "scale or compress it to less than 1 MB, so that the page loads faster".to_owned(),
        });
    }
}
