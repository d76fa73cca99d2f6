//! Finds the pages whose versions a change of the list opens or closes.

use anyhow::Context;
use domain::{BlobHash, Host, Time};
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use crate::handles::BlockedContentStore;
use crate::many::among;
use crate::rows;

impl BlockedContentStore<'_> {
    /// The contents that were listed at this time.
    pub async fn listed_at(self, at: Time) -> anyhow::Result<Vec<BlobHash>> {
        use entity::blocked_content::Column;
        let found: Vec<String> = entity::blocked_content::Entity::find()
            .select_only()
            .column(Column::Hash)
            .filter(Column::CreatedAt.eq(at.millis()))
            .into_tuple()
            .all(&self.0.database.reader)
            .await
            .context("find contents that were blocked together")?;
        found.iter().map(|hash| rows::parse(hash, "a blob hash")).collect()
    }

    /// The hosts of the pages that have one of these contents in any of their versions.
    pub async fn hosts_with(self, contents: &[BlobHash]) -> anyhow::Result<Vec<Host>> {
        use entity::blob_ref::Column;
        let reader = &self.0.database.reader;
        let holders = Query::select()
            .column(Column::VersionId)
            .from(entity::blob_ref::Entity)
            .and_where(among(reader, Column::Hash, contents.iter().map(BlobHash::to_string)))
            .to_owned();
        let artifacts: Vec<String> = entity::version::Entity::find()
            .select_only()
            .column(entity::version::Column::ArtifactId)
            .distinct()
            .filter(entity::version::Column::Id.in_subquery(holders))
            .into_tuple()
            .all(reader)
            .await
            .context("find pages with a content")?;
        let hosts = rows::artifact::hosts_even_deleted(reader, artifacts.iter().map(String::as_str)).await?;
        hosts.values().map(|host| rows::parse(host, "a host")).collect()
    }
}
