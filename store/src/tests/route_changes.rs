//! The log of route changes.

use super::*;
use crate::route_changes::Change;
use crate::{RouteLogPosition, RouteLogRead};

impl StoreHarness {
    async fn log(&self, earlier: Option<&RouteLogPosition>) -> RouteLogRead {
        self.store.routes().changes_since(earlier).await.unwrap()
    }

    async fn log_now(&self) -> RouteLogPosition {
        self.log(None).await.position
    }

    /// A position beyond all changes so far. A transaction of another test on the same server holds the
    /// position back while it is open.
    async fn log_past_all_changes(&self) -> RouteLogPosition {
        let newest =
            "SELECT MAX(position) AS position, CAST(0 AS BIGINT) AS written_at FROM route_changes".to_owned();
        let newest: Vec<Change> = self.store.database.find(newest, []).await.unwrap();
        loop {
            let position = self.log_now().await;
            if position.next > newest[0].position {
                return position;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The changed hosts in alphabetical order, each once.
    async fn changed_since(&self, earlier: &RouteLogPosition) -> Option<Vec<Host>> {
        let mut hosts = self.log(Some(earlier)).await.changed?;
        hosts.sort();
        hosts.dedup();
        Some(hosts)
    }
}

on_both_databases! {
    async fn every_change_of_a_route_is_listed_since_the_last_read_and_not_again(harness: &StoreHarness) {
        assert!(harness.log(None).await.changed.is_none(), "a new reader knows nothing about earlier reads");
        let mut seen = harness.log_now().await;
        assert_eq!(harness.changed_since(&seen).await.unwrap(), []);
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let other = harness.publish(account, "other", b"one").await;
        let mut hosts = vec![published.host.clone(), other.host.clone()];
        hosts.sort();
        assert_eq!(harness.changed_since(&seen).await.unwrap(), hosts, "new");
        seen = harness.log_now().await;
        let published = harness.publish(account, "page", b"two").await;
        let page = [published.host.clone()];
        assert_eq!(harness.changed_since(&seen).await.unwrap(), page, "another version");
        seen = harness.log(Some(&seen)).await.position;
        assert_eq!(harness.changed_since(&seen).await.unwrap(), [], "it was listed before");
        harness.judge(&published, 1, ModerationStatus::Blocked).await;
        harness.store.scans().hold_back(other.version, START).await.unwrap().unwrap();
        assert_eq!(harness.changed_since(&seen).await.unwrap().len(), 2, "moderation");
        seen = harness.log_now().await;
        let change = harness.change(account, START);
        harness.store.artifacts().delete(&change, &"page".parse().unwrap()).await.unwrap();
        assert_eq!(harness.changed_since(&seen).await.unwrap(), page, "deleted");
        seen = harness.log_now().await;
        harness.store.upkeep().purge_account(account, START.plus(2 * HOUR)).await.unwrap().unwrap();
        assert_eq!(harness.changed_since(&seen).await.unwrap(), [other.host], "deleted with its account");
    }

    async fn a_log_that_was_trimmed_past_a_reader_says_so(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
        let (early, upkeep) = (harness.log_now().await, harness.store.upkeep());
        harness.publish(account, "page", b"two").await;
        let late = harness.log_past_all_changes().await;
        assert_eq!(upkeep.trim_route_log(100).await.unwrap(), 0, "the changes are new");
        assert_eq!(harness.changed_since(&early).await.unwrap().len(), 1);
        harness.sql("UPDATE route_changes SET written_at = written_at - 599000").await;
        assert_eq!(upkeep.trim_route_log(100).await.unwrap(), 0, "the changes are not old enough");
        harness.sql("UPDATE route_changes SET written_at = written_at - 2000").await;
        let third = harness.publish(account, "third", b"three").await;
        assert_eq!(upkeep.trim_route_log(1).await.unwrap(), 1);
        assert_eq!(upkeep.trim_route_log(100).await.unwrap(), 1);
        assert!(harness.changed_since(&early).await.is_none());
        assert_eq!(harness.changed_since(&late).await.unwrap(), [third.host], "it had read what was deleted");
        let now = harness.log_now().await;
        assert_eq!(harness.changed_since(&now).await.unwrap(), []);
    }

    async fn another_log_and_an_older_state_of_the_log_are_noticed(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
        let seen = harness.log_now().await;
        let mut ahead = seen.clone();
        // Transactions of other tests on the same server move the position too.
        ahead.next += 1_000_000_000;
        assert!(harness.changed_since(&ahead).await.is_none(), "a backup was restored");
        harness.sql("UPDATE route_log SET id = 'another'").await;
        assert!(harness.changed_since(&seen).await.is_none());
        let seen = harness.log_now().await;
        assert_eq!(harness.changed_since(&seen).await.unwrap(), []);
    }

    async fn more_changes_than_a_reader_wants_are_not_listed(harness: &StoreHarness) {
        let seen = harness.log_now().await;
        let insert = |hosts: std::ops::Range<u32>| {
            let rows: Vec<String> = hosts.map(|number| format!("({}, 'page-{number}-a1b2', 1)", 1_000_000_000 + number)).collect();
            format!("INSERT INTO route_changes (position, host, written_at) VALUES {}", rows.join(", "))
        };
        harness.sql(&insert(0..5_000)).await;
        harness.sql(&insert(5_000..10_000)).await;
        assert_eq!(harness.changed_since(&seen).await.unwrap().len(), 10_000);
        harness.sql(&insert(10_000..10_001)).await;
        assert!(harness.changed_since(&seen).await.is_none());
    }
}

#[tokio::test]
async fn a_change_that_was_written_first_and_committed_last_is_listed() {
    let Some(harness) = postgres().await else { return };
    let account = harness.account().await;
    let slow = harness.publish(account, "slow", b"one").await.host;
    let quick = harness.publish(account, "quick", b"one").await.host;
    let mut seen = harness.log_now().await;
    let touch = |host: &Host| format!("UPDATE routes SET updated_at = updated_at + 1 WHERE host = '{host}'");
    let open = harness.store.database.begin().await.unwrap();
    open.execute_unprepared(&touch(&slow)).await.unwrap();
    harness.sql(&touch(&quick)).await;
    assert_eq!(harness.changed_since(&seen).await.unwrap(), std::slice::from_ref(&quick));
    for _ in 0..3 {
        seen = harness.log(Some(&seen)).await.position;
        assert_eq!(harness.changed_since(&seen).await.unwrap(), [], "each change is listed once");
    }
    open.commit().await.unwrap();
    assert_eq!(harness.changed_since(&seen).await.unwrap(), std::slice::from_ref(&slow));
    seen = harness.log(Some(&seen)).await.position;

    // The same with a savepoint, and a transaction that is rolled back.
    let (open, undone) =
        (harness.store.database.begin().await.unwrap(), harness.store.database.begin().await.unwrap());
    for sql in ["SAVEPOINT inner_change", &touch(&slow), "RELEASE SAVEPOINT inner_change"] {
        open.execute_unprepared(sql).await.unwrap();
    }
    undone.execute_unprepared(&touch(&quick)).await.unwrap();
    seen = harness.log(Some(&seen)).await.position;
    undone.rollback().await.unwrap();
    open.commit().await.unwrap();
    assert_eq!(harness.changed_since(&seen).await.unwrap(), [slow]);
}

#[tokio::test]
async fn postgres_reads_the_log_by_its_index() {
    let Some(harness) = postgres().await else { return };
    let explain = "EXPLAIN SELECT host FROM route_changes WHERE position >= 5
        AND NOT pg_visible_in_snapshot(CAST(CAST(position AS TEXT) AS xid8), CAST('1:1:' AS pg_snapshot)) LIMIT 5";
    let pool = harness.store.database.reader.get_postgres_connection_pool();
    let plan: Vec<String> = sqlx::query_scalar(explain).fetch_all(pool).await.unwrap();
    let plan = plan.join("\n");
    assert!(
        plan.contains("using route_changes_pk") && plan.contains("Index Cond: (\"position\" >= 5)"),
        "{plan}"
    );
}
