//! The rules that a site brings along: redirects and rewrites in `_redirects`, response headers in
//! `_headers`.
//!
//! The format is that of Netlify and Cloudflare Pages. Where these differ, `_redirects` follows the IPFS "Web
//! Redirects File" specification. A line with a fault is ignored and reported, and never fails anything. A
//! rule can neither lead a visitor from a path of the site to a path outside of it, nor loosen what protects
//! visitors.

mod allowed;
mod cache;
mod check;
mod headers;
mod lines;
mod pattern;
mod redirects;
mod request_path;
mod target;
#[cfg(test)]
mod tests;

pub use cache::{CacheTerms, cache_control, is_fingerprinted, may_be_fingerprinted};
pub use headers::{HeaderRules, SiteHeader};
pub use redirects::{FileAtPath, RedirectMatch, Redirects};
pub use request_path::RequestPath;
pub use target::Destination;

use crate::{Manifest, ManifestFile};
use lines::Faults;

/// The rules of a site.
#[derive(Debug, Default)]
pub struct SiteRules {
    pub redirects: Redirects,
    pub headers: HeaderRules,
}

/// A line that has no effect, or not the intended one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// `_redirects` or `_headers`.
    pub file: &'static str,
    pub line: u32,
    pub message: String,
    pub hint: String,
}

impl SiteRules {
    /// The bytes of each file that are read.
    pub const BYTES_MAX: usize = 64 << 10;
    /// The number of rules in each file.
    pub const RULES_MAX: usize = 100;

    /// Parses the contents of the two files, empty if the site does not have the file. Bytes after
    /// `BYTES_MAX` are ignored.
    pub fn parse(redirects: &[u8], headers: &[u8]) -> (Self, Vec<RuleFault>) {
        let mut redirect_faults = Faults::of(Manifest::REDIRECTS);
        let mut header_faults = Faults::of(Manifest::HEADERS);
        let rules = Self {
            redirects: Redirects::parse(redirects, &mut redirect_faults),
            headers: HeaderRules::parse(headers, &mut header_faults),
        };
        (rules, [redirect_faults.list, header_faults.list].concat())
    }

    /// Faults that depend on the site's files: targets that do not exist, and caching times that apply to no
    /// file.
    pub fn faults_in(&self, manifest: &Manifest) -> Vec<RuleFault> {
        check::faults(self, manifest)
    }

    /// An estimate of the memory that the rules take.
    pub fn weight_bytes(&self) -> u64 {
        self.redirects.weight_bytes() + self.headers.weight_bytes()
    }
}

/// The files with the rules of a site, if it has any.
#[derive(Clone, Copy, Debug)]
pub struct RuleFiles<'m> {
    pub redirects: Option<&'m ManifestFile>,
    pub headers: Option<&'m ManifestFile>,
}

impl Manifest {
    /// `None` for most sites: they have neither file.
    pub fn rule_files(&self) -> Option<RuleFiles<'_>> {
        let files = RuleFiles { redirects: self.find(Self::REDIRECTS), headers: self.find(Self::HEADERS) };
        (files.redirects.is_some() || files.headers.is_some()).then_some(files)
    }
}
