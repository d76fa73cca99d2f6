//! Route reads of concurrent requests share statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;

use super::*;
use crate::{RouteReader, is_outage};

impl StoreHarness {
    /// A reader that counts its statements.
    fn counting_reader(&self) -> (RouteReader, Arc<AtomicUsize>) {
        let (mut store, statements) = (self.store.clone(), Arc::<AtomicUsize>::default());
        let counted = statements.clone();
        store.database.reader.set_metric_callback(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        (RouteReader::start(store), statements)
    }

    async fn execute(&self, sql: &str) {
        self.store.database.writer.execute_unprepared(sql).await.unwrap();
    }
}

fn nobody(number: usize) -> Host {
    format!("nobody-here-{number:04}").parse().unwrap()
}

on_both_databases! {
    async fn a_hundred_concurrent_reads_take_few_statements(harness: &StoreHarness) {
        let account = harness.account().await;
        let mut pages = Vec::new();
        for slug in ["one", "two", "three"] {
            pages.push(harness.publish(account, slug, b"one").await);
        }
        let (reader, statements) = harness.counting_reader();
        assert_eq!(reader.find(&pages[0].host).await.unwrap().unwrap().version, pages[0].version);
        assert_eq!(statements.load(Ordering::SeqCst), 1, "also for a page that waits for its scan");
        let published = pages.iter().map(|page| page.host.clone());
        let mut hosts: Vec<Host> = published.clone().chain((0..94).map(nobody)).collect();
        hosts.extend(published);
        let found = join_all(hosts.iter().map(|host| reader.find(host))).await;
        assert_eq!(statements.load(Ordering::SeqCst), 2);
        for (host, found) in hosts.iter().zip(found) {
            let page = pages.iter().find(|page| page.host == *host);
            let version = found.unwrap().map(|route| (route.host, route.version));
            assert_eq!(version, page.map(|page| (host.clone(), page.version)));
        }
    }

    async fn each_route_depends_on_the_pending_versions_of_its_own_time(harness: &StoreHarness) {
        let account = harness.account().await;
        let (old, new) = (harness.publish(account, "old", b"one").await, harness.publish(account, "new", b"one").await);
        let claimed = harness.publish(harness.claimed().await, "claimed", b"one").await;
        // More than an hour before the other, which therefore does not wait for it.
        for (table, column, id) in [("versions", "created_at", "id"), ("routes", "published_at", "version_id")] {
            harness.execute(&format!(
                "UPDATE {table} SET {column} = {column} - 3600001 WHERE {id} = '{}'", old.version
            )).await;
        }
        let (reader, _) = harness.counting_reader();
        let held_from = join_all([&old, &new, &claimed].map(|page| reader.find(&page.host))).await;
        let held_from: Vec<_> = held_from.into_iter().map(|route| route.unwrap().unwrap().held_from).collect();
        let late = |published_at: Time| Some(published_at.plus(Duration::from_secs(30)));
        assert_eq!(held_from, [late(START.minus(Duration::from_millis(3_600_001))), late(START), None]);
    }

    async fn a_malformed_row_fails_only_the_reads_of_its_host(harness: &StoreHarness) {
        let account = harness.account().await;
        let (page, other) = (harness.publish(account, "page", b"one").await, harness.publish(account, "other", b"one").await);
        harness.execute(&format!("UPDATE routes SET manifest = 'x' WHERE host = '{}'", page.host)).await;
        let (reader, _) = harness.counting_reader();
        let found = join_all([&page.host, &other.host, &page.host].map(|host| reader.find(host))).await;
        assert_eq!(found.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true, false]);
    }

    async fn error_of_a_shared_statement_reaches_every_read_and_no_later_one(harness: &StoreHarness) {
        let account = harness.account().await;
        let page = harness.publish(account, "page", b"one").await;
        let (reader, statements) = harness.counting_reader();
        harness.execute("ALTER TABLE routes RENAME TO hidden").await;
        let other = nobody(1);
        let failed = join_all([&page.host, &other, &page.host].map(|host| reader.find(host))).await;
        assert_eq!(statements.load(Ordering::SeqCst), 1);
        for error in failed.into_iter().map(Result::unwrap_err) {
            assert!(format!("{error:#}").contains("routes"), "{error:#}");
            assert!(!is_outage(&error));
        }
        harness.execute("ALTER TABLE hidden RENAME TO routes").await;
        assert!(reader.find(&page.host).await.unwrap().is_some());
        harness.store.close().await.unwrap();
        let failed = join_all([&page.host, &other].map(|host| reader.find(host))).await;
        assert!(failed.into_iter().all(|error| is_outage(&error.unwrap_err())));
    }
}
