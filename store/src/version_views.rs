//! What the edge reads to serve a version at an address of its own, whether or not the version is live.
//!
//! A version's address closes with its page. Only its files and its own moderation status differ from those
//! of the page.

use anyhow::Context;
use domain::{ArtifactId, Host, ModeratedBy, ModerationStatus, Route, Time, VersionId};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect,
};

use crate::blocked_contents::is_closed_by_list;
use crate::handles::RouteStore;
use crate::held_pages::edge_status;
use crate::rows::artifact::staged_only_at;
use crate::rows::version::oldest_pending_since;
use crate::{routes, rows};

/// The columns of a version that an edge's database role may read.
#[derive(FromQueryResult)]
struct ViewRow {
    id: String,
    manifest: String,
    moderation_status: String,
    moderated_by: String,
    scanned_by: Option<i32>,
    created_at: i64,
}

impl ViewRow {
    const COLUMNS: [entity::version::Column; 6] = {
        use entity::version::Column;
        [
            Column::Id,
            Column::Manifest,
            Column::ModerationStatus,
            Column::ModeratedBy,
            Column::ScannedBy,
            Column::CreatedAt,
        ]
    };
}

impl RouteStore<'_> {
    /// The page of a host that has only staged versions, as if the newest were live. `None` if a version is
    /// live, because the host then has a route.
    pub async fn find_staged_only(self, host: &Host) -> anyhow::Result<Option<Route>> {
        staged_only_at(&self.0.database.reader, host).await
    }

    /// The `seq` of an artifact's newest version.
    pub async fn newest_seq(self, artifact: ArtifactId) -> anyhow::Result<Option<u32>> {
        use entity::version::Column;
        let newest: Option<i32> = entity::version::Entity::find()
            .select_only()
            .column(Column::Seq)
            .filter(Column::ArtifactId.eq(artifact.to_string()))
            .order_by_desc(Column::Seq)
            .limit(1)
            .into_tuple()
            .one(&self.0.database.reader)
            .await
            .context("find the newest version of an artifact")?;
        Ok(newest.map(u32::try_from).transpose()?)
    }

    /// The route of a page with another of its versions. `live` is the live one, if there is one.
    pub async fn find_version(
        self,
        page: &Route,
        live: Option<VersionId>,
        seq: u32,
    ) -> anyhow::Result<Option<Route>> {
        use entity::version::Column;
        let reader = &self.0.database.reader;
        let found = entity::version::Entity::find()
            .select_only()
            .columns(ViewRow::COLUMNS)
            .filter(Column::ArtifactId.eq(page.artifact.to_string()))
            .filter(Column::Seq.eq(i32::try_from(seq).unwrap_or(i32::MAX)))
            .into_model::<ViewRow>()
            .one(reader)
            .await
            .context("find a version for its address")?;
        let Some(row) = found else { return Ok(None) };
        let is_closed = page.moderation == ModerationStatus::Blocked
            && is_decided_by_moderator(reader, page.version).await?;
        let manifest = rows::manifest(&row.manifest)?;
        let is_live = live.is_some_and(|live| live.to_string() == row.id);
        let is_closed =
            is_closed || (!is_live && is_closed_by_list(reader, &row.moderated_by, &manifest).await?);
        let own = rows::moderation(edge_status(&row.moderation_status, &row.moderated_by))?;
        Ok(Some(Route {
            host: page.host.clone(),
            account: page.account,
            artifact: page.artifact,
            version: rows::parse(&row.id, "a version id")?,
            visibility: page.visibility,
            link_generation: page.link_generation,
            moderation: if is_closed { ModerationStatus::Blocked } else { own },
            expires_at: page.expires_at,
            is_suspended: page.is_suspended,
            updated_at: page.updated_at,
            held_from: held_from(reader, page, &row).await?,
            manifest,
        }))
    }
}

/// Whether a moderator's decision keeps the live version from being served, rather than a scan's verdict on
/// it alone.
async fn is_decided_by_moderator(reader: &impl ConnectionTrait, live: VersionId) -> anyhow::Result<bool> {
    use entity::version::Column;
    let by: Option<String> = entity::version::Entity::find_by_id(live.to_string())
        .select_only()
        .column(Column::ModeratedBy)
        .into_tuple()
        .one(reader)
        .await
        .context("read who moderated the live version")?;
    Ok(by.as_deref() == Some(ModeratedBy::Moderator.as_str()))
}

/// When a version of a provisional account begins to be held back, by the same rules as a live one.
async fn held_from(
    reader: &impl ConnectionTrait,
    page: &Route,
    row: &ViewRow,
) -> anyhow::Result<Option<Time>> {
    let status = rows::moderation(&row.moderation_status)?;
    if page.expires_at.is_none() {
        return Ok(None);
    }
    // Only a live version records that its scan has failed.
    let failed_at = page.held_from.filter(|_| page.version.to_string() == row.id);
    let late_since = match status {
        ModerationStatus::Pending => oldest_pending_since(reader, row.created_at).await?,
        _ => routes::is_unjudged(row.scanned_by, &row.moderation_status, &row.moderated_by)
            .then_some(row.created_at),
    };
    let late_from = late_since.map(|at| Time::from_millis(at).plus(Route::SCAN_WAIT_MAX));
    Ok(failed_at.into_iter().chain(late_from).min())
}
