//! Accounts, their tokens and their month. Balances and allowances are only read here; `settle` alone writes them.

use anyhow::Context;
use domain::{
    Account, AccountId, AccountStatus, AccountSummary, ArtifactId, Chance, Micro, MonthlyUse, Scopes,
    Standing, Time, TokenId, UserId, Visibility,
};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, PaginatorTrait, QueryFilter, QuerySelect, RelationDef};

use crate::{Store, rows};

/// A token as the door needs it: what it may, and for which account.
#[derive(Clone, Debug)]
pub struct TokenGrant {
    pub token: TokenId,
    pub account: Account,
    pub scopes: Scopes,
    pub pinned_to: Option<ArtifactId>,
    /// The person behind it: who minted it, or who invited its agent.
    pub created_by_user: Option<UserId>,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
    pub last_used_at: Option<Time>,
}

/// A token to be written: its secret is known by hash only.
#[derive(Clone, Debug)]
pub struct NewToken {
    pub id: TokenId,
    pub account: AccountId,
    pub secret_hash: String,
    pub name: String,
    pub scopes: Scopes,
    pub created_at: Time,
}

impl NewToken {
    /// The token that an account begins with: it may everything.
    pub fn first_of(account: &Account, secret_hash: String, chance: &Chance) -> Self {
        Self {
            id: TokenId::new(account.created_at, chance),
            account: account.id,
            secret_hash,
            name: "signup".to_owned(),
            scopes: Scopes::all(),
            created_at: account.created_at,
        }
    }
}

impl Store {
    /// Writes a fresh account with its first token.
    pub async fn insert_account(&self, account: &Account, token: &NewToken) -> anyhow::Result<()> {
        let transaction = self.database.begin().await?;
        entity::account::Entity::insert(account_row(account)).exec_without_returning(&transaction).await?;
        entity::token::Entity::insert(token_row(token)).exec_without_returning(&transaction).await?;
        transaction.commit().await.context("commit a new account")
    }

    pub async fn token_grant(&self, secret_hash: &str) -> anyhow::Result<Option<TokenGrant>> {
        let owner: RelationDef = entity::token::Entity::belongs_to(entity::account::Entity)
            .from(entity::token::Column::AccountId)
            .to(entity::account::Column::Id)
            .into();
        let found = entity::token::Entity::find()
            .join(JoinType::InnerJoin, owner)
            .select_also(entity::account::Entity)
            .filter(entity::token::Column::SecretHash.eq(secret_hash))
            .one(&self.database.reader)
            .await?;
        let Some((token, Some(account))) = found else { return Ok(None) };
        Ok(Some(TokenGrant {
            token: rows::parse(&token.id, "a token id")?,
            account: rows::account(account)?,
            scopes: rows::parse(&token.scopes, "a list of scopes")?,
            pinned_to: token.artifact_id.map(|id| rows::parse(&id, "an artifact id")).transpose()?,
            created_by_user: token.created_by_user.map(|id| rows::parse(&id, "a user id")).transpose()?,
            expires_at: token.expires_at.map(Time::from_millis),
            revoked_at: token.revoked_at.map(Time::from_millis),
            last_used_at: token.last_used_at.map(Time::from_millis),
        }))
    }

    /// An account with its use of the month that `now` falls in.
    pub async fn account_summary(&self, id: AccountId, now: Time) -> anyhow::Result<Option<AccountSummary>> {
        let reader = &self.database.reader;
        let Some(account) = entity::account::Entity::find_by_id(id.to_string()).one(reader).await? else {
            return Ok(None);
        };
        let month = now.month();
        let usage =
            entity::usage::Entity::find_by_id((id.to_string(), month.to_string())).one(reader).await?;
        let restricted_artifacts = entity::artifact::Entity::find()
            .filter(entity::artifact::Column::AccountId.eq(id.to_string()))
            .filter(entity::artifact::Column::DeletedAt.is_null())
            .filter(entity::artifact::Column::Visibility.ne(Visibility::Public.as_str()))
            .count(reader)
            .await?;
        let used = usage.map_or_else(MonthlyUse::default, |usage| MonthlyUse {
            publishes: rows::count(usage.publishes),
            views: rows::count(usage.views),
        });
        Ok(Some(AccountSummary { account: rows::account(account)?, month, used, restricted_artifacts }))
    }

    /// What a charge depends on, in as few reads as it takes: only a claimed account counts by the month.
    pub async fn standing(&self, id: AccountId, now: Time) -> anyhow::Result<Option<Standing>> {
        let Some(account) = self.account(id).await? else { return Ok(None) };
        let publishes_used = match account.status {
            AccountStatus::Provisional => account.provisional_publishes,
            AccountStatus::Claimed => {
                let month = (id.to_string(), now.month().to_string());
                let usage = entity::usage::Entity::find_by_id(month).one(&self.database.reader).await?;
                usage.map_or(0, |usage| rows::count(usage.publishes))
            }
        };
        Ok(Some(Standing { status: account.status, balance: account.balance, publishes_used }))
    }

    /// The balance and whatever else a cheap look at one account needs.
    pub async fn account(&self, id: AccountId) -> anyhow::Result<Option<Account>> {
        let found = entity::account::Entity::find_by_id(id.to_string()).one(&self.database.reader).await?;
        found.map(rows::account).transpose()
    }
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
    }
}

fn token_row(token: &NewToken) -> entity::token::ActiveModel {
    entity::token::ActiveModel {
        id: Set(token.id.to_string()),
        secret_hash: Set(token.secret_hash.clone()),
        account_id: Set(token.account.to_string()),
        name: Set(token.name.clone()),
        scopes: Set(token.scopes.to_string()),
        artifact_id: Set(None),
        created_by_user: Set(None),
        created_by_token: Set(None),
        created_at: Set(token.created_at.millis()),
        expires_at: Set(None),
        revoked_at: Set(None),
        last_used_at: Set(None),
    }
}
