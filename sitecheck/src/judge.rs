//! Decides whether the target of a reference will be there.

use domain::{Host, Manifest, ManifestFile, ResourceKind, SitePath, Warning, WarningCode};
use encoding_rs::UTF_8;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::reference::{Reference, Use};
use crate::report::Report;
use crate::site::{ShownByRule, Site, rule_at};
use crate::{Terms, css, html, js};

pub struct Judge<'s> {
    pub site: &'s Site<'s>,
    pub terms: &'s Terms,
}

/// The path below which sites are served on a shared host name.
const SITES_PATH: &str = "/site/";
/// The length of a host's random part.
const HOST_TAIL_LENGTH: usize = 4;

impl Judge<'_> {
    pub fn check_file(&self, file: &ManifestFile, bytes: &[u8], report: &mut Report) {
        let read: fn(&str) -> html::Found = match file.essence() {
            "text/html" => html::references,
            "text/css" => |text| html::Found::of(css::references(text, 1)),
            "text/javascript" | "application/javascript" => |text| html::Found::of(js::references(text, 1)),
            _ => return,
        };
        let Some(address) = self.address_of(&file.path) else { return };
        // A byte order mark takes precedence, as in browsers.
        let (text, ..) = UTF_8.decode(bytes);
        let found = read(&text);
        let base = found.base.and_then(|base| address.join(&base).ok()).unwrap_or(address);
        for reference in found.references {
            if !report.takes_another() {
                return;
            }
            for fault in self.faults_of(&reference, &base, &file.path) {
                let line = Some(reference.line);
                let (path, target) =
                    (file.path.clone(), Some(reference.shown()).filter(|text| !text.is_empty()));
                report.add(Warning {
                    code: fault.code,
                    path,
                    line,
                    target,
                    message: fault.message,
                    hint: fault.hint,
                });
            }
        }
    }

    fn address_of(&self, path: &SitePath) -> Option<Url> {
        let mut address = self.terms.root.clone();
        address.path_segments_mut().ok()?.pop_if_empty().extend(path.as_str().split('/'));
        Some(address)
    }

    fn faults_of(&self, reference: &Reference, base: &Url, path: &SitePath) -> Vec<Fault> {
        let text = reference.text.as_str();
        let is_in_page = text.is_empty() || text.starts_with(['#', '?']);
        // A link within the page leads to another page if the page has a base.
        let leaves_page = reference.use_ == Use::Link && self.address_of(path).as_ref() != Some(base);
        if (is_in_page && !leaves_page) || reference.is_template() {
            return vec![];
        }
        let Ok(target) = base.join(text) else { return vec![] };
        if !matches!(target.scheme(), "http" | "https") {
            return vec![];
        }
        if target.origin() != self.terms.root.origin() {
            return self.foreign_faults(reference, &target);
        }
        match target.path().strip_prefix(self.terms.root.path()) {
            Some(inner) if self.is_led_on(inner, reference.use_) => vec![],
            Some(inner) => self.fault_within(inner, base).into_iter().collect(),
            // The root without its trailing slash redirects to the root.
            None if Some(target.path()) == self.terms.root.path().strip_suffix('/') => vec![],
            // The name of the site itself may not be known yet.
            None if is_site(target.path()) || Url::parse(text).is_ok() => vec![],
            None => vec![self.leaving(text, &target, path)],
        }
    }

    /// Whether a redirect or rewrite of the site leads from a path without a file to something of use. A page
    /// in place of a script, style sheet or image is not.
    fn is_led_on(&self, inner: &str, use_: Use) -> bool {
        let takes_page = matches!(use_, Use::Link | Use::Load(ResourceKind::Frame));
        match rule_at(&self.site.rules, &self.site.manifest, &format!("/{inner}")) {
            Some(ShownByRule::Redirect) => true,
            Some(ShownByRule::File(file)) => takes_page || file.essence() != "text/html",
            None => false,
        }
    }

    /// `inner` is relative to the root of the site, with percent encoding.
    fn fault_within(&self, inner: &str, base: &Url) -> Option<Fault> {
        let decoded = percent_decode_str(inner).decode_utf8();
        let wanted = decoded.as_deref().unwrap_or(inner);
        if self.site.manifest.at(wanted).is_some() {
            return None;
        }
        let shown = if wanted.is_empty() { "index.html" } else { wanted };
        Some(match self.in_other_case(wanted) {
            Some(right) => Fault {
                code: WarningCode::CaseMismatch,
                message: format!("the site has no {shown}, but it has {right}"),
                hint: format!("write {}: upper and lower case are different", self.relative(right, base)),
            },
            None => Fault {
                code: WarningCode::MissingFile,
                message: format!("the site has no {shown}"),
                hint: "add the file, or correct the reference".to_owned(),
            },
        })
    }

    /// A reference to the file from a page with this base.
    fn relative(&self, path: &SitePath, base: &Url) -> String {
        let relative = self.address_of(path).and_then(|address| base.make_relative(&address));
        relative.filter(|relative| !relative.is_empty()).unwrap_or_else(|| path.to_string())
    }

    /// The file that the path would lead to if case did not matter.
    fn in_other_case(&self, wanted: &str) -> Option<&SitePath> {
        let wanted = wanted.to_lowercase();
        let index = Manifest::INDEX;
        let candidates = match wanted.ends_with('/') {
            true => vec![format!("{wanted}{index}")],
            false => vec![wanted.clone(), format!("{wanted}/{index}"), format!("{wanted}.html")],
        };
        let paths = || self.site.manifest.files().iter().map(|file| &file.path);
        candidates.iter().find_map(|name| paths().find(|path| path.as_str().to_lowercase() == *name))
    }

    fn leaving(&self, text: &str, target: &Url, path: &SitePath) -> Fault {
        let root = self.terms.root.path();
        let depth = path.folders().count();
        let up = if depth == 0 { "./".to_owned() } else { "../".repeat(depth) };
        let relative = format!("{up}{}", target.path().trim_start_matches('/'));
        let hint = match text.starts_with('/') {
            true => format!("use a relative path, such as {relative}"),
            false => "remove some ../ from the path".to_owned(),
        };
        Fault {
            code: WarningCode::AbsolutePath,
            message: format!("this leaves the site, which is served below {}", shown_root(root)),
            hint,
        }
    }

    fn foreign_faults(&self, reference: &Reference, target: &Url) -> Vec<Fault> {
        let (Use::Load(kind), Some(host)) = (reference.use_, target.host_str()) else { return vec![] };
        let mut faults = Vec::new();
        let is_allowed = target.port().is_none() && self.terms.policy.allows(kind, host);
        if !is_allowed && !self.is_own(target, host) {
            faults.push(blocked(kind, host));
        }
        if target.scheme() == "http" && self.terms.root.scheme() == "https" {
            faults.push(Fault {
                code: WarningCode::MixedContent,
                message: "browsers do not load http: resources into a page that is served over https"
                    .to_owned(),
                hint: "use https:, or put the file into the site".to_owned(),
            });
        }
        faults
    }

    /// Whether the site itself may be served under the name, with another scheme than that of its root.
    fn is_own(&self, target: &Url, host: &str) -> bool {
        let root = &self.terms.root;
        let is_own_name = |own: &str| host == own || (root.path() == "/" && is_name_of_site(host, own));
        target.port() == root.port() && root.host_str().is_some_and(is_own_name)
    }
}

/// Whether the two names differ only in the random part of the site's host, which may not be known yet.
fn is_name_of_site(name: &str, site: &str) -> bool {
    let parts = |name: &str| {
        let (label, domain) = name.split_once('.')?;
        let (slug, _) = label.rsplit_once('-')?;
        Some((slug.to_owned(), domain.to_owned()))
    };
    parts(name).is_some_and(|name| Some(name) == parts(site))
}

/// Whether the path is below a site's root: `/site/<slug>-<4 characters>`.
fn is_site(path: &str) -> bool {
    let name = path.strip_prefix(SITES_PATH).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let has_tail = name.rsplit_once('-').is_some_and(|(_, tail)| tail.len() == HOST_TAIL_LENGTH);
    has_tail && name.parse::<Host>().is_ok()
}

struct Fault {
    code: WarningCode,
    message: String,
    hint: String,
}

/// The last folder of the root is the site's host, which may not be known yet.
fn shown_root(root: &str) -> String {
    let parent = root.trim_end_matches('/').rsplit_once('/').map_or("", |(parent, _)| parent);
    format!("{parent}/<host>/")
}

fn blocked(kind: ResourceKind, host: &str) -> Fault {
    let what = match kind {
        ResourceKind::Script => "script",
        ResourceKind::Image => "image",
        ResourceKind::Frame => "frame",
        ResourceKind::Font => "font",
        ResourceKind::Style => "style sheet",
        ResourceKind::Other => "file",
    };
    let instead = match kind {
        ResourceKind::Frame => "link to it instead",
        _ => "add the file to your site and link it by a relative path",
    };
    Fault {
        code: WarningCode::BlockedByPolicy,
        message: format!("browsers will block this {what}: pages cannot load {what}s from {host}"),
        hint: instead.to_owned(),
    }
}
