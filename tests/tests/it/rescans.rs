//! Spec 1 and 3.3: every version is scanned, whatever is lost on the way, and scanned again under new rules.
//! An edge stops serving a blocked page before its scan is done.

use std::time::Duration;

use handbill_tests::{Agent, Finished, PATIENCE, Reply, World, eventually, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page};
use crate::moderation::{SEED_PHRASE_FORM, becomes, moderate, moderator};

/// An orphaned job is taken over after its worker has missed its heartbeats.
const TAKE_OVER: Duration = Duration::from_secs(40);
/// The scanner finds nothing, as under weaker rules.
const BLIND: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.blind:fail");
const RISEN: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.rules:instead=1000");

in_both_modes! {
    #[settings("HANDBILL_TEST_FAULTS" = "scan.before_judge:pause_ms=1500")]
    async fn blocked_page_is_off_the_edge_before_its_scan_job_ends(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        assert_serves(&front_page(&visitor, &published).await, SEED_PHRASE_FORM);
        eventually(PATIENCE, "the end of the scan", async || {
            // Keeps the page in the edge's cache.
            front_page(&visitor, &published).await;
            world.jobs("scan").await.iter().any(|scan| scan.status == "Done").then_some(())
        })
        .await;
        front_page(&visitor, &published).await.expect(451);
    }

    async fn scan_killed_between_verdict_and_notice_notifies_the_edges_on_retry(world: World) {
        let agent = world.agent().await;
        let worker = world.worker();
        worker.restart_with(&[("HANDBILL_TEST_FAULTS", "scan.early:fail,scan.after_judge:kill")]).await;
        // In embedded mode the response may be lost as well.
        let _ = agent.publish("my-page", SEED_PHRASE_FORM).try_send().await;
        assert!(!worker.exit_within(PATIENCE).await.success());
        assert!(!worker.log().contains("version scanned"), "{}", worker.log());
        worker.restart().await;
        let published = agent.artifact("my-page").await.expect(200);
        assert_eq!(published.string("moderation_status"), "blocked");
        eventually(TAKE_OVER, "the end of the scan", async || {
            world.jobs("scan").await.iter().any(|scan| scan.status == "Done" && scan.attempts == 2).then_some(())
        })
        .await;
        assert!(worker.log().contains("version scanned"), "no edge was notified:\n{}", worker.log());
        front_page(&world.visitor(), &published).await.expect(451);
    }

    // The publish does nothing after its response, so that its scan is never queued.
    #[settings("HANDBILL_TEST_FAULTS" = "scan.early:fail,publish.after_reply:fail")]
    async fn a_page_whose_scan_was_lost_is_scanned_after_a_minute(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let before = sweeps_done(&world).await;
        world.advance(Duration::from_secs(40));
        eventually(PATIENCE, "a sweep", async || (sweeps_done(&world).await > before).then_some(())).await;
        assert_eq!(world.jobs("scan").await, []);
        assert_eq!(agent.artifact("my-page").await.expect(200).string("moderation_status"), "pending");
        // The minute, and the quarter of one between two sweeps.
        world.advance(Duration::from_secs(36));
        becomes(&agent, "my-page", "pass").await;
        assert_eq!(world.jobs("scan").await.len(), 1);
    }

    async fn new_rules_rescan_everything_and_moderator_decisions_stay(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        world.worker().restart_with(&[BLIND]).await;
        let harmful = passes(&agent, "harmful", SEED_PHRASE_FORM).await;
        let ruled = passes(&agent, "ruled", SEED_PHRASE_FORM).await;
        passes(&agent, "harmless", PAGE).await;
        // A version that is not live is scanned as well.
        passes(&agent, "twice", SEED_PHRASE_FORM).await;
        passes(&agent, "twice", PAGE).await;
        let moderator = moderator(&world, "ada").await;
        moderate(&moderator, "ruled", "pass").await.expect(200);

        world.worker().restart_with(&[RISEN]).await;
        world.advance(Duration::from_secs(15));
        becomes(&agent, "harmful", "blocked").await;
        eventually(PATIENCE, "all rescans", async || {
            let shown = scans(&world, &[RISEN]).await.output;
            shown.contains("5  scanned by rules 1000 (newest)").then_some(())
        })
        .await;
        front_page(&visitor, &harmful).await.expect(451);
        assert_serves(&front_page(&visitor, &ruled).await, SEED_PHRASE_FORM);
        becomes(&agent, "harmless", "pass").await;
        let twice = agent.artifact("twice").await.expect(200).at("versions");
        let of_versions = [0, 1].map(|index| twice[index]["moderation_status"].clone());
        assert_eq!(of_versions, [json!("pass"), json!("blocked")]);
        assert!(world.worker().log().contains("rescans queued"), "{}", world.worker().log());
        // Each once, and never again under the same rules.
        world.advance(Duration::from_secs(15));
        let before = sweeps_done(&world).await;
        eventually(PATIENCE, "a sweep", async || (sweeps_done(&world).await > before).then_some(())).await;
        let rescans = world.jobs("rescan").await;
        assert!(rescans.len() == 5 && rescans.iter().all(|rescan| rescan.attempts == 1), "{rescans:?}");
    }

    async fn operator_can_rescan_one_page_or_everything(world: World) {
        let agent = world.agent().await;
        world.worker().restart_with(&[BLIND]).await;
        let one = passes(&agent, "one", SEED_PHRASE_FORM).await;
        passes(&agent, "two", SEED_PHRASE_FORM).await;
        world.worker().restart().await;

        let nothing = world.command(&["admin", "rescan"], &[]).await;
        assert!(nothing.status.success() && nothing.output.contains("Nothing to do"), "{nothing:?}");
        let unknown = world.command(&["admin", "rescan", "--host", "no-such-page-0000"], &[]).await;
        assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
        assert!(unknown.output.contains("there is no page at that host"), "{unknown:?}");
        let both = world.command(&["admin", "rescan", "--all", "--host", "my-page-0000"], &[]).await;
        assert_eq!(both.status.code(), Some(2), "{both:?}");

        let of_host = world.command(&["admin", "rescan", "--host", &one.string("host")], &[]).await;
        assert!(of_host.output.contains("Queued 1 version"), "{of_host:?}");
        assert!(of_host.output.contains("handbill admin scans"), "{of_host:?}");
        becomes(&agent, "one", "blocked").await;
        assert_eq!(agent.artifact("two").await.expect(200).string("moderation_status"), "pass");

        let of_all = world.command(&["admin", "rescan", "--all"], &[]).await;
        assert!(of_all.output.contains("Queued 2 versions"), "{of_all:?}");
        becomes(&agent, "two", "blocked").await;
        eventually(PATIENCE, "the end of both", async || {
            scans(&world, &[]).await.output.contains("0  to be rescanned").then_some(())
        })
        .await;
    }

    async fn process_with_older_rules_leaves_newer_rescans_alone(world: World) {
        let agent = world.agent().await;
        world.worker().restart_with(&[BLIND]).await;
        let one = passes(&agent, "one", SEED_PHRASE_FORM).await;
        let two = passes(&agent, "two", PAGE).await;
        let of_newer = world.command(&["admin", "rescan", "--host", &one.string("host")], &[RISEN]).await;
        assert!(of_newer.output.contains("Queued 1 version"), "{of_newer:?}");
        // It is behind the other in the queue.
        let of_older = world.command(&["admin", "rescan", "--host", &two.string("host")], &[]).await;
        assert!(of_older.status.success(), "{of_older:?}");
        eventually(PATIENCE, "the end of the other rescan", async || {
            world.jobs("rescan").await.iter().any(|rescan| rescan.status == "Done").then_some(())
        })
        .await;
        let left: Vec<_> =
            world.jobs("rescan").await.into_iter().filter(|rescan| rescan.status != "Done").collect();
        assert!(left.len() == 1 && left[0].status == "Pending" && left[0].attempts == 0, "{left:?}");
        let shown = scans(&world, &[]).await.output;
        assert!(shown.contains("1  to be rescanned because an operator requested it"), "{shown}");

        world.worker().restart_with(&[RISEN]).await;
        // Within the takeover time if nothing interferes.
        eventually(TAKE_OVER, "the newer one's verdict", async || {
            let detail = agent.artifact("one").await.expect(200);
            (detail.string("moderation_status") == "blocked").then_some(())
        })
        .await;
    }
}

/// Publishes a page that passes under the current rules.
async fn passes(agent: &Agent, slug: &str, html: &str) -> Reply {
    let published = agent.publish(slug, html).await.expect(201);
    becomes(agent, slug, "pass").await;
    published
}

async fn scans(world: &World, env: &[(&str, &str)]) -> Finished {
    let shown = world.command(&["admin", "scans"], env).await;
    assert!(shown.status.success(), "{shown:?}");
    shown
}

async fn sweeps_done(world: &World) -> usize {
    world.jobs("sweep_scans").await.iter().filter(|sweep| sweep.status == "Done").count()
}
