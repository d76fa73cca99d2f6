//! The ledger's commit: settles operations of one or several accounts in one transaction.
//!
//! No other code inserts ledger entries or versions. The accounts' rows are locked first, so two processes
//! that settle for the same account queue here. An outcome is written together with its operation, so a
//! redelivered operation finds its outcome and changes nothing.
//!
//! The inputs of all operations are read together, the operations are settled in memory, and their changes
//! are written together. A commit of sixty operations needs no more statements than a commit of one.

mod audit_entries;
mod batch;
mod card;
mod conditions;
mod context;
mod payment;
mod publish;
mod rehearsal;
mod sites;
mod visibility;

use std::collections::HashSet;

use anyhow::{Context, ensure};
use domain::{
    AccountId, Chance, ChargeOperation, CreditOperation, CreditSource, GrantOperation, LedgerOperation,
    Moved, Outcome, Reason, Refusal, Tariff, Time, TopUpOperation, ToppedUp,
};
use sea_orm::DatabaseTransaction;

use crate::Store;
use crate::rows::account::{lock_account, lock_free_accounts};
use batch::{BatchState, Movement};
use context::SettleContext;

pub use rehearsal::Rehearsed;

/// The inputs of settling besides the operations.
#[derive(Clone, Debug)]
pub struct Terms {
    pub tariff: Tariff,
    pub chance: Chance,
    pub now: Time,
}

/// Operations of one account, in order.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    pub account: AccountId,
    pub operations: &'a [LedgerOperation],
}

/// How a commit learns of operations that were settled before and of reasons that were used. Both are rare,
/// because callers check for an outcome before they submit an operation again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    /// Queries them before settling.
    Queried,
    /// Relies on the unique indexes, which make the commit fail.
    Unchecked,
}

impl Store {
    /// Settles operations of one account, in order, in one transaction, with one outcome per operation. On an
    /// error none of them is settled.
    pub async fn settle(
        &self,
        account: AccountId,
        operations: &[LedgerOperation],
        terms: &Terms,
    ) -> anyhow::Result<Vec<Outcome>> {
        let transaction = self.database.begin().await?;
        let locked = lock_account(&transaction, account).await?.into_iter().collect();
        let batch = Batch { account, operations };
        let settled = settle_locked(transaction, locked, &[batch], terms, Past::Queried).await?;
        settled.into_iter().next().context("a batch had no outcomes")
    }

    /// Settles the operations of several accounts in one transaction, with one outcome per operation of each
    /// batch. `None` for a batch whose account is deleted, or whose row is locked by another transaction, so
    /// that no account waits for another one; the caller settles that batch separately. On an error none of
    /// them is settled. An operation that was settled before is an error here.
    pub async fn settle_together(
        &self,
        batches: &[Batch<'_>],
        terms: &Terms,
    ) -> anyhow::Result<Vec<Option<Vec<Outcome>>>> {
        let transaction = self.database.begin().await?;
        let wanted = batches.iter().map(|batch| batch.account).collect();
        let locked = lock_free_accounts(&transaction, &wanted).await?;
        let locked_ids: HashSet<String> = locked.iter().map(|row| row.id.clone()).collect();
        let is_locked = |batch: &&Batch<'_>| locked_ids.contains(&batch.account.to_string());
        let ready: Vec<Batch<'_>> = batches.iter().filter(is_locked).copied().collect();
        let settled = settle_locked(transaction, locked, &ready, terms, Past::Unchecked).await?;
        let mut settled = settled.into_iter();
        Ok(batches.iter().map(|batch| is_locked(&batch).then(|| settled.next()).flatten()).collect())
    }

    /// How many commits run at a time. SQLite has one writer, so more would only wait for each other. Waiting
    /// operations are batched into the next commit. On PostgreSQL one commit is prepared while the other
    /// waits for the disk. With more, each would have fewer operations, and cost the server as much.
    pub fn commits_at_once(&self) -> usize {
        const POSTGRES_COMMITS_AT_ONCE: usize = 2;
        if self.database.has_one_writer() { 1 } else { POSTGRES_COMMITS_AT_ONCE }
    }
}

/// Settles batches of accounts whose rows are locked. An account that is not among `locked` is deleted.
async fn settle_locked(
    transaction: DatabaseTransaction,
    locked: Vec<entity::account::Model>,
    batches: &[Batch<'_>],
    terms: &Terms,
    past: Past,
) -> anyhow::Result<Vec<Vec<Outcome>>> {
    let mut context = SettleContext::open(&transaction, locked, batches, terms, past).await?;
    let mut settled = Vec::with_capacity(batches.len());
    for batch in batches {
        let mut outcomes = Vec::with_capacity(batch.operations.len());
        for operation in batch.operations {
            outcomes.push(settle_one(&transaction, &mut context, operation, terms).await?);
        }
        settled.push(outcomes);
    }
    let clock = context.clock();
    let movements = context.close(&transaction).await?;
    faults::pass("settle.before_commit")?;
    // A process that was suspended in between must not commit an operation after its caller was sent a
    // final failure.
    let accepted =
        batches.iter().zip(&settled).flat_map(|(batch, outcomes)| batch.operations.iter().zip(outcomes));
    let deadlines = accepted
        .filter(|(_, outcome)| !matches!(outcome, Outcome::Refused(_)))
        .filter_map(|(operation, _)| operation.deadline());
    ensure!(!clock.has_passed(deadlines.min()), "a deadline passed before the commit");
    transaction.commit().await.context("commit batches of operations")?;
    movements.iter().for_each(Movement::log);
    Ok(settled)
}

/// Settles one operation. If it was settled before, its earlier outcome is returned.
async fn settle_one<'a>(
    transaction: &DatabaseTransaction,
    context: &mut SettleContext<'a>,
    operation: &'a LedgerOperation,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    if let Some(known) = context.known_outcome(operation) {
        context.record_unused_contents(operation, &known);
        return Ok(known);
    }
    if matches!(operation, LedgerOperation::Visibility(_)) {
        // A change of visibility runs its own statements, which must see what earlier operations have
        // published.
        context.write_sites(transaction).await?;
    }
    let outcome = match (context.refusal_of(operation), context.state_of(operation.account())) {
        (_, None) => refused(Refusal::Unauthorized),
        (Some(refusal), _) => refused(refusal),
        (None, Some((batch, sites))) => match operation {
            LedgerOperation::Publish(operation) => publish::settle(batch, sites, operation, terms)?,
            LedgerOperation::Visibility(operation) => {
                visibility::settle(transaction, batch, sites, operation, terms).await?
            }
            LedgerOperation::TopUp(operation) => top_up(batch, operation),
            LedgerOperation::Credit(operation) => credit(transaction, batch, operation).await?,
            LedgerOperation::CardReversal(operation) => {
                let is_new = card::reverse(transaction, batch, operation).await?;
                Outcome::Moved(Moved { balance: batch.balance(), is_new })
            }
            LedgerOperation::Grant(operation) => grant(batch, operation),
            LedgerOperation::Charge(operation) => charge(batch, operation),
        },
    };
    context.record(operation, &outcome)?;
    Ok(outcome)
}

fn refused(refusal: Refusal) -> Outcome {
    Outcome::Refused(Box::new(refusal))
}

fn top_up(batch: &mut BatchState, operation: &TopUpOperation) -> Outcome {
    let receipt = payment::credit(batch, operation.amount, operation.job);
    Outcome::ToppedUp(ToppedUp { balance: batch.balance(), receipt })
}

async fn credit(
    transaction: &DatabaseTransaction,
    batch: &mut BatchState,
    operation: &CreditOperation,
) -> anyhow::Result<Outcome> {
    let is_new = match &operation.source {
        CreditSource::Dev => batch.enter(operation.amount, &operation.reason),
        CreditSource::Card(payment) => {
            card::credit(transaction, batch, operation.amount, payment, &operation.reason).await?
        }
    };
    Ok(Outcome::Moved(Moved { balance: batch.balance(), is_new }))
}

// A grant may make the balance negative. It is not a payment, so an expired account is still purged.
fn grant(batch: &mut BatchState, operation: &GrantOperation) -> Outcome {
    let is_new = batch.enter(operation.amount, &Reason::OperatorCredit(operation.id));
    Outcome::Moved(Moved { balance: batch.balance(), is_new })
}

// Spec 4.13: metering charges regardless of balance.
fn charge(batch: &mut BatchState, operation: &ChargeOperation) -> Outcome {
    let is_new = batch.enter(-operation.amount, &operation.reason);
    Outcome::Moved(Moved { balance: batch.balance(), is_new })
}
