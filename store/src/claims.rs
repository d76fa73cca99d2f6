//! How a person claims a provisional account. The claim is one transaction that locks the account's row, so
//! that of two concurrent claims exactly one succeeds.

use std::num::NonZeroU32;

use anyhow::Context;
use domain::{Account, AccountStatus, Chance, Host, Maker, Origin, Role, Time, UserId, has_expired};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};

use crate::change_result::ChangeResult;
use crate::handles::AccountStore;
use crate::rows::account::{lock_account, must_not_be_suspended};
use crate::rows::member::{self, NewMember};
use crate::{Change, TokenFate, audit, revocations, routes, rows};

#[derive(Clone, Copy, Debug)]
pub struct Claimer {
    pub user: UserId,
    pub origin: Origin,
    /// How many accounts a person may own. `None` means no limit.
    pub accounts_max: Option<NonZeroU32>,
    /// What happens to the account's existing tokens.
    pub tokens: TokenFate,
}

/// The result of a claim.
#[derive(Debug)]
pub enum Claimed {
    /// The account belongs to the claimer. `hosts` are all its hosts: they lose their badge and their expiry.
    Now {
        account: Box<Account>,
        hosts: Vec<Host>,
        tokens_revoked: u64,
    },
    NoSuchCode,
    Expired,
    Already,
    /// The claimer owns the maximum number of accounts already.
    TooMany {
        limit: u32,
    },
}

impl AccountStore<'_> {
    /// Finds an account in any state by its claim code.
    pub async fn find_by_claim_code(self, code: &str) -> anyhow::Result<Option<Account>> {
        let found = entity::account::Entity::find()
            .filter(entity::account::Column::ClaimCode.eq(code))
            .one(&self.0.database.reader)
            .await?;
        found.map(rows::account).transpose()
    }

    /// Makes the claimer the owner of a provisional account (spec 3.1).
    pub async fn claim(
        self,
        code: &str,
        claimer: &Claimer,
        now: Time,
        chance: &Chance,
    ) -> ChangeResult<Claimed> {
        let Some(found) = self.find_by_claim_code(code).await? else { return Ok(Claimed::NoSuchCode) };
        let transaction = self.0.database.begin().await?;
        let row = lock_account(&transaction, found.id).await?.filter(|row| row.claim_code == code);
        let Some(row) = row else { return Ok(Claimed::NoSuchCode) };
        must_not_be_suspended(&row)?;
        let account = rows::account(row)?;
        if account.status == AccountStatus::Claimed {
            return Ok(Claimed::Already);
        }
        if has_expired(account.expires_at, now) {
            return Ok(Claimed::Expired);
        }
        if let Some(max) = claimer.accounts_max
            && owned_accounts(&transaction, claimer.user).await? >= u64::from(max.get())
        {
            return Ok(Claimed::TooMany { limit: max.get() });
        }
        let account = Account { status: AccountStatus::Claimed, expires_at: None, ..account };
        make_permanent(&transaction, &account, now).await?;
        let hosts = unlimit_routes(&transaction, &account, now).await?;
        let owner = NewMember { account: account.id, user: claimer.user, role: Role::Owner, joined_at: now };
        member::insert(&transaction, &owner).await?;
        let entry = audit::Entry {
            account: Some(account.id),
            person: None,
            actor: claimer.user.to_string(),
            origin: Some(claimer.origin),
            action: "account.claimed",
            subject: account.id.to_string().into(),
            detail: format!("{} became somebody's own", account.handle),
        };
        audit::note(&transaction, chance, now, entry).await?;
        let by = Maker { user: Some(claimer.user), token: None };
        let change = Change { account: account.id, by, origin: claimer.origin, now, chance };
        let tokens_revoked = match claimer.tokens {
            TokenFate::Keep => 0,
            TokenFate::Revoke => revocations::revoke_all(&transaction, &change).await?,
        };
        transaction.commit().await.context("commit a claim")?;
        Ok(Claimed::Now { account: Box::new(account), hosts, tokens_revoked })
    }
}

/// How many accounts a person owns. It locks the person's row, so that concurrent claims are counted one
/// after the other. The lock mode does not block foreign key checks.
async fn owned_accounts(transaction: &DatabaseTransaction, user: UserId) -> anyhow::Result<u64> {
    entity::user::Entity::find_by_id(user.to_string())
        .lock(LockType::NoKeyUpdate)
        .one(transaction)
        .await
        .context("lock a person")?;
    let owned = entity::membership::Entity::find()
        .filter(entity::membership::Column::UserId.eq(user.to_string()))
        .filter(entity::membership::Column::Role.eq(Role::Owner.as_str()));
    owned.count(transaction).await.context("count the accounts of a person")
}

async fn make_permanent(
    transaction: &DatabaseTransaction,
    account: &Account,
    now: Time,
) -> anyhow::Result<()> {
    let change = entity::account::ActiveModel {
        id: Set(account.id.to_string()),
        status: Set(account.status.as_str().to_owned()),
        expires_at: Set(None),
        claimed_at: Set(Some(now.millis())),
        ..Default::default()
    };
    entity::account::Entity::update(change).exec_without_returning(transaction).await?;
    Ok(())
}

async fn unlimit_routes(
    transaction: &DatabaseTransaction,
    account: &Account,
    now: Time,
) -> anyhow::Result<Vec<Host>> {
    entity::route::Entity::update_many()
        .col_expr(entity::route::Column::ExpiresAt, Expr::value(None::<i64>))
        .col_expr(entity::route::Column::UpdatedAt, routes::changed_at(now))
        .filter(entity::route::Column::AccountId.eq(account.id.to_string()))
        .exec(transaction)
        .await?;
    routes::hosts_of(transaction, account.id).await
}
