//! Rows of versions.

use std::collections::HashMap;
use std::time::Duration;

use domain::{CurrentVersion, Time};
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QuerySelect,
};

use crate::many::among;
use crate::rows;

/// A version that has been pending for longer does not indicate that scans are late now. An operator may have
/// cancelled its scan, for example.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(3600);

/// The live version of an artifact, if it has one.
pub(crate) async fn live_version(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<Option<entity::version::Model>> {
    let Some(id) = &artifact.live_version_id else { return Ok(None) };
    Ok(entity::version::Entity::find_by_id(id.as_str()).one(transaction).await?)
}

/// The version that moderators decide on: the live one, or the newest while none is live. Visitors can open
/// that one, too, at its own address.
pub(crate) async fn reviewed_version(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<Option<entity::version::Model>> {
    if artifact.live_version_id.is_some() {
        return live_version(transaction, artifact).await;
    }
    let newest = newest_id(transaction, &artifact.id).await?;
    let Some(id) = newest else { return Ok(None) };
    Ok(entity::version::Entity::find_by_id(id).one(transaction).await?)
}

/// A version of an artifact by its number.
pub(crate) async fn version_of(
    transaction: &DatabaseTransaction,
    artifact: &str,
    seq: u32,
) -> anyhow::Result<Option<entity::version::Model>> {
    use entity::version::Column;
    let seq = i32::try_from(seq).unwrap_or(i32::MAX);
    let with_seq =
        entity::version::Entity::find().filter(Column::ArtifactId.eq(artifact)).filter(Column::Seq.eq(seq));
    Ok(with_seq.one(transaction).await?)
}

/// The id of an artifact's newest version.
pub(crate) async fn newest_id(
    connection: &impl ConnectionTrait,
    artifact: &str,
) -> anyhow::Result<Option<String>> {
    use entity::version::Column;
    let newest = entity::version::Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::ArtifactId.eq(artifact))
        .order_by_desc(Column::Seq)
        .limit(1)
        .into_tuple()
        .one(connection)
        .await?;
    Ok(newest)
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

/// Live versions by their ids, as conditions of publishes are compared with them. No ids need no query.
pub(crate) async fn current_versions(
    connection: &impl ConnectionTrait,
    ids: Vec<String>,
) -> anyhow::Result<HashMap<String, CurrentVersion>> {
    use entity::version::Column;
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::version::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Seq, Column::CreatedBy, Column::CreatedAt])
        .filter(among(connection, Column::Id, ids))
        .into_model::<CurrentRow>()
        .all(connection)
        .await?;
    found
        .into_iter()
        .map(|row| Ok((row.id, current_version(row.seq, row.created_by.as_deref(), row.created_at)?)))
        .collect()
}

pub(crate) fn current_version(
    seq: i32,
    created_by: Option<&str>,
    created_at: i64,
) -> anyhow::Result<CurrentVersion> {
    Ok(CurrentVersion {
        seq: u32::try_from(seq)?,
        created_by: created_by.map(|token| rows::parse(token, "a token id")).transpose()?,
        created_at: Time::from_millis(created_at),
    })
}

/// When the oldest pending version was published that shows how late scans are for a route. It is read only
/// for the pending version of a provisional account.
pub(crate) fn oldest_pending_of_route() -> SimpleExpr {
    let left_behind_after = LEFT_BEHIND_AFTER.as_millis();
    // The inner conditions must match those of the index `versions_pending` literally.
    Expr::cust(format!(
        "CASE WHEN routes.moderation_status = 'pending' AND routes.expires_at IS NOT NULL THEN (
             SELECT created_at FROM versions
             WHERE moderation_status = 'pending' AND created_at >= routes.published_at - {left_behind_after}
             ORDER BY created_at LIMIT 1) END"
    ))
}

/// The same for a version that was published at this time and need not be live.
pub(crate) async fn oldest_pending_since(
    connection: &impl ConnectionTrait,
    published_at: i64,
) -> anyhow::Result<Option<i64>> {
    use entity::version::Column;
    let left_behind_after = i64::try_from(LEFT_BEHIND_AFTER.as_millis())?;
    Ok(entity::version::Entity::find()
        .select_only()
        .column(Column::CreatedAt)
        // As in the index `versions_pending`.
        .filter(Expr::cust("moderation_status = 'pending'"))
        .filter(Column::CreatedAt.gte(published_at - left_behind_after))
        .order_by_asc(Column::CreatedAt)
        .limit(1)
        .into_tuple()
        .one(connection)
        .await?)
}

/// Leaves out the manifest, which can be long.
#[derive(FromQueryResult)]
struct CurrentRow {
    id: String,
    seq: i32,
    created_by: Option<String>,
    created_at: i64,
}
