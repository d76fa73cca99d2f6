//! Machines with wrong clocks: expiry uses the database's clock, in every process at the same time.

use std::time::Duration;

use handbill_tests::{Mode, PATIENCE, World, eventually, program};

use crate::expectations::{PAGE, front_page};

const AHEAD_BY_90_S: (&str, &str) = ("HANDBILL_TEST_CLOCK_AHEAD_MS", "90000");
const BEHIND_BY_90_S: (&str, &str) = ("HANDBILL_TEST_CLOCK_AHEAD_MS", "-90000");
const AHEAD_BY_A_YEAR: (&str, &str) = ("HANDBILL_TEST_CLOCK_AHEAD_MS", "31536000000");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_expires_everywhere_at_once_despite_clock_skew() {
    let lifetime = ("HANDBILL_LIMITS__PROVISIONAL_LIFETIME", "60s");
    let world = World::with(Mode::Production, program!()).env(lifetime.0, lifetime.1).start().await;
    world.api().restart_with(&[BEHIND_BY_90_S]).await;
    let (right, ahead) = (world.edge(), world.start_edge_with(&[AHEAD_BY_90_S]).await);
    let agent = world.agent().await;
    let published = agent.publish("my-page", PAGE).await.expect(201);
    for edge in [&right, &ahead] {
        front_page(&world.visitor().at(edge), &published).await.expect(200);
    }
    world.advance(Duration::from_secs(61));
    for edge in [&right, &ahead] {
        front_page(&world.visitor().at(edge), &published).await.expect(410);
    }
    agent.publish("my-page", PAGE).await.refused(403, "account_expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_expiry_uses_the_database_clock() {
    let world = World::with(Mode::Production, program!()).start().await;
    let human = world.human();
    human.dev_login("ada").await.expect(200);
    world.api().restart_with(&[AHEAD_BY_A_YEAR]).await;
    human.me().await.expect(200);
    world.advance(Duration::from_secs(31 * 24 * 3600));
    human.me().await.refused(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clock_skew_is_logged_and_is_a_metric() {
    let world = World::with(Mode::Production, program!()).with_ops().start().await;
    let edge = world.edge();
    assert!(skew(&world, &edge).await.abs() < 5.0);
    edge.restart_with(&[AHEAD_BY_90_S]).await;
    let skew = skew(&world, &edge).await;
    assert!((89.0..91.0).contains(&skew), "{skew}");
    eventually(PATIENCE, "it is logged", async || {
        edge.log().contains("this machine's clock is wrong").then_some(())
    })
    .await;
}

async fn skew(world: &World, process: &handbill_tests::Process) -> f64 {
    let text = world.ask_ops(process, "/metrics").await.expect(200).text();
    let line = text.lines().find_map(|line| line.strip_prefix("handbill_clock_skew_seconds "));
    line.unwrap_or_else(|| panic!("no skew in {text}")).parse().unwrap()
}
