//! Responses to deletions.

use domain::Slug;
use poem_openapi::Object;
use service::PurgedPage;

/// The artifact is deleted. Its slug can be used again.
#[derive(Debug, Object)]
pub struct Deleted {
    pub slug: String,
    /// Always true.
    pub deleted: bool,
    /// True if the versions and contents were deleted too. Only with `purge=true`.
    #[oai(skip_serializing_if_is_none)]
    pub purged: Option<bool>,
    /// The versions that are kept, because a moderator holds them as evidence. Only if there are any.
    #[oai(skip_serializing_if_is_none)]
    pub held_versions: Option<Vec<u32>>,
    /// Says that evidence is kept. Only if there is any.
    #[oai(skip_serializing_if_is_none)]
    pub message: Option<String>,
}

/// The version is deleted with the contents that no other version has.
#[derive(Debug, Object)]
pub struct DeletedVersion {
    pub slug: String,
    pub version: u32,
    /// Always true.
    pub deleted: bool,
}

impl From<Slug> for Deleted {
    fn from(slug: Slug) -> Self {
        Self { slug: slug.to_string(), deleted: true, purged: None, held_versions: None, message: None }
    }
}

impl From<PurgedPage> for Deleted {
    fn from(purged: PurgedPage) -> Self {
        let PurgedPage { slug, held } = purged;
        let message = (!held.is_empty()).then(|| {
            let versions: Vec<String> = held.iter().map(u32::to_string).collect();
            format!(
                "Blocked versions are kept as evidence: {}. Everything else was deleted.",
                versions.join(", ")
            )
        });
        let purged = Some(held.is_empty());
        let held_versions = (!held.is_empty()).then_some(held);
        Self { purged, held_versions, message, ..slug.into() }
    }
}
