//! When the job of a schedule was last done, by any process, fired or started by hand. A schedule whose jobs
//! keep failing is visible only here.

use anyhow::Context;
use domain::Time;

use crate::Queues;
use crate::database::Database;
use crate::schedule::SCHEDULES;
use crate::sql::on_either;

const NOTE: &str = "
    INSERT INTO handbill_schedules_done (schedule, done_at_ms) VALUES ($1, $2)
    ON CONFLICT (schedule) DO UPDATE SET done_at_ms = excluded.done_at_ms
    WHERE handbill_schedules_done.done_at_ms < excluded.done_at_ms";
const LIST: &str = "SELECT schedule, done_at_ms FROM handbill_schedules_done";

impl Database {
    /// Records that a job of this kind was done, if a schedule fires such jobs.
    pub(crate) async fn note_done(&self, kind: &str, now: Time) -> anyhow::Result<()> {
        for schedule in SCHEDULES.iter().filter(|schedule| schedule.kind() == kind) {
            on_either!(self, pool => {
                sqlx::query(NOTE).bind(schedule.name()).bind(now.millis()).execute(pool).await.map(drop)
            })
            .with_context(|| format!("recording that the schedule {} was done", schedule.name()))?;
        }
        Ok(())
    }
}

impl Queues {
    /// Every schedule, with the time when its job was last done, if it ever was.
    pub async fn schedules_done(&self) -> anyhow::Result<Vec<(&'static str, Option<Time>)>> {
        let done: Vec<(String, i64)> = on_either!(&self.database, pool => {
            sqlx::query_as(LIST).fetch_all(pool).await
        })
        .context("reading when schedules were last done")?;
        let last_of = |name: &str| {
            let noted = done.iter().find(|(schedule, _)| schedule == name);
            noted.map(|(_, done_at_ms)| Time::from_millis(*done_at_ms))
        };
        Ok(SCHEDULES.iter().map(|schedule| (schedule.name(), last_of(schedule.name()))).collect())
    }
}
