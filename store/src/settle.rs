//! The ledger's commit: many deeds of one account in one transaction.
//!
//! Nothing else in the service inserts ledger entries or versions. The account's row is locked first, so two
//! processes that settle for the same account queue here; an outcome and its deed are written together, so a
//! redelivered deed finds its outcome and changes nothing.

mod book;
mod publish;

use anyhow::Context;
use domain::{AccountId, Chance, ChargeDeed, CreditDeed, Deed, Moved, Outcome, Refusal, Tariff, Time, fault};
use sea_orm::DatabaseTransaction;

use crate::Store;
use crate::artifacts::lock_account;
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
            return Ok(deeds.iter().map(|_| Outcome::Refused(Box::new(Refusal::Unauthorized))).collect());
        };
        let mut book = Book::open(&transaction, row, deeds, terms).await?;
        let mut outcomes = Vec::with_capacity(deeds.len());
        for deed in deeds {
            outcomes.push(settle_one(&transaction, &mut book, deed, terms).await?);
        }
        let movements = book.close(&transaction).await?;
        fault::pass("settle.before_commit")?;
        transaction.commit().await.context("commit a batch of deeds")?;
        movements.iter().for_each(Movement::log);
        Ok(outcomes)
    }
}

async fn settle_one(
    transaction: &DatabaseTransaction,
    book: &mut Book,
    deed: &Deed,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    match deed {
        Deed::Publish(deed) => {
            if let Some(known) = book.known_outcome(deed.job()) {
                return Ok(known);
            }
            let outcome = publish::settle(transaction, book, deed, terms).await?;
            book.record_outcome(deed.job(), "publish", &outcome)?;
            Ok(outcome)
        }
        Deed::Credit(deed) => Ok(credit(book, deed)),
        Deed::Charge(deed) => Ok(charge(book, deed)),
    }
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
