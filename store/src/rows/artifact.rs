//! Rows of artifacts. A finder takes the account first, so that no call can reach another tenant's row.

use std::collections::HashMap;

use domain::{AccountId, Artifact, ArtifactId, Host, LiveVersion, Slug};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter, QuerySelect, Select};

use crate::rows;

/// The account's artifacts that are not deleted.
pub(crate) fn of_account(account: AccountId) -> Select<entity::artifact::Entity> {
    entity::artifact::Entity::find()
        .filter(entity::artifact::Column::AccountId.eq(account.to_string()))
        .filter(entity::artifact::Column::DeletedAt.is_null())
}

pub(crate) async fn find(
    connection: &impl ConnectionTrait,
    account: AccountId,
    slug: &Slug,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    Ok(of_account(account).filter(entity::artifact::Column::Slug.eq(slug.as_str())).one(connection).await?)
}

/// One of the account's artifacts that is not deleted.
pub(crate) async fn find_by_id(
    connection: &impl ConnectionTrait,
    account: AccountId,
    artifact: ArtifactId,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    let by_id = entity::artifact::Column::Id.eq(artifact.to_string());
    Ok(of_account(account).filter(by_id).one(connection).await?)
}

/// The hosts of artifacts by their ids, deleted artifacts included.
pub(crate) async fn hosts_even_deleted(
    connection: &impl ConnectionTrait,
    artifacts: impl Iterator<Item = &str>,
) -> anyhow::Result<HashMap<String, String>> {
    use entity::artifact::Column;
    let found: Vec<(String, String)> = entity::artifact::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Host])
        .filter(Column::Id.is_in(artifacts))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(found.into_iter().collect())
}

/// The artifact of a host, whoever owns it: reports and moderators name pages of any account.
pub(crate) async fn find_at(
    connection: &impl ConnectionTrait,
    host: &Host,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    Ok(entity::artifact::Entity::find()
        .filter(entity::artifact::Column::Host.eq(host.as_str()))
        .filter(entity::artifact::Column::DeletedAt.is_null())
        .one(connection)
        .await?)
}

/// The artifact of a row, with its live version if one is live.
pub(crate) async fn with_live_version(
    connection: &impl ConnectionTrait,
    row: entity::artifact::Model,
) -> anyhow::Result<Artifact> {
    let mut live = live_versions(connection, row.live_version_id.clone().into_iter().collect()).await?;
    let live = row.live_version_id.as_ref().and_then(|id| live.remove(id));
    rows::artifact(row, live)
}

/// Live versions by their ids.
pub(crate) async fn live_versions(
    connection: &impl ConnectionTrait,
    ids: Vec<String>,
) -> anyhow::Result<HashMap<String, LiveVersion>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::version::Entity::find()
        .select_only()
        .columns(LiveRow::COLUMNS)
        .filter(entity::version::Column::Id.is_in(ids))
        .into_model::<LiveRow>()
        .all(connection)
        .await?;
    found.into_iter().map(LiveRow::read).collect()
}

/// A version's manifest may be long, and nothing here needs it.
#[derive(FromQueryResult)]
struct LiveRow {
    id: String,
    seq: i32,
    total_bytes: i64,
    moderation_status: String,
}

impl LiveRow {
    const COLUMNS: [entity::version::Column; 4] = {
        use entity::version::Column;
        [Column::Id, Column::Seq, Column::TotalBytes, Column::ModerationStatus]
    };

    fn read(self) -> anyhow::Result<(String, LiveVersion)> {
        let live = LiveVersion {
            id: rows::parse(&self.id, "a version id")?,
            seq: u32::try_from(self.seq).unwrap_or(0),
            total_bytes: rows::count(self.total_bytes),
            moderation: rows::moderation(&self.moderation_status)?,
        };
        Ok((self.id, live))
    }
}
