//! How jobs ended, and the keys by which callers ask again.

use anyhow::{Context, bail};
use domain::{AccountId, JobId, Outcome, Refusal, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use crate::handles::OutcomeStore;
use crate::rows::account::lock_account;

/// How often a claim is tried again when others claim the same key.
const CLAIMS_MAX: usize = 8;

/// A caller's own name for a request (spec: `Idempotency-Key`), as one claims it.
#[derive(Clone, Debug)]
pub struct KeyClaim<'a> {
    pub account: AccountId,
    pub key: &'a str,
    pub request_hash: &'a str,
    pub job: JobId,
    pub now: Time,
    pub expires_at: Time,
}

/// A job that is refused before its deed could be settled.
#[derive(Clone, Debug)]
pub struct Refused<'a> {
    pub account: AccountId,
    /// What kind of deed it would have been.
    pub kind: &'a str,
    pub refusal: Refusal,
    pub now: Time,
}

/// Whose the key is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyHolder {
    /// The claimant's: its job is the one that answers.
    Claimant,
    /// An earlier request's with the same body: its job answers both.
    Earlier(JobId),
    /// An earlier request's with another body.
    Conflict,
}

/// What a key was used for so far, whatever the body of the request that comes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    Unused,
    /// Its request has no answer that a repeat would get.
    Pending,
    Answered,
}

impl OutcomeStore<'_> {
    /// How a job ended, if it has ended: what a caller reads when no reply came.
    pub async fn find(self, job: JobId) -> anyhow::Result<Option<Outcome>> {
        outcome(&self.0.database.reader, job).await
    }

    /// Keeps that a job was refused before its deed could be settled. How the job ended, which may have been earlier and
    /// otherwise. Like any outcome it is written under the account's lock: another attempt may be settling the deed.
    pub async fn record_refusal(self, job: JobId, refused: Refused<'_>) -> anyhow::Result<Outcome> {
        let _permit = self.0.refusals.acquire().await.context("wait to write a refusal")?;
        let transaction = self.0.database.begin().await?;
        let is_account_there = lock_account(&transaction, refused.account).await?.is_some();
        if let Some(earlier) = self::outcome(&transaction, job).await? {
            return Ok(earlier);
        }
        let outcome = Outcome::Refused(Box::new(refused.refusal));
        // As with every deed, nothing is kept for an account that is gone.
        if is_account_there {
            let row = outcome_row(job, Some(refused.account), refused.kind, &outcome, refused.now)?;
            entity::job_outcome::Entity::insert(row).exec_without_returning(&transaction).await?;
            transaction.commit().await.context("commit a refusal")?;
        }
        Ok(outcome)
    }

    /// Claims a key for a request. A key whose job was refused, or that has expired, is free again.
    pub async fn claim_key(self, claim: &KeyClaim<'_>) -> anyhow::Result<KeyHolder> {
        for _ in 0..CLAIMS_MAX {
            if let Some(holder) = self.try_claim_key(claim).await? {
                return Ok(holder);
            }
        }
        bail!("a key was taken by another request in each of {CLAIMS_MAX} tries")
    }

    /// None when another request changed the key in the same moment: then the next try sees what it did.
    async fn try_claim_key(self, claim: &KeyClaim<'_>) -> anyhow::Result<Option<KeyHolder>> {
        let transaction = self.0.database.begin().await?;
        let id = (claim.account.to_string(), claim.key.to_owned());
        let insert = entity::idempotency_key::Entity::insert(key_row(claim))
            .on_conflict_do_nothing_on([
                entity::idempotency_key::Column::AccountId,
                entity::idempotency_key::Column::Key,
            ])
            .exec_without_returning(&transaction)
            .await?;
        if matches!(insert, sea_orm::TryInsertResult::Inserted(1..)) {
            transaction.commit().await.context("commit a key")?;
            return Ok(Some(KeyHolder::Claimant));
        }
        let held = entity::idempotency_key::Entity::find_by_id(id.clone()).one(&transaction).await?;
        let Some(held) = held else { return Ok(None) };
        if let Some(holder) = earlier_holder(&transaction, &held, claim).await? {
            return Ok(Some(holder));
        }
        // Two that find a free key at once: the row's old job decides who takes it.
        let taken = entity::idempotency_key::Entity::update_many()
            .set(key_row(claim))
            .filter(entity::idempotency_key::Column::AccountId.eq(id.0))
            .filter(entity::idempotency_key::Column::Key.eq(id.1))
            .filter(entity::idempotency_key::Column::JobId.eq(held.job_id))
            .exec(&transaction)
            .await?;
        transaction.commit().await.context("commit a key")?;
        Ok((taken.rows_affected == 1).then_some(KeyHolder::Claimant))
    }

    /// Who holds the key of a request that does not claim it; none when it is free.
    pub async fn find_key_holder(self, claim: &KeyClaim<'_>) -> anyhow::Result<Option<KeyHolder>> {
        let id = (claim.account.to_string(), claim.key.to_owned());
        match entity::idempotency_key::Entity::find_by_id(id).one(&self.0.database.reader).await? {
            Some(held) => earlier_holder(&self.0.database.reader, &held, claim).await,
            None => Ok(None),
        }
    }

    /// What became of the request that used a key.
    pub async fn key_use(self, account: AccountId, key: &str, now: Time) -> anyhow::Result<KeyUse> {
        let (reader, id) = (&self.0.database.reader, (account.to_string(), key.to_owned()));
        let Some(held) = entity::idempotency_key::Entity::find_by_id(id).one(reader).await? else {
            return Ok(KeyUse::Unused);
        };
        let job: JobId = crate::rows::parse(&held.job_id, "a job id")?;
        let is_answered = match outcome(reader, job).await? {
            Some(Outcome::Refused(_)) | None => false,
            Some(_) => held.expires_at > now.millis(),
        };
        Ok(if is_answered { KeyUse::Answered } else { KeyUse::Pending })
    }
}

/// The earlier request that a key still belongs to: none when that was refused or its day has passed.
async fn earlier_holder(
    connection: &impl ConnectionTrait,
    held: &entity::idempotency_key::Model,
    claim: &KeyClaim<'_>,
) -> anyhow::Result<Option<KeyHolder>> {
    let earlier: JobId = crate::rows::parse(&held.job_id, "a job id")?;
    let was_refused = matches!(outcome(connection, earlier).await?, Some(Outcome::Refused(_)));
    if was_refused || held.expires_at <= claim.now.millis() {
        return Ok(None);
    }
    let is_same = held.request_hash == claim.request_hash;
    Ok(Some(if is_same { KeyHolder::Earlier(earlier) } else { KeyHolder::Conflict }))
}

pub(crate) async fn outcome(
    connection: &impl ConnectionTrait,
    job: JobId,
) -> anyhow::Result<Option<Outcome>> {
    let found = entity::job_outcome::Entity::find_by_id(job.to_string()).one(connection).await?;
    found
        .map(|row| serde_json::from_str(&row.outcome).context("malformed outcome in the database"))
        .transpose()
}

pub(crate) fn outcome_row(
    job: JobId,
    account: Option<AccountId>,
    kind: &str,
    outcome: &Outcome,
    now: Time,
) -> anyhow::Result<entity::job_outcome::ActiveModel> {
    Ok(entity::job_outcome::ActiveModel {
        job_id: Set(job.to_string()),
        account_id: Set(account.map(|id| id.to_string())),
        kind: Set(kind.to_owned()),
        outcome: Set(serde_json::to_string(outcome)?),
        created_at: Set(now.millis()),
    })
}

fn key_row(claim: &KeyClaim<'_>) -> entity::idempotency_key::ActiveModel {
    entity::idempotency_key::ActiveModel {
        account_id: Set(claim.account.to_string()),
        key: Set(claim.key.to_owned()),
        request_hash: Set(claim.request_hash.to_owned()),
        job_id: Set(claim.job.to_string()),
        created_at: Set(claim.now.millis()),
        expires_at: Set(claim.expires_at.millis()),
    }
}
