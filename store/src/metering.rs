//! The figures for the monthly metering, page by page. This module only reads; the charges are ledger
//! operations.

use std::collections::HashMap;

use anyhow::Context;
use domain::{AccountId, AccountStatus, ArtifactId, Month, StoredBytes, Time, Visibility};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::handles::MeteringStore;
use crate::{owner_storage, rows};

/// A claimed account with everything that recurring charges depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredAccount {
    pub account: AccountId,
    pub created_at: Time,
    pub stored: StoredBytes,
    /// Views in the requested month.
    pub views: u64,
    /// Artifacts that are private or unlisted now.
    pub restricted_artifacts: Vec<ArtifactId>,
}

/// A page of accounts, in the order of their ids.
#[derive(Clone, Copy, Debug)]
pub struct MeterPage {
    pub views_of: Month,
    /// The last account of the previous page.
    pub after: Option<AccountId>,
    pub at_most: u64,
}

impl MeteringStore<'_> {
    /// Claimed accounts with their figures. A page that is not full is the last one.
    pub async fn list_accounts(self, page: &MeterPage) -> anyhow::Result<Vec<MeteredAccount>> {
        let after = page.after.map(|id| id.to_string()).unwrap_or_default();
        let found = entity::account::Entity::find()
            .filter(entity::account::Column::Status.eq(AccountStatus::Claimed.as_str()))
            .filter(entity::account::Column::Id.gt(after))
            .order_by_asc(entity::account::Column::Id)
            .limit(page.at_most)
            .all(&self.0.database.reader)
            .await
            .context("read a page of claimed accounts")?;
        let ids: Vec<&str> = found.iter().map(|row| row.id.as_str()).collect();
        let views = self.count_views(&ids, page.views_of).await?;
        let claimed_earlier = owner_storage::claimed_earlier(&self.0.database.reader, &ids).await?;
        let mut restricted = self.restricted_artifacts(&ids).await?;
        found
            .iter()
            .map(|row| {
                Ok(MeteredAccount {
                    account: rows::parse(&row.id, "an account id")?,
                    created_at: Time::from_millis(row.created_at),
                    stored: StoredBytes {
                        own: rows::count(row.storage_bytes),
                        claimed_earlier: claimed_earlier.get(&row.id).copied().unwrap_or_default(),
                    },
                    views: views.get(&row.id).copied().unwrap_or_default(),
                    restricted_artifacts: restricted.remove(&row.id).unwrap_or_default(),
                })
            })
            .collect()
    }

    async fn count_views(self, accounts: &[&str], month: Month) -> anyhow::Result<HashMap<String, u64>> {
        let found = entity::usage::Entity::find()
            .filter(entity::usage::Column::AccountId.is_in(accounts.iter().copied()))
            .filter(entity::usage::Column::Month.eq(month.to_string()))
            .all(&self.0.database.reader)
            .await
            .context("read the views of a month")?;
        Ok(found.into_iter().map(|row| (row.account_id, rows::count(row.views))).collect())
    }

    async fn restricted_artifacts(
        self,
        accounts: &[&str],
    ) -> anyhow::Result<HashMap<String, Vec<ArtifactId>>> {
        let found: Vec<(String, String)> = rows::artifact::live_of_anyone()
            .select_only()
            .column(entity::artifact::Column::AccountId)
            .column(entity::artifact::Column::Id)
            .filter(entity::artifact::Column::AccountId.is_in(accounts.iter().copied()))
            .filter(entity::artifact::Column::Visibility.ne(Visibility::Public.as_str()))
            .order_by_asc(entity::artifact::Column::Id)
            .into_tuple()
            .all(&self.0.database.reader)
            .await
            .context("read the artifacts that are not public")?;
        let mut by_account: HashMap<String, Vec<ArtifactId>> = HashMap::new();
        for (account, artifact) in found {
            by_account.entry(account).or_default().push(rows::parse(&artifact, "an artifact id")?);
        }
        Ok(by_account)
    }
}
