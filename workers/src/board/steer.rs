//! What operators do to jobs: have one begun anew, call one off, raise the dead or give them up. Each is one transaction
//! with its event, so that the timeline tells of it if and only if it happened.

use anyhow::Context;
use domain::{JobId, OperatorName, Queue};
use service::{JobState, Steered};

use super::events::{Steering, called_off, insert_steered};
use super::index::{POSTGRES_STATUS, SQLITE_STATUS, state_of};
use crate::Queues;
use crate::database::{Database, on_either};

/// The dead that one transaction raises, or gives up.
const DEAD_AT_ONCE: i64 = 500;

const SQLITE_RETRY: &str = "
    UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    WHERE id = $1 AND job_type = $2 AND status IN ('Killed', 'Failed')";
const POSTGRES_RETRY: &str = "
    UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(), lock_by = NULL, lock_at = NULL,
        done_at = NULL
    WHERE id = $1 AND job_type = $2 AND status IN ('Killed', 'Failed')";

const SQLITE_CANCEL: &str = "
    UPDATE Jobs SET status = 'Killed', done_at = unixepoch(), last_result = $3
    WHERE id = $1 AND job_type = $2 AND status IN ('Pending', 'Failed')";
const POSTGRES_CANCEL: &str = "
    UPDATE apalis.jobs SET status = 'Killed', done_at = now(), last_result = $3::jsonb
    WHERE id = $1 AND job_type = $2 AND status IN ('Pending', 'Failed')";

// A dead job that is given up counts as called off, and keeps what it died of. From now on it is kept as long as what is
// done: whoever gave it up by mistake can have it back.
const SQLITE_DISCARD: &str = concat!(
    "UPDATE Jobs SET done_at = unixepoch() WHERE id = $1 AND job_type = $2 AND status = 'Killed' AND id NOT IN (",
    called_off!(),
    ")"
);
const POSTGRES_DISCARD: &str = concat!(
    "UPDATE apalis.jobs SET done_at = now() WHERE id = $1 AND job_type = $2 AND status = 'Killed' AND id NOT IN (",
    called_off!(),
    ")"
);

// Only those that were dead when it was asked for, by the clock that wrote when they died: one that dies again at once is
// not raised for ever.
const SQLITE_NOW_MS: &str = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const POSTGRES_NOW_MS: &str = "SELECT (extract(epoch FROM now()) * 1000)::bigint";

/// Sets something on many of the dead of a queue, and returns which they were. What somebody called off did not die, and
/// stays called off until somebody retries that very job.
macro_rules! sqlite_dead {
    ($set:literal) => {
        concat!(
            "UPDATE Jobs SET ",
            $set,
            " WHERE id IN (SELECT id FROM Jobs
                 WHERE job_type = $1 AND status = 'Killed' AND (done_at IS NULL OR done_at * 1000 <= $2)
                    AND id NOT IN (",
            called_off!(),
            ") LIMIT $3)
             RETURNING id"
        )
    };
}
// Taken in the order of their ids, as by everybody who takes many (`hurry`): two who meet then wait for each other, and
// never both. Asked of the row itself as well: the one that waited would else take a job that meanwhile runs again out of
// its worker's hands.
macro_rules! postgres_dead {
    ($set:literal) => {
        concat!(
            "WITH dead AS MATERIALIZED (
                 SELECT id FROM apalis.jobs
                 WHERE job_type = $1 AND status = 'Killed'
                    AND (done_at IS NULL OR done_at <= to_timestamp($2::float8 / 1000))
                    AND id NOT IN (",
            called_off!(),
            ") ORDER BY id LIMIT $3 FOR UPDATE
             )
             UPDATE apalis.jobs SET ",
            $set,
            " FROM dead WHERE jobs.id = dead.id AND jobs.status = 'Killed'
             RETURNING jobs.id"
        )
    };
}
const SQLITE_RAISE: &str = sqlite_dead!(
    "status = 'Pending', attempts = 0, run_at = unixepoch(), lock_by = NULL, lock_at = NULL, done_at = NULL"
);
const POSTGRES_RAISE: &str = postgres_dead!(
    "status = 'Pending', attempts = 0, run_at = now(), lock_by = NULL, lock_at = NULL, done_at = NULL"
);
const SQLITE_DISCARD_DEAD: &str = sqlite_dead!("done_at = unixepoch()");
const POSTGRES_DISCARD_DEAD: &str = postgres_dead!("done_at = now()");

impl Queues {
    pub(super) async fn begin_again(
        &self,
        queue: Queue,
        id: JobId,
        by: &OperatorName,
    ) -> anyhow::Result<Steered> {
        let retry = match &self.database {
            Database::Sqlite(_) => SQLITE_RETRY,
            Database::Postgres(_) => POSTGRES_RETRY,
        };
        let is_done = self.steer(retry, queue, id, None, &self.steering("retried", by)).await?;
        if is_done {
            self.wakes.ring(queue);
        }
        self.came_of(is_done, queue, id).await
    }

    pub(super) async fn call_off(
        &self,
        queue: Queue,
        id: JobId,
        by: &OperatorName,
    ) -> anyhow::Result<Steered> {
        let cancel = match &self.database {
            Database::Sqlite(_) => SQLITE_CANCEL,
            Database::Postgres(_) => POSTGRES_CANCEL,
        };
        let result = serde_json::json!({ "Err": format!("cancelled by {by}") }).to_string();
        let is_done = self.steer(cancel, queue, id, Some(result), &self.steering("cancelled", by)).await?;
        self.came_of(is_done, queue, id).await
    }

    pub(super) async fn give_up(
        &self,
        queue: Queue,
        id: JobId,
        by: &OperatorName,
    ) -> anyhow::Result<Steered> {
        let discard = match &self.database {
            Database::Sqlite(_) => SQLITE_DISCARD,
            Database::Postgres(_) => POSTGRES_DISCARD,
        };
        let is_done = self.steer(discard, queue, id, None, &self.steering("cancelled", by)).await?;
        self.came_of(is_done, queue, id).await
    }

    fn steering<'a>(&self, kind: &'static str, by: &'a OperatorName) -> Steering<'a> {
        Steering { kind, by, at: self.clock.now() }
    }

    /// Whether the job was in a state for it.
    async fn steer(
        &self,
        update: &'static str,
        queue: Queue,
        id: JobId,
        result: Option<String>,
        steering: &Steering<'_>,
    ) -> anyhow::Result<bool> {
        let (pushed, id) = (self.database.pushed(), id.to_string());
        on_either!(&self.database, pool => {
            let mut transaction = pool.begin().await?;
            sqlx::query(pushed).bind(&id).execute(&mut *transaction).await?;
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

    async fn came_of(&self, is_done: bool, queue: Queue, id: JobId) -> anyhow::Result<Steered> {
        if is_done {
            return Ok(Steered::Done);
        }
        Ok(self.state(queue, id).await?.map_or(Steered::Unknown, Steered::Is))
    }

    async fn state(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobState>> {
        let (id, queue) = (id.to_string(), queue.name());
        let status: Option<String> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_scalar(SQLITE_STATUS).bind(id).bind(queue).fetch_optional(pool).await
            }
            Database::Postgres(pool) => {
                sqlx::query_scalar(POSTGRES_STATUS).bind(id).bind(queue).fetch_optional(pool).await
            }
        }
        .context("reading a job's state")?;
        Ok(status.as_deref().and_then(state_of))
    }

    pub(super) async fn raise_the_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64> {
        let raise = match &self.database {
            Database::Sqlite(_) => SQLITE_RAISE,
            Database::Postgres(_) => POSTGRES_RAISE,
        };
        self.steer_the_dead(raise, queue, &self.steering("retried", by), || self.wakes.ring(queue)).await
    }

    pub(super) async fn give_up_the_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64> {
        let discard = match &self.database {
            Database::Sqlite(_) => SQLITE_DISCARD_DEAD,
            Database::Postgres(_) => POSTGRES_DISCARD_DEAD,
        };
        self.steer_the_dead(discard, queue, &self.steering("cancelled", by), || {}).await
    }

    /// Does it to every job that is dead by now, some at a time. How many there were.
    async fn steer_the_dead(
        &self,
        update: &'static str,
        queue: Queue,
        steering: &Steering<'_>,
        on_some: impl Fn(),
    ) -> anyhow::Result<u64> {
        let asked_at_ms: i64 = match &self.database {
            Database::Sqlite(pool) => sqlx::query_scalar(SQLITE_NOW_MS).fetch_one(pool).await?,
            Database::Postgres(pool) => sqlx::query_scalar(POSTGRES_NOW_MS).fetch_one(pool).await?,
        };
        let mut steered = 0;
        loop {
            let some = self.steer_some(update, queue, asked_at_ms, steering).await?;
            if some == 0 {
                return Ok(steered);
            }
            steered += some;
            on_some();
        }
    }

    async fn steer_some(
        &self,
        update: &'static str,
        queue: Queue,
        asked_at_ms: i64,
        steering: &Steering<'_>,
    ) -> anyhow::Result<u64> {
        let steered = on_either!(&self.database, pool => {
            let mut transaction = pool.begin().await?;
            let update = sqlx::query_scalar(update).bind(queue.name()).bind(asked_at_ms).bind(DEAD_AT_ONCE);
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
