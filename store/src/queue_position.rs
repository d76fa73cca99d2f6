//! Reads the review queue: a filtered list from a position on, or the neighbours of a page.

use std::time::Duration;

use anyhow::Context;
use domain::{Host, Time};
use sea_orm::{DbBackend, FromQueryResult, Statement, Value};

use crate::handles::ReviewQueue;
use crate::rows;
use crate::waiting::{WaitingArtifact, WaitingCursor, WaitingFor, WaitingRow};

/// A filter for the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFilter {
    pub waiting_for: WaitingFor,
    /// Only pages in which the last scan found this rule.
    pub rule: Option<String>,
    /// Only pages of the account with this handle.
    pub account: Option<String>,
    /// Only pages that have waited at least this long.
    pub waiting_at_least: Option<Duration>,
}

/// Which rows of the queue to read.
#[derive(Clone, Copy)]
enum Position<'a> {
    /// After this page, or from the first one.
    After(Option<&'a WaitingCursor>),
    /// Before this page, nearest first.
    Before(&'a WaitingCursor),
    /// Only this page.
    At(&'a Host),
}

impl From<WaitingFor> for ReviewFilter {
    fn from(waiting_for: WaitingFor) -> Self {
        Self { waiting_for, rule: None, account: None, waiting_at_least: None }
    }
}

impl Position<'_> {
    /// The condition and the order.
    fn clauses(self) -> (&'static str, &'static str) {
        match self {
            Position::After(_) => ("(rank > $1 OR (rank = $1 AND host > $2))", "rank, host"),
            Position::Before(_) => ("(rank < $1 OR (rank = $1 AND host < $2))", "rank DESC, host DESC"),
            Position::At(_) => ("(rank >= $1 AND host = $2)", "rank, host"),
        }
    }

    fn rank_and_host(self) -> (i64, String) {
        match self {
            Position::After(None) => (i64::MIN, String::new()),
            Position::After(Some(place)) | Position::Before(place) => (place.rank, place.host.to_string()),
            Position::At(host) => (i64::MIN, host.to_string()),
        }
    }
}

impl ReviewFilter {
    fn statement(&self, position: Position<'_>, at_most: u64, now: Time, backend: DbBackend) -> Statement {
        let (condition, order) = position.clauses();
        let (rank, host) = position.rank_and_host();
        let mut values: Vec<Value> =
            vec![rank.into(), host.into(), rows::number(at_most).into(), now.millis().into()];
        let mut filters = String::new();
        if let Some(account) = &self.account {
            values.push(account.as_str().into());
            filters.push_str(&format!(" AND handle = ${}", values.len()));
        }
        if let Some(age) = self.waiting_at_least {
            values.push(now.minus(age).millis().into());
            filters.push_str(&format!(" AND since <= ${}", values.len()));
        }
        if let Some(rule) = &self.rule {
            values.push(pattern_of(rule).into());
            filters.push_str(&format!(
                " AND (
                    SELECT scan.evidence FROM moderation_decisions AS scan
                    WHERE scan.version_id = ranked.version_id AND scan.source = 'scan'
                    ORDER BY scan.id DESC LIMIT 1
                ) LIKE ${} ESCAPE '!'",
                values.len()
            ));
        }
        let ranked = self.waiting_for.ranked();
        // One statement reads the rows and what the moderator will have seen of them, so that the two are
        // consistent.
        let query = format!(
            "SELECT listed.*,
                (SELECT MAX(id) FROM moderation_decisions AS made WHERE made.version_id = listed.version_id)
                    AS newest_decision,
                (SELECT MAX(id) FROM reports WHERE reports.artifact_id = listed.artifact_id) AS newest_report,
                (SELECT MAX(id) FROM appeals WHERE appeals.artifact_id = listed.artifact_id) AS newest_appeal
            FROM ({ranked} WHERE {condition}{filters} ORDER BY {order} LIMIT $3) AS listed
            ORDER BY {order}"
        );
        Statement::from_sql_and_values(backend, query, values)
    }
}

/// A LIKE pattern for evidence with a finding of this rule, as `serde_json` formats it.
fn pattern_of(rule: &str) -> String {
    let mut escaped = String::new();
    for one in rule.chars() {
        if matches!(one, '!' | '%' | '_') {
            escaped.push('!');
        }
        escaped.push(one);
    }
    format!("%\"rule\":\"{escaped}\"%")
}

impl ReviewQueue<'_> {
    /// Waiting pages, the longest wait first. Open reports count as additional hours of waiting. Expired
    /// pages are left out, because they are no longer served.
    pub async fn list(
        self,
        wanted: &ReviewFilter,
        after: Option<&WaitingCursor>,
        at_most: u64,
        now: Time,
    ) -> anyhow::Result<Vec<WaitingArtifact>> {
        let found = self.queue_rows(wanted, Position::After(after), at_most, now).await?;
        let evidence = self
            .0
            .moderation()
            .find_last_scans(found.iter().map(|row| row.version().to_owned()).collect())
            .await?;
        found.into_iter().map(|row| row.read(&evidence)).collect()
    }

    /// The position of a page in the queue. `None` if the page is not in the queue.
    pub async fn find_position(
        self,
        wanted: &ReviewFilter,
        host: &Host,
        now: Time,
    ) -> anyhow::Result<Option<WaitingCursor>> {
        let found = self.queue_rows(wanted, Position::At(host), 1, now).await?;
        found.first().map(WaitingRow::place).transpose()
    }

    /// The page after a position, or the first page, skipping `but`.
    pub async fn find_next(
        self,
        wanted: &ReviewFilter,
        after: Option<&WaitingCursor>,
        but: &Host,
        now: Time,
    ) -> anyhow::Result<Option<Host>> {
        for row in self.queue_rows(wanted, Position::After(after), 2, now).await? {
            let host = row.place()?.host;
            if host != *but {
                return Ok(Some(host));
            }
        }
        Ok(None)
    }

    /// The page before a position.
    pub async fn find_previous(
        self,
        wanted: &ReviewFilter,
        before: &WaitingCursor,
        now: Time,
    ) -> anyhow::Result<Option<Host>> {
        let found = self.queue_rows(wanted, Position::Before(before), 1, now).await?;
        found.first().map(|row| Ok(row.place()?.host)).transpose()
    }

    async fn queue_rows(
        self,
        wanted: &ReviewFilter,
        position: Position<'_>,
        at_most: u64,
        now: Time,
    ) -> anyhow::Result<Vec<WaitingRow>> {
        let reader = &self.0.database.reader;
        let statement = wanted.statement(position, at_most, now, reader.get_database_backend());
        WaitingRow::find_by_statement(statement).all(reader).await.context("read the queue")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_filter_is_matched_literally() {
        assert_eq!(pattern_of("seed_phrase"), r#"%"rule":"seed!_phrase"%"#);
        assert_eq!(pattern_of("a%!b"), r#"%"rule":"a!%!!b"%"#);
    }
}
