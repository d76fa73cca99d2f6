//! The login that `deploy/postgres` makes for edges: enough to serve, to count and to be seen, and for nothing else.

use handbill_tests::{Mode, PATIENCE, Visitor, World, eventually, program};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use super::page;
use crate::expectations::{PAGE, assert_serves, front_page};

async fn run_as(url: &str, statements: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))).await.map(|_| ())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edge_does_all_its_work_with_the_login_that_we_make_for_it_and_could_do_no_other() {
    let world = World::with(Mode::Production, program!()).start().await;
    let owner = world.setting("HANDBILL_DATABASE__URL").to_owned();
    let (server, database) = owner.rsplit_once('/').unwrap();
    let (_, address) = server.rsplit_once('@').unwrap();
    // Logins are the whole server's, which other tests use too.
    let login = format!("edge_of_{database}");
    run_as(&owner, &page("postgres/edge.sql").replace("handbill_edge", &login)).await.unwrap();
    let own = format!("postgres://{login}:PASSWORD@{address}/{database}");
    let edge = world.start_edge_with(&[("HANDBILL_DATABASE__URL", &own)]).await;

    let agent = world.agent().await;
    let published = agent.publish("my-page", PAGE).await.expect(201);
    let visitor: Visitor = world.visitor().at(&edge);
    assert_serves(&front_page(&visitor, &published).await, PAGE);
    let views = async || agent.usage().await.expect(200).integer("traffic.views");
    eventually(PATIENCE, "a view that was counted", async || (views().await == 1).then_some(())).await;
    for forbidden in [
        "DELETE FROM routes",
        "UPDATE accounts SET balance_micro = 1",
        "DELETE FROM apalis.jobs",
        "UPDATE apalis.jobs SET attempts = 0",
        "DELETE FROM handbill_pauses",
        "CREATE TABLE made_by_an_edge (number int)",
    ] {
        let refused = run_as(&own, forbidden).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{forbidden}: {refused}");
    }
    assert_eq!(edge.terminate().await.status.code(), Some(0));
    assert!(!edge.log().contains("permission denied"), "{}", edge.log());
    run_as(&owner, &format!("DROP OWNED BY {login}; DROP ROLE {login}")).await.unwrap();
}
