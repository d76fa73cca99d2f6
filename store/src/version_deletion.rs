//! Deletes versions with their references, in the transaction of a purge or of a rule of retention.

use std::collections::BTreeSet;

use anyhow::Context;
use sea_orm::ActiveValue::Set;
use sea_orm::{DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::many::{among, known_pairs};

/// Deletes versions of an account with their references, and subtracts the contents that the account no
/// longer refers to from its storage. Returns the contents that the versions referred to. The transaction
/// must hold the account's row.
pub(crate) async fn delete_versions(
    transaction: &DatabaseTransaction,
    owner: &mut entity::account::Model,
    versions: Vec<String>,
) -> anyhow::Result<BTreeSet<String>> {
    use entity::blob_ref::Column;
    let referred: Vec<String> = entity::blob_ref::Entity::find()
        .select_only()
        .column(Column::Hash)
        .filter(among(transaction, Column::VersionId, versions.iter().cloned()))
        .into_tuple()
        .all(transaction)
        .await?;
    let referred: BTreeSet<String> = referred.into_iter().collect();
    entity::version::Entity::delete_many()
        .filter(among(transaction, entity::version::Column::Id, versions))
        .exec(transaction)
        .await
        .context("delete versions")?;
    let freed_bytes = bytes_no_longer_held(transaction, &owner.id, referred.clone()).await?;
    owner.storage_bytes = owner.storage_bytes.saturating_sub(freed_bytes).max(0);
    let storage = entity::account::ActiveModel {
        id: Set(owner.id.clone()),
        storage_bytes: Set(owner.storage_bytes),
        ..Default::default()
    };
    entity::account::Entity::update(storage).exec_without_returning(transaction).await?;
    Ok(referred)
}

/// The size of those of these contents that no version of the account refers to.
async fn bytes_no_longer_held(
    transaction: &DatabaseTransaction,
    account: &str,
    mut contents: BTreeSet<String>,
) -> anyhow::Result<i64> {
    use entity::blob_ref::Column;
    let pairs: Vec<_> = contents.iter().map(|hash| (hash.clone(), account.to_owned())).collect();
    let key = (Column::Hash, Column::AccountId);
    for (held, _) in known_pairs::<entity::blob_ref::Entity>(transaction, key, pairs).await? {
        contents.remove(&held);
    }
    let sizes: Vec<i64> = entity::blob::Entity::find()
        .select_only()
        .column(entity::blob::Column::SizeBytes)
        .filter(among(transaction, entity::blob::Column::Hash, contents))
        .into_tuple()
        .all(transaction)
        .await?;
    Ok(sizes.into_iter().fold(0, i64::saturating_add))
}
