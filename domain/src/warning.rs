//! Warnings about published files that do not refuse the publish. A warning must never contain a secret.

use crate::SitePath;

/// A possible problem in a published file, for its author to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub code: WarningCode,
    pub path: SitePath,
    /// The line in the file, counted from 1; `None` in a file that is not text.
    pub line: Option<u32>,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningCode {
    /// A key of another provider that looks real.
    Secret,
}

impl Warning {
    /// The maximum number of warnings for one publish.
    pub const COUNT_MAX: usize = 50;
}

impl WarningCode {
    pub fn as_str(self) -> &'static str {
        match self {
            WarningCode::Secret => "secret",
        }
    }
}
