//! Repeated pushes of jobs that the queue already has. A job that a process waits for is expedited: one in
//! backoff becomes due, and a dead one is restarted. A job that a sweep pushes again is restarted if it is
//! finished, and left alone if it is not.
//!
//! On Postgres, rows are locked in the order of their ids, as in `board::steer`, so that two concurrent
//! statements on the same rows do not deadlock.

use anyhow::Context;

use crate::Queues;
use crate::sql::{PushedJob, on_either};

impl Queues {
    /// Makes these jobs due if they wait or are dead. Running and done jobs are left alone.
    pub(crate) async fn expedite(&self, ids: &[&str]) -> anyhow::Result<()> {
        on_either!(&self.database, sql, pool => {
            sqlx::query(sql::EXPEDITE).bind(sql::names(ids)).execute(pool).await?;
        });
        Ok(())
    }

    /// Restarts these jobs with their new payload, if they are done or dead. Waiting and running jobs are
    /// left alone. Returns the ids of the restarted jobs, and deletes their earlier history.
    pub(crate) async fn restart(&self, jobs: &[PushedJob<'_>]) -> anyhow::Result<Vec<String>> {
        let begun = on_either!(&self.database, sql, pool => sql::restart(pool, jobs).await)
            .context("restarting jobs")?;
        self.forget_events(&begun).await?;
        Ok(begun)
    }
}
