//! One account's page of the ledger while a batch is settled: read once, changed in memory, written once. It must
//! never be kept beyond its transaction.

use std::collections::{HashMap, HashSet};

use anyhow::Context;
use domain::{
    AccountId, AccountStatus, Deed, JobId, Micro, Outcome, Reason, Standing, SweepNumber, Time, has_expired,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter};

use super::Terms;
use crate::outcomes::{keep_the_first, outcome_row};
use crate::rows;

/// One account's page of the ledger while a batch is settled: read once at the start, changed in memory, written
/// once at the end.
pub(super) struct Book {
    pub(super) account: entity::account::Model,
    pub(super) now: Time,
    status: AccountStatus,
    usage: entity::usage::Model,
    usage_changed: bool,
    account_changed: bool,
    used_reasons: HashSet<String>,
    known_outcomes: HashMap<JobId, Outcome>,
    new_entries: Vec<entity::ledger_entry::ActiveModel>,
    new_outcomes: Vec<entity::job_outcome::ActiveModel>,
    movements: Vec<Movement>,
    /// The oldest look for blobs that a version of this batch counts on.
    blobs_as_of: Option<SweepNumber>,
}

/// A movement of money, to be logged once it is committed.
#[derive(Debug)]
pub(super) struct Movement {
    handle: String,
    delta: Micro,
    balance: Micro,
    reason: String,
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

impl Book {
    pub(super) async fn open(
        transaction: &DatabaseTransaction,
        account: entity::account::Model,
        deeds: &[Deed],
        terms: &Terms,
    ) -> anyhow::Result<Self> {
        let status = rows::account(account.clone())?.status;
        Ok(Self {
            status,
            usage: usage(transaction, &account.id, status, terms.now).await?,
            used_reasons: used_reasons(transaction, &account.id, reasons_of(deeds)).await?,
            known_outcomes: known_outcomes(transaction, deeds).await?,
            account,
            now: terms.now,
            usage_changed: false,
            account_changed: false,
            new_entries: Vec::new(),
            new_outcomes: Vec::new(),
            movements: Vec::new(),
            blobs_as_of: None,
        })
    }

    pub(super) fn account_id(&self) -> anyhow::Result<AccountId> {
        rows::parse(&self.account.id, "an account id")
    }

    pub(super) fn status(&self) -> AccountStatus {
        self.status
    }

    pub(super) fn is_expired(&self) -> bool {
        has_expired(self.account.expires_at.map(Time::from_millis), self.now)
    }

    pub(super) fn balance(&self) -> Micro {
        Micro::new(self.account.balance_micro)
    }

    pub(super) fn standing(&self) -> Standing {
        let publishes_used = match self.status {
            AccountStatus::Provisional => self.account.provisional_publishes,
            AccountStatus::Claimed => self.usage.publishes,
        };
        Standing { status: self.status, balance: self.balance(), publishes_used: rows::count(publishes_used) }
    }

    /// Counts a publish against the allowance: of the whole life while provisional, else of the month.
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

    pub(super) fn count_on_blobs(&mut self, as_of: SweepNumber) {
        self.blobs_as_of = Some(self.blobs_as_of.map_or(as_of, |oldest| oldest.min(as_of)));
    }

    pub(super) fn counts_on_blobs_as_of(&self) -> Option<SweepNumber> {
        self.blobs_as_of
    }

    pub(super) fn note_real_payment(&mut self) {
        self.account.has_real_payment = true;
        self.account_changed = true;
    }

    /// Whether money has moved under a reason before, in this batch or earlier.
    pub(super) async fn has_used(
        &mut self,
        transaction: &DatabaseTransaction,
        reason: &Reason,
    ) -> anyhow::Result<bool> {
        let reason = reason.to_string();
        if !self.used_reasons.contains(&reason) {
            self.used_reasons
                .extend(used_reasons(transaction, &self.account.id, vec![reason.clone()]).await?);
        }
        Ok(self.used_reasons.contains(&reason))
    }

    /// Moves money under a reason. `false`, and nothing moved, when the reason had been used.
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

    pub(super) fn known_outcome(&self, job: JobId) -> Option<Outcome> {
        self.known_outcomes.get(&job).cloned()
    }

    pub(super) fn record_outcome(&mut self, job: JobId, kind: &str, outcome: &Outcome) -> anyhow::Result<()> {
        self.new_outcomes.push(outcome_row(job, Some(self.account_id()?), kind, outcome, self.now)?);
        // The same job twice in one batch: the second finds what the first did.
        self.known_outcomes.insert(job, outcome.clone());
        Ok(())
    }

    /// Writes what the batch changed. The movements of money are to be logged after the commit.
    pub(super) async fn close(self, transaction: &DatabaseTransaction) -> anyhow::Result<Vec<Movement>> {
        if !self.new_entries.is_empty() {
            entity::ledger_entry::Entity::insert_many(self.new_entries)
                .exec_without_returning(transaction)
                .await
                .context("insert ledger entries")?;
        }
        if !self.new_outcomes.is_empty() {
            entity::job_outcome::Entity::insert_many(self.new_outcomes)
                .on_conflict(keep_the_first())
                .exec_without_returning(transaction)
                .await
                .context("insert outcomes")?;
        }
        if self.usage_changed {
            write_usage(transaction, self.usage).await?;
        }
        if self.account_changed {
            let row = self.account;
            let change = entity::account::ActiveModel {
                id: Set(row.id),
                balance_micro: Set(row.balance_micro),
                ledger_entries: Set(row.ledger_entries),
                provisional_publishes: Set(row.provisional_publishes),
                storage_bytes: Set(row.storage_bytes),
                artifact_count: Set(row.artifact_count),
                has_real_payment: Set(row.has_real_payment),
                ..Default::default()
            };
            entity::account::Entity::update(change)
                .exec_without_returning(transaction)
                .await
                .context("write the account")?;
        }
        Ok(self.movements)
    }
}

/// The month's use, which only a claimed account's allowance asks for.
async fn usage(
    transaction: &DatabaseTransaction,
    account: &str,
    status: AccountStatus,
    now: Time,
) -> anyhow::Result<entity::usage::Model> {
    let id = (account.to_owned(), now.month().to_string());
    let known = match status {
        AccountStatus::Provisional => None,
        AccountStatus::Claimed => entity::usage::Entity::find_by_id(id.clone()).one(transaction).await?,
    };
    let (account_id, month) = id;
    Ok(known.unwrap_or(entity::usage::Model { account_id, month, publishes: 0, views: 0 }))
}

// The views of the row belong to another writer, so only the publishes are set.
async fn write_usage(transaction: &DatabaseTransaction, usage: entity::usage::Model) -> anyhow::Result<()> {
    let mut replace = OnConflict::columns([entity::usage::Column::AccountId, entity::usage::Column::Month]);
    replace.update_column(entity::usage::Column::Publishes);
    entity::usage::Entity::insert(usage.into_active_model())
        .on_conflict(replace)
        .exec_without_returning(transaction)
        .await
        .context("write the month's usage")?;
    Ok(())
}

/// The reasons that may have been used before and are known before the deed is looked at.
fn reasons_of(deeds: &[Deed]) -> Vec<String> {
    let reasons = deeds.iter().filter_map(|deed| match deed {
        // A publish is known by its outcome; its reasons are made of its own new id. So is a change of visibility,
        // whose month is asked for when its artifact is known.
        Deed::Publish(_) | Deed::Visibility(_) => None,
        // Its outcome is swept one day, and the money must not come in again even then.
        Deed::TopUp(deed) => Some(Reason::DevTopUp(deed.job).to_string()),
        Deed::Credit(deed) => Some(deed.reason.clone()),
        Deed::Charge(deed) => Some(deed.reason.clone()),
    });
    reasons.collect()
}

async fn used_reasons(
    transaction: &DatabaseTransaction,
    account: &str,
    reasons: Vec<String>,
) -> anyhow::Result<HashSet<String>> {
    if reasons.is_empty() {
        return Ok(HashSet::new());
    }
    let used = entity::ledger_entry::Entity::find()
        .filter(entity::ledger_entry::Column::AccountId.eq(account))
        .filter(entity::ledger_entry::Column::Reason.is_in(reasons))
        .all(transaction)
        .await?;
    Ok(used.into_iter().map(|entry| entry.reason).collect())
}

async fn known_outcomes(
    transaction: &DatabaseTransaction,
    deeds: &[Deed],
) -> anyhow::Result<HashMap<JobId, Outcome>> {
    let jobs: Vec<String> = deeds.iter().filter_map(Deed::job).map(|job| job.to_string()).collect();
    if jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::job_outcome::Entity::find()
        .filter(entity::job_outcome::Column::JobId.is_in(jobs))
        .all(transaction)
        .await?;
    found
        .into_iter()
        .map(|row| Ok((rows::parse(&row.job_id, "a job id")?, serde_json::from_str(&row.outcome)?)))
        .collect()
}
