//! A rolling upgrade: the schema of the next release is installed while processes of this one run, and some
//! of them restart with it. No client may notice.
//!
//! The next release is simulated. It expands every table, more than any real release does, so that any code
//! that depends on the exact form of a table fails.

use std::path::Path;
use std::time::{Duration, Instant};

use handbill_tests::{Mode, World, program};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};

use crate::cluster::load::{Client, Load, Temper};
use crate::cluster::{ALLOWANCE, assert_nothing_is_lost_or_twice, nothing_is_left_to_do, paying_world};
use crate::expectations::{assert_serves, front_page, page_saying};

const CLIENTS: usize = 4;
/// A migration waits only briefly for a table lock, and is repeated, as an operator does.
const PATIENCE_WITH_LOCKS: Duration = Duration::from_secs(30);
/// Every table of ours and of the queue, except those with the history of migrations.
const TABLES: &str = "SELECT format('%I.%I', table_schema, table_name) FROM information_schema.tables
    WHERE table_schema IN ('public', 'apalis') AND table_type = 'BASE TABLE'
        AND table_name NOT IN ('seaql_migrations', '_sqlx_migrations')";
/// Additions that this release must tolerate: an unknown table, and indexes that are built concurrently.
const ADDITIONS: [&str; 3] = [
    "CREATE TABLE next_notes (
        id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE
    )",
    "CREATE INDEX CONCURRENTLY next_versions ON versions (next_note)",
    "CREATE INDEX CONCURRENTLY next_jobs ON apalis.jobs (job_type, next_count)",
];
/// As sea-orm's migrator and sqlx record their migrations.
const HISTORY: [&str; 2] = [
    "INSERT INTO seaql_migrations (version, applied_at)
        VALUES ('m9999_the_next_release', extract(epoch FROM now())::bigint)",
    "INSERT INTO apalis._sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (29990101000000, 'the next release', true, '\\x00', 0)",
];

/// Every table of a file, except those with the history of migrations.
const FILE_TABLES: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
    AND name NOT IN ('seaql_migrations', '_sqlx_migrations')";
const FILE_HISTORY: &str = "INSERT INTO seaql_migrations (version, applied_at)
    VALUES ('m9999_the_next_release', unixepoch())";
const QUEUE_FILE_HISTORY: &str =
    "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (29990101000000, 'the next release', true, x'00', 0)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_release_tolerates_the_migration_to_the_next_schema() {
    let world = paying_world().start().await;
    let clients = Client::many(CLIENTS, Temper::Strict, &world, &[world.api()], &[world.edge()]).await;
    let load = Load::of(clients);
    load.goes_on().await;
    expand(&world).await;
    load.goes_on().await;
    // More often than there are connections with cached statements.
    load.goes_on().await;
    let clients = load.end().await;
    assert_nothing_is_lost_or_twice(&world, &clients, ALLOWANCE).await;
    every_job_went_well(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn this_release_starts_and_works_on_the_next_schema() {
    let world = paying_world().start().await;
    let agent = world.agent().await;
    agent.publish("my-page", page_saying("before")).await.expect(201);
    expand(&world).await;
    // As a start script does that always migrates first, whatever its release is.
    let migrated = world.command(&["migrate"], &[]).await;
    assert!(migrated.status.success(), "{migrated:?}");
    for process in [world.worker(), world.api(), world.edge()] {
        assert!(process.terminate().await.status.success(), "{}", process.log());
        process.restart().await;
    }
    let clients = Client::many(CLIENTS, Temper::Strict, &world, &[world.api()], &[world.edge()]).await;
    let load = Load::of(clients);
    load.goes_on().await;
    let clients = load.end().await;
    assert_nothing_is_lost_or_twice(&world, &clients, ALLOWANCE).await;
    let published = agent.publish("my-page", page_saying("after")).await.expect(201);
    assert_eq!(published.integer("version"), 2);
    assert_serves(&front_page(&world.visitor(), &published).await, &page_saying("after"));
    every_job_went_well(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn this_release_starts_and_works_on_files_of_the_next_release() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    agent.publish("my-page", page_saying("before")).await.expect(201);
    assert!(world.api().terminate().await.status.success(), "{}", world.api().log());
    for (file, history) in [("handbill.db", FILE_HISTORY), ("queue.db", QUEUE_FILE_HISTORY)] {
        expand_file(&world.folder().join("data").join(file), history).await;
    }
    let migrated = world.command(&["migrate"], &[]).await;
    assert!(migrated.status.success(), "{migrated:?}");
    world.api().restart().await;
    let published = agent.publish("my-page", page_saying("after")).await.expect(201);
    assert_eq!(published.integer("version"), 2);
    assert_serves(&front_page(&world.visitor(), &published).await, &page_saying("after"));
    every_job_went_well(&world).await;
}

/// What the next release's `handbill serve` would do to a file.
async fn expand_file(file: &Path, history: &'static str) {
    let url = format!("sqlite://{}", file.display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(FILE_TABLES).fetch_all(&mut connection).await.unwrap();
    assert!(tables.len() > 3, "{tables:?}");
    for table in tables {
        let columns = format!(
            "ALTER TABLE {table} ADD COLUMN next_note TEXT;
             ALTER TABLE {table} ADD COLUMN next_count INTEGER NOT NULL DEFAULT 0;"
        );
        connection.execute(sqlx::raw_sql(AssertSqlSafe(columns))).await.unwrap();
    }
    connection.execute("CREATE TABLE next_notes (id TEXT PRIMARY KEY)").await.unwrap();
    connection.execute(history).await.unwrap();
}

/// What the next release's `handbill migrate` would do.
async fn expand(world: &World) {
    let mut connection = PgConnection::connect(world.setting("HANDBILL_DATABASE__URL")).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut connection).await.unwrap();
    assert!(tables.contains(&"public.versions".to_owned()) && tables.contains(&"apalis.jobs".to_owned()));
    for table in tables {
        let columns = format!(
            "BEGIN; SET LOCAL lock_timeout = '3s';
             ALTER TABLE {table} ADD COLUMN next_note TEXT;
             ALTER TABLE {table} ADD COLUMN next_count BIGINT NOT NULL DEFAULT 0;
             COMMIT"
        );
        until_done(&mut connection, &columns).await;
    }
    for addition in ADDITIONS.iter().chain(&HISTORY) {
        until_done(&mut connection, addition).await;
    }
}

async fn until_done(connection: &mut PgConnection, sql: &str) {
    let started = Instant::now();
    while let Err(error) = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await {
        let waits = error.to_string().contains("lock timeout");
        assert!(waits && started.elapsed() < PATIENCE_WITH_LOCKS, "{sql}: {error}");
        connection.execute("ROLLBACK").await.unwrap();
    }
}

/// No job failed, and no process logged a warning.
async fn every_job_went_well(world: &World) {
    nothing_is_left_to_do(world).await;
    let logs = world.logs();
    let is_bad = |line: &&str| line.contains(" ERROR ") || line.contains("job failed");
    let bad: Vec<_> = logs.lines().filter(is_bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
