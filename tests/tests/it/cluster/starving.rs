//! A publish waits only for its own queue, and neither for hundreds of rescans nor for a paused queue.

use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{Agent, Method, Mode, PATIENCE, Setup, World, eventually, program};

use crate::expectations::{assert_serves, front_page, page_saying};

const AGENTS: usize = 10;
const VERSIONS_EACH: usize = 30;
/// With one more, which is first in the queue.
const RESCANS: usize = AGENTS * VERSIONS_EACH + 1;
const PUBLISHES: usize = 10;
/// The scanner finds nothing, so that the first scans finish quickly, most of them within their publishes.
const BLIND: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.blind:fail");
/// The rescans take more than a minute on any machine. They serve as the clock for the publishes, so that a
/// busy machine slows down both.
const SLOW: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.before_judge:pause_ms=500");
/// A publish on an idle machine takes some hundredths of a second. A starved one is refused with a hint to
/// retry.
const PROMPT: Duration = Duration::from_secs(15);

fn generous() -> Setup {
    World::with(Mode::Production, program!())
        .env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "1000")
        .env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "100")
}

/// Enough text for a measurable scan.
fn long_page() -> String {
    page_saying(&"<b>What is on the market this week, and who has it.</b> ".repeat(600))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publishes_and_their_scans_do_not_wait_for_three_hundred_rescans() {
    let world = generous().start().await;
    let workers = [world.worker(), world.start_worker(&[]).await];
    for worker in &workers {
        worker.restart_with(&[BLIND]).await;
    }
    let agents = join_all((0..AGENTS).map(|_| world.agent())).await;
    let html = long_page();
    // When many requests send the same content at the same time, the S3 server cuts some off.
    agents[0].publish("long-page", html.clone()).await.expect(201);
    join_all(agents.iter().map(async |agent| {
        for _ in 0..VERSIONS_EACH {
            agent.publish("long-page", html.clone()).await.expect(201);
        }
    }))
    .await;
    all_are_scanned(&world, 0).await;
    for worker in &workers {
        worker.restart_with(&[SLOW]).await;
    }

    let queued = world.command(&["admin", "rescan", "--all"], &[]).await;
    assert!(queued.output.contains(&format!("Queued {RESCANS} versions")), "{queued:?}");
    eventually(PATIENCE, "the rescans", async || (rescans_left(&world).await > 0).then_some(())).await;
    let queued = world.jobs("scan").await.len();
    assert_prompt(&world, &agents[0]).await;
    all_are_scanned(&world, queued + PUBLISHES).await;
    let left = rescans_left(&world).await;
    assert!(left > 0, "the rescans were over before the publishes, so nothing was measured");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publishes_do_not_wait_for_a_queue_that_is_paused() {
    let world = generous().start().await;
    for queue in ["scan", "rescan", "views"] {
        steer(&world, queue, "pause").await;
    }
    // A process reads which queues are paused before it takes jobs. A running process notices a pause within
    // a second.
    world.worker().restart_with(&[]).await;
    world.start_worker(&[]).await;
    let agent = world.agent().await;
    assert_prompt(&world, &agent).await;
    let scans = eventually(PATIENCE, "a scan for each publish", async || {
        // A scan is queued after the response.
        Some(world.jobs("scan").await).filter(|scans| scans.len() == PUBLISHES)
    })
    .await;
    assert!(scans.iter().all(|scan| scan.status == "Pending" && scan.attempts == 0), "{scans:?}");
    steer(&world, "scan", "resume").await;
    all_are_scanned(&world, PUBLISHES).await;
}

async fn steer(world: &World, queue: &str, action: &str) {
    let call = world.operator().call(Method::POST, &format!("/internal/queues/{queue}/{action}"));
    call.header("X-Operator", "Ada").await.expect(200);
}

/// Publishes one after the other. Each gets its response promptly and is served.
async fn assert_prompt(world: &World, agent: &Agent) {
    let mut slowest = Duration::ZERO;
    for number in 0..PUBLISHES {
        let html = page_saying(&format!("number {number}"));
        let started = Instant::now();
        let published = agent.publish("short-page", html.clone()).await.expect(201);
        slowest = slowest.max(started.elapsed());
        assert_serves(&front_page(&world.visitor(), &published).await, &html);
    }
    assert!(slowest < PROMPT, "a publish took {slowest:?}");
}

/// Waits for the queued scans, at least so many. Scans within publishes have no job.
async fn all_are_scanned(world: &World, count: usize) {
    eventually(PATIENCE * 4, "the first scans", async || {
        let scans = world.jobs("scan").await;
        (scans.len() >= count && scans.iter().all(|scan| scan.status == "Done")).then_some(())
    })
    .await;
}

async fn rescans_left(world: &World) -> usize {
    world.jobs("rescan").await.iter().filter(|rescan| rescan.status != "Done").count()
}
