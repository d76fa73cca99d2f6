//! The ledger's commit: many deeds of one account in one transaction.
//!
//! Nothing else in the service inserts ledger entries or versions. The account's row is locked first, so two
//! processes that settle for the same account queue here; an outcome and its deed are written together, so a
//! redelivered deed finds its outcome and changes nothing.

mod book;
mod payment;
mod publish;
mod visibility;

use anyhow::Context;
use domain::{
    AccountId, Chance, ChargeDeed, CreditDeed, Deed, Moved, Outcome, Refusal, Tariff, Time, TopUpDeed,
    ToppedUp, fault,
};
use sea_orm::DatabaseTransaction;

use crate::accounts::lock_account;
use crate::{Store, blob_index, blob_sweep};
use book::{Book, Movement};

/// What settling needs besides the deeds.
#[derive(Clone, Debug)]
pub struct Terms {
    pub tariff: Tariff,
    pub chance: Chance,
    pub now: Time,
}

impl Store {
    /// Settles deeds of one account, in their order, all in one transaction. One outcome per deed. An error means
    /// that none of them came to pass.
    pub async fn settle(
        &self,
        account: AccountId,
        deeds: &[Deed],
        terms: &Terms,
    ) -> anyhow::Result<Vec<Outcome>> {
        let transaction = self.database.begin().await?;
        let Some(row) = lock_account(&transaction, account).await? else {
            return refuse_all(transaction, deeds, terms).await;
        };
        let mut book = Book::open(&transaction, row, deeds, terms).await?;
        let mut outcomes = Vec::with_capacity(deeds.len());
        for deed in deeds {
            outcomes.push(settle_one(&transaction, &mut book, deed, terms).await?);
        }
        if let Some(as_of) = book.counts_on_blobs_as_of() {
            blob_sweep::demand_none_since(&transaction, as_of).await?;
        }
        let movements = book.close(&transaction).await?;
        fault::pass("settle.before_commit")?;
        transaction.commit().await.context("commit a batch of deeds")?;
        movements.iter().for_each(Movement::log);
        Ok(outcomes)
    }
}

/// The account is gone.
async fn refuse_all(
    transaction: DatabaseTransaction,
    deeds: &[Deed],
    terms: &Terms,
) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::with_capacity(deeds.len());
    for deed in deeds {
        let outcome = refuse(Refusal::Unauthorized)?;
        note_what_was_put(&transaction, deed, &outcome, terms).await?;
        outcomes.push(outcome);
    }
    transaction.commit().await.context("commit what was put for nobody")?;
    Ok(outcomes)
}

/// Settles one deed, unless it was settled before: then its outcome stands.
async fn settle_one(
    transaction: &DatabaseTransaction,
    book: &mut Book,
    deed: &Deed,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    if let Some(known) = deed.job().and_then(|job| book.known_outcome(job)) {
        return Ok(known);
    }
    let outcome = match deed {
        Deed::Publish(deed) => publish::settle(transaction, book, deed, terms).await?,
        Deed::Visibility(deed) => visibility::settle(transaction, book, deed, terms).await?,
        Deed::TopUp(deed) => top_up(book, deed)?,
        Deed::Credit(deed) => credit(book, deed),
        Deed::Charge(deed) => charge(book, deed),
    };
    if let Some(job) = deed.job() {
        book.record_outcome(job, deed.kind(), &outcome)?;
    }
    note_what_was_put(transaction, deed, &outcome, terms).await?;
    Ok(outcome)
}

/// Together with the refusal: whoever finds its outcome later looks no further.
async fn note_what_was_put(
    transaction: &DatabaseTransaction,
    deed: &Deed,
    outcome: &Outcome,
    terms: &Terms,
) -> anyhow::Result<()> {
    match (deed, outcome) {
        (Deed::Publish(deed), Outcome::Refused(_)) => {
            blob_index::note_refused(transaction, deed, terms.now).await
        }
        _ => Ok(()),
    }
}

fn refuse(refusal: Refusal) -> anyhow::Result<Outcome> {
    Ok(Outcome::Refused(Box::new(refusal)))
}

fn top_up(book: &mut Book, deed: &TopUpDeed) -> anyhow::Result<Outcome> {
    if book.is_expired() {
        return refuse(Refusal::AccountExpired);
    }
    let receipt = payment::credit(book, deed.amount, deed.job);
    Ok(Outcome::ToppedUp(ToppedUp { balance: book.balance(), receipt }))
}

fn credit(book: &mut Book, deed: &CreditDeed) -> Outcome {
    let is_new = book.enter(deed.amount, &deed.reason);
    if is_new && deed.rail == domain::Rail::Card {
        book.note_real_payment();
    }
    Outcome::Moved(Moved { balance: book.balance(), is_new })
}

// Spec 4.13: metering charges regardless of balance.
fn charge(book: &mut Book, deed: &ChargeDeed) -> Outcome {
    let is_new = book.enter(-deed.amount, &deed.reason);
    Outcome::Moved(Moved { balance: book.balance(), is_new })
}
