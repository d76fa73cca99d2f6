//! The databases' own tools, as the operators' guide uses them in production: a dump during publishes,
//! restored into another database, contains everything that was acknowledged before it began.

use std::path::Path;

use handbill_tests::{Mode, World, program};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::process::Command;

use super::succeeded;
use crate::expectations::{assert_serves, front_page, page_saying};

async fn tool(name: &str, args: &[&str]) {
    let done = Command::new(name).args(args).output().await.expect(name);
    assert!(done.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

async fn dump(database_url: &str, file: &Path) {
    let file = format!("--file={}", file.display());
    tool("pg_dump", &["--format=custom", &file, database_url]).await;
}

/// A new database that the dump is restored into.
async fn restored(database_url: &str, file: &Path) -> String {
    let (server, name) = database_url.rsplit_once('/').unwrap();
    let name = format!("{name}_again");
    let mut connection = PgConnection::connect(database_url).await.unwrap();
    connection.execute(sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))).await.unwrap();
    let url = format!("{server}/{name}");
    tool("pg_restore", &["--exit-on-error", &format!("--dbname={url}"), &file.display().to_string()]).await;
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_dump_restores_everything_acknowledged_before_it() {
    let world = World::with(Mode::Production, program!()).start().await;
    let (agent, busy) = (world.agent().await, world.agent().await);
    let html = page_saying("dumped");
    let published = agent.publish("my-page", html.clone()).await.expect(201);
    let (dumped, live) = (world.folder().join("handbill.dump"), world.setting("HANDBILL_DATABASE__URL"));
    let goes_on = async {
        for number in 1..=5 {
            busy.publish("their-page", page_saying(&format!("number {number}"))).await.expect(201);
        }
    };
    tokio::join!(dump(live, &dumped), goes_on);
    for process in [world.api(), world.edge(), world.worker()] {
        assert!(process.terminate().await.status.success(), "{}", process.log());
    }

    let url = restored(live, &dumped).await;
    let env = [("HANDBILL_DATABASE__URL", url.as_str())];
    succeeded(world.command(&["migrate"], &env).await);
    let scrubbed = succeeded(world.command(&["scrub"], &env).await);
    assert!(!scrubbed.contains("DAMAGE"), "{scrubbed}");
    succeeded(world.command(&["ledger", "check"], &env).await);
    for process in [world.api(), world.edge(), world.worker()] {
        process.restart_with(&env).await;
    }
    assert_serves(&front_page(&world.visitor(), &published).await, &html);
    let again = agent.publish("my-page", page_saying("after the restore")).await.expect(201);
    assert_eq!(again.integer("version"), 2);
    assert_serves(&front_page(&world.visitor(), &again).await, &page_saying("after the restore"));
    for process in [world.api(), world.edge(), world.worker()] {
        process.kill();
    }
    let (_, name) = url.rsplit_once('/').unwrap();
    let mut connection = PgConnection::connect(live).await.unwrap();
    let drop = AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)"));
    connection.execute(sqlx::raw_sql(drop)).await.unwrap();
}
