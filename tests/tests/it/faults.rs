//! A process dies at every step of a publish. An acknowledged publish exists and serves its exact bytes. Any
//! other is whole or absent. The caller's retry gets its response, and it is paid once.

use std::future::IntoFuture;
use std::time::Duration;

use handbill_tests::{Agent, LedgerEntry, Mode, PATIENCE, Process, Reply, World, eventually, program};

use crate::expectations::{assert_serves, front_page, page_saying};

const PAYMENT: &str = "dev:0.005";
const PRICE_MICRO: i64 = 5_000;
/// An orphaned job is taken over after its worker has missed its heartbeats.
const TAKE_OVER: Duration = Duration::from_secs(40);

/// The process that reaches a fault point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passes {
    ControlPlane,
    Worker,
}

/// Large enough for the spool, because small contents are stored in the job.
fn large_page() -> String {
    page_saying(&"A page that was published while everything fell. ".repeat(8_000))
}

fn publish(agent: &Agent, html: &str) -> impl Future<Output = Result<Reply, String>> + use<> {
    let call = agent.publish("my-page", html.to_owned()).paying(PAYMENT).idempotency_key("one-publish");
    async move { call.try_send().await.map_err(|error| error.to_string()) }
}

async fn a_kill_at(mode: Mode, point: &str, passes: Passes) {
    let setup = World::with(mode, program!()).env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "0");
    let world = setup.start().await;
    let (agent, html) = (world.agent().await, large_page());
    let victim = if passes == Passes::ControlPlane { world.api() } else { world.worker() };
    victim.restart_with(&[("HANDBILL_TEST_FAULTS", &format!("{point}:kill"))]).await;

    let first = tokio::spawn(publish(&agent, &html));
    let ended = victim.exit_within(PATIENCE).await;
    assert!(!ended.success(), "{point} did not kill");
    assert_whole_or_absent_when_asked(&world, &agent, &html).await;
    victim.restart().await;
    let first = first.await.unwrap();

    let retried = eventually(TAKE_OVER, "the retry's answer", async || {
        publish(&agent, &html).await.ok().filter(|reply| reply.status != 503)
    })
    .await
    .expect(201);
    if let Ok(acknowledged) = first
        && acknowledged.status == 201
    {
        assert_eq!(acknowledged.json(), retried.json(), "the retry was answered otherwise");
    }
    assert_eq!(retried.integer("version"), 1);
    assert_serves(&front_page(&world.visitor(), &retried).await, &html);
    assert_one_version_paid_once(&world, &agent).await;
    assert_it_is_scanned(&world, &agent).await;
    // A redelivery at this point would change the result.
    assert_one_version_paid_once(&world, &agent).await;
}

/// In production the control plane or the worker is still running while the other is down.
async fn assert_whole_or_absent_when_asked(world: &World, agent: &Agent, html: &str) {
    let Ok(detail) = agent.artifact("my-page").try_send().await else { return };
    if detail.status == 404 {
        return;
    }
    let detail = detail.expect(200);
    assert_eq!(detail.integer("version"), 1);
    if let Ok(served) = world.visitor().open(&detail.string("url")).try_send().await {
        assert_serves(&served, html);
    }
}

async fn assert_one_version_paid_once(world: &World, agent: &Agent) {
    let detail = agent.artifact("my-page").await.expect(200);
    assert_eq!(detail.at("versions").as_array().unwrap().len(), 1, "{detail:?}");
    let usage = agent.usage().await.expect(200);
    assert_eq!(usage.integer("publishes.used"), 1);
    assert_eq!(usage.number("credits_usd"), 0.0);
    let version = detail.at("versions")[0]["id"].as_str().unwrap().to_owned();
    let entry = |reason: String, delta_micro| LedgerEntry { reason, delta_micro };
    let paid_once = [
        entry(format!("topup-dev:{version}"), PRICE_MICRO),
        entry(format!("publish:{version}"), -PRICE_MICRO),
    ];
    assert_eq!(world.ledger().await, paid_once);
}

/// The scan may have been lost with the process. Then the sweep finds it.
async fn assert_it_is_scanned(world: &World, agent: &Agent) {
    world.advance(Duration::from_secs(120));
    eventually(TAKE_OVER, "the scan's verdict", async || {
        let detail = agent.artifact("my-page").await.expect(200);
        (detail.string("moderation_status") == "pass").then_some(())
    })
    .await;
}

macro_rules! killed_at {
    ($($name:ident: $point:literal, $passes:expr;)+) => {$(
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn embedded() {
                a_kill_at(Mode::Embedded, $point, $passes).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn production() {
                a_kill_at(Mode::Production, $point, $passes).await;
            }
        }
    )+};
}

killed_at! {
    killed_before_the_upload_is_spooled: "publish.before_spool", Passes::ControlPlane;
    killed_between_spool_and_push: "publish.before_push", Passes::ControlPlane;
    killed_after_the_push: "publish.after_push", Passes::ControlPlane;
    killed_before_the_blobs_are_put: "publish.before_blob_put", Passes::Worker;
    killed_between_blobs_and_ledger: "publish.after_blob_put", Passes::Worker;
    killed_before_the_commit: "settle.before_commit", Passes::Worker;
    killed_between_commit_and_notice: "publish.after_commit", Passes::Worker;
    killed_between_notice_and_reply: "publish.after_notice", Passes::Worker;
    killed_between_reply_and_scan: "publish.after_reply", Passes::Worker;
    killed_after_the_scan_was_queued: "publish.after_scan_push", Passes::Worker;
}

async fn a_stop_finishes_what_runs(mode: Mode, stopped: impl Fn(&World) -> Process) {
    let world = World::with(mode, program!()).start().await;
    let agent = world.agent().await;
    let slow = [("HANDBILL_TEST_FAULTS", "publish.before_blob_put:pause_ms=2000")];
    world.worker().restart_with(&slow).await;
    let html = page_saying("finished while stopping");
    let publishing = tokio::spawn(agent.publish("my-page", html.clone()).into_future());
    // A running job is `Queued` in its row until it ends.
    eventually(PATIENCE, "the publish is running", async || {
        world.jobs("publish").await.iter().any(|job| job.status == "Queued").then_some(())
    })
    .await;
    let stopped = stopped(&world).terminate().await;
    assert!(stopped.status.success(), "{:?}", stopped.status);
    assert!(stopped.took < Duration::from_secs(30), "{:?}", stopped.took);
    let published = publishing.await.unwrap().expect(201);
    assert_eq!(published.integer("version"), 1);
    if mode == Mode::Embedded {
        world.api().restart().await;
    }
    assert_serves(&front_page(&world.visitor(), &published).await, &html);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn embedded_process_that_is_stopped_answers_its_pending_publishes() {
    a_stop_finishes_what_runs(Mode::Embedded, World::api).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_stopped_finishes_the_publishes_that_it_has() {
    a_stop_finishes_what_runs(Mode::Production, World::worker).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_that_is_stopped_answers_the_publishes_that_it_has() {
    a_stop_finishes_what_runs(Mode::Production, |world| world.api()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_counted_before_a_stop_are_not_lost() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let published = agent.publish("my-page", page_saying("seen")).await.expect(201);
    for _ in 0..7 {
        world.visitor().open(&published.string("url")).await.expect(200);
    }
    assert!(world.api().terminate().await.status.success());
    world.api().restart().await;
    eventually(PATIENCE, "seven views", async || {
        let views = agent.usage().await.expect(200).integer("traffic.views");
        (views == 7).then_some(())
    })
    .await;
}
