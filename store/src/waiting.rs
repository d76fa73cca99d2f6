//! The review queue: pages of all accounts that wait for a moderator or for their scan. This module only
//! reads. Reports move a page up in the queue, but only to a limit, so that reporters do not control the
//! order.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use anyhow::Context;
use domain::{Host, ModeratedBy, ModerationStatus, Slug, Time, VersionId, Visibility};
use sea_orm::{FromQueryResult, Statement, Value};

use crate::decisions::StoredScan;
use crate::handles::ReviewQueue;
use crate::moderation::Seen;
use crate::rows;

/// An open report moves a page as far ahead as this much waiting time.
const REPORT_WEIGHT_MILLIS: i64 = 6 * 3600 * 1000;
/// Further reports have no effect, so that a person who sends many does not decide what is reviewed.
const REPORTS_WEIGHED_MAX: i64 = 3;

/// The open reports on each page.
const OPEN_REPORTS: &str = "SELECT artifact_id, COUNT(*) AS reports, MIN(created_at) AS first_at
    FROM reports WHERE handled_at IS NULL GROUP BY artifact_id";
/// Pages without a live version, which have no route, with their newest version. Visitors can open it at its
/// own address. Only pages that were reported or blocked, or whose owner appeals, are read.
const STAGED: &str = "artifacts AS artifact JOIN accounts AS account ON account.id = artifact.account_id
    JOIN versions AS version ON version.artifact_id = artifact.id
        AND version.seq = (SELECT MAX(seq) FROM versions WHERE artifact_id = artifact.id)
    LEFT JOIN appeals AS appeal ON appeal.version_id = version.id AND appeal.handled_at IS NULL";
const IS_STAGED: &str = "artifact.id IN (
        SELECT artifact_id FROM reports WHERE handled_at IS NULL
        UNION SELECT artifact_id FROM held_pages
        UNION SELECT artifact_id FROM appeals WHERE handled_at IS NULL
    ) AND artifact.live_version_id IS NULL AND artifact.deleted_at IS NULL";
const STAGED_IN_REVIEW: &str =
    "(open.reports > 0 OR appeal.id IS NOT NULL OR version.moderation_status = 'review')";

/// The backlog counts no more pages and reports than this, to bound the cost of counting.
const BACKLOG_COUNTED_MAX: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Pages that wait for a moderator, up to 10,000.
    pub pages: u64,
    /// When the oldest of these pages was queued.
    pub oldest_since: Option<Time>,
    /// Open reports on pages that have a version, up to 10,000.
    pub reports: u64,
}

/// What the pages of a list wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingFor {
    /// A moderator: in review, or with open reports or an appeal.
    Review,
    /// Nothing. They are blocked already, and are listed so that wrong blocks are found.
    BlockedAlready,
    /// Their scan.
    Scan,
}

/// The position of a page in the queue, from which the next list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingCursor {
    pub(crate) rank: i64,
    pub(crate) host: Host,
}

/// A page in the queue.
#[derive(Clone, Debug)]
pub struct WaitingArtifact {
    pub host: Host,
    pub slug: Slug,
    pub account_handle: String,
    pub visibility: Visibility,
    pub version: VersionId,
    pub seq: u32,
    pub status: ModerationStatus,
    pub moderated_by: ModeratedBy,
    pub open_reports: u64,
    pub since: Time,
    /// When the owner submitted the open appeal.
    pub appealed_at: Option<Time>,
    /// The findings of the last scan of the version, as stored.
    pub evidence: Option<String>,
    /// What a decision that is made from the list is based on.
    pub seen: Seen,
    pub place: WaitingCursor,
}

impl WaitingFor {
    /// Must match the conditions of indexes literally, because SQLite does not use these indexes for bound
    /// values.
    fn condition(self) -> &'static str {
        match self {
            WaitingFor::Review => {
                "route.host IN (
                    SELECT host FROM routes
                    WHERE moderation_status IN ('review', 'blocked') AND moderation_status = 'review'
                    UNION
                    SELECT held.host FROM held_pages JOIN routes AS held ON held.artifact_id = held_pages.artifact_id
                    JOIN versions AS shown ON shown.id = held.version_id
                    WHERE shown.moderation_status = 'review'
                    UNION
                    SELECT appealed.host FROM appeals JOIN routes AS appealed
                    ON appealed.version_id = appeals.version_id WHERE appeals.handled_at IS NULL
                    UNION
                    SELECT reported.host FROM reports JOIN routes AS reported
                    ON reported.artifact_id = reports.artifact_id WHERE reports.handled_at IS NULL
                )"
            }
            WaitingFor::BlockedAlready => {
                "route.moderation_status IN ('review', 'blocked') AND route.moderation_status = 'blocked'
                AND NOT EXISTS (
                    SELECT 1 FROM versions AS held
                    WHERE held.id = route.version_id AND held.moderation_status = 'review'
                )"
            }
            WaitingFor::Scan => {
                "route.moderation_status = 'pending' AND route.version_id IN (
                    SELECT id FROM versions WHERE moderated_by IN ('nobody', 'report')
                )"
            }
        }
    }

    /// The number of pages that wait for a moderator, and the time of the oldest. The count is bounded.
    fn count_in_review() -> String {
        format!(
            "SELECT COUNT(*) AS pages, MIN(since) AS oldest FROM (
                SELECT COALESCE(
                    CASE WHEN route.moderation_status = 'review' THEN (
                        SELECT MIN(decision.created_at) FROM moderation_decisions AS decision
                        WHERE decision.version_id = route.version_id AND decision.status = 'review'
                    ) END,
                    (
                        SELECT MIN(created_at) FROM reports
                        WHERE reports.artifact_id = route.artifact_id AND handled_at IS NULL
                    ),
                    (
                        SELECT created_at FROM appeals
                        WHERE appeals.version_id = route.version_id AND handled_at IS NULL
                    ),
                    route.published_at
                ) AS since
                FROM routes AS route
                WHERE ({condition}) AND (route.expires_at IS NULL OR route.expires_at > $1)
                UNION ALL SELECT COALESCE(open.first_at, appeal.created_at, version.created_at)
                FROM {STAGED} LEFT JOIN ({OPEN_REPORTS}) AS open ON open.artifact_id = artifact.id
                WHERE {IS_STAGED} AND {staged} AND (account.expires_at IS NULL OR account.expires_at > $1)
                LIMIT {BACKLOG_COUNTED_MAX}
            ) AS waiting",
            condition = WaitingFor::Review.condition(),
            staged = STAGED_IN_REVIEW
        )
    }

    /// A page in review waits since the decision that sent it there. Any other page waits since its first
    /// open report or appeal.
    pub(crate) fn ranked(self) -> String {
        format!(
            "SELECT * FROM (
                SELECT waiting.*, waiting.since - {REPORT_WEIGHT_MILLIS} * (
                    CASE WHEN open_reports > {REPORTS_WEIGHED_MAX} THEN {REPORTS_WEIGHED_MAX} ELSE open_reports END
                ) AS rank
                FROM (
                    SELECT route.host, route.artifact_id, route.version_id, route.visibility, version.moderation_status,
                        artifact.slug, account.handle, version.seq, version.moderated_by,
                        COALESCE(open.reports, 0) AS open_reports,
                        COALESCE(
                            CASE WHEN route.moderation_status = 'review' THEN (
                                SELECT MIN(decision.created_at) FROM moderation_decisions AS decision
                                WHERE decision.version_id = route.version_id AND decision.status = 'review'
                            ) END,
                            open.first_at, appeal.created_at, route.published_at
                        ) AS since,
                        appeal.created_at AS appealed_at
                    FROM routes AS route
                    JOIN artifacts AS artifact ON artifact.id = route.artifact_id
                    JOIN accounts AS account ON account.id = route.account_id
                    JOIN versions AS version ON version.id = route.version_id
                    LEFT JOIN ({OPEN_REPORTS}) AS open ON open.artifact_id = route.artifact_id
                    LEFT JOIN appeals AS appeal
                    ON appeal.version_id = route.version_id AND appeal.handled_at IS NULL
                    WHERE ({condition}) AND (route.expires_at IS NULL OR route.expires_at > $4)
                    {staged}
                ) AS waiting
            ) AS ranked",
            condition = self.condition(),
            staged = self.staged_rows()
        )
    }

    /// The rest of a union, in the columns of [`Self::ranked`].
    fn staged_rows(self) -> String {
        let condition = match self {
            WaitingFor::Review => STAGED_IN_REVIEW,
            WaitingFor::BlockedAlready => "version.moderation_status = 'blocked'",
            // The sweep for scans finds versions that are not live, too.
            WaitingFor::Scan => return String::new(),
        };
        format!(
            "UNION ALL SELECT artifact.host, artifact.id, version.id, artifact.visibility,
                version.moderation_status, artifact.slug, account.handle, version.seq, version.moderated_by,
                COALESCE(open.reports, 0), COALESCE(open.first_at, appeal.created_at, version.created_at),
                appeal.created_at
            FROM {STAGED} LEFT JOIN ({OPEN_REPORTS}) AS open ON open.artifact_id = artifact.id
            WHERE {IS_STAGED} AND {condition} AND (account.expires_at IS NULL OR account.expires_at > $4)"
        )
    }
}

#[derive(FromQueryResult)]
struct BacklogRow {
    pages: i64,
    oldest: Option<i64>,
}

#[derive(FromQueryResult)]
struct ReportsRow {
    reports: i64,
}

#[derive(FromQueryResult)]
pub(crate) struct WaitingRow {
    host: String,
    version_id: String,
    visibility: String,
    moderation_status: String,
    slug: String,
    handle: String,
    seq: i32,
    moderated_by: String,
    open_reports: i64,
    since: i64,
    appealed_at: Option<i64>,
    rank: i64,
    newest_decision: Option<String>,
    newest_report: Option<String>,
    newest_appeal: Option<String>,
}

impl WaitingRow {
    pub(crate) fn version(&self) -> &str {
        &self.version_id
    }

    pub(crate) fn place(&self) -> anyhow::Result<WaitingCursor> {
        Ok(WaitingCursor { rank: self.rank, host: rows::parse(&self.host, "a host")? })
    }

    pub(crate) fn read(self, evidence: &HashMap<String, StoredScan>) -> anyhow::Result<WaitingArtifact> {
        let place = self.place()?;
        Ok(WaitingArtifact {
            seen: Seen {
                decision: newest(self.newest_decision.as_deref(), "a decision id")?,
                report: newest(self.newest_report.as_deref(), "a report id")?,
                appeal: newest(self.newest_appeal.as_deref(), "an appeal id")?,
            },
            slug: rows::parse(&self.slug, "a slug")?,
            account_handle: self.handle,
            visibility: rows::visibility(&self.visibility)?,
            version: rows::parse(&self.version_id, "a version id")?,
            seq: u32::try_from(self.seq).unwrap_or(0),
            status: rows::moderation(&self.moderation_status)?,
            moderated_by: rows::moderator_of(&self.moderated_by)?,
            open_reports: rows::count(self.open_reports),
            since: Time::from_millis(self.since),
            appealed_at: self.appealed_at.map(Time::from_millis),
            evidence: evidence.get(&self.version_id).map(|scan| scan.evidence.clone()),
            host: place.host.clone(),
            place,
        })
    }
}

impl ReviewQueue<'_> {
    /// The figures of the review queue.
    pub async fn backlog(self, now: Time) -> anyhow::Result<Backlog> {
        let reader = &self.0.database.reader;
        let backend = reader.get_database_backend();
        let count = WaitingFor::count_in_review();
        let count = Statement::from_sql_and_values(backend, count, [Value::from(now.millis())]);
        let pages = BacklogRow::find_by_statement(count).one(reader).await.context("count waiting pages")?;
        let count = format!(
            "SELECT COUNT(*) AS reports FROM (
                SELECT 1 FROM reports JOIN artifacts ON artifacts.id = reports.artifact_id
                WHERE reports.handled_at IS NULL AND artifacts.deleted_at IS NULL
                    AND EXISTS (SELECT 1 FROM versions WHERE versions.artifact_id = artifacts.id)
                LIMIT {BACKLOG_COUNTED_MAX}
            ) AS open"
        );
        let count = Statement::from_string(backend, count);
        let open = ReportsRow::find_by_statement(count).one(reader).await.context("count open reports")?;
        Ok(Backlog {
            pages: pages.as_ref().map_or(0, |row| rows::count(row.pages)),
            oldest_since: pages.and_then(|row| row.oldest).map(Time::from_millis),
            reports: open.map_or(0, |row| rows::count(row.reports)),
        })
    }
}

/// Parses an optional id.
fn newest<T: FromStr>(id: Option<&str>, what: &'static str) -> anyhow::Result<Option<T>> {
    id.map(|id| rows::parse(id, what)).transpose()
}

impl fmt::Display for WaitingCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.rank, self.host)
    }
}

impl FromStr for WaitingCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (rank, host) = text.split_once('.').ok_or(())?;
        Ok(Self { rank: rank.parse().map_err(|_| ())?, host: host.parse().map_err(|_| ())? })
    }
}
