//! How the accounts of one owner share the free storage: in the order of their claims. A further claim
//! therefore changes nothing for the earlier accounts, and every reader computes the same shares.

use std::collections::HashMap;

use anyhow::Context;
use domain::Role;
use sea_orm::sea_query::Query;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef,
};

use crate::rows;

/// For each of these accounts, the bytes that are stored in the accounts that its owner claimed earlier.
/// Accounts without an owner are not in the map.
pub(crate) async fn claimed_earlier(
    connection: &impl ConnectionTrait,
    accounts: &[&str],
) -> anyhow::Result<HashMap<String, u64>> {
    let is_owner = entity::membership::Column::Role.eq(Role::Owner.as_str());
    let owners = Query::select()
        .column(entity::membership::Column::UserId)
        .from(entity::membership::Entity)
        .and_where(is_owner.clone())
        .and_where(entity::membership::Column::AccountId.is_in(accounts.iter().copied()))
        .to_owned();
    let account: RelationDef = entity::membership::Entity::belongs_to(entity::account::Entity)
        .from(entity::membership::Column::AccountId)
        .to(entity::account::Column::Id)
        .into();
    let owned: Vec<(String, String, i64)> = entity::membership::Entity::find()
        .join(JoinType::InnerJoin, account)
        .select_only()
        .column(entity::membership::Column::UserId)
        .column(entity::membership::Column::AccountId)
        .column(entity::account::Column::StorageBytes)
        .filter(is_owner)
        .filter(entity::membership::Column::UserId.in_subquery(owners))
        .order_by_asc(entity::membership::Column::JoinedAt)
        .order_by_asc(entity::membership::Column::AccountId)
        .into_tuple()
        .all(connection)
        .await
        .context("read the storage of owners")?;
    let (mut totals, mut earlier) = (HashMap::<String, u64>::new(), HashMap::new());
    for (owner, account, storage_bytes) in owned {
        let total = totals.entry(owner).or_default();
        earlier.insert(account, *total);
        *total = total.saturating_add(rows::count(storage_bytes));
    }
    Ok(earlier)
}
