//! Warnings about published files that do not refuse the publish. A warning must never contain a secret.

use crate::SitePath;

/// A possible problem in a published file, for its author to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub code: WarningCode,
    pub path: SitePath,
    /// The line in the file, counted from 1; `None` if the warning is about the whole file, or the file is
    /// not text.
    pub line: Option<u32>,
    /// The reference that the warning is about, as the file has it but without query and fragment, which may
    /// contain secrets.
    pub target: Option<String>,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningCode {
    /// No front page.
    NoIndex,
    /// A reference to a file that the site does not have.
    MissingFile,
    /// The same, but the site has the file in other upper and lower case.
    CaseMismatch,
    /// A reference that leaves the site, because the site is served below a path.
    AbsolutePath,
    /// A resource that the content security policy blocks.
    BlockedByPolicy,
    /// An unencrypted resource on an encrypted page.
    MixedContent,
    /// A configuration file of another service.
    UnusedConfig,
    /// A key of another provider that looks real.
    Secret,
    LargeImage,
    /// A line of `_redirects` or `_headers` without the intended effect.
    BadConfig,
}

impl Warning {
    /// The maximum number of warnings for one publish.
    pub const COUNT_MAX: usize = 50;
}

impl WarningCode {
    pub fn as_str(self) -> &'static str {
        match self {
            WarningCode::NoIndex => "no_index",
            WarningCode::MissingFile => "missing_file",
            WarningCode::CaseMismatch => "case_mismatch",
            WarningCode::AbsolutePath => "absolute_path",
            WarningCode::BlockedByPolicy => "blocked_by_policy",
            WarningCode::MixedContent => "mixed_content",
            WarningCode::UnusedConfig => "unused_config",
            WarningCode::Secret => "secret",
            WarningCode::LargeImage => "large_image",
            WarningCode::BadConfig => "bad_config",
        }
    }
}
