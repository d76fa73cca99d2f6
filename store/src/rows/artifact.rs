//! Rows of artifacts. No other file selects from their table, so that no query forgets the tenant or deleted
//! rows. A query begins with `live`, or its name says what else it reaches.

use std::collections::{BTreeSet, HashMap};

use anyhow::Context;
use domain::{AccountId, Artifact, ArtifactId, Host, LiveVersion, Manifest, Route, Slug, Time};
use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QuerySelect, Select, Statement,
};

use crate::held_pages::edge_status;
use crate::many::{among, rows_of_pairs};
use crate::rows::{self, ShownVersion};

/// The account's artifacts that are not deleted.
pub(crate) fn live(account: AccountId) -> Select<entity::artifact::Entity> {
    live_of_anyone().filter(entity::artifact::Column::AccountId.eq(account.to_string()))
}

/// Artifacts of all accounts that are not deleted, for reports, moderation and metering.
pub(crate) fn live_of_anyone() -> Select<entity::artifact::Entity> {
    entity::artifact::Entity::find().filter(entity::artifact::Column::DeletedAt.is_null())
}

/// The ids of artifacts of all accounts, including deleted ones, because decisions and reports outlive their
/// page.
pub(crate) fn ids_even_deleted() -> SelectStatement {
    Query::select().column(entity::artifact::Column::Id).from(entity::artifact::Entity).to_owned()
}

/// The account's artifacts that were deleted since a time, last deleted first. Some may be purged.
pub(crate) fn deleted_since(account: AccountId, since: Time) -> Select<entity::artifact::Entity> {
    use entity::artifact::Column;
    entity::artifact::Entity::find()
        .filter(Column::AccountId.eq(account.to_string()))
        .filter(Column::DeletedAt.gt(since.millis()))
        .order_by_desc(Column::DeletedAt)
        .order_by_desc(Column::Id)
}

pub(crate) async fn find(
    connection: &impl ConnectionTrait,
    account: AccountId,
    slug: &Slug,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    Ok(live(account).filter(entity::artifact::Column::Slug.eq(slug.as_str())).one(connection).await?)
}

pub(crate) async fn find_by_id(
    connection: &impl ConnectionTrait,
    account: AccountId,
    artifact: ArtifactId,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    let by_id = entity::artifact::Column::Id.eq(artifact.to_string());
    Ok(live(account).filter(by_id).one(connection).await?)
}

/// Those of the account's artifacts with one of these slugs that are not deleted.
pub(crate) async fn live_among(
    transaction: &DatabaseTransaction,
    named: BTreeSet<(AccountId, Slug)>,
) -> anyhow::Result<Vec<entity::artifact::Model>> {
    let key = (entity::artifact::Column::AccountId, entity::artifact::Column::Slug);
    let named = named.into_iter().map(|(account, slug)| (account.to_string(), slug.to_string()));
    rows_of_pairs::<entity::artifact::Entity>(transaction, key, named, "deleted_at IS NULL")
        .await
        .context("find artifacts")
}

/// Finds an artifact of any account by its id, even if it is deleted.
pub(crate) async fn find_even_deleted(
    connection: &impl ConnectionTrait,
    id: &str,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    Ok(entity::artifact::Entity::find_by_id(id).one(connection).await?)
}

/// The hosts of artifacts by their ids, including deleted artifacts.
pub(crate) async fn hosts_even_deleted(
    connection: &impl ConnectionTrait,
    artifacts: impl Iterator<Item = &str>,
) -> anyhow::Result<HashMap<String, String>> {
    use entity::artifact::Column;
    let found: Vec<(String, String)> = entity::artifact::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Host])
        .filter(among(connection, Column::Id, artifacts.map(str::to_owned)))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(found.into_iter().collect())
}

/// Finds the artifact of a host, in any account: reports and moderators name pages of all accounts.
pub(crate) async fn find_at(
    connection: &impl ConnectionTrait,
    host: &Host,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    let at_host = entity::artifact::Column::Host.eq(host.as_str());
    Ok(live_of_anyone().filter(at_host).one(connection).await?)
}

/// The page of a host that has only staged versions, as if the newest were live.
pub(crate) async fn staged_only_at(
    connection: &impl ConnectionTrait,
    host: &Host,
) -> anyhow::Result<Option<Route>> {
    let sql = "SELECT artifact.id AS artifact_id, artifact.account_id, artifact.visibility,
            artifact.link_generation, artifact.updated_at, account.expires_at, account.suspended_at,
            version.id AS version_id, version.moderation_status, version.moderated_by
        FROM artifacts AS artifact JOIN accounts AS account ON account.id = artifact.account_id
        JOIN versions AS version ON version.artifact_id = artifact.id
            AND version.seq = (SELECT MAX(seq) FROM versions WHERE artifact_id = artifact.id)
        WHERE artifact.host = $1 AND artifact.deleted_at IS NULL AND artifact.live_version_id IS NULL";
    let backend = connection.get_database_backend();
    let statement = Statement::from_sql_and_values(backend, sql, [host.as_str().into()]);
    let found = StagedOnlyRow::find_by_statement(statement)
        .one(connection)
        .await
        .context("find a page that has only staged versions")?;
    found.map(|row| row.route(host)).transpose()
}

/// The artifact of a row, with its live version if it has one.
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
) -> anyhow::Result<HashMap<String, ShownVersion>> {
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

#[derive(FromQueryResult)]
struct StagedOnlyRow {
    artifact_id: String,
    account_id: String,
    visibility: String,
    link_generation: i32,
    updated_at: i64,
    expires_at: Option<i64>,
    suspended_at: Option<i64>,
    version_id: String,
    moderation_status: String,
    moderated_by: String,
}

impl StagedOnlyRow {
    fn route(self, host: &Host) -> anyhow::Result<Route> {
        Ok(Route {
            host: host.clone(),
            account: rows::parse(&self.account_id, "an account id")?,
            artifact: rows::parse(&self.artifact_id, "an artifact id")?,
            version: rows::parse(&self.version_id, "a version id")?,
            visibility: rows::visibility(&self.visibility)?,
            link_generation: rows::link_generation(self.link_generation)?,
            moderation: rows::moderation(edge_status(&self.moderation_status, &self.moderated_by))?,
            expires_at: self.expires_at.map(Time::from_millis),
            is_suspended: self.suspended_at.is_some(),
            updated_at: Time::from_millis(self.updated_at),
            held_from: None,
            manifest: Manifest::default(),
        })
    }
}

/// A version that its artifact's or account's rule no longer keeps.
#[derive(Clone, Debug, FromQueryResult)]
pub(crate) struct OutdatedVersion {
    pub(crate) id: String,
    pub(crate) seq: i32,
    pub(crate) host: String,
}

/// Versions of the account's artifacts that no rule keeps, oldest first. They are neither live nor held by a
/// moderator, have no blocked content, and no report on them is open. If nothing is live, the newest version
/// stays.
pub(crate) async fn outdated_versions(
    connection: &impl ConnectionTrait,
    account: AccountId,
    now: Time,
    at_most: u64,
) -> anyhow::Result<Vec<OutdatedVersion>> {
    let sql = "SELECT id, seq, host FROM (
            SELECT version.id, version.seq, version.created_at, version.moderation_status,
                version.moderated_by, artifact.host, artifact.live_version_id,
                ROW_NUMBER() OVER (PARTITION BY version.artifact_id ORDER BY version.seq DESC) AS newness,
                CASE WHEN artifact.versions_kept IS NULL AND artifact.versions_days IS NULL
                    THEN account.versions_kept ELSE artifact.versions_kept END AS kept,
                CASE WHEN artifact.versions_kept IS NULL AND artifact.versions_days IS NULL
                    THEN account.versions_days ELSE artifact.versions_days END AS days
            FROM artifacts AS artifact
            JOIN accounts AS account ON account.id = artifact.account_id
            JOIN versions AS version ON version.artifact_id = artifact.id
            WHERE artifact.account_id = $1 AND artifact.deleted_at IS NULL
        ) AS version
        WHERE (kept IS NOT NULL OR days IS NOT NULL)
            AND (kept IS NULL OR newness > kept)
            AND (days IS NULL OR created_at < $2 - CAST(days AS BIGINT) * 86400000)
            AND id <> COALESCE(live_version_id, '')
            AND (live_version_id IS NOT NULL OR newness > 1)
            AND moderation_status <> 'blocked'
            AND NOT (moderated_by = 'moderator' AND moderation_status = 'review')
            AND NOT EXISTS (
                SELECT 1 FROM reports WHERE reports.version_id = version.id AND reports.handled_at IS NULL)
            AND NOT EXISTS (
                SELECT 1 FROM blob_refs JOIN blocked_contents ON blocked_contents.hash = blob_refs.hash
                WHERE blob_refs.version_id = version.id)
        ORDER BY created_at, id LIMIT $3";
    let values = [account.to_string().into(), now.millis().into(), i64::try_from(at_most)?.into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), sql, values);
    let found = OutdatedVersion::find_by_statement(statement).all(connection).await;
    found.context("find versions that no rule keeps")
}

/// Accounts that have a rule of retention, for themselves or for one of their artifacts, in the order of
/// their ids.
pub(crate) async fn accounts_with_retention(
    connection: &impl ConnectionTrait,
    after: Option<AccountId>,
    at_most: u64,
) -> anyhow::Result<Vec<String>> {
    let sql = "SELECT id FROM accounts
        WHERE id > $1 AND (versions_kept IS NOT NULL OR versions_days IS NOT NULL)
        UNION SELECT account_id FROM artifacts
        WHERE account_id > $1 AND (versions_kept IS NOT NULL OR versions_days IS NOT NULL)
        ORDER BY id LIMIT $2";
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let statement = Statement::from_sql_and_values(
        connection.get_database_backend(),
        sql,
        [after.into(), i64::try_from(at_most)?.into()],
    );
    let found = connection.query_all_raw(statement).await.context("find accounts with rules of retention")?;
    found.iter().map(|row| Ok(row.try_get("", "id")?)).collect()
}

/// Leaves out the manifest, which can be long and is not needed here.
#[derive(FromQueryResult)]
struct LiveRow {
    id: String,
    seq: i32,
    total_bytes: i64,
    moderation_status: String,
    title: Option<String>,
}

impl LiveRow {
    const COLUMNS: [entity::version::Column; 5] = {
        use entity::version::Column;
        [Column::Id, Column::Seq, Column::TotalBytes, Column::ModerationStatus, Column::Title]
    };

    fn read(self) -> anyhow::Result<(String, ShownVersion)> {
        let live = LiveVersion {
            id: rows::parse(&self.id, "a version id")?,
            seq: u32::try_from(self.seq).unwrap_or(0),
            total_bytes: rows::count(self.total_bytes),
            moderation: rows::moderation(&self.moderation_status)?,
        };
        Ok((self.id, ShownVersion { live, title: rows::title(self.title.as_deref()) }))
    }
}
