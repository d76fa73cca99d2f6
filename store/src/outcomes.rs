//! Outcomes of jobs, and idempotency keys.

use anyhow::{Context, bail};
use domain::{AccountId, JobId, Outcome, Refusal, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use crate::handles::OutcomeStore;
use crate::rows::account::lock_account;

/// How often claiming a key is retried when other requests claim the same key.
const CLAIMS_MAX: usize = 8;

/// A request's claim of an `Idempotency-Key`.
#[derive(Clone, Debug)]
pub struct KeyClaim<'a> {
    pub account: AccountId,
    pub key: &'a str,
    pub request_hash: &'a str,
    pub job: JobId,
    pub now: Time,
    pub expires_at: Time,
}

/// A job that was refused before its ledger operation was settled.
#[derive(Clone, Debug)]
pub struct Refused<'a> {
    pub account: AccountId,
    /// The kind of ledger operation that the job would have been.
    pub kind: &'a str,
    pub refusal: Refusal,
    pub now: Time,
}

/// Which request holds the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyHolder {
    /// The claiming request. Its job produces the response.
    Claimant,
    /// An earlier request with the same body. Its job produces both responses.
    Earlier(JobId),
    /// An earlier request with another body.
    Conflict,
}

/// The state of a key, whatever the body of the current request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    Unused,
    /// The key's request has no outcome that a repeat would receive.
    Pending,
    Answered,
}

impl OutcomeStore<'_> {
    /// The outcome of a job, if it has ended. Callers read it when no reply arrives.
    pub async fn find(self, job: JobId) -> anyhow::Result<Option<Outcome>> {
        outcome(&self.0.database.reader, job).await
    }

    /// Stores the refusal of a job that was not settled, and returns the job's outcome. That may be an
    /// earlier, different outcome. Like every outcome it is written under the account's lock, because another
    /// attempt may be settling the operation.
    pub async fn record_refusal(self, job: JobId, refused: Refused<'_>) -> anyhow::Result<Outcome> {
        let _permit = self.0.refusals.acquire().await.context("wait for a permit to write a refusal")?;
        let transaction = self.0.database.begin().await?;
        let is_account_there = lock_account(&transaction, refused.account).await?.is_some();
        if let Some(earlier) = self::outcome(&transaction, job).await? {
            return Ok(earlier);
        }
        let outcome = Outcome::Refused(Box::new(refused.refusal));
        // As for every operation, nothing is stored for a deleted account.
        if is_account_there {
            let row = outcome_row(job, Some(refused.account), refused.kind, &outcome, refused.now)?;
            entity::job_outcome::Entity::insert(row).exec_without_returning(&transaction).await?;
            transaction.commit().await.context("commit a refusal")?;
        }
        Ok(outcome)
    }

    /// Claims a key for a request. A key is free again when its job was refused or it has expired.
    pub async fn claim_key(self, claim: &KeyClaim<'_>) -> anyhow::Result<KeyHolder> {
        for _ in 0..CLAIMS_MAX {
            if let Some(holder) = self.try_claim_key(claim).await? {
                return Ok(holder);
            }
        }
        bail!("a key was taken by another request in each of {CLAIMS_MAX} tries")
    }

    /// `None` if another request changed the key at the same time. A retry then sees that change.
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
        // If two requests find a free key at the same time, the condition on the old job id decides which one
        // takes it.
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

    /// The holder of a key, without claiming it. `None` if the key is free.
    pub async fn find_key_holder(self, claim: &KeyClaim<'_>) -> anyhow::Result<Option<KeyHolder>> {
        let id = (claim.account.to_string(), claim.key.to_owned());
        match entity::idempotency_key::Entity::find_by_id(id).one(&self.0.database.reader).await? {
            Some(held) => earlier_holder(&self.0.database.reader, &held, claim).await,
            None => Ok(None),
        }
    }

    /// The state of the request that used a key.
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

/// The earlier request that still holds a key. `None` if it was refused or the key has expired.
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
