//! Operators' actions on jobs: retry, cancel, discard. Each is one transaction with its event, so that the
//! history shows an action if and only if it happened.

use anyhow::Context;
use domain::{JobId, OperatorName, Queue};
use service::{ErrorKey, JobActionResult, JobState};

use super::events::{Steering, insert_steered};
use super::index::state_of;
use crate::Queues;
use crate::sql::on_either;

/// Dead jobs that one transaction retries or discards.
const DEAD_AT_ONCE: i64 = 500;

impl Queues {
    pub(super) async fn retry_job(
        &self,
        queue: Queue,
        id: JobId,
        by: &OperatorName,
    ) -> anyhow::Result<JobActionResult> {
        let retry = on_either!(&self.database, sql, _pool => sql::RETRY);
        let is_done = self.steer(retry, queue, id, None, &self.steering("retried", by)).await?;
        if is_done {
            self.wakes.wake(queue);
        }
        self.result_of(is_done, queue, id).await
    }

    pub(super) async fn cancel_job(
        &self,
        queue: Queue,
        id: JobId,
        by: &OperatorName,
    ) -> anyhow::Result<JobActionResult> {
        let cancel = on_either!(&self.database, sql, _pool => sql::CANCEL);
        let result = serde_json::json!({ "Err": format!("cancelled by {by}") }).to_string();
        let is_done = self.steer(cancel, queue, id, Some(result), &self.steering("cancelled", by)).await?;
        self.result_of(is_done, queue, id).await
    }

    pub(super) async fn discard_job(
        &self,
        queue: Queue,
        id: JobId,
        by: &OperatorName,
    ) -> anyhow::Result<JobActionResult> {
        let discard = on_either!(&self.database, sql, _pool => sql::DISCARD);
        let is_done = self.steer(discard, queue, id, None, &self.steering("cancelled", by)).await?;
        self.result_of(is_done, queue, id).await
    }

    fn steering<'a>(&self, kind: &'static str, by: &'a OperatorName) -> Steering<'a> {
        Steering { kind, by, at: self.clock.now() }
    }

    /// Returns whether the state of the job allowed the action.
    async fn steer(
        &self,
        update: &'static str,
        queue: Queue,
        id: JobId,
        result: Option<String>,
        steering: &Steering<'_>,
    ) -> anyhow::Result<bool> {
        let id = id.to_string();
        on_either!(&self.database, sql, pool => {
            let mut transaction = pool.begin().await?;
            sqlx::query(sql::NOTE_PUSHED).bind(&id).execute(&mut *transaction).await?;
            let update = sqlx::query(update).bind(&id).bind(queue.name());
            let update = match result {
                Some(result) => update.bind(result),
                None => update,
            };
            if update.execute(&mut *transaction).await?.rows_affected() == 0 {
                return Ok(false);
            }
            insert_steered(std::slice::from_ref(&id), steering).build().execute(&mut *transaction).await?;
            transaction.commit().await?;
        });
        Ok(true)
    }

    async fn result_of(&self, is_done: bool, queue: Queue, id: JobId) -> anyhow::Result<JobActionResult> {
        if is_done {
            return Ok(JobActionResult::Done);
        }
        Ok(self.state(queue, id).await?.map_or(JobActionResult::Unknown, JobActionResult::Is))
    }

    async fn state(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobState>> {
        let (id, queue) = (id.to_string(), queue.name());
        let status: Option<String> = on_either!(&self.database, sql, pool => {
            sqlx::query_scalar(sql::STATUS).bind(id).bind(queue).fetch_optional(pool).await
        })
        .context("reading a job's state")?;
        Ok(status.as_deref().and_then(state_of))
    }

    pub(super) async fn retry_dead_jobs(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64> {
        let retry = on_either!(&self.database, sql, _pool => sql::RETRY_DEAD);
        self.steer_dead_jobs(retry, queue, &self.steering("retried", by), || self.wakes.wake(queue)).await
    }

    /// Retries the dead jobs of a group of equal errors.
    pub(super) async fn retry_dead_jobs_with(
        &self,
        queue: Queue,
        error: ErrorKey,
        by: &OperatorName,
    ) -> anyhow::Result<u64> {
        let (ids, steering) = (self.dead_with(queue, error).await?, self.steering("retried", by));
        let mut retried = 0;
        for ids in ids.chunks(usize::try_from(DEAD_AT_ONCE)?) {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            retried += on_either!(&self.database, sql, pool => {
                let mut transaction = pool.begin().await?;
                let retry = sqlx::query_scalar(sql::RETRY_THESE).bind(sql::names(&ids)).bind(queue.name());
                let retried: Vec<String> = retry.fetch_all(&mut *transaction).await?;
                if !retried.is_empty() {
                    insert_steered(&retried, &steering).build().execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
                retried.len()
            });
            self.wakes.wake(queue);
        }
        Ok(u64::try_from(retried)?)
    }

    pub(super) async fn discard_dead_jobs(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64> {
        let discard = on_either!(&self.database, sql, _pool => sql::DISCARD_DEAD);
        self.steer_dead_jobs(discard, queue, &self.steering("cancelled", by), || {}).await
    }

    /// Applies an action to every job that is dead now, in batches. Returns how many there were.
    async fn steer_dead_jobs(
        &self,
        update: &'static str,
        queue: Queue,
        steering: &Steering<'_>,
        on_batch: impl Fn(),
    ) -> anyhow::Result<u64> {
        // By the clock that records when a job dies, so that a job that dies again at once is not retried
        // forever.
        let requested_at_ms: i64 = on_either!(&self.database, sql, pool => {
            sqlx::query_scalar(sql::NOW_MS).fetch_one(pool).await?
        });
        let mut steered = 0;
        loop {
            let batch = self.steer_batch(update, queue, requested_at_ms, steering).await?;
            if batch == 0 {
                return Ok(steered);
            }
            steered += batch;
            on_batch();
        }
    }

    async fn steer_batch(
        &self,
        update: &'static str,
        queue: Queue,
        requested_at_ms: i64,
        steering: &Steering<'_>,
    ) -> anyhow::Result<u64> {
        let steered = on_either!(&self.database, pool => {
            let mut transaction = pool.begin().await?;
            let update = sqlx::query_scalar(update).bind(queue.name()).bind(requested_at_ms).bind(DEAD_AT_ONCE);
            let ids: Vec<String> = update.fetch_all(&mut *transaction).await?;
            if !ids.is_empty() {
                insert_steered(&ids, steering).build().execute(&mut *transaction).await?;
            }
            transaction.commit().await?;
            ids.len()
        });
        Ok(u64::try_from(steered)?)
    }
}
