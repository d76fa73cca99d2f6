//! The result of a rehearsal, for REST and MCP.

use domain::SitePath;
use poem_openapi::{Object, Union};
use service::Rehearsal;

use super::Usd;
use super::publish::{PublishResult, Warning};

/// What a publish would do now. Nothing is stored or charged.
#[derive(Debug, Object)]
pub struct RehearsalResult {
    /// What the publish would cost. 0 within the free allowance.
    pub price_usd: Usd,
    /// Possible problems in the files, at most 50, as in the response to the publish.
    pub warnings: Vec<Warning>,
    /// The paths of the files that the live version does not have, sorted.
    pub added: Vec<String>,
    /// The paths of the files whose content differs from the live version, sorted.
    pub changed: Vec<String>,
    /// The paths of the files of the live version that the publish leaves out, sorted.
    pub removed: Vec<String>,
    /// How many files are the same as in the live version.
    pub unchanged: u64,
}

/// The result of a tool that publishes or rehearses.
#[derive(Union)]
#[allow(clippy::large_enum_variant, reason = "a call has one of them, for a moment")]
pub enum PublishOrRehearsal {
    Published(PublishResult),
    Rehearsed(RehearsalResult),
}

impl From<&Rehearsal> for RehearsalResult {
    fn from(rehearsal: &Rehearsal) -> Self {
        let Rehearsal { price, warnings, changes } = rehearsal;
        let paths = |paths: &[SitePath]| paths.iter().map(SitePath::to_string).collect();
        Self {
            price_usd: (*price).into(),
            warnings: warnings.iter().map(Warning::from).collect(),
            added: paths(&changes.added),
            changed: paths(&changes.changed),
            removed: paths(&changes.removed),
            unchanged: changes.unchanged as u64,
        }
    }
}
