//! Everything that lies on the desk during a commit: what the deeds need, read with a few statements for all of them,
//! and what they have changed, to be written likewise. It must never be kept beyond its transaction.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::Context;
use domain::{AccountId, AccountStatus, Deed, JobId, Outcome, Reason, Time};
use sea_orm::sea_query::{Condition, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use super::book::{Book, BookChanges, Movement};
use super::sites::Sites;
use super::{Batch, Terms};
use crate::outcomes::{keep_the_first, outcome_row};
use crate::rows;

pub(super) struct Desk<'a> {
    /// In the order in which everybody writes rows of several accounts.
    books: BTreeMap<AccountId, Book>,
    sites: Sites<'a>,
    known_outcomes: HashMap<JobId, Outcome>,
    new_outcomes: Vec<entity::job_outcome::ActiveModel>,
    now: Time,
}

impl<'a> Desk<'a> {
    /// Reads what the deeds of these accounts need, whose rows are locked.
    pub(super) async fn open(
        transaction: &DatabaseTransaction,
        rows: Vec<entity::account::Model>,
        batches: &[Batch<'a>],
        terms: &Terms,
    ) -> anyhow::Result<Self> {
        let deeds: Vec<&Deed> = batches.iter().flat_map(|batch| batch.deeds).collect();
        let mut usages = usages(transaction, &rows, terms.now).await?;
        let mut reasons = used_reasons(transaction, reasons_of(&deeds)).await?;
        let mut books = BTreeMap::new();
        for row in rows {
            let (usage, reasons) = (usages.remove(&row.id), reasons.remove(&row.id).unwrap_or_default());
            books.insert(rows::parse(&row.id, "an account id")?, Book::open(row, usage, reasons, terms.now)?);
        }
        Ok(Self {
            books,
            sites: Sites::open(transaction, batches, terms.now).await?,
            known_outcomes: known_outcomes(transaction, &deeds).await?,
            new_outcomes: Vec::new(),
            now: terms.now,
        })
    }

    /// How a deed ended when it was settled before: earlier, or twice in one commit.
    pub(super) fn known_outcome(&self, deed: &Deed) -> Option<Outcome> {
        self.books.get(&deed.account())?;
        self.known_outcomes.get(&deed.job()?).cloned()
    }

    /// An account's book, and the sites; none when the account is gone.
    pub(super) fn page_of(&mut self, account: AccountId) -> Option<(&mut Book, &mut Sites<'a>)> {
        Some((self.books.get_mut(&account)?, &mut self.sites))
    }

    /// Keeps how a deed ended. Nothing is kept for an account that is gone, but what was put for it is noted.
    pub(super) fn record(&mut self, deed: &'a Deed, outcome: &Outcome) -> anyhow::Result<()> {
        if let (Deed::Publish(deed), Outcome::Refused(_)) = (deed, outcome) {
            self.sites.note_refused(deed);
        }
        if let Some(job) = deed.job()
            && self.books.contains_key(&deed.account())
        {
            self.new_outcomes.push(outcome_row(job, Some(deed.account()), deed.kind(), outcome, self.now)?);
            self.known_outcomes.insert(job, outcome.clone());
        }
        Ok(())
    }

    /// Writes what was published so far, but for its contents.
    pub(super) async fn write_sites(&mut self, transaction: &DatabaseTransaction) -> anyhow::Result<()> {
        self.sites.write(transaction).await
    }

    /// Writes what has changed. The movements of money are to be logged after the commit.
    pub(super) async fn close(self, transaction: &DatabaseTransaction) -> anyhow::Result<Vec<Movement>> {
        self.sites.close(transaction).await?;
        let mut changes = BookChanges::default();
        self.books.into_values().for_each(|book| book.close(&mut changes));
        if !changes.entries.is_empty() {
            entity::ledger_entry::Entity::insert_many(changes.entries)
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
        write_usages(transaction, changes.usages).await?;
        for account in changes.accounts {
            entity::account::Entity::update(account)
                .exec_without_returning(transaction)
                .await
                .context("write an account")?;
        }
        Ok(changes.movements)
    }
}

/// What claimed accounts have used in the month, by account: nobody else's allowance asks for it.
async fn usages(
    transaction: &DatabaseTransaction,
    accounts: &[entity::account::Model],
    now: Time,
) -> anyhow::Result<HashMap<String, entity::usage::Model>> {
    let claimed = AccountStatus::Claimed.as_str();
    let ids: Vec<&str> =
        accounts.iter().filter(|row| row.status == claimed).map(|row| row.id.as_str()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::usage::Entity::find()
        .filter(entity::usage::Column::AccountId.is_in(ids))
        .filter(entity::usage::Column::Month.eq(now.month().to_string()))
        .all(transaction)
        .await
        .context("read the month's usage")?;
    Ok(found.into_iter().map(|usage| (usage.account_id.clone(), usage)).collect())
}

// The views of the row belong to another writer, so only the publishes are set.
async fn write_usages(
    transaction: &DatabaseTransaction,
    usages: Vec<entity::usage::ActiveModel>,
) -> anyhow::Result<()> {
    if usages.is_empty() {
        return Ok(());
    }
    let mut replace = OnConflict::columns([entity::usage::Column::AccountId, entity::usage::Column::Month]);
    replace.update_column(entity::usage::Column::Publishes);
    entity::usage::Entity::insert_many(usages)
        .on_conflict(replace)
        .exec_without_returning(transaction)
        .await
        .context("write the month's usage")?;
    Ok(())
}

/// The reasons that may have been used before and are known before the deed is looked at, by account.
fn reasons_of(deeds: &[&Deed]) -> BTreeMap<AccountId, Vec<String>> {
    let mut reasons: BTreeMap<AccountId, Vec<String>> = BTreeMap::new();
    for deed in deeds {
        let reason = match deed {
            // A publish is known by its outcome; its reasons are made of its own new id. So is a change of visibility,
            // whose month is asked for when its artifact is known.
            Deed::Publish(_) | Deed::Visibility(_) => continue,
            // Its outcome is swept one day, and the money must not come in again even then.
            Deed::TopUp(deed) => Reason::DevTopUp(deed.job).to_string(),
            Deed::Credit(deed) => deed.reason.clone(),
            Deed::Charge(deed) => deed.reason.clone(),
        };
        reasons.entry(deed.account()).or_default().push(reason);
    }
    reasons
}

/// Which of its reasons each account has used.
async fn used_reasons(
    transaction: &DatabaseTransaction,
    reasons: BTreeMap<AccountId, Vec<String>>,
) -> anyhow::Result<HashMap<String, HashSet<String>>> {
    use entity::ledger_entry::Column;
    let mut used: HashMap<String, HashSet<String>> = HashMap::new();
    if reasons.is_empty() {
        return Ok(used);
    }
    let named = reasons.into_iter().fold(Condition::any(), |named, (account, reasons)| {
        named.add(Column::AccountId.eq(account.to_string()).and(Column::Reason.is_in(reasons)))
    });
    let found: Vec<(String, String)> = entity::ledger_entry::Entity::find()
        .select_only()
        .columns([Column::AccountId, Column::Reason])
        .filter(named)
        .into_tuple()
        .all(transaction)
        .await
        .context("look for reasons that were used")?;
    for (account, reason) in found {
        used.entry(account).or_default().insert(reason);
    }
    Ok(used)
}

async fn known_outcomes(
    transaction: &DatabaseTransaction,
    deeds: &[&Deed],
) -> anyhow::Result<HashMap<JobId, Outcome>> {
    let jobs: Vec<String> = deeds.iter().filter_map(|deed| deed.job()).map(|job| job.to_string()).collect();
    if jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let found = entity::job_outcome::Entity::find()
        .filter(entity::job_outcome::Column::JobId.is_in(jobs))
        .all(transaction)
        .await
        .context("look for outcomes")?;
    found
        .into_iter()
        .map(|row| Ok((rows::parse(&row.job_id, "a job id")?, serde_json::from_str(&row.outcome)?)))
        .collect()
}
