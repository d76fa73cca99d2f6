//! Migration of a database that an earlier release has filled, even after an interruption.

use sea_orm::{DbBackend, EntityTrait};

use super::scans::versions_and_tries;
use super::*;
use crate::ScanCounts;

const BLOCKED: ModerationStatus = ModerationStatus::Blocked;
const PASS: ModerationStatus = ModerationStatus::Pass;

/// Tables that the older schema does not have.
const LATER_TABLES: [&str; 17] = [
    "monthly_views",
    "oauth_grants",
    "oauth_devices",
    "former_versions",
    "rescan_walks",
    "rulings",
    "card_payments",
    "early_card_reversals",
    "monthly_limits",
    "blocked_contents",
    "held_pages",
    "appeals",
    "content_verdicts",
    "erasures",
    "route_changes",
    "route_log",
    "bundles",
];

/// The columns that later releases added, by table.
const LATER_COLUMNS: &[(&str, &str)] = &[
    ("audit", "user_id"),
    ("audit", "via"),
    ("audit", "address"),
    ("sessions", "address"),
    ("sessions", "user_agent"),
    ("accounts", "suspended_at"),
    ("accounts", "suspension_reason"),
    ("routes", "suspended_at"),
    ("accounts", "versions_kept"),
    ("accounts", "versions_days"),
    ("artifacts", "versions_kept"),
    ("artifacts", "versions_days"),
    ("tokens", "renewable_until"),
    ("versions", "title"),
    ("accounts", "name"),
    ("tokens", "secret_start"),
    ("tokens", "last_used_from"),
    ("artifacts", "link_generation"),
    ("routes", "link_generation"),
];

impl StoreHarness {
    pub(super) async fn sql(&self, statement: &str) {
        self.store.database.writer.execute_unprepared(statement).await.unwrap();
    }

    /// Restores the schema of the previous release, with all rows.
    async fn take_back_to_an_older_schema(&self) {
        self.drop_triggers().await;
        for index in [
            "versions_without_verdict",
            "versions_by_rules",
            "versions_asked_again",
            "versions_tried",
            "moderation_decisions_by_artifact",
            "moderation_decisions_by_people",
            "routes_objected_to",
            "routes_by_version",
            "reports_by_artifact",
            "reports_open_by_artifact",
            "artifacts_by_account",
            "artifacts_listed",
            "tokens_by_minter",
            "audit_by_person",
            "versions_pending",
            "accounts_with_retention",
            "artifacts_with_retention",
            "artifacts_by_change",
            "versions_shown",
            "ledger_entries_by_time",
        ] {
            self.sql(&format!("DROP INDEX {index}")).await;
        }
        for column in ["scanned_by", "scanned_at", "rescan_asked_at", "scan_tries", "scan_again_at"] {
            self.sql(&format!("ALTER TABLE versions DROP COLUMN {column}")).await;
        }
        for column in ["operator", "note"] {
            self.sql(&format!("ALTER TABLE moderation_decisions DROP COLUMN {column}")).await;
        }
        for (table, column) in LATER_COLUMNS {
            self.sql(&format!("ALTER TABLE {table} DROP COLUMN {column}")).await;
        }
        self.sql("DROP INDEX blobs_by_bundle").await;
        for column in ["bundle", "bundle_offset", "lost_at"] {
            self.sql(&format!("ALTER TABLE blobs DROP COLUMN {column}")).await;
        }
        self.sql("ALTER TABLE artifacts DROP COLUMN purged_at").await;
        self.sql("ALTER TABLE reports DROP COLUMN category").await;
        self.sql("ALTER TABLE routes DROP COLUMN held_from").await;
        for table in LATER_TABLES {
            self.sql(&format!("DROP TABLE {table}")).await;
        }
        self.sql("DELETE FROM seaql_migrations WHERE version > 'm0004'").await;
    }

    async fn drop_triggers(&self) {
        let drops: &[&str] = match self.store.database.writer.get_database_backend() {
            DbBackend::Postgres => &[
                "DROP FUNCTION record_route_change() CASCADE",
                "DROP FUNCTION record_former_version() CASCADE",
                "DROP FUNCTION add_to_monthly_views() CASCADE",
            ],
            _ => &[
                "DROP TRIGGER routes_inserted",
                "DROP TRIGGER routes_updated",
                "DROP TRIGGER routes_deleted",
                "DROP TRIGGER routes_repointed",
                "DROP TRIGGER daily_views_inserted",
                "DROP TRIGGER daily_views_updated",
            ],
        };
        for drop in drops {
            self.sql(drop).await;
        }
    }

    /// SQLite's query plan, step by step.
    pub(super) async fn plan(&self, question: &str) -> Vec<String> {
        let pool = self.store.database.reader.get_sqlite_connection_pool();
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {question}"));
        let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).fetch_all(pool).await.unwrap();
        plan.into_iter().map(|step| step.3).collect()
    }

    async fn rules_of(&self, published: &Published) -> Option<i32> {
        let id = published.version.to_string();
        let found = entity::version::Entity::find_by_id(id).one(&self.store.database.reader).await.unwrap();
        found.unwrap().scanned_by
    }
}

on_both_databases! {
    async fn versions_of_an_older_schema_keep_their_verdicts_after_migration(harness: &StoreHarness) {
        let account = harness.account().await;
        let judged = harness.publish(account, "judged", b"one").await;
        let unscanned = harness.publish(account, "unscanned", b"two").await;
        harness.judge(&judged, 1, BLOCKED).await;
        harness.take_back_to_an_older_schema().await;
        assert!(!harness.store.is_current().await.unwrap());
        harness.store.migrate().await.unwrap();
        assert!(harness.store.is_current().await.unwrap());
        assert_eq!(harness.shown(&judged).await, BLOCKED);
        // Versions without a verdict are scanned before any rescans.
        let late = harness.store.scans().list_late(START.plus(HOUR), START.plus(HOUR), 10).await.unwrap();
        assert_eq!(versions_and_tries(late.clone()), [(unscanned.version, 0)]);
        harness.store.scans().mark_started(&late, START).await.unwrap();
        assert_eq!(harness.due(1, START).await, [(judged.version, 0)]);
        let counts = harness.store.scans().counts().await.unwrap();
        assert_eq!(counts, ScanCounts { unscanned: 1, asked_again: 0, judged_by: [(0, 2)].into() });
        for published in [&judged, &unscanned] {
            harness.judge(published, 1, PASS).await;
        }
        assert_eq!(harness.store.scans().counts().await.unwrap().judged_by, [(1, 2)].into());
        // Versions of this release have no verdict at first, whatever the older rows contain.
        let new = harness.publish(account, "new", b"three").await;
        assert_eq!(harness.rules_of(&new).await, None);
    }

    async fn views_of_an_older_schema_and_of_older_processes_are_in_the_sums(harness: &StoreHarness) {
        let account = harness.account().await;
        let host = harness.publish(account, "page", b"one").await.host;
        let (month, today) = (START.month(), START.day().number());
        // What processes of the release before write.
        let count = async |day: i64, views: u32| {
            let sql = format!(
                "INSERT INTO daily_views (host, day, account_id, views)
                 VALUES ('{host}', {day}, '{account}', {views})
                 ON CONFLICT (host, day) DO UPDATE SET views = daily_views.views + excluded.views"
            );
            harness.sql(&sql).await;
        };
        harness.take_back_to_an_older_schema().await;
        for (day, views) in [(today - 40, 100), (today - 1, 1), (today, 2)] {
            count(day, views).await;
        }
        harness.store.migrate().await.unwrap();
        let hosts = [host.clone()];
        let sum = async || harness.store.views().by_host(account, &hosts, month).await.unwrap();
        assert_eq!(sum().await[&host], 3);
        for (day, views) in [(today, 4), (today + 1, 8), (today + 40, 100)] {
            count(day, views).await;
        }
        assert_eq!(sum().await[&host], 15);
    }

    async fn schema_extended_by_a_later_release_is_accepted(harness: &StoreHarness) {
        harness.sql("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)").await;
        harness.sql("ALTER TABLE versions ADD COLUMN later TEXT").await;
        assert!(harness.store.is_current().await.unwrap());
        harness.store.migrate().await.unwrap();
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
    }

    async fn interrupted_migration_leaves_no_trace_and_is_retried(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        harness.take_back_to_an_older_schema().await;
        // The first columns are added before this one makes the migration fail.
        harness.sql("ALTER TABLE versions ADD COLUMN scan_again_at BIGINT").await;
        assert!(harness.store.migrate().await.is_err());
        let names = "SELECT scanned_by FROM versions";
        let refused = harness.store.database.writer.execute_unprepared(names).await.unwrap_err();
        assert!(refused.to_string().contains("scanned_by"), "{refused}");
        harness.sql("ALTER TABLE versions DROP COLUMN scan_again_at").await;
        harness.store.migrate().await.unwrap();
        assert_eq!(harness.rules_of(&published).await, Some(0));
    }

    async fn interrupted_index_builds_are_finished_by_the_next_start(harness: &StoreHarness) {
        for change in [
            "DROP INDEX routes_by_version",
            "DELETE FROM seaql_migrations WHERE version = 'm0006_indexes_in_use'",
        ] {
            harness.sql(change).await;
        }
        harness.store.migrate().await.unwrap();
        assert!(harness.store.is_current().await.unwrap());
        // Fails unless the index exists again.
        harness.sql("DROP INDEX routes_by_version").await;
    }
}

#[tokio::test]
async fn invalid_postgres_index_is_rebuilt() {
    let Some(harness) = postgres().await else { return };
    let account = harness.account().await;
    let published = harness.publish(account, "page", b"one").await;
    harness.sql("DROP INDEX routes_by_version").await;
    harness.sql("DELETE FROM seaql_migrations WHERE version = 'm0006_indexes_in_use'").await;
    // Building a unique index over duplicates fails at the end and leaves an invalid index behind.
    harness.sql("ALTER TABLE routes DROP CONSTRAINT routes_artifact_unique").await;
    harness
        .sql(&format!(
            "INSERT INTO routes SELECT 'double-0000', account_id, artifact_id, version_id, visibility,
            moderation_status, expires_at, published_at, manifest, updated_at
         FROM routes WHERE host = '{}'",
            published.host
        ))
        .await;
    let broken = "CREATE UNIQUE INDEX CONCURRENTLY routes_by_version ON routes (version_id)";
    assert!(harness.store.database.writer.execute_unprepared(broken).await.is_err());
    harness.store.migrate().await.unwrap();
    let is_whole = "DO $$ BEGIN IF NOT EXISTS (
            SELECT FROM pg_index WHERE indexrelid = 'routes_by_version'::regclass AND indisvalid AND NOT indisunique
        ) THEN RAISE EXCEPTION 'half built'; END IF; END $$";
    harness.sql(is_whole).await;
}

#[tokio::test]
async fn sqlite_uses_the_indexes_for_due_scans() {
    let harness = sqlite().await;
    for (which, index) in [
        (
            "(scanned_by IS NULL OR moderated_by = 'nobody') AND created_at < 5 AND scan_again_at <= 5 ORDER BY scan_again_at",
            "versions_without_verdict",
        ),
        ("scanned_by < 7 AND scan_again_at <= 5 ORDER BY scanned_by, scan_again_at", "versions_by_rules"),
        ("rescan_asked_at IS NOT NULL AND scan_again_at <= 5 ORDER BY scan_again_at", "versions_asked_again"),
        ("scan_tries > 0 AND scanned_by < 7 AND id > 'x' ORDER BY id", "versions_tried"),
    ] {
        let steps = harness.plan(&format!("SELECT id FROM versions WHERE {which} LIMIT 5")).await;
        assert!(steps.len() == 1 && steps[0].contains(index), "{which}: {steps:?}");
    }
}

/// Deleting a row, as a purge does, also deletes the rows that refer to it.
#[tokio::test]
async fn sqlite_has_an_index_on_every_foreign_key() {
    let harness = sqlite().await;
    let keys = "SELECT found.name, held.\"from\" FROM sqlite_master AS found
        JOIN pragma_foreign_key_list(found.name) AS held WHERE found.type = 'table'";
    let pool = harness.store.database.reader.get_sqlite_connection_pool();
    let keys: Vec<(String, String)> = sqlx::query_as(keys).fetch_all(pool).await.unwrap();
    assert!(keys.len() > 10, "the schema was not read: {keys:?}");
    for (table, column) in keys {
        let steps = harness.plan(&format!("SELECT 1 FROM {table} WHERE {column} = 'x'")).await;
        let is_sought = steps.len() == 1 && steps[0].starts_with("SEARCH ") && steps[0].contains(" USING ");
        assert!(is_sought, "{table}.{column}: {steps:?}");
    }
}

#[tokio::test]
async fn postgres_has_an_index_on_every_foreign_key() {
    let Some(harness) = postgres().await else { return };
    let without = "SELECT conname::text FROM pg_constraint WHERE contype = 'f' AND NOT EXISTS (
            SELECT FROM pg_index
            WHERE indrelid = conrelid AND indisvalid AND indpred IS NULL AND indkey[0] = conkey[1]
        )";
    let pool = harness.store.database.reader.get_postgres_connection_pool();
    let without: Vec<String> = sqlx::query_scalar(without).fetch_all(pool).await.unwrap();
    assert!(without.is_empty(), "{without:?}");
}
