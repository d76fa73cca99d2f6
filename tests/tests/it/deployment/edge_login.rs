//! The login that `deploy/postgres` creates for edges: it can serve, count views and send heartbeats, and
//! nothing else.

use handbill_tests::{Mode, PATIENCE, Visitor, World, eventually, program};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use super::page;
use crate::expectations::{PAGE, assert_serves, front_page};

async fn run_as(url: &str, statements: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))).await.map(|_| ())
}

/// A job that no operation of ours queued.
fn forged_job(queue: &str) -> String {
    format!(
        "INSERT INTO apalis.jobs (id, job_type, job, max_attempts, run_at)
         VALUES ('01KC4GZJ2Q8W5T7RXN3VB6M9DE', '{queue}', '{{\"kind\":\"cleanup\"}}', 8, now())"
    )
}

fn process_calling_itself(role: &str) -> String {
    format!(
        "INSERT INTO handbill_processes
             (instance, role, host, process_id, version, takes, rates, started_at_ms, seen_at_ms)
         VALUES ('made-up', '{role}', 'here', 1, '0', '{{}}', '{{}}', 0, 0)"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_privilege_to_create_the_edge_login_is_reported_with_the_superuser_steps() {
    let world = World::with(Mode::Production, program!()).prepare().await;
    let superuser = world.setting("HANDBILL_DATABASE__URL").to_owned();
    let (server, database) = superuser.rsplit_once('/').unwrap();
    let (_, address) = server.rsplit_once('@').unwrap();
    let (owner, edge) = (format!("owner_of_{database}"), format!("edge_of_{database}"));
    let script = page("postgres/edge.sql").replace("handbill_edge", &edge);
    let own_everything = format!(
        "CREATE ROLE {owner} LOGIN; ALTER DATABASE {database} OWNER TO {owner}; ALTER SCHEMA public OWNER TO {owner};
         ALTER SCHEMA apalis OWNER TO {owner};
         DO $$ DECLARE one record; BEGIN
             FOR one IN SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
                 WHERE schemaname IN ('public', 'apalis') LOOP
                 EXECUTE format('ALTER TABLE %s OWNER TO {owner}', one.name);
             END LOOP;
         END $$"
    );
    run_as(&superuser, &own_everything).await.unwrap();
    let as_owner = format!("postgres://{owner}@{address}/{database}");
    let refused = run_as(&as_owner, &script).await.unwrap_err().to_string();
    assert!(refused.contains(&format!("{owner} may not create roles")), "{refused}");
    run_as(&superuser, &format!("CREATE ROLE {edge} LOGIN")).await.unwrap();
    run_as(&as_owner, &script).await.unwrap();
    let gone = format!(
        "DROP OWNED BY {edge}; DROP ROLE {edge}; REASSIGN OWNED BY {owner} TO CURRENT_USER;
        DROP OWNED BY {owner}; DROP ROLE {owner}"
    );
    run_as(&superuser, &gone).await.unwrap();
}

/// Leaves only staged versions at a host.
fn without_live_version(host: &str) -> String {
    format!(
        "DELETE FROM routes WHERE host = '{host}';
         UPDATE artifacts SET live_version_id = NULL WHERE host = '{host}'"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edge_works_with_its_postgres_login_which_has_no_other_privileges() {
    let world = World::with(Mode::Production, program!()).start().await;
    let owner = world.setting("HANDBILL_DATABASE__URL").to_owned();
    let (server, database) = owner.rsplit_once('/').unwrap();
    // Logins belong to the whole server, which other tests use too.
    let (login, address) = (format!("edge_of_{database}"), server.rsplit_once('@').unwrap().1);
    // Each release runs it again, while edges are running.
    for _ in 0..2 {
        run_as(&owner, &page("postgres/edge.sql").replace("handbill_edge", &login)).await.unwrap();
    }
    let own = format!("postgres://{login}@{address}/{database}");
    let edge = world.start_edge_with(&[("HANDBILL_DATABASE__URL", &own)]).await;

    let agent = world.agent().await;
    let published = agent.publish("my-page", PAGE).await.expect(201);
    let visitor: Visitor = world.visitor().at(&edge);
    assert_serves(&front_page(&visitor, &published).await, PAGE);
    assert_serves(&visitor.open(&published.string("version_url")).await, PAGE);
    // Without a live version there is no route.
    let staged = agent.publish("staged", PAGE).await.expect(201);
    run_as(&owner, &without_live_version(&staged.string("host"))).await.unwrap();
    assert_serves(&visitor.open(&staged.string("version_url")).await, PAGE);
    let views = async || agent.usage().await.expect(200).integer("traffic.views");
    eventually(PATIENCE, "a view that was counted", async || (views().await == 1).then_some(())).await;
    for forbidden in [
        "DELETE FROM routes",
        "UPDATE accounts SET balance_micro = 1",
        "DELETE FROM apalis.jobs",
        "UPDATE blobs SET bundle = NULL",
        "UPDATE apalis.jobs SET attempts = 0",
        "DELETE FROM handbill_pauses",
        "CREATE TABLE made_by_an_edge (number int)",
        "SELECT claim_code FROM accounts",
        "SELECT slug FROM artifacts",
        "SELECT message FROM versions",
        "SELECT code FROM invites",
        "SELECT password_hash FROM users",
        "SELECT job FROM apalis.jobs",
        "SELECT error FROM handbill_job_events",
    ] {
        let refused = run_as(&own, forbidden).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{forbidden}: {refused}");
    }
    // It finds contents that were moved.
    run_as(&own, "SELECT bundle, bundle_offset FROM blobs WHERE hash = 'x'").await.unwrap();
    for queue in ["publish", "scan", "upkeep", "rescan", "a queue of a later release"] {
        let refused = run_as(&own, &forged_job(queue)).await.unwrap_err().to_string();
        assert!(refused.contains("row-level security"), "{queue}: {refused}");
    }
    let refused = run_as(&own, &process_calling_itself("worker")).await.unwrap_err().to_string();
    assert!(refused.contains("row-level security"), "{refused}");
    run_as(&own, &process_calling_itself("edge")).await.unwrap();
    // It cannot remove other processes from the board either.
    run_as(&own, "DELETE FROM handbill_processes WHERE role <> 'edge'").await.unwrap();
    run_as(&owner, "DO $$ BEGIN ASSERT EXISTS (SELECT FROM handbill_processes WHERE role <> 'edge'); END $$")
        .await
        .unwrap();
    // The edge's login suffices for the doctor.
    let env = [("HANDBILL_DATABASE__URL", own.as_str()), ("HANDBILL_QUEUE__URL", own.as_str())];
    let examined = world.command(&["doctor"], &env).await.output;
    assert!(examined.contains("ok    queue") && !examined.contains("permission denied"), "{examined}");
    assert_eq!(edge.terminate().await.status.code(), Some(0));
    assert!(!edge.log().contains("permission denied"), "{}", edge.log());
    run_as(&owner, &format!("DROP OWNED BY {login}; DROP ROLE {login}")).await.unwrap();
}
