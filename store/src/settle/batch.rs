//! The state of one account during a commit. It is changed in memory and written at the end.

use std::collections::HashSet;

use domain::{
    AccountId, AccountStatus, BillingState, Micro, Reason, Refusal, Suspension, Time, must_take_writes,
};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter};

use crate::rows;

pub(super) struct BatchState {
    pub(super) account: entity::account::Model,
    pub(super) now: Time,
    status: AccountStatus,
    suspension: Option<Suspension>,
    usage: entity::usage::Model,
    usage_changed: bool,
    account_changed: bool,
    used_reasons: HashSet<String>,
    new_entries: Vec<entity::ledger_entry::ActiveModel>,
    movements: Vec<Movement>,
}

/// A movement of money, to be logged after the commit.
#[derive(Debug)]
pub(super) struct Movement {
    handle: String,
    delta: Micro,
    balance: Micro,
    reason: String,
}

/// The changed rows of a commit.
#[derive(Default)]
pub(super) struct AccountChanges {
    pub(super) entries: Vec<entity::ledger_entry::ActiveModel>,
    pub(super) usages: Vec<entity::usage::ActiveModel>,
    pub(super) accounts: Vec<entity::account::ActiveModel>,
    pub(super) movements: Vec<Movement>,
}

impl Movement {
    pub(super) fn log(&self) {
        tracing::info!(
            account.handle = %self.handle,
            ledger.delta_micro = self.delta.get(),
            ledger.balance_micro = self.balance.get(),
            ledger.reason = %self.reason,
            "money moved"
        );
    }
}

impl BatchState {
    /// The account as read under the lock. `usage` is `None` if the account has used nothing in the month, or
    /// its usage is not needed.
    pub(super) fn open(
        account: entity::account::Model,
        usage: Option<entity::usage::Model>,
        used_reasons: HashSet<String>,
        now: Time,
    ) -> anyhow::Result<Self> {
        let nothing_used = || entity::usage::Model {
            account_id: account.id.clone(),
            month: now.month().to_string(),
            publishes: 0,
            views: 0,
        };
        let parsed = rows::account(account.clone())?;
        Ok(Self {
            status: parsed.status,
            suspension: parsed.suspension,
            usage: usage.unwrap_or_else(nothing_used),
            account,
            now,
            usage_changed: false,
            account_changed: false,
            used_reasons,
            new_entries: Vec::new(),
            movements: Vec::new(),
        })
    }

    pub(super) fn account_id(&self) -> anyhow::Result<AccountId> {
        rows::parse(&self.account.id, "an account id")
    }

    pub(super) fn status(&self) -> AccountStatus {
        self.status
    }

    pub(super) fn must_take_writes(&self) -> Result<(), Refusal> {
        let expires_at = self.account.expires_at.map(Time::from_millis);
        must_take_writes(self.suspension.as_ref(), expires_at, self.now)
    }

    pub(super) fn balance(&self) -> Micro {
        Micro::new(self.account.balance_micro)
    }

    pub(super) fn billing_state(&self) -> BillingState {
        let publishes_used = match self.status {
            AccountStatus::Provisional => self.account.provisional_publishes,
            AccountStatus::Claimed => self.usage.publishes,
        };
        BillingState {
            status: self.status,
            balance: self.balance(),
            publishes_used: rows::count(publishes_used),
        }
    }

    /// Counts a publish against the allowance: of the whole life of a provisional account, otherwise of the
    /// month.
    pub(super) fn count_publish(&mut self) {
        match self.status {
            AccountStatus::Provisional => {
                self.account.provisional_publishes += 1;
                self.account_changed = true;
            }
            AccountStatus::Claimed => {
                self.usage.publishes += 1;
                self.usage_changed = true;
            }
        }
    }

    pub(super) fn add_storage(&mut self, bytes: u64) {
        self.account.storage_bytes = self.account.storage_bytes.saturating_add(rows::number(bytes));
        self.account_changed |= bytes > 0;
    }

    pub(super) fn count_artifact(&mut self) {
        self.account.artifact_count += 1;
        self.account_changed = true;
    }

    pub(super) fn record_real_payment(&mut self) {
        self.account.has_real_payment = true;
        self.account_changed = true;
    }

    /// Whether a reason was used before, in this commit or an earlier one.
    pub(super) async fn has_used(
        &mut self,
        transaction: &DatabaseTransaction,
        reason: &Reason,
    ) -> anyhow::Result<bool> {
        let reason = reason.to_string();
        if self.used_reasons.contains(&reason) {
            return Ok(true);
        }
        let used = entity::ledger_entry::Entity::find()
            .filter(entity::ledger_entry::Column::AccountId.eq(self.account.id.as_str()))
            .filter(entity::ledger_entry::Column::Reason.eq(reason.as_str()))
            .one(transaction)
            .await?;
        Ok(used.is_some() && { self.used_reasons.insert(reason) })
    }

    /// Adds a ledger entry with this reason. Returns false, and adds nothing, if the reason was used before.
    pub(super) fn enter(&mut self, delta: Micro, reason: &impl ToString) -> bool {
        let reason = reason.to_string();
        if delta.is_zero() || !self.used_reasons.insert(reason.clone()) {
            return false;
        }
        self.account.balance_micro = (self.balance() + delta).get();
        self.account.ledger_entries += 1;
        self.account_changed = true;
        self.new_entries.push(entity::ledger_entry::ActiveModel {
            account_id: Set(self.account.id.clone()),
            seq: Set(self.account.ledger_entries),
            delta_micro: Set(delta.get()),
            reason: Set(reason.clone()),
            balance_after_micro: Set(self.account.balance_micro),
            created_at: Set(self.now.millis()),
        });
        self.movements.push(Movement {
            handle: self.account.handle.clone(),
            delta,
            balance: self.balance(),
            reason,
        });
        true
    }

    /// Adds this account's changes to those of the commit.
    pub(super) fn close(self, changes: &mut AccountChanges) {
        changes.entries.extend(self.new_entries);
        changes.movements.extend(self.movements);
        if self.usage_changed {
            changes.usages.push(self.usage.into_active_model());
        }
        if self.account_changed {
            changes.accounts.push(self.account.into_active_model());
        }
    }
}
