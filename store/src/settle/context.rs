//! The working state of a commit: the inputs of its operations, read with a few statements for all of them,
//! and their changes, which are written likewise. It must never outlive its transaction.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use anyhow::Context;
use domain::{AccountId, AccountStatus, Chance, JobId, LedgerOperation, Outcome, Reason, Refusal, Time};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};

use super::batch::{AccountChanges, BatchState, Movement};
use super::sites::Sites;
use super::{Batch, Past, Terms, audit_entries};
use crate::database::clock_time;
use crate::many::{among, known_pairs};
use crate::outcomes::outcome_row;
use crate::script::Script;
use crate::{audit, blob_sweep, rows};

pub(super) struct SettleContext<'a> {
    /// Ordered, because every transaction must write rows of several accounts in the same order.
    accounts: BTreeMap<AccountId, BatchState>,
    sites: Sites<'a>,
    /// Of this commit, and of earlier ones if they were queried.
    known_outcomes: HashMap<JobId, Outcome>,
    new_outcomes: Vec<entity::job_outcome::ActiveModel>,
    audit_entries: Vec<entity::audit::ActiveModel>,
    chance: Chance,
    now: Time,
    /// By the database's clock, if an operation has a deadline.
    clock: ClockReading,
}

/// The database's clock, read under the locks, and the local instant of that reading, from which later times
/// are computed. `None` if no operation has a deadline.
#[derive(Clone, Copy)]
pub(super) struct ClockReading(Option<(Time, Instant)>);

impl ClockReading {
    async fn of(is_needed: bool, transaction: &DatabaseTransaction) -> anyhow::Result<Self> {
        Ok(Self(if is_needed { Some((clock_time(transaction).await?, Instant::now())) } else { None }))
    }

    pub(super) fn has_passed(self, deadline: Option<Time>) -> bool {
        let now = self.0.map(|(time, read_at)| time.plus(read_at.elapsed()));
        matches!((deadline, now), (Some(deadline), Some(now)) if now >= deadline)
    }
}

impl<'a> SettleContext<'a> {
    /// Reads the inputs of the operations. The accounts' rows are locked.
    pub(super) async fn open(
        transaction: &DatabaseTransaction,
        rows: Vec<entity::account::Model>,
        batches: &[Batch<'a>],
        terms: &Terms,
        past: Past,
    ) -> anyhow::Result<Self> {
        let operations: Vec<&LedgerOperation> = batches.iter().flat_map(|batch| batch.operations).collect();
        let mut usages = usages(transaction, &rows, terms.now).await?;
        let (mut reasons, known_outcomes) = match past {
            Past::Queried => (
                find_used_reasons(transaction, reasons_of(&operations)).await?,
                known_outcomes(transaction, &operations).await?,
            ),
            Past::Unchecked => (HashMap::new(), HashMap::new()),
        };
        let mut accounts = BTreeMap::new();
        for row in rows {
            let (usage, reasons) = (usages.remove(&row.id), reasons.remove(&row.id).unwrap_or_default());
            accounts.insert(
                rows::parse(&row.id, "an account id")?,
                BatchState::open(row, usage, reasons, terms.now)?,
            );
        }
        let sites = Sites::open(transaction, batches, terms.now).await?;
        // Last and under the locks, because the time of waiting for them counts.
        let has_deadlines = operations.iter().any(|operation| operation.deadline().is_some());
        let clock = ClockReading::of(has_deadlines, transaction).await?;
        Ok(Self {
            accounts,
            sites,
            known_outcomes,
            new_outcomes: Vec::new(),
            audit_entries: Vec::new(),
            chance: terms.chance.clone(),
            now: terms.now,
            clock,
        })
    }

    /// A refusal that applies to every operation: its deadline has passed, or its account is suspended. It
    /// reads the locked row, so operations that were queued before a suspension are refused, too.
    pub(super) fn refusal_of(&self, operation: &LedgerOperation) -> Option<Refusal> {
        if self.clock.has_passed(operation.deadline()) {
            return Some(Refusal::past_deadline());
        }
        let batch = self.accounts.get(&operation.account()).filter(|_| operation.is_write())?;
        batch.must_take_writes().err()
    }

    pub(super) fn clock(&self) -> ClockReading {
        self.clock
    }

    /// The outcome of an operation that was settled before, earlier or in this commit.
    pub(super) fn known_outcome(&self, operation: &LedgerOperation) -> Option<Outcome> {
        self.accounts.get(&operation.account())?;
        self.known_outcomes.get(&operation.job()?).cloned()
    }

    /// The state of an account, and the sites. `None` if the account is deleted.
    pub(super) fn state_of(&mut self, account: AccountId) -> Option<(&mut BatchState, &mut Sites<'a>)> {
        Some((self.accounts.get_mut(&account)?, &mut self.sites))
    }

    /// Records the contents of a refused publish, so that a sweep can delete them.
    pub(super) fn record_unused_contents(&mut self, operation: &'a LedgerOperation, outcome: &Outcome) {
        if let (LedgerOperation::Publish(operation), Outcome::Refused(_)) = (operation, outcome) {
            self.sites.record_refused(operation);
        }
    }

    /// Stores the outcome of an operation. Nothing is stored for a deleted account, but the contents of its
    /// publish are recorded.
    pub(super) fn record(&mut self, operation: &'a LedgerOperation, outcome: &Outcome) -> anyhow::Result<()> {
        self.record_unused_contents(operation, outcome);
        if self.accounts.contains_key(&operation.account()) {
            let entries = audit_entries::entries_of(operation, outcome);
            self.audit_entries.extend(entries.map(|entry| audit::row(&self.chance, self.now, entry)));
        }
        if let Some(job) = operation.job()
            && self.accounts.contains_key(&operation.account())
        {
            self.new_outcomes.push(outcome_row(
                job,
                Some(operation.account()),
                operation.kind(),
                outcome,
                self.now,
            )?);
            self.known_outcomes.insert(job, outcome.clone());
        }
        Ok(())
    }

    /// Writes what was published so far, except its contents.
    pub(super) async fn write_sites(&mut self, transaction: &DatabaseTransaction) -> anyhow::Result<()> {
        let mut script = Script::for_the(transaction);
        self.sites.write(&mut script)?;
        script.run(transaction).await
    }

    /// Writes all changes and returns the movements to log after the commit.
    pub(super) async fn close(self, transaction: &DatabaseTransaction) -> anyhow::Result<Vec<Movement>> {
        let mut script = Script::for_the(transaction);
        let blobs_as_of = self.sites.close(transaction, &mut script).await?;
        let mut changes = AccountChanges::default();
        self.accounts.into_values().for_each(|batch| batch.close(&mut changes));
        script.insert::<entity::ledger_entry::Entity>(changes.entries, None)?;
        script.insert::<entity::job_outcome::Entity>(self.new_outcomes, None)?;
        script.insert::<entity::audit::Entity>(self.audit_entries, None)?;
        write_usages(&mut script, changes.usages)?;
        write_accounts(&mut script, changes.accounts)?;
        script.run(transaction).await?;
        // The references are written, so no sweep can run in between.
        if let Some(as_of) = blobs_as_of {
            blob_sweep::require_none_since(transaction, as_of).await?;
        }
        Ok(changes.movements)
    }
}

/// The usage of claimed accounts in the month. The allowance of other accounts does not depend on it.
async fn usages(
    transaction: &DatabaseTransaction,
    accounts: &[entity::account::Model],
    now: Time,
) -> anyhow::Result<HashMap<String, entity::usage::Model>> {
    let claimed = AccountStatus::Claimed.as_str();
    let ids: Vec<String> =
        accounts.iter().filter(|row| row.status == claimed).map(|row| row.id.clone()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::usage::Entity::find()
        .filter(among(transaction, entity::usage::Column::AccountId, ids))
        .filter(entity::usage::Column::Month.eq(now.month().to_string()))
        .all(transaction)
        .await
        .context("read the month's usage")?;
    Ok(found.into_iter().map(|usage| (usage.account_id.clone(), usage)).collect())
}

fn write_accounts(script: &mut Script, accounts: Vec<entity::account::ActiveModel>) -> anyhow::Result<()> {
    use entity::account::Column;
    // The rows exist and are locked. An upsert is the only way to set rows to different values with one
    // statement.
    let mut change = OnConflict::column(Column::Id);
    change.update_columns([
        Column::BalanceMicro,
        Column::LedgerEntries,
        Column::ProvisionalPublishes,
        Column::StorageBytes,
        Column::ArtifactCount,
        Column::HasRealPayment,
    ]);
    script.insert::<entity::account::Entity>(accounts, Some(change))
}

// Another writer updates the views of the row, so only the publishes are set.
fn write_usages(script: &mut Script, usages: Vec<entity::usage::ActiveModel>) -> anyhow::Result<()> {
    let mut replace = OnConflict::columns([entity::usage::Column::AccountId, entity::usage::Column::Month]);
    replace.update_column(entity::usage::Column::Publishes);
    script.insert::<entity::usage::Entity>(usages, Some(replace))
}

/// The reasons that may have been used before and are known without reading the operation's artifact, by
/// account.
fn reasons_of(operations: &[&LedgerOperation]) -> BTreeMap<AccountId, Vec<String>> {
    let mut reasons: BTreeMap<AccountId, Vec<String>> = BTreeMap::new();
    for operation in operations {
        let reason = match operation {
            // A publish is recognized by its outcome, and its reasons contain its own new id. The same
            // applies to a change of visibility, whose month is queried when its artifact is known.
            LedgerOperation::Publish(_) | LedgerOperation::Visibility(_) => continue,
            // Its outcome is deleted after some time, and the money must not be credited again even then.
            LedgerOperation::TopUp(operation) => Reason::DevTopUp(operation.job).to_string(),
            LedgerOperation::Credit(operation) => operation.reason.clone(),
            LedgerOperation::CardReversal(operation) => operation.reason().to_string(),
            LedgerOperation::Grant(operation) => Reason::OperatorCredit(operation.id).to_string(),
            LedgerOperation::Charge(operation) => operation.reason.clone(),
        };
        reasons.entry(operation.account()).or_default().push(reason);
    }
    reasons
}

/// Which of these reasons each account has used.
async fn find_used_reasons(
    transaction: &DatabaseTransaction,
    reasons: BTreeMap<AccountId, Vec<String>>,
) -> anyhow::Result<HashMap<String, HashSet<String>>> {
    use entity::ledger_entry::Column;
    let mut used: HashMap<String, HashSet<String>> = HashMap::new();
    let asked = reasons
        .into_iter()
        .flat_map(|(account, reasons)| reasons.into_iter().map(move |reason| (account.to_string(), reason)));
    let found =
        known_pairs::<entity::ledger_entry::Entity>(transaction, (Column::AccountId, Column::Reason), asked)
            .await
            .context("find used reasons")?;
    for (account, reason) in found {
        used.entry(account).or_default().insert(reason);
    }
    Ok(used)
}

async fn known_outcomes(
    transaction: &DatabaseTransaction,
    operations: &[&LedgerOperation],
) -> anyhow::Result<HashMap<JobId, Outcome>> {
    let jobs: Vec<String> =
        operations.iter().filter_map(|operation| operation.job()).map(|job| job.to_string()).collect();
    if jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::job_outcome::Entity::find()
        .filter(among(transaction, entity::job_outcome::Column::JobId, jobs))
        .all(transaction)
        .await
        .context("find outcomes")?;
    found
        .into_iter()
        .map(|row| Ok((rows::parse(&row.job_id, "a job id")?, serde_json::from_str(&row.outcome)?)))
        .collect()
}
