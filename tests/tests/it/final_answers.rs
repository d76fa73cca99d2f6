//! Every response is final. A 503 to a publish means that nothing was done and nothing will be, whatever
//! recovers later. An impossible request is refused quickly with a specific error.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use handbill_tests::{Agent, Health, Mode, PATIENCE, Reply, World, eventually, in_both_modes, json, program};

use crate::expectations::{assert_serves, assert_untouched, front_page, page_saying};
use crate::moderation::becomes;

const FAULTS: &str = "HANDBILL_TEST_FAULTS";
/// Callers wait for three seconds instead of twenty.
const SHORT: &str = "answer.wait_ms:instead=3000";
/// No content can be stored while the process runs.
const NO_STORE: &str = "answer.wait_ms:instead=3000,publish.before_blob_put:fail";
/// A refusal that needs no query.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Callers wait for a store that might only be restarting.
const SOON: Duration = Duration::from_secs(9);
/// Every backoff of a job that failed within a few seconds, and the takeover of an orphan.
const EVERY_BACKOFF: Duration = Duration::from_secs(60);

/// Waits until the queue contains no publish that could still be executed.
async fn all_publishes_end(world: &World) {
    eventually(EVERY_BACKOFF, "no publish is left in the queue", async || {
        world.jobs("publish").await.iter().all(|job| job.status == "Done").then_some(())
    })
    .await;
}

fn assert_is_final(refused: &Reply) {
    assert!(
        ["nothing was done", "not processed"].iter().any(|words| refused.string("message").contains(words)),
        "{refused:?}"
    );
    assert!(!refused.string("hint").contains("Idempotency-Key"), "{refused:?}");
    assert!(refused.header("retry-after").parse::<u64>().is_ok());
}

async fn used(agent: &Agent) -> i64 {
    agent.usage().await.expect(200).integer("publishes.used")
}

in_both_modes! {
    #[settings("HANDBILL_TEST_FAULTS" = SHORT)]
    async fn publish_answered_with_503_never_replaces_a_newer_version(world: World) {
        let agent = world.agent().await;
        world.worker().restart_with(&[(FAULTS, NO_STORE)]).await;
        let without_key = agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded");
        assert_is_final(&without_key);
        let with_key = agent.publish("my-page", page_saying("A too")).idempotency_key("key").await;
        assert_is_final(&with_key.refused(503, "overloaded"));
        world.worker().restart().await;
        let newer = agent.publish("my-page", page_saying("B")).await.expect(201);
        assert_eq!(newer.integer("version"), 1);
        all_publishes_end(&world).await;
        assert_serves(&front_page(&world.visitor(), &newer).await, &page_saying("B"));
        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(detail.at("versions").as_array().unwrap().len(), 1, "{detail:?}");
        assert_eq!(used(&agent).await, 1);
    }

    #[settings("HANDBILL_TEST_FAULTS" = SHORT)]
    async fn publish_answered_with_503_never_restores_a_deleted_page(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", page_saying("first")).await.expect(201);
        world.worker().restart_with(&[(FAULTS, NO_STORE)]).await;
        agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded");
        agent.publish("my-page", page_saying("A too")).idempotency_key("key").await.refused(503, "overloaded");
        world.worker().restart().await;
        agent.delete("my-page").await.expect(200);
        all_publishes_end(&world).await;
        agent.artifact("my-page").await.refused(404, "not_found");
        assert_eq!(used(&agent).await, 1);
    }

    #[settings("HANDBILL_TEST_FAULTS" = SHORT)]
    async fn a_repeat_with_the_key_of_an_expired_publish_starts_a_new_one(world: World) {
        let agent = world.agent().await;
        let publish = || agent.publish("my-page", page_saying("A")).idempotency_key("key");
        world.worker().restart_with(&[(FAULTS, NO_STORE)]).await;
        let (first, second) = tokio::join!(publish(), publish());
        assert_is_final(&first.refused(503, "overloaded"));
        assert_is_final(&second.refused(503, "overloaded"));
        world.worker().restart().await;
        let (first, second) = tokio::join!(publish(), publish());
        let (first, second) = (first.expect(201), second.expect(201));
        assert_eq!(first.json(), second.json());
        assert_eq!(first.integer("version"), 1);
        all_publishes_end(&world).await;
        assert_eq!(used(&agent).await, 1);
        assert_eq!(publish().await.expect(201).json(), first.json());
    }

    async fn paused_queue_refuses_publishes_at_once_and_is_named(world: World) {
        let agent = world.agent().await;
        steer(&world, "pause").await;
        let started = Instant::now();
        let refused = agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded");
        assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
        assert_eq!(refused.string("message"), "publishing is paused by the operator; nothing was done");
        assert_is_final(&refused);
        let keyed = agent.publish("my-page", page_saying("A")).idempotency_key("key").await;
        assert_is_final(&keyed.refused(503, "overloaded").naming("paused"));
        assert_eq!(world.jobs("publish").await, [], "nothing is queued");
        steer(&world, "resume").await;
        let published = agent.publish("my-page", page_saying("A")).idempotency_key("key").await.expect(201);
        assert_eq!(published.integer("version"), 1);
        all_publishes_end(&world).await;
        assert_eq!(used(&agent).await, 1);
    }
}

async fn steer(world: &World, verb: &str) {
    let path = format!("/internal/queues/publish/{verb}");
    world.operator().post(&path).header("X-Operator", "Ada").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_file_store_fails_fast_and_refused_publishes_never_land() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    world.s3().stop().await;
    let started = Instant::now();
    let refused = agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded");
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert!(refused.string("message").starts_with("the file store is unavailable"), "{refused:?}");
    assert_is_final(&refused);
    let started = Instant::now();
    agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded").naming("file store");
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    world.s3().start().await;
    let newer = eventually(PATIENCE, "the store is seen to be back", async || {
        let reply = agent.publish("my-page", page_saying("B")).await;
        (reply.status == 201).then_some(reply)
    })
    .await;
    assert_eq!(newer.integer("version"), 1);
    all_publishes_end(&world).await;
    assert_serves(&front_page(&world.visitor(), &newer).await, &page_saying("B"));
    assert_eq!(used(&agent).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalling_file_store_is_named_in_the_refusal_soon() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    world.s3().be(Health::Stalls);
    let started = Instant::now();
    let refused = agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded");
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_is_final(&refused.naming("file store"));
    world.s3().be(Health::Well);
    all_publishes_end(&world).await;
    assert_untouched(&agent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publish_waits_for_a_restarting_file_store() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    world.s3().stop().await;
    let publishing = tokio::spawn(agent.publish("my-page", page_saying("A")).into_future());
    eventually(PATIENCE, "an attempt has failed", async || {
        world.jobs("publish").await.iter().any(|job| job.attempts > 0).then_some(())
    })
    .await;
    world.s3().start().await;
    assert_eq!(publishing.await.unwrap().expect(201).integer("version"), 1);
    // Only a first attempt scans before it publishes.
    becomes(&agent, "my-page", "pass").await;
    assert_eq!(world.jobs("scan").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publish_whose_api_is_gone_does_not_land_after_its_deadline() {
    let world = World::with(Mode::Production, program!()).env(FAULTS, SHORT).start().await;
    let agent = world.agent().await;
    assert!(world.worker().terminate().await.status.success());
    let kill = format!("{SHORT},publish.after_push:kill");
    world.api().restart_with(&[(FAULTS, &kill)]).await;
    let publish = || agent.publish("my-page", page_saying("A")).idempotency_key("key");
    let queued_at = Instant::now();
    assert!(publish().try_send().await.is_err(), "the API is killed");
    world.api().exit_within(PATIENCE).await;
    world.api().restart().await;
    // The deadline has passed by every clock before a worker can see the job.
    eventually(PATIENCE, "the deadline", async || {
        (queued_at.elapsed() > Duration::from_secs(4)).then_some(())
    })
    .await;
    world.worker().restart().await;
    all_publishes_end(&world).await;
    assert_untouched(&agent).await;
    assert_eq!(publish().await.expect(201).integer("version"), 1);
    assert_eq!(used(&agent).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_that_finds_its_expired_attempt_undecided_starts_a_new_one_at_once() {
    const WAIT: &str = "answer.wait_ms:instead=10000";
    let world = World::with(Mode::Production, program!()).env(FAULTS, WAIT).start().await;
    let agent = world.agent().await;
    assert!(world.worker().terminate().await.status.success());
    world.api().restart_with(&[(FAULTS, &format!("{WAIT},publish.after_push:kill"))]).await;
    let publish = || agent.publish("my-page", page_saying("A")).idempotency_key("key");
    let queued_at = Instant::now();
    assert!(publish().try_send().await.is_err(), "the API is killed");
    world.api().exit_within(PATIENCE).await;
    world.api().restart().await;
    eventually(PATIENCE, "the deadline", async || {
        (queued_at.elapsed() > Duration::from_secs(11)).then_some(())
    })
    .await;
    let repeated = tokio::spawn(publish().into_future());
    eventually(PATIENCE, "the repeat has a job of its own", async || {
        (world.jobs("publish").await.len() == 2).then_some(())
    })
    .await;
    world.worker().restart().await;
    assert_eq!(repeated.await.unwrap().expect(201).integer("version"), 1);
    all_publishes_end(&world).await;
    assert_eq!(used(&agent).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcome_is_unknown_only_without_the_database_and_nothing_lands_later() {
    let setup = World::with(Mode::Production, program!()).with_own_postgres();
    let world = setup.env(FAULTS, SHORT).start().await;
    let agent = world.agent().await;
    assert!(world.worker().terminate().await.status.success());
    let publish = || agent.publish("my-page", page_saying("A"));
    let (without_key, with_key) = (tokio::spawn(publish().into_future()), {
        tokio::spawn(publish().idempotency_key("key").into_future())
    });
    eventually(PATIENCE, "both are queued", async || (world.jobs("publish").await.len() == 2).then_some(()))
        .await;
    world.postgres().stop();
    let without_key = without_key.await.unwrap().refused(503, "outcome_unknown");
    assert!(without_key.string("hint").contains("GET /v1/artifacts"), "{without_key:?}");
    let with_key = with_key.await.unwrap().refused(503, "outcome_unknown");
    assert!(with_key.string("hint").contains("with the same Idempotency-Key"), "{with_key:?}");
    assert!(with_key.header("retry-after").parse::<u64>().is_ok());
    let reading = agent.artifacts().await.refused(503, "overloaded");
    assert!(!reading.string("hint").contains("Idempotency-Key"), "{reading:?}");
    world.postgres().start().await;
    world.worker().restart().await;
    all_publishes_end(&world).await;
    assert_untouched(&agent).await;
    assert_eq!(publish().idempotency_key("key").await.expect(201).integer("version"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_is_reported_at_once_and_the_process_is_not_ready() {
    let world = World::with(Mode::Embedded, program!()).with_ops().start().await;
    let agent = world.agent().await;
    world.api().restart_with(&[(FAULTS, "disk.free_bytes:instead=60000000")]).await;
    let started = Instant::now();
    let refused = agent.publish("my-page", page_saying("A")).await.refused(503, "overloaded");
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    assert!(refused.string("message").starts_with("the disk is full"), "{refused:?}");
    assert_is_final(&refused);
    world.stranger().get("/readyz").await.expect(503);
    let response = world.ask_ops(&world.api(), "/readyz").await.expect(503).json();
    let disk =
        response["parts"].as_array().unwrap().iter().find(|part| part["name"] == "disk").unwrap().clone();
    assert_eq!(disk["is_ready"], json!(false));
    assert!(disk["fault"].as_str().unwrap().contains("57 MB left"), "{disk}");
    world.api().restart().await;
    world.stranger().get("/readyz").await.expect(200);
    assert_untouched(&agent).await;
    agent.publish("my-page", page_saying("A")).await.expect(201);
}
