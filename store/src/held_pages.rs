//! Pages that a moderator has blocked. A new version of such a page starts in review and is not served until
//! a moderator passes it: its status is `review` by a moderator, and its route says `blocked`.

use std::collections::HashMap;

use anyhow::Context;
use domain::{ModeratedBy, ModerationStatus, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{DatabaseTransaction, EntityTrait, QueryFilter};

use crate::many::{among, insert_rows};

/// The status of a new version of a held page.
pub(crate) const HELD: (ModerationStatus, ModeratedBy) = (ModerationStatus::Review, ModeratedBy::Moderator);

/// The status that the edge acts on. A version that a moderator has to pass first is not served.
pub(crate) fn status_for_edge(version: &entity::version::Model) -> &str {
    edge_status(&version.moderation_status, &version.moderated_by)
}

/// The same as [`status_for_edge`], by the two columns that it depends on.
pub(crate) fn edge_status<'s>(status: &'s str, by: &str) -> &'s str {
    let (held, moderator) = HELD;
    let is_held = status == held.as_str() && by == moderator.as_str();
    if is_held { ModerationStatus::Blocked.as_str() } else { status }
}

/// Holds the page of a version if a moderator's decision keeps that version from being served.
pub(crate) async fn hold_if_not_served(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
    now: Time,
) -> anyhow::Result<()> {
    let is_not_served = status_for_edge(version) == ModerationStatus::Blocked.as_str();
    if is_not_served && version.moderated_by == ModeratedBy::Moderator.as_str() {
        hold(transaction, &version.artifact_id, now).await?;
    }
    Ok(())
}

pub(crate) async fn hold(transaction: &DatabaseTransaction, artifact: &str, now: Time) -> anyhow::Result<()> {
    let row = entity::held_page::ActiveModel {
        artifact_id: Set(artifact.to_owned()),
        created_at: Set(now.millis()),
    };
    let mut is_held = OnConflict::column(entity::held_page::Column::ArtifactId);
    is_held.do_nothing();
    insert_rows::<entity::held_page::Entity>(transaction, [row], Some(is_held))
        .await
        .context("hold a page back")
}

pub(crate) async fn release(transaction: &DatabaseTransaction, artifact: &str) -> anyhow::Result<()> {
    entity::held_page::Entity::delete_by_id(artifact).exec(transaction).await.context("release a page")?;
    Ok(())
}

/// Which of these artifacts are held, and since when.
pub(crate) async fn held_since(
    transaction: &DatabaseTransaction,
    artifacts: Vec<String>,
) -> anyhow::Result<HashMap<String, i64>> {
    use entity::held_page::Column;
    if artifacts.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::held_page::Entity::find()
        .filter(among(transaction, Column::ArtifactId, artifacts))
        .all(transaction)
        .await
        .context("find held pages")?;
    Ok(found.into_iter().map(|row| (row.artifact_id, row.created_at)).collect())
}
