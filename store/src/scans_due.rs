//! Which versions wait for a scan: those that have no verdict yet, and those that older rules have judged. A version
//! knows by which rules it was judged, so what is left to do can be seen at any moment, and nothing is lost when a
//! queue is.
//!
//! It only finds and marks versions; the work itself goes through the queue.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use domain::{Host, ScanJob, Time, VersionId};
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::{Store, rows};
use entity::version::{Column, Entity};

/// Stands in `scanned_by` while an operator asks for another scan: no rules bear it, and it is below all that do.
const ASKED_AGAIN: i32 = 0;
/// Versions that one statement marks, so that none holds the table for long.
const MARKED_AT_ONCE: u64 = 5_000;
/// How long a version that was queued is left alone; it doubles with each time, up to the longest.
const PAUSE_FIRST: Duration = Duration::from_secs(60);
const PAUSE_LONGEST: Duration = Duration::from_secs(24 * 3600);
const DOUBLINGS_MAX: i32 = 10;

/// A version whose scan is to be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueScan {
    pub job: ScanJob,
    /// How often it was queued already without coming to a verdict.
    pub tries: u32,
}

/// What an operator asks to be judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedFor {
    /// What was judged by older rules than these. It is due anyway; asking forgets earlier failures.
    Older {
        rules: u32,
    },
    Everything,
    /// Every version of the artifact that this host shows.
    Host(Host),
}

/// How far the scans are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    /// Without a verdict so far.
    pub unscanned: u64,
    /// With a verdict, and an operator asks for another.
    pub asked_again: u64,
    pub judged_by: BTreeMap<u32, u64>,
}

/// A version whose scan was queued again and again, and came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckScan {
    pub version: VersionId,
    pub host: Host,
    pub tries: u32,
    pub again_at: Time,
}

impl Store {
    /// Versions that were committed before `created_before` and have no verdict: their scan was lost, or fails.
    pub async fn late_scans(
        &self,
        created_before: Time,
        now: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<DueScan>> {
        let is_late = Column::ScannedBy.is_null().and(Column::CreatedAt.lt(created_before.millis()));
        self.due(is_late, now, at_most).await.context("find late scans")
    }

    /// Whether older rules have judged anything that is due: a cheap question, for whoever asks often.
    pub async fn has_due_rescans(&self, rules: u32, now: Time) -> anyhow::Result<bool> {
        let due = self.due(Column::ScannedBy.lt(rules), now, 1).await.context("look for rescans")?;
        Ok(!due.is_empty())
    }

    /// Versions that older rules have judged: first those that visitors are shown.
    pub async fn due_rescans(&self, rules: u32, now: Time, at_most: u64) -> anyhow::Result<Vec<DueScan>> {
        let is_older = Column::ScannedBy.lt(rules);
        let is_live = "EXISTS (SELECT 1 FROM routes WHERE routes.version_id = versions.id)";
        let live = is_older.clone().and(Expr::cust(is_live));
        let mut due = self.due(live, now, at_most).await.context("find live versions to rescan")?;
        let room = at_most.saturating_sub(due.len() as u64);
        if room > 0 {
            let rest = is_older.and(Expr::cust(format!("NOT {is_live}")));
            due.extend(self.due(rest, now, room).await.context("find other versions to rescan")?);
        }
        Ok(due)
    }

    /// Notes that these were queued, so that they are left alone for a while.
    pub async fn note_queued(&self, queued: &[DueScan], now: Time) -> anyhow::Result<()> {
        if queued.is_empty() {
            return Ok(());
        }
        let ids = queued.iter().map(|due| due.job.version.to_string());
        let pause_ms = format!(
            "CASE WHEN scan_tries <= {DOUBLINGS_MAX} THEN CAST({} AS BIGINT) << scan_tries ELSE {} END",
            PAUSE_FIRST.as_millis(),
            PAUSE_LONGEST.as_millis()
        );
        Entity::update_many()
            .col_expr(Column::ScanTries, Expr::col(Column::ScanTries).add(1))
            .col_expr(Column::ScanAgainAt, Expr::value(now.millis()).add(Expr::cust(pause_ms)))
            .filter(Column::Id.is_in(ids))
            // Of two sweeps at once, one counts.
            .filter(Column::ScanAgainAt.lte(now.millis()))
            .exec(&self.database.writer)
            .await
            .context("note that scans are queued")?;
        Ok(())
    }

    /// How many versions wait to be judged by these rules though older ones have judged them.
    pub async fn rescans_left(&self, rules: u32) -> anyhow::Result<u64> {
        let left = Entity::find().filter(Column::ScannedBy.lt(rules)).count(&self.database.reader).await;
        left.context("count the rescans that are left")
    }

    /// Marks what an operator wants judged again, and how many versions that are. None: there is no such host.
    pub async fn ask_for_rescans(&self, asked: &AskedFor) -> anyhow::Result<Option<u64>> {
        let which = match asked {
            AskedFor::Older { rules } => Column::ScannedBy.lt(*rules),
            AskedFor::Everything => Column::ScannedBy.is_not_null(),
            AskedFor::Host(host) => match self.artifact_at(host).await? {
                Some(artifact) => {
                    let is_its = Column::ArtifactId.eq(artifact.id.to_string());
                    is_its.and(Column::ScannedBy.is_not_null())
                }
                None => return Ok(None),
            },
        };
        // What older rules have judged is due as it is, and keeps the word of who judged it.
        let scanned_by = match asked {
            AskedFor::Older { .. } => Expr::col(Column::ScannedBy),
            AskedFor::Everything | AskedFor::Host(_) => Expr::value(ASKED_AGAIN),
        };
        Ok(Some(self.mark_in_chunks(which, scanned_by).await?))
    }

    /// How far the scans are. It counts every version, so it is for an operator's question and not for a schedule.
    pub async fn scan_counts(&self) -> anyhow::Result<ScanCounts> {
        let found: Vec<(Option<i32>, i64)> = Entity::find()
            .select_only()
            .column(Column::ScannedBy)
            .column_as(Column::Id.count(), "versions")
            .group_by(Column::ScannedBy)
            .into_tuple()
            .all(&self.database.reader)
            .await
            .context("count versions by the rules that judged them")?;
        let mut counts = ScanCounts::default();
        for (scanned_by, versions) in found {
            let versions = rows::count(versions);
            match scanned_by {
                None => counts.unscanned = versions,
                Some(ASKED_AGAIN) => counts.asked_again = versions,
                Some(rules) => {
                    counts.judged_by.insert(u32::try_from(rules)?, versions);
                }
            }
        }
        Ok(counts)
    }

    /// Versions whose scan was queued again at least so often, the most stubborn first.
    pub async fn stuck_scans(&self, tries_min: u32, at_most: u64) -> anyhow::Result<Vec<StuckScan>> {
        let host = "(SELECT host FROM artifacts WHERE artifacts.id = versions.artifact_id)";
        let found: Vec<(String, String, i32, i64)> = Entity::find()
            .select_only()
            .column(Column::Id)
            .expr_as(Expr::cust(host), "host")
            .columns([Column::ScanTries, Column::ScanAgainAt])
            .filter(Column::ScanTries.gte(tries_min))
            .order_by_desc(Column::ScanTries)
            .order_by_asc(Column::Id)
            .limit(at_most)
            .into_tuple()
            .all(&self.database.reader)
            .await
            .context("find scans that come to nothing")?;
        found
            .into_iter()
            .map(|(version, host, tries, again_at)| {
                Ok(StuckScan {
                    version: rows::parse(&version, "a version id")?,
                    host: rows::parse(&host, "a host")?,
                    tries: u32::try_from(tries)?,
                    again_at: Time::from_millis(again_at),
                })
            })
            .collect()
    }

    /// In the order of the index `versions_by_rules`, so that what failed before comes last.
    async fn due(&self, which: SimpleExpr, now: Time, at_most: u64) -> anyhow::Result<Vec<DueScan>> {
        let found: Vec<(String, String, i32)> = Entity::find()
            .select_only()
            .columns([Column::AccountId, Column::Id, Column::ScanTries])
            .filter(which)
            .filter(Column::ScanAgainAt.lte(now.millis()))
            .order_by_asc(Column::ScannedBy)
            .order_by_asc(Column::ScanAgainAt)
            .limit(at_most)
            .into_tuple()
            .all(&self.database.reader)
            .await?;
        found
            .iter()
            .map(|(account, version, tries)| {
                let account = rows::parse(account, "an account id")?;
                let job = ScanJob { account, version: rows::parse(version, "a version id")? };
                Ok(DueScan { job, tries: u32::try_from(*tries)? })
            })
            .collect()
    }

    /// Marks versions as due at once, in the order of their ids: one that is judged meanwhile is not marked twice.
    async fn mark_in_chunks(&self, which: SimpleExpr, scanned_by: SimpleExpr) -> anyhow::Result<u64> {
        let (mut after, mut marked) = (String::new(), 0);
        loop {
            let ids: Vec<String> = Entity::find()
                .select_only()
                .column(Column::Id)
                .filter(which.clone())
                .filter(Column::Id.gt(after.as_str()))
                .order_by_asc(Column::Id)
                .limit(MARKED_AT_ONCE)
                .into_tuple()
                .all(&self.database.reader)
                .await?;
            let Some(last) = ids.last() else { return Ok(marked) };
            let chunk = Condition::all()
                .add(which.clone())
                .add(Column::Id.gt(after.as_str()))
                .add(Column::Id.lte(last.as_str()));
            let update = Entity::update_many()
                .col_expr(Column::ScannedBy, scanned_by.clone())
                .col_expr(Column::ScanTries, Expr::value(0))
                .col_expr(Column::ScanAgainAt, Expr::value(0_i64))
                .filter(chunk)
                .exec(&self.database.writer)
                .await
                .context("mark versions to be scanned again")?;
            marked += update.rows_affected;
            after.clone_from(last);
        }
    }
}
