//! The versions that were live at a host until recently. A trigger records them
//! (`migration/src/m0026_former_versions.rs`).

use anyhow::Context;
use domain::{Manifest, ModeratedBy, ModerationStatus, Route, Time};
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, Statement};

use crate::blocked_contents::{find_listed, hashes_of};
use crate::handles::{RouteStore, Upkeep};
use crate::held_pages::edge_status;
use crate::rows;

/// A version that is no longer live. It is neither deleted nor blocked, and has no blocked content.
#[derive(Clone, Debug)]
pub struct FormerVersion {
    pub live_until: Time,
    pub manifest: Manifest,
}

#[derive(FromQueryResult)]
struct FormerRow {
    live_until: i64,
    manifest: String,
    moderation_status: String,
    moderated_by: String,
}

impl RouteStore<'_> {
    /// The versions of a page that were live after this time, the last one first.
    pub async fn list_former_versions(
        self,
        page: &Route,
        live_after: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<FormerVersion>> {
        let sql = "SELECT former.live_until, version.manifest, version.moderation_status,
                version.moderated_by
            FROM former_versions AS former JOIN versions AS version ON version.id = former.version_id
            WHERE former.host = $1 AND former.live_until > $2 AND version.artifact_id = $3
            ORDER BY former.live_until DESC LIMIT $4";
        let reader = &self.0.database.reader;
        let values = [
            page.host.as_str().into(),
            live_after.millis().into(),
            page.artifact.to_string().into(),
            i64::try_from(at_most)?.into(),
        ];
        let statement = Statement::from_sql_and_values(reader.get_database_backend(), sql, values);
        let found = FormerRow::find_by_statement(statement)
            .all(reader)
            .await
            .context("find the versions that were live until recently")?;
        let is_open = |row: &FormerRow| {
            edge_status(&row.moderation_status, &row.moderated_by) != ModerationStatus::Blocked.as_str()
        };
        let open: Vec<(FormerRow, Manifest)> = found
            .into_iter()
            .filter(is_open)
            .map(|row| rows::manifest(&row.manifest).map(|manifest| (row, manifest)))
            .collect::<anyhow::Result<_>>()?;
        let listed = find_listed(reader, open.iter().flat_map(|(_, manifest)| hashes_of(manifest))).await?;
        let is_clean = |(row, manifest): &(FormerRow, Manifest)| {
            row.moderated_by == ModeratedBy::Moderator.as_str()
                || !hashes_of(manifest).any(|hash| listed.contains(&hash))
        };
        let version = |(row, manifest): (FormerRow, Manifest)| FormerVersion {
            live_until: Time::from_millis(row.live_until),
            manifest,
        };
        Ok(open.into_iter().filter(is_clean).map(version).collect())
    }
}

impl Upkeep<'_> {
    /// Forgets up to `at_most` versions that are no longer live since this time. Returns their number.
    pub async fn sweep_former_versions(self, before: Time, at_most: u64) -> anyhow::Result<u64> {
        use entity::former_version::{Column, Entity};
        // Several hosts can have the same time, so slightly more rows may be deleted.
        let oldest = Query::select()
            .column(Column::LiveUntil)
            .from(Entity)
            .and_where(Column::LiveUntil.lt(before.millis()))
            .order_by(Column::LiveUntil, sea_orm::sea_query::Order::Asc)
            .limit(at_most)
            .to_owned();
        let deleted = Entity::delete_many()
            .filter(Column::LiveUntil.in_subquery(oldest))
            .exec(&self.0.database.writer)
            .await
            .context("forget former versions")?;
        Ok(deleted.rows_affected)
    }
}
