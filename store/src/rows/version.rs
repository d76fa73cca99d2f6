//! Rows of versions.

use sea_orm::{DatabaseTransaction, EntityTrait};

/// The version that an artifact shows, if one is live.
pub(crate) async fn live_version(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<Option<entity::version::Model>> {
    let Some(id) = &artifact.live_version_id else { return Ok(None) };
    Ok(entity::version::Entity::find_by_id(id.as_str()).one(transaction).await?)
}
