//! Compares rules with the files of their site.

use super::cache::CacheTerms;
use super::lines::{Faults, LineFault, shown};
use super::redirects::{Action, FileAtPath, Redirect};
use super::request_path::RequestPath;
use super::{RuleFault, SiteRules};
use crate::{Manifest, ManifestFile};

pub(super) fn faults(rules: &SiteRules, manifest: &Manifest) -> Vec<RuleFault> {
    let mut redirect_faults = Faults::of(Manifest::REDIRECTS);
    for rule in rules.redirects.rules() {
        if let Some(path) = rule.target.fixed_path().filter(|path| !leads(rule, path, rules, manifest)) {
            let message = format!("the site has no {}", shown(path));
            redirect_faults.add(rule.line, LineFault::new(message, "add the file, or correct the target"));
        }
    }
    let mut header_faults = Faults::of(Manifest::HEADERS);
    for (line, pattern) in rules.headers.long_caching() {
        let may_be_long = |file: &ManifestFile| {
            let path = RequestPath::new(&format!("/{}", file.path.in_url()));
            CacheTerms::of_file(file, false).is_fingerprinted && pattern.captures(&path).is_some()
        };
        if !manifest.files().iter().any(may_be_long) {
            header_faults.add(
                line,
                LineFault::new(
                    "Cache-Control is limited to 60 seconds, because no file that matches has a name that \
                 changes with its content",
                    "put a hash into the names of files that never change, such as app.3f2a9c1b.js",
                ),
            );
        }
    }
    [redirect_faults.list, header_faults.list].concat()
}

/// Whether a visitor who follows the rule finds something.
fn leads(rule: &Redirect, path: &str, rules: &SiteRules, manifest: &Manifest) -> bool {
    let is_redirect = matches!(rule.action, Action::Redirect(_));
    let path = RequestPath::new(path);
    manifest.at_encoded(path.as_str()).is_some()
        || is_redirect && rules.redirects.find(&path, FileAtPath::Absent, None).is_some()
}
