//! Rows of versions.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

/// The live version of an artifact, if it has one.
pub(crate) async fn live_version(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<Option<entity::version::Model>> {
    let Some(id) = &artifact.live_version_id else { return Ok(None) };
    Ok(entity::version::Entity::find_by_id(id.as_str()).one(transaction).await?)
}

/// Version numbers by version id.
pub(crate) async fn seqs(
    connection: &impl ConnectionTrait,
    versions: impl Iterator<Item = &str>,
) -> anyhow::Result<HashMap<String, i32>> {
    use entity::version::Column;
    let found: Vec<(String, i32)> = entity::version::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Seq])
        .filter(Column::Id.is_in(versions))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(found.into_iter().collect())
}
