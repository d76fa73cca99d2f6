//! Many processes on the same stores: two APIs, two edges, three workers with Postgres, Redis and S3.
//! Processes are killed, stopped and added under load. No acknowledged publish is lost, and nothing is done
//! twice.

mod aftermath;
pub mod load;
mod schedules;
mod starving;

use std::time::Duration;

use handbill_tests::{Mode, Process, Setup, World, program};

use crate::expectations::{assert_serves, front_page, page_saying};
pub use aftermath::{assert_nothing_is_lost_or_twice, nothing_is_left_to_do};
use load::{Client, Load, Temper};

const CLIENTS: usize = 8;
/// The free publishes. Others are paid, so that the ledger has entries.
pub const ALLOWANCE: usize = 2;
/// The longest that a role may take to finish its work.
const GRACE: Duration = Duration::from_secs(30);

/// A world in which many sign up, and soon pay.
pub fn paying_world() -> Setup {
    World::with(Mode::Production, program!())
        .env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", ALLOWANCE.to_string())
        .env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "100")
}

struct Cluster {
    world: World,
    apis: [Process; 2],
    edges: [Process; 2],
    workers: [Process; 3],
}

impl Cluster {
    async fn start() -> Self {
        let world = paying_world().start().await;
        Self {
            apis: [world.api(), world.start_api().await],
            edges: [world.edge(), world.start_edge().await],
            workers: [world.worker(), world.start_worker(&[]).await, world.start_worker(&[]).await],
            world,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publish_is_visible_at_both_edges_when_the_response_arrives() {
    let cluster = Cluster::start().await;
    let world = &cluster.world;
    let agent = world.agent().await;
    for number in 0..10 {
        let html = page_saying(&format!("number {number}"));
        let caller = agent.at(&cluster.apis[number % 2]);
        let published = caller.publish("my-page", html.clone()).paying("dev:0.005").await.expect(201);
        assert_eq!(published.integer("version"), i64::try_from(number).unwrap() + 1);
        for edge in &cluster.edges {
            assert_serves(&front_page(&world.visitor().at(edge), &published).await, &html);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_stopping_and_adding_processes_under_load_loses_and_duplicates_nothing() {
    let cluster = Cluster::start().await;
    let clients = Client::many(CLIENTS, Temper::Patient, &cluster.world, &cluster.apis, &cluster.edges).await;
    let load = Load::of(clients);
    load.goes_on().await;
    cluster.workers[1].kill();
    load.goes_on().await;
    stops_well(&cluster.workers[2]).await;
    load.goes_on().await;
    cluster.world.start_worker(&["--queues", "publish=4,scan=1"]).await;
    load.goes_on().await;
    // It is killed with requests in flight.
    cluster.apis[1].restart().await;
    load.goes_on().await;
    stops_well(&cluster.edges[1]).await;
    load.goes_on().await;
    cluster.edges[1].restart().await;
    load.goes_on().await;
    let clients = load.end().await;
    assert_nothing_is_lost_or_twice(&cluster.world, &clients, ALLOWANCE).await;
}

async fn stops_well(process: &Process) {
    let stopped = process.terminate().await;
    assert_eq!(stopped.status.code(), Some(0), "{}", process.log());
    assert!(stopped.took < GRACE, "{} took {:?}", process.name(), stopped.took);
}
