//! Finds contents that pages of other accounts use too.

use std::collections::HashSet;

use anyhow::Context;
use domain::{AccountStatus, BlobHash, ModeratedBy, ModerationStatus, Time};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::many::among;

/// Which of these contents are on a trusted page of another account: a page that is served, and that either a
/// moderator has passed or a claimed account owns. A scan's pass is not enough for an account that anybody
/// can create in a second.
pub(super) async fn used_by_others(
    transaction: &DatabaseTransaction,
    contents: impl IntoIterator<Item = BlobHash>,
    account: &str,
    now: Time,
) -> anyhow::Result<HashSet<String>> {
    use entity::route::Column;
    let contents: Vec<String> = contents.into_iter().map(|hash| hash.to_string()).collect();
    if contents.is_empty() {
        return Ok(HashSet::new());
    }
    let (blob, blob_ref, route) = (entity::blob::Entity, entity::blob_ref::Entity, entity::route::Entity);
    let (version, owner) = (entity::version::Entity, entity::account::Entity);
    let is_live = Condition::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(now.millis()));
    let is_trusted = Condition::any()
        .add(entity::account::Column::Status.eq(AccountStatus::Claimed.as_str()))
        .add(entity::version::Column::ModeratedBy.eq(ModeratedBy::Moderator.as_str()));
    let page = Query::select()
        .expr(Expr::val(1))
        .from(blob_ref)
        .inner_join(
            route,
            Expr::col((route, Column::VersionId)).equals((blob_ref, entity::blob_ref::Column::VersionId)),
        )
        .inner_join(
            version,
            Expr::col((version, entity::version::Column::Id)).equals((route, Column::VersionId)),
        )
        .inner_join(owner, Expr::col((owner, entity::account::Column::Id)).equals((route, Column::AccountId)))
        .and_where(
            Expr::col((blob_ref, entity::blob_ref::Column::Hash)).equals((blob, entity::blob::Column::Hash)),
        )
        .and_where(Column::AccountId.ne(account))
        .and_where(Column::ModerationStatus.eq(ModerationStatus::Pass.as_str()))
        .and_where(Column::SuspendedAt.is_null())
        .cond_where(is_live)
        .cond_where(is_trusted)
        .to_owned();
    let found: Vec<String> = entity::blob::Entity::find()
        .select_only()
        .column(entity::blob::Column::Hash)
        .filter(among(transaction, entity::blob::Column::Hash, contents))
        .filter(Expr::exists(page))
        .into_tuple()
        .all(transaction)
        .await
        .context("find pages with the same contents")?;
    Ok(found.into_iter().collect())
}
