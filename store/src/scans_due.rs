//! Finds versions that are due for a scan: those without a verdict, and those whose verdict is from older
//! rules. Each version records the rules of its last scan, so the remaining work is always known and survives
//! the loss of a queue.
//!
//! This module only finds and marks versions; the scans themselves are jobs. It is called every few seconds,
//! whatever the number of versions, so no query may read more than a page of them.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Context;
use domain::{ArtifactId, ScanJob, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, LockBehavior, LockType, OnConflict, Query};
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter};

use crate::handles::ScanStore;
use crate::rows;
use entity::version::{Column, Entity};

/// Must match the condition of the index `versions_without_verdict` literally.
pub(crate) const WITHOUT_VERDICT: &str = "(scanned_by IS NULL OR moderated_by = 'nobody')";
/// The pause after a version's scan was queued. It doubles with each attempt, up to a maximum.
const PAUSE_FIRST: Duration = Duration::from_secs(60);
const PAUSE_LONGEST: Duration = Duration::from_secs(24 * 3600);
const DOUBLINGS_MAX: i32 = 10;
/// The pause for a version that nobody can see because its page was deleted or its account has expired.
const GONE_PAUSE: Duration = Duration::from_secs(30 * 24 * 3600);
/// Live pages that one call examines. The next call continues behind them.
const WALKED_AT_ONCE: u64 = 10_000;
/// Pages of versions that one call reads while they contain versions that nobody can see.
const PAGES_AT_ONCE: u32 = 10;

/// A version whose scan is to be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueScan {
    pub job: ScanJob,
    /// How many scans of it were started without a verdict.
    pub tries: u32,
}

/// Why a version with a verdict is due.
#[derive(Clone, Copy)]
enum Reason {
    Requested,
    /// Its verdict is from rules before these.
    OlderThan(i32),
}

impl Reason {
    /// The condition and the order, which must match the index literally.
    fn condition_and_order(self) -> (String, &'static str) {
        match self {
            Reason::Requested => ("rescan_asked_at IS NOT NULL".to_owned(), "scan_again_at"),
            Reason::OlderThan(rules) => (format!("scanned_by < {rules}"), "scanned_by, scan_again_at"),
        }
    }
}

#[derive(FromQueryResult)]
struct DueRow {
    account_id: String,
    id: String,
    scan_tries: i32,
}

/// A version that is due, unless nobody can see it any more.
#[derive(FromQueryResult)]
struct FoundRow {
    #[sea_orm(nested)]
    due: DueRow,
    is_gone: bool,
}

#[derive(FromQueryResult)]
struct LiveRow {
    #[sea_orm(nested)]
    due: DueRow,
    host: String,
}

impl DueRow {
    fn read(&self) -> anyhow::Result<DueScan> {
        let account = rows::parse(&self.account_id, "an account id")?;
        let job = ScanJob { account, version: rows::parse(&self.id, "a version id")? };
        Ok(DueScan { job, tries: u32::try_from(self.scan_tries)? })
    }
}

impl ScanStore<'_> {
    /// Versions that were committed before `created_before` and have no verdict, because their scan was lost
    /// or fails. Versions with failed attempts come last.
    pub async fn list_late(
        self,
        created_before: Time,
        now: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<DueScan>> {
        let sql = format!(
            "SELECT account_id, id, scan_tries FROM versions
             WHERE {WITHOUT_VERDICT} AND created_at < $1 AND scan_again_at <= $2
             ORDER BY scan_again_at LIMIT $3"
        );
        let values = [created_before.millis().into(), now.millis().into(), rows::number(at_most).into()];
        let found: Vec<DueRow> = self.0.database.find(sql, values).await.context("find late scans")?;
        found.iter().map(DueRow::read).collect()
    }

    /// Whether any version is due for a rescan. It is cheap enough to be called often.
    pub async fn has_due_rescans(self, rules: u32, now: Time) -> anyhow::Result<bool> {
        for reason in [Reason::Requested, Reason::OlderThan(i32::try_from(rules)?)] {
            if !self.read_page(reason, now, 1).await.context("find rescans")?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Versions that are due for a rescan: first live ones, in the order of the walk, then those that an
    /// operator requested, then those with a verdict of older rules.
    pub async fn list_due_rescans(self, rules: u32, now: Time, at_most: u64) -> anyhow::Result<Vec<DueScan>> {
        let rules = i32::try_from(rules)?;
        let mut due = self.walk_live(rules, now, at_most).await.context("find live versions to rescan")?;
        for reason in [Reason::Requested, Reason::OlderThan(rules)] {
            self.fill(&mut due, reason, now, at_most).await.context("find other versions to rescan")?;
        }
        Ok(due)
    }

    /// Rescans that an operator requested for one page, newest version first.
    pub async fn list_due_rescans_of(
        self,
        artifact: ArtifactId,
        now: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<DueScan>> {
        let sql = "SELECT account_id, id, scan_tries FROM versions
             WHERE artifact_id = $1 AND rescan_asked_at IS NOT NULL AND scan_again_at <= $2
             ORDER BY seq DESC LIMIT $3";
        let values = [artifact.to_string().into(), now.millis().into(), rows::number(at_most).into()];
        let found: Vec<DueRow> =
            self.0.database.find(sql.to_owned(), values).await.context("find a page's rescans")?;
        found.iter().map(DueRow::read).collect()
    }

    /// Counts one more attempt for each of these versions and extends their pause.
    pub async fn mark_started(self, started: &[DueScan], now: Time) -> anyhow::Result<()> {
        self.extend_pause(started, 1, now).await.context("record started scans")
    }

    /// Extends the pause of versions whose scans are queued already, without counting an attempt.
    pub async fn mark_waiting(self, waiting: &[DueScan], now: Time) -> anyhow::Result<()> {
        self.extend_pause(waiting, 0, now).await.context("record waiting scans")
    }

    /// Continues the walk through the live pages in the order of their hosts, one stretch per call. The
    /// position is stored, so that pages are not examined twice. If the position is lost, skipped versions
    /// are still found by their rules.
    async fn walk_live(self, rules: i32, now: Time, at_most: u64) -> anyhow::Result<Vec<DueScan>> {
        let walk = entity::rescan_walk::Entity::find_by_id(rules).one(&self.0.database.reader).await?;
        let Some(after) = walk.map_or(Some(String::new()), |walk| walk.after_host) else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT version.account_id, version.id, version.scan_tries, walked.host
             FROM (
                SELECT host, version_id, expires_at FROM routes WHERE host > $1 ORDER BY host LIMIT {WALKED_AT_ONCE}
             ) AS walked
             JOIN versions AS version ON version.id = walked.version_id
             WHERE (version.scanned_by < {rules} OR version.rescan_asked_at IS NOT NULL)
                AND version.scan_again_at <= $2 AND (walked.expires_at IS NULL OR walked.expires_at > $2)
             ORDER BY walked.host LIMIT $3"
        );
        let values = [after.as_str().into(), now.millis().into(), rows::number(at_most).into()];
        let found: Vec<LiveRow> = self.0.database.find(sql, values).await?;
        let next = match found.last() {
            Some(last) if found.len() as u64 >= at_most => Some(last.host.clone()),
            _ => self.end_of_stretch(&after).await?,
        };
        self.store_walk(rules, next).await?;
        found.iter().map(|row| row.due.read()).collect()
    }

    /// The last host of the next stretch. `None` if it is the last stretch.
    async fn end_of_stretch(self, after: &str) -> anyhow::Result<Option<String>> {
        #[derive(FromQueryResult)]
        struct End {
            host: String,
        }
        let sql = format!(
            "SELECT host FROM routes WHERE host > $1 ORDER BY host LIMIT 1 OFFSET {}",
            WALKED_AT_ONCE - 1
        );
        let found: Vec<End> = self.0.database.find(sql, [after.into()]).await?;
        Ok(found.into_iter().next().map(|end| end.host))
    }

    async fn store_walk(self, rules: i32, after_host: Option<String>) -> anyhow::Result<()> {
        use entity::rescan_walk::{ActiveModel, Column, Entity};
        Entity::insert(ActiveModel { rules: Set(rules), after_host: Set(after_host) })
            .on_conflict(OnConflict::column(Column::Rules).update_column(Column::AfterHost).to_owned())
            .exec_without_returning(&self.0.database.writer)
            .await?;
        Ok(())
    }

    /// Adds versions that are due for a reason, up to `at_most` in all. Versions that nobody can see are
    /// postponed.
    async fn fill(
        self,
        due: &mut Vec<DueScan>,
        reason: Reason,
        now: Time,
        at_most: u64,
    ) -> anyhow::Result<()> {
        let mut known: HashSet<VersionId> = due.iter().map(|due| due.job.version).collect();
        for _ in 0..PAGES_AT_ONCE {
            if due.len() as u64 >= at_most {
                return Ok(());
            }
            let (gone, visible): (Vec<_>, Vec<_>) =
                self.read_page(reason, now, at_most).await?.into_iter().partition(|row| row.is_gone);
            for row in &visible {
                let found = row.due.read()?;
                if (due.len() as u64) < at_most && known.insert(found.job.version) {
                    due.push(found);
                }
            }
            if gone.is_empty() {
                return Ok(());
            }
            self.postpone(gone.into_iter().map(|row| row.due.id).collect(), now).await?;
        }
        Ok(())
    }

    /// In the order of an index, so that failed versions come last. The limit is inside the subquery, so that
    /// the joins read no more rows.
    async fn read_page(self, reason: Reason, now: Time, at_most: u64) -> anyhow::Result<Vec<FoundRow>> {
        let (condition, order) = reason.condition_and_order();
        let sql = format!(
            "SELECT due.account_id, due.id, due.scan_tries,
                (artifact.deleted_at IS NOT NULL
                    OR (account.expires_at IS NOT NULL AND account.expires_at <= $1)) AS is_gone
             FROM (
                SELECT id, account_id, artifact_id, scan_tries, scanned_by, scan_again_at FROM versions
                WHERE {condition} AND scan_again_at <= $1 ORDER BY {order} LIMIT $2
             ) AS due
             JOIN artifacts AS artifact ON artifact.id = due.artifact_id
             JOIN accounts AS account ON account.id = due.account_id
             ORDER BY {order}"
        );
        self.0.database.find(sql, [now.millis().into(), rows::number(at_most).into()]).await
    }

    async fn postpone(self, ids: Vec<String>, now: Time) -> anyhow::Result<()> {
        Entity::update_many()
            .col_expr(Column::ScanAgainAt, Expr::value(now.plus(GONE_PAUSE).millis()))
            .filter(Column::Id.in_subquery(free_rows(ids, now)))
            .exec(&self.0.database.writer)
            .await
            .context("postpone versions that nobody can see")?;
        Ok(())
    }

    async fn extend_pause(self, due: &[DueScan], tries: i32, now: Time) -> anyhow::Result<()> {
        if due.is_empty() {
            return Ok(());
        }
        let ids = due.iter().map(|due| due.job.version.to_string()).collect();
        let pause_ms = format!(
            "CASE WHEN scan_tries <= {DOUBLINGS_MAX} THEN CAST({} AS BIGINT) << scan_tries ELSE {} END",
            PAUSE_FIRST.as_millis(),
            PAUSE_LONGEST.as_millis()
        );
        Entity::update_many()
            .col_expr(Column::ScanTries, Expr::col(Column::ScanTries).add(tries))
            .col_expr(Column::ScanAgainAt, Expr::value(now.millis()).add(Expr::cust(pause_ms)))
            .filter(Column::Id.in_subquery(free_rows(ids, now)))
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }
}

/// Those of these versions that are still due, so that of two concurrent sweeps only one counts an attempt.
/// Rows are locked in one order. A locked row is skipped, because it is getting a verdict.
fn free_rows(ids: Vec<String>, now: Time) -> sea_orm::sea_query::SelectStatement {
    Query::select()
        .column(Column::Id)
        .from(Entity)
        .and_where(Column::Id.is_in(ids))
        .and_where(Column::ScanAgainAt.lte(now.millis()))
        .order_by(Column::Id, sea_orm::Order::Asc)
        .lock_with_behavior(LockType::NoKeyUpdate, LockBehavior::SkipLocked)
        .to_owned()
}
