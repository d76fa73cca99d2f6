//! Scans under load: the same content is scanned once, no account starves another, and unscanned pages of
//! provisional accounts are held back.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{
    Agent, Method, Mode, PATIENCE, Reply, Visitor, World, eventually, in_both_modes, json, program,
};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::suspension::a_publish_is_executed;
use crate::teams::{claimed_by, person};

/// The duration of the longest scan that the budget allows.
const SCAN_TIME: Duration = Duration::from_secs(3);
/// The delay that one account's scans may cause for another.
const DELAY_MAX: Duration = Duration::from_secs(5);
const FLOOD: usize = 12;
const ACCOUNTS: usize = 6;
const PAGES_MAX: usize = 4;

in_both_modes! {
    async fn a_small_page_is_served_with_its_verdict_from_the_start(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let (mut pages, mut blocked, mut queued) = (0, 0, 0);
        // On a busy machine, and in a new process, a scan may take too long and is then queued.
        while pages == queued && pages < PAGES_MAX {
            let (slug, html) = (format!("page-{pages}"), format!("{SEED_PHRASE_FORM}<p>{pages}"));
            let page = agent.publish(&slug, html).await.expect(201);
            blocked += usize::from(first_answer(&visitor, &page).await.status == 451);
            // The job of a scan may be stored after the response to the publish, but not after its verdict.
            becomes(&agent, &slug, "blocked").await;
            queued = world.jobs("scan").await.len();
            pages += 1;
        }
        assert!(queued < pages, "all {pages} are queued");
        assert!(blocked >= pages - queued, "{blocked} of {pages} blocked, {queued} queued");
    }

    #[settings(
        "HANDBILL_TEST_FAULTS" = "scan.compute:pause_ms=3000",
        "HANDBILL_WORKERS__SCAN_MEMORY_MB" = "300",
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100"
    )]
    async fn a_flood_of_one_account_delays_the_verdict_of_another_by_less_than_five_seconds(world: World) {
        let (flood, other) = (world.agent().await, world.agent().await);
        let floods = (0..FLOOD).map(|number| {
            let flood = &flood;
            async move {
                let slug = format!("flood-{number}");
                flood.publish(&slug, page_saying(&format!("flood {number}"))).await.expect(201);
            }
        });
        join_all(floods).await;
        other.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        let published = Instant::now();
        becomes(&other, "my-page", "blocked").await;
        let waited = published.elapsed();
        assert!(waited < SCAN_TIME + DELAY_MAX, "{waited:?}");
        // The flood was not done before, so that it was overtaken.
        let left = world.jobs("scan").await.iter().filter(|scan| scan.status != "Done").count();
        assert!(left > FLOOD / 2, "only {left} scans of the flood are left");
        assert!(world.jobs("scan").await.iter().all(|scan| scan.attempts <= 1), "waiting uses up no attempt");
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.compute:pause_ms=3000", "HANDBILL_WORKERS__SCAN_MEMORY_MB" = "300")]
    async fn identical_content_is_scanned_once_across_accounts(world: World) {
        let agents = join_all((0..ACCOUNTS).map(|_| world.agent())).await;
        join_all(agents.iter().map(async |agent| agent.publish("my-page", PAGE).await.expect(201))).await;
        let published = Instant::now();
        for agent in &agents {
            becomes(agent, "my-page", "pass").await;
        }
        let waited = published.elapsed();
        assert!(waited < 3 * SCAN_TIME, "{ACCOUNTS} scans of {SCAN_TIME:?} took {waited:?}");

        // Another process finds the verdict in the database. Computing it would fail there.
        world.worker().restart_with(&[("HANDBILL_TEST_FAULTS", "scan.compute:fail")]).await;
        let late = world.agent().await;
        late.publish("my-page", PAGE).await.expect(201);
        becomes(&late, "my-page", "pass").await;
        late.publish("other-page", page_saying("other")).await.expect(201);
        eventually(PATIENCE, "a scan that fails", async || {
            world.jobs("scan").await.iter().any(|scan| scan.status == "Failed").then_some(())
        })
        .await;
        assert_eq!(late.artifact("other-page").await.expect(200).string("moderation_status"), "pending");
    }

    async fn while_scans_wait_new_pages_of_provisional_accounts_are_held_back(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let (claimed, _) = claimed_by(&world, "ada").await;
        steer(&world, "scan", "pause").await;
        world.worker().restart_with(&[]).await;
        let files: [(&str, &[u8]); 3] =
            [("index.html", PAGE.as_bytes()), ("app.css", b"p { color: teal }"), ("a.svg", b"<svg/>")];
        let page = agent.publish_files("my-page", &files).await.expect(201);
        assert_serves(&front_page(&visitor, &page).await, PAGE);

        world.advance(Duration::from_secs(31));
        for document in ["", "a.svg"] {
            let held = visitor.open_site(&page, document).at_once().await.expect(503);
            assert!(held.text().contains("This page is being checked"), "{held:?}");
            assert_eq!((held.header("Cache-Control"), held.header("Retry-After")), ("no-store", "10"));
        }
        assert_eq!(visitor.open_site(&page, "app.css").at_once().await.expect(200).text(), "p { color: teal }");
        // A backlog holds new pages back at once.
        let next = world.agent().await.publish("next-page", page_saying("next")).await.expect(201);
        first_answer(&visitor, &next).await.expect(503);
        let of_claimed = claimed.publish("my-page", page_saying("claimed")).await.expect(201);
        first_answer(&visitor, &of_claimed).await.expect(200);

        // A report does not release a page that waits for its scan.
        world.stranger().post("/v1/reports").json(&json!({ "host": page.string("host") })).await.expect(201);
        first_answer(&visitor, &page).await.expect(503);

        steer(&world, "scan", "resume").await;
        becomes(&agent, "my-page", "review").await;
        assert_serves(&front_page(&visitor, &page).await, PAGE);
        assert_serves(&front_page(&visitor, &next).await, &page_saying("next"));
    }

    #[settings("HANDBILL_TEST_FAULTS" = "publish.after_blob_put:pause_ms=6000")]
    async fn a_verdict_from_before_a_claim_does_not_count_after_it(world: World) {
        let (agent, owner) = (world.agent().await, person(&world, "olga").await);
        let claim_url = agent.signup.as_ref().unwrap().string("claim_url");
        // Only a provisional account's redirect to another site goes to review.
        let away = "<meta http-equiv=refresh content='0; url=https://example.com/'>";
        let publishing = tokio::spawn(agent.publish("my-page", away).into_future());
        a_publish_is_executed(&world).await;
        owner.claim(&claim_url).await.expect(200);
        publishing.await.unwrap().expect(201);
        becomes(&agent, "my-page", "pass").await;
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.compute:fail")]
    async fn a_page_whose_scan_fails_is_held_back_until_it_has_a_verdict(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", PAGE).await.expect(201);
        eventually(PATIENCE, "the page is held back", async || {
            (first_answer(&visitor, &page).await.status == 503).then_some(())
        })
        .await;
        world.worker().restart_with(&[("HANDBILL_TEST_FAULTS", "")]).await;
        becomes(&agent, "my-page", "pass").await;
        assert_serves(&front_page(&visitor, &page).await, PAGE);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn version_with_an_abandoned_scan_goes_to_the_moderators() {
    /// Eight attempts with their backoff.
    const TO_DIE: Duration = Duration::from_secs(150);
    let world = World::with(Mode::Embedded, program!())
        .env("HANDBILL_TEST_FAULTS", "scan.compute:fail")
        .start()
        .await;
    let (agent, visitor) = (world.agent().await, world.visitor());
    let page = agent.publish("my-page", PAGE).await.expect(201);
    eventually(TO_DIE, "the version is in review", async || in_review(&agent).await).await;
    first_answer(&visitor, &page).await.expect(503);
    // The end of a job is recorded shortly after its effect.
    let all_killed =
        async || world.jobs("scan").await.iter().all(|scan| scan.status == "Killed").then_some(());
    eventually(TO_DIE, "the scan is abandoned", all_killed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worker_without_the_queue_of_scans_scans_nothing() {
    let world = World::with(Mode::Production, program!()).start().await;
    world.worker().terminate().await;
    world.start_worker(&["--queues", "publish"]).await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    assert_eq!(agent.artifact("my-page").await.expect(200).string("moderation_status"), "pending");
    assert_eq!(world.jobs("scan").await.len(), 1);
    world.start_worker(&["--queues", "scan"]).await;
    becomes(&agent, "my-page", "pass").await;
}

async fn in_review(agent: &Agent) -> Option<()> {
    let detail = agent.artifact("my-page").await.expect(200);
    (detail.string("moderation_status") == "review").then_some(())
}

async fn first_answer(visitor: &Visitor, published: &Reply) -> Reply {
    visitor.open_site(published, "").at_once().await
}

async fn steer(world: &World, queue: &str, action: &str) {
    let call = world.operator().call(Method::POST, &format!("/internal/queues/{queue}/{action}"));
    call.header("X-Operator", "Ada").await.expect(200);
}
