//! Suspends an account and lifts its suspension. The account's row is authoritative; its routes have a copy
//! for the edges.

use anyhow::Context;
use domain::{AccountId, Chance, Host, OperatorName, Origin, Suspension, SuspensionReason, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};

use crate::audit::{self, Entry};
use crate::handles::AccountStore;
use crate::routes;
use crate::rows::account::lock_account;

/// An operator's decision on an account.
#[derive(Clone, Debug)]
pub struct SuspensionChange<'a> {
    pub account: AccountId,
    /// The reason of the suspension. `None` lifts the suspension.
    pub reason: Option<SuspensionReason>,
    pub by: &'a OperatorName,
    pub origin: Origin,
    pub now: Time,
}

/// The account after the change.
#[derive(Clone, Debug)]
pub struct SuspensionSet {
    pub handle: String,
    pub suspension: Option<Suspension>,
    /// The account's hosts, if the change affected them.
    pub hosts: Vec<Host>,
}

impl AccountStore<'_> {
    /// Suspends an account or lifts its suspension. A suspended account keeps its date and gets the new
    /// reason. Lifting a suspension that does not exist changes nothing. `None` if there is no such account.
    pub async fn set_suspension(
        self,
        change: &SuspensionChange<'_>,
        chance: &Chance,
    ) -> anyhow::Result<Option<SuspensionSet>> {
        let SuspensionChange { account, reason, by, origin, now } = change;
        let transaction = self.0.database.begin().await?;
        let Some(row) = lock_account(&transaction, *account).await? else { return Ok(None) };
        if row.suspended_at.is_none() && reason.is_none() {
            return Ok(Some(SuspensionSet { handle: row.handle, suspension: None, hosts: Vec::new() }));
        }
        let at = row.suspended_at.map_or(*now, Time::from_millis);
        let suspension = reason.clone().map(|reason| Suspension { at, reason });
        let decision = entity::account::ActiveModel {
            id: Set(row.id.clone()),
            suspended_at: Set(suspension.as_ref().map(|suspension| suspension.at.millis())),
            suspension_reason: Set(reason.as_ref().map(|reason| reason.as_str().to_owned())),
            ..Default::default()
        };
        entity::account::Entity::update(decision).exec_without_returning(&transaction).await?;
        if suspension.is_none() {
            give_back_time(&transaction, &row, now.millis() - at.millis()).await?;
        }
        let suspended_at = suspension.as_ref().map(|suspension| suspension.at);
        let hosts = routes::suspend(&transaction, *account, suspended_at, *now).await?;
        let entry = Entry {
            account: Some(*account),
            person: None,
            actor: audit::operator(by.as_str()),
            origin: Some(*origin),
            action: if reason.is_some() { "account.suspended" } else { "account.suspension_lifted" },
            subject: row.id.into(),
            detail: reason.as_ref().map(|reason| reason.as_str().to_owned()).unwrap_or_default(),
        };
        audit::note(&transaction, chance, *now, entry).await?;
        transaction.commit().await.context("commit the suspension of an account")?;
        Ok(Some(SuspensionSet { handle: row.handle, suspension, hosts }))
    }
}

/// A provisional account cannot be claimed while it is suspended, so its expiry is postponed by the duration
/// of the suspension.
async fn give_back_time(
    transaction: &DatabaseTransaction,
    row: &entity::account::Model,
    suspended_millis: i64,
) -> anyhow::Result<()> {
    let Some(expires_at) = row.expires_at else { return Ok(()) };
    let expires_at = Some(expires_at + suspended_millis.max(0));
    let account = entity::account::ActiveModel {
        id: Set(row.id.clone()),
        expires_at: Set(expires_at),
        ..Default::default()
    };
    entity::account::Entity::update(account).exec_without_returning(transaction).await?;
    entity::route::Entity::update_many()
        .col_expr(entity::route::Column::ExpiresAt, Expr::value(expires_at))
        .filter(entity::route::Column::AccountId.eq(row.id.as_str()))
        .exec(transaction)
        .await?;
    Ok(())
}
