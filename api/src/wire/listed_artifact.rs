//! Artifacts in the list of an account.

use std::collections::HashMap;

use domain::link::Addresses;
use domain::{Host, Paged};
use poem_openapi::Object;

use super::Timestamp;
use super::artifact::Artifact;

/// An artifact in the list.
#[derive(Clone, Debug, Object)]
pub struct ListedArtifact {
    #[oai(flatten)]
    pub artifact: Artifact,
    pub created_at: Timestamp,
    /// When it was last published, rolled back or changed in its visibility.
    pub updated_at: Timestamp,
    /// How many of the newest versions are kept. Null: no limit. If both settings are null, those of the
    /// account apply.
    #[oai(nullable)]
    pub versions_kept: Option<u32>,
    /// For how many days a version is kept. Null: no limit.
    #[oai(nullable)]
    pub versions_days: Option<u32>,
    /// The number of page views in this UTC month.
    pub views_month: u64,
}

impl ListedArtifact {
    /// A page of the list, with the views of each artifact.
    pub fn page(
        artifacts: Paged<domain::Artifact>,
        views: &HashMap<Host, u64>,
        addresses: &Addresses,
    ) -> Paged<Self> {
        artifacts.map(|artifact| Self {
            artifact: Artifact::new(&artifact, addresses),
            created_at: artifact.created_at.into(),
            updated_at: artifact.updated_at.into(),
            versions_kept: artifact.retention.versions_kept,
            versions_days: artifact.retention.versions_days,
            views_month: views.get(&artifact.host).copied().unwrap_or_default(),
        })
    }
}
