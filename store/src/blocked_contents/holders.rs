//! Finds the pages whose versions a change of the list opens or closes.

use anyhow::Context;
use domain::{BlobHash, Host};
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};

use crate::many::among;
use crate::rows;

/// The pages, except one, that have one of these contents in any of their versions.
pub(crate) async fn find_pages_with(
    connection: &impl ConnectionTrait,
    contents: impl IntoIterator<Item = BlobHash>,
    but: Option<&str>,
) -> anyhow::Result<Vec<Host>> {
    use entity::version::{Column, Entity};
    let hashes: Vec<String> = contents.into_iter().map(|hash| hash.to_string()).collect();
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let holders = Query::select()
        .column(entity::blob_ref::Column::VersionId)
        .from(entity::blob_ref::Entity)
        .and_where(among(connection, entity::blob_ref::Column::Hash, hashes))
        .to_owned();
    let artifacts: Vec<String> = Entity::find()
        .select_only()
        .column(Column::ArtifactId)
        .distinct()
        .filter(Column::Id.in_subquery(holders))
        .filter(Column::ArtifactId.ne(but.unwrap_or_default()))
        .into_tuple()
        .all(connection)
        .await
        .context("find pages with a content")?;
    let hosts = rows::artifact::hosts_even_deleted(connection, artifacts.iter().map(String::as_str)).await?;
    let mut hosts: Vec<Host> =
        hosts.values().map(|host| rows::parse(host, "a host")).collect::<anyhow::Result<_>>()?;
    hosts.sort_unstable();
    Ok(hosts)
}
