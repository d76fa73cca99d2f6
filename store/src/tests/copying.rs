//! Copies of a whole database, in a file or in another database.

use std::collections::BTreeSet;

use sea_orm::{DbBackend, Statement};

use super::*;
use crate::{TABLES, TableCount};

impl StoreHarness {
    async fn names(&self, sql: &str) -> Vec<String> {
        let statement = Statement::from_string(DbBackend::Sqlite, sql);
        let found = self.store.database.reader.query_all_raw(statement).await.unwrap();
        found.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    /// Fills the database with rows of every kind.
    async fn fill(&self) -> Published {
        let account = self.claimed().await;
        let published = self.publish(account, "page", b"one").await;
        self.publish(account, "page", b"two").await;
        self.publish(self.account().await, "other", b"two").await;
        let operation = LedgerOperation::TopUp(TopUpOperation {
            account,
            job: self.job(),
            amount: Micro::new(5_000_000),
            deadline: None,
            called_by: None,
        });
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        self.store.settle(account, &[operation], &terms).await.unwrap();
        self.store.schedules().record_fire_time("cleanup", START).await.unwrap();
        published
    }
}

fn rows_of(counts: &[TableCount], table: &str) -> u64 {
    counts.iter().find(|count| count.table == table).unwrap().rows
}

#[tokio::test]
async fn all_tables_are_copied_and_referenced_tables_come_first() {
    let harness = sqlite().await;
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'
                  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                  AND name NOT IN ('seaql_migrations', 'route_log', 'route_changes', 'monthly_views')";
    let in_schema: BTreeSet<String> = harness.names(tables).await.into_iter().collect();
    let copied: BTreeSet<String> = TABLES.iter().map(|table| (*table).to_owned()).collect();
    assert_eq!(copied, in_schema);
    let place = |name: &str| TABLES.iter().position(|table| *table == name).unwrap();
    for table in TABLES {
        for referred in
            harness.names(&format!("SELECT \"table\" FROM pragma_foreign_key_list('{table}')")).await
        {
            assert!(place(&referred) < place(table), "{table} refers to {referred}");
        }
    }
}

on_both_databases! {
    async fn every_row_is_copied_to_either_database(harness: &StoreHarness) {
        let published = harness.fill().await;
        let targets = [Some(crate::tests::sqlite().await), crate::tests::postgres().await];
        for target in targets.into_iter().flatten() {
            let mut reported = Vec::new();
            harness.store.tables().copy_to(&target.store, |count| reported.push(count)).await.unwrap();
            assert_eq!(reported, harness.store.tables().count_rows().await.unwrap());
            assert_eq!(reported, target.store.tables().count_rows().await.unwrap());
            assert_eq!((rows_of(&reported, "versions"), rows_of(&reported, "blobs")), (3, 2));
            let totals = target.store.ledger().totals().await.unwrap();
            assert_eq!(totals, harness.store.ledger().totals().await.unwrap());
            assert_eq!((totals.balance_micro, totals.moved_micro), (5_000_000, 5_000_000));
            let route = target.store.routes().find(&published.host).await.unwrap().unwrap();
            let before = harness.store.routes().find(&published.host).await.unwrap().unwrap();
            assert_eq!((route.version, route.manifest), (before.version, before.manifest));
            assert_eq!(
                target.store.schedules().last_fire_time("cleanup").await.unwrap(),
                Some(START)
            );
        }
    }

    async fn nothing_is_copied_to_a_database_that_has_rows(harness: &StoreHarness) {
        harness.fill().await;
        let target = crate::tests::sqlite().await;
        target.account().await;
        let refused = harness.store.tables().copy_to(&target.store, |_| {}).await.unwrap_err().to_string();
        assert!(refused.contains("accounts"), "{refused}");
        assert_eq!(rows_of(&target.store.tables().count_rows().await.unwrap(), "versions"), 0);
    }

    async fn a_table_longer_than_a_page_is_copied_whole(harness: &StoreHarness) {
        for _ in 0..401 {
            harness.account().await;
        }
        let target = crate::tests::sqlite().await;
        harness.store.tables().copy_to(&target.store, |_| {}).await.unwrap();
        assert_eq!(rows_of(&target.store.tables().count_rows().await.unwrap(), "accounts"), 401);
    }
}

#[tokio::test]
async fn snapshot_has_the_committed_data_and_does_not_block_writers() {
    let harness = sqlite().await;
    let account = harness.claimed().await;
    harness.publish(account, "page", b"one").await;
    let file = harness.folder.path().join("a snapshot?.db");
    harness.store.snapshot_into(&file).await.unwrap();
    harness.publish(account, "page", b"two").await;
    assert!(harness.store.snapshot_into(&file).await.is_err(), "an earlier one is never written over");
    let renamed = harness.folder.path().join("snapshot.db");
    std::fs::rename(&file, &renamed).unwrap();
    let url = format!("sqlite://{}", renamed.display());
    let snapshot = Store::open(&url).await.unwrap();
    assert_eq!(rows_of(&snapshot.tables().count_rows().await.unwrap(), "versions"), 1);
    assert_eq!(snapshot.schema().await.unwrap(), Store::known_schema());
    assert_eq!(crate::sqlite_file(&url).unwrap(), Some(renamed));
    assert_eq!(crate::sqlite_file("postgres://localhost/handbill").unwrap(), None);
}
