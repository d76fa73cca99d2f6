//! The findings of a scan, as they are stored with its verdict.

use serde::Deserialize;
use store::VersionCase;

/// One finding of a scan. Fields that an older scanner did not write are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Finding {
    pub rule: String,
    pub file: String,
    /// The field that asks for the data, such as `textarea[name=phrase]`.
    pub field: String,
    pub words: Vec<String>,
}

pub(crate) fn findings_of(version: &VersionCase) -> Vec<Finding> {
    version.scan.as_ref().map(|scan| read_findings(&scan.evidence)).unwrap_or_default()
}

/// Stored evidence. A moderator must see the page even if it cannot be parsed.
pub(crate) fn read_findings(evidence: &str) -> Vec<Finding> {
    serde_json::from_str(evidence).unwrap_or_else(|error| {
        tracing::error!(error = %error, "evidence in the database is malformed");
        Vec::new()
    })
}
