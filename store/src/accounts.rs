//! Accounts and their monthly usage. This module only reads balances and allowances; only `settle` changes
//! them.

use anyhow::Context;
use domain::{
    Account, AccountId, AccountStatus, AccountSummary, BillingState, Micro, MonthlyUse, StoredBytes, Time,
    Visibility, is_handle,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, IntoCondition};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, JoinType, PaginatorTrait, QueryFilter, QuerySelect,
    RelationDef,
};

use crate::handles::AccountStore;
use crate::{NewToken, owner_storage, rows};

impl AccountStore<'_> {
    /// Inserts a new account with its first token.
    pub async fn create(self, account: &Account, token: &NewToken) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        insert(&transaction, account, token).await?;
        transaction.commit().await.context("commit a new account")
    }

    /// An account with its usage in the month of `now`.
    pub async fn summary(self, id: AccountId, now: Time) -> anyhow::Result<Option<AccountSummary>> {
        let reader = &self.0.database.reader;
        let Some(account) = entity::account::Entity::find_by_id(id.to_string()).one(reader).await? else {
            return Ok(None);
        };
        let month = now.month();
        let usage =
            entity::usage::Entity::find_by_id((id.to_string(), month.to_string())).one(reader).await?;
        let restricted_artifacts = rows::artifact::live(id)
            .filter(entity::artifact::Column::Visibility.ne(Visibility::Public.as_str()))
            .count(reader)
            .await?;
        let earlier = owner_storage::claimed_earlier(reader, &[account.id.as_str()]).await?;
        let stored = StoredBytes {
            own: rows::count(account.storage_bytes),
            claimed_earlier: earlier.get(&account.id).copied().unwrap_or_default(),
        };
        let used = usage.map_or_else(MonthlyUse::default, |usage| MonthlyUse {
            publishes: rows::count(usage.publishes),
            views: rows::count(usage.views),
        });
        let account = rows::account(account)?;
        Ok(Some(AccountSummary { account, month, used, restricted_artifacts, stored }))
    }

    /// Everything that a charge depends on. One query, because every publish runs it.
    pub async fn billing_state(self, id: AccountId, now: Time) -> anyhow::Result<Option<BillingState>> {
        let month = now.month().to_string();
        let of_the_month: RelationDef = entity::account::Entity::belongs_to(entity::usage::Entity)
            .from(entity::account::Column::Id)
            .to(entity::usage::Column::AccountId)
            .on_condition(move |_, usage| {
                Expr::col((usage, entity::usage::Column::Month)).eq(month.as_str()).into_condition()
            })
            .into();
        let found = entity::account::Entity::find_by_id(id.to_string())
            .join(JoinType::LeftJoin, of_the_month)
            .select_also(entity::usage::Entity)
            .one(&self.0.database.reader)
            .await?;
        let Some((account, usage)) = found else { return Ok(None) };
        let account = rows::account(account)?;
        let publishes_used = match account.status {
            AccountStatus::Provisional => account.provisional_publishes,
            AccountStatus::Claimed => usage.map_or(0, |usage| rows::count(usage.publishes)),
        };
        Ok(Some(BillingState { status: account.status, balance: account.balance, publishes_used }))
    }

    /// Finds an account by its id or handle.
    pub async fn find_named(self, name: &str) -> anyhow::Result<Option<AccountId>> {
        let column = match name.parse::<AccountId>() {
            Ok(id) => entity::account::Column::Id.eq(id.to_string()),
            Err(_) if is_handle(name) => entity::account::Column::Handle.eq(name),
            Err(_) => return Ok(None),
        };
        let found = entity::account::Entity::find().filter(column).one(&self.0.database.reader).await?;
        found.map(|row| rows::parse(&row.id, "an account id")).transpose()
    }

    pub async fn find(self, id: AccountId) -> anyhow::Result<Option<Account>> {
        let found = entity::account::Entity::find_by_id(id.to_string()).one(&self.0.database.reader).await?;
        found.map(rows::account).transpose()
    }
}

/// Inserts a new account with its first token.
pub(crate) async fn insert(
    transaction: &DatabaseTransaction,
    account: &Account,
    token: &NewToken,
) -> anyhow::Result<()> {
    entity::account::Entity::insert(account_row(account)).exec_without_returning(transaction).await?;
    entity::token::Entity::insert(rows::token::row(token)).exec_without_returning(transaction).await?;
    Ok(())
}

fn account_row(account: &Account) -> entity::account::ActiveModel {
    entity::account::ActiveModel {
        id: Set(account.id.to_string()),
        handle: Set(account.handle.clone()),
        status: Set(account.status.as_str().to_owned()),
        expires_at: Set(account.expires_at.map(Time::millis)),
        claim_code: Set(account.claim_code.clone()),
        balance_micro: Set(Micro::ZERO.get()),
        ledger_entries: Set(0),
        allow_agent_join: Set(account.allow_agent_join),
        provisional_publishes: Set(0),
        storage_bytes: Set(0),
        artifact_count: Set(0),
        has_real_payment: Set(false),
        created_at: Set(account.created_at.millis()),
        claimed_at: Set((account.status == AccountStatus::Claimed).then_some(account.created_at.millis())),
        suspended_at: Set(None),
        suspension_reason: Set(None),
        versions_kept: Set(None),
        versions_days: Set(None),
        name: Set(account.name.as_ref().map(|name| name.as_str().to_owned())),
    }
}
