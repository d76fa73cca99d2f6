//! What a publish reports about its files without refusing them. A warning must never repeat a secret.

use crate::SitePath;

/// A possible problem in a published file, for its author to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub code: WarningCode,
    pub path: SitePath,
    /// The line in the file, counted from 1; none in a file that is not text.
    pub line: Option<u32>,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningCode {
    /// A key of another provider that looks live.
    Secret,
}

impl Warning {
    /// How many warnings one publish returns at most.
    pub const COUNT_MAX: usize = 50;
}

impl WarningCode {
    pub fn as_str(self) -> &'static str {
        match self {
            WarningCode::Secret => "secret",
        }
    }
}
