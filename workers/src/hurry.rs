//! Somebody asks again for a job that the queue already has. One that somebody waits for is hurried: if it waits out a
//! backoff it is due now, and if it died it gets another life. One that a sweep asks for again begins anew if it is
//! over, and keeps its pace if it is not.
//!
//! On Postgres rows are taken in the order of their ids, as by whoever raises the dead (`board::steer`): two who want the
//! same rows at once then wait for each other in turn.

use anyhow::Context;

use crate::Queues;
use crate::sql::{PushedJob, on_either};

impl Queues {
    /// Makes these jobs due, if they wait or are dead. Those that run, and those that are done, stay as they are.
    pub(crate) async fn hurry(&self, ids: &[&str]) -> anyhow::Result<()> {
        on_either!(&self.database, sql, pool => {
            sqlx::query(sql::HURRY).bind(sql::names(ids)).execute(pool).await?;
        });
        Ok(())
    }

    /// Has these jobs done once more, as they are asked for now, if they are done or dead. Those that wait or run stay as
    /// they are. The ids of those that begin anew; what happened to them in their former lives is forgotten.
    pub(crate) async fn begin_anew(&self, jobs: &[PushedJob<'_>]) -> anyhow::Result<Vec<String>> {
        let begun = on_either!(&self.database, sql, pool => sql::begin_anew(pool, jobs).await)
            .context("having jobs done once more")?;
        self.forget_events(&begun).await?;
        Ok(begun)
    }
}
