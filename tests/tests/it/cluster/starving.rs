//! A publish waits for no queue but its own: neither for hundreds of rescans, nor for a queue that somebody paused.

use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{Agent, Method, Mode, PATIENCE, Setup, World, eventually, program};

use crate::expectations::{assert_serves, front_page, page_saying};

const AGENTS: usize = 10;
const VERSIONS_EACH: usize = 30;
/// One more, which is there first.
const RESCANS: usize = AGENTS * VERSIONS_EACH + 1;
const PUBLISHES: usize = 10;
/// The scanner sees nothing, so that the first scans are over soon.
const BLIND: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.blind:fail");
/// So that the rescans take more than a minute, however fast the scanner is: they are the clock of the publishes, which
/// does not go slower on a busy machine than they do.
const SLOW: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.before_judge:pause_ms=500");
/// A publish takes some hundredths of a second where nothing else is at work. What starves is told to ask again.
const PROMPT: Duration = Duration::from_secs(15);

fn generous() -> Setup {
    World::with(Mode::Production, program!())
        .env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "1000")
        .env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "100")
}

/// So much text that the scanner has something to do.
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
    // Of many at once that bring the same content, an S3 server cuts some off while they send it.
    agents[0].publish("long-page", html.clone()).await.expect(201);
    join_all(agents.iter().map(async |agent| {
        for _ in 0..VERSIONS_EACH {
            agent.publish("long-page", html.clone()).await.expect(201);
        }
    }))
    .await;
    all_are_scanned(&world, RESCANS).await;
    for worker in &workers {
        worker.restart_with(&[SLOW]).await;
    }

    let asked = world.command(&["admin", "rescan", "--all"], &[]).await;
    assert!(asked.output.contains(&format!("{RESCANS} versions are queued")), "{asked:?}");
    eventually(PATIENCE, "the rescans", async || (rescans_left(&world).await > 0).then_some(())).await;
    assert_prompt(&world, &agents[0]).await;
    all_are_scanned(&world, RESCANS + PUBLISHES).await;
    let left = rescans_left(&world).await;
    assert!(left > 0, "the rescans were over before the publishes, so nothing was measured");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publishes_do_not_wait_for_a_queue_that_is_paused() {
    let world = generous().start().await;
    for queue in ["scan", "rescan", "views"] {
        steer(&world, queue, "pause").await;
    }
    // Whoever starts looks what is paused before it takes anything; whoever runs hears of it within a second.
    world.worker().restart_with(&[]).await;
    world.start_worker(&[]).await;
    let agent = world.agent().await;
    assert_prompt(&world, &agent).await;
    let scans = eventually(PATIENCE, "a scan for each publish", async || {
        // A scan is queued after the answer.
        Some(world.jobs("scan").await).filter(|scans| scans.len() == PUBLISHES)
    })
    .await;
    assert!(scans.iter().all(|scan| scan.status == "Pending" && scan.attempts == 0), "{scans:?}");
    steer(&world, "scan", "resume").await;
    all_are_scanned(&world, PUBLISHES).await;
}

async fn steer(world: &World, queue: &str, word: &str) {
    let call = world.operator().call(Method::POST, &format!("/internal/queues/{queue}/{word}"));
    call.header("X-Operator", "Ada").await.expect(200);
}

/// One after the other, each is answered promptly and shown.
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

async fn all_are_scanned(world: &World, count: usize) {
    eventually(PATIENCE * 4, "the first scans", async || {
        let scans = world.jobs("scan").await;
        (scans.len() == count && scans.iter().all(|scan| scan.status == "Done")).then_some(())
    })
    .await;
}

async fn rescans_left(world: &World) -> usize {
    world.jobs("rescan").await.iter().filter(|rescan| rescan.status != "Done").count()
}
