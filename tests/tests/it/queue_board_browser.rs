//! The queue board in a browser: it shows the current state without a reload, and does not disturb its user.

use std::time::Duration;

use handbill_tests::{Browser, PATIENCE, Scripts, eventually, in_both_modes, json};

use crate::queue_board::{FAILING, admin, scanned_page};

const TO_DIE: Duration = Duration::from_secs(40);
/// A process is stopped, started and probed.
const TO_RESTART: Duration = Duration::from_secs(60);

in_both_modes! {
    async fn dead_job_is_retried_on_the_board_page_and_succeeds(world: World) {
        let host = scanned_page(&world).await;
        world.worker().restart_with(&[FAILING]).await;
        let browser = Browser::start().await;
        browser.open(&format!("{}/admin/queues", world.base_url())).await;
        assert_eq!(browser.text("#queue-rescan td[data-label=Dead]").await, "0");
        browser.inspect("admin-queues").await;
        stays(&browser).await;
        // A button with focus is not replaced.
        browser.evaluate("void document.querySelector('#schedule-cleanup button').focus()").await;

        admin(&world, &["rescan", "--host", &host]).await;
        eventually(TO_DIE, "the rescan is seen dead", async || {
            browser.text("#queue-rescan td[data-label=Dead]").await.starts_with('1').then_some(())
        })
        .await;
        assert_has_stayed(&browser).await;
        let focused = "document.activeElement.closest('tr')?.id";
        assert_eq!(browser.evaluate(focused).await, json!("schedule-cleanup"));

        browser.follow("#queue-rescan td[data-label=Dead] a").await;
        assert_eq!(browser.path().await, "/admin/queues/rescan");
        assert!(browser.text("#requeue summary").await.contains("Retry dead jobs (1)"));
        browser.inspect("admin-jobs").await;
        browser.follow("#live-jobs tbody th a").await;
        assert_eq!(browser.evaluate("document.querySelectorAll('.lanes li').length").await, 3);
        browser.inspect("admin-job").await;
        let shown = browser.text("main").await;
        for reported in ["dead", "3 of 3", "injected fault at scan.before_judge", "dead after attempt 3"] {
            assert!(shown.contains(reported), "{reported}: {shown}");
        }

        stays(&browser).await;
        world.worker().restart().await;
        eventually(TO_RESTART, "the page is up to date again", async || {
            browser.evaluate("document.querySelector('[data-live-lost]').hidden").await.as_bool()?.then_some(())
        })
        .await;
        assert_has_stayed(&browser).await;
        browser.follow("#retry").await;
        assert!(browser.text(".notice").await.contains("queued again"));
        stays(&browser).await;
        eventually(PATIENCE, "the job is seen done", async || {
            browser.text("#state").await.starts_with("done").then_some(())
        })
        .await;
        assert_has_stayed(&browser).await;
        let story = browser.text("#live-timeline").await;
        assert!(story.contains("retried") && story.contains("completed on attempt"), "{story}");
        assert_eq!(browser.evaluate("document.querySelectorAll('#retry, #cancel').length").await, 0);
    }

    async fn dead_jobs_are_discarded_on_the_board_page_and_one_is_restored(world: World) {
        let host = scanned_page(&world).await;
        world.worker().restart_with(&[FAILING]).await;
        let browser = Browser::start().await;
        browser.open(&format!("{}/admin/queues/rescan", world.base_url())).await;
        admin(&world, &["rescan", "--host", &host]).await;
        eventually(TO_DIE, "the rescan is seen dead", async || {
            browser.evaluate("document.querySelectorAll('#discard summary').length").await.as_u64().filter(|seen| *seen == 1)
        })
        .await;
        world.worker().restart().await;
        browser.open(&format!("{}/admin/queues/rescan", world.base_url())).await;
        browser.evaluate("void document.querySelector('#discard summary').click()").await;
        browser.inspect("admin-jobs-discard").await;
        browser.follow("#discard button").await;
        assert!(browser.text(".notice").await.contains("1 dead job of rescan discarded"));
        assert_eq!(browser.evaluate("document.querySelectorAll('#discard, #requeue').length").await, 0);
        browser.open(&format!("{}/admin/queues", world.base_url())).await;
        assert_eq!(browser.text("#queue-rescan td[data-label=Dead]").await, "0");
        browser.follow("#queue-rescan td[data-label=Cancelled] a").await;
        browser.follow("#live-jobs tbody th a").await;
        assert!(browser.text("#state").await.starts_with("cancelled"));
        browser.follow("#retry").await;
        eventually(PATIENCE, "the job is seen done", async || {
            browser.text("#state").await.starts_with("done").then_some(())
        })
        .await;
    }

    async fn queue_is_paused_and_resumed_on_the_board_page_even_without_scripts(world: World) {
        let browser = Browser::start().await;
        browser.with_scripts(Scripts::Refused).await;
        browser.open(&format!("{}/admin", world.base_url())).await;
        browser.follow(".tabs a:nth-child(3)").await;
        browser.follow("#queue-scan th a").await;
        browser.follow("#pause").await;
        assert!(browser.text(".notice").await.contains("Queue scan paused"));
        assert!(browser.text("#paused").await.contains("Paused by operator"));
        browser.inspect("admin-jobs-paused").await;
        browser.follow("[data-live-reload]").await;
        browser.follow("#resume").await;
        assert!(browser.text(".notice").await.contains("Queue scan resumed."));
        browser.follow(".kicker a").await;
        browser.follow("#schedule-sweep-records button").await;
        assert!(browser.text(".notice").await.contains("Schedule sweep-records queued in upkeep."));
    }

    async fn dead_jobs_of_one_error_are_retried_together_without_scripts(world: World) {
        let host = scanned_page(&world).await;
        world.worker().restart_with(&[FAILING]).await;
        let browser = Browser::start().await;
        browser.with_scripts(Scripts::Refused).await;
        admin(&world, &["rescan", "--host", &host]).await;
        eventually(TO_DIE, "the rescan is seen dead", async || {
            browser.open(&format!("{}/admin/queues", world.base_url())).await;
            browser.text("#queue-rescan td[data-label=Dead]").await.starts_with('1').then_some(())
        })
        .await;
        assert!(browser.text("#problems").await.contains("1 dead job in rescan"));
        let charts = browser.text("#charts-rescan").await;
        for name in ["Open jobs", "Completed", "Failed attempts", "Time per attempt p50"] {
            assert!(charts.contains(name), "{charts}");
        }
        world.worker().restart().await;
        browser.open(&format!("{}/admin/queues/rescan", world.base_url())).await;
        browser.follow("#groups button").await;
        assert!(browser.text(".notice").await.contains("1 dead job of rescan queued again."));
        eventually(PATIENCE, "no job is dead", async || {
            browser.open(&format!("{}/admin/queues/rescan", world.base_url())).await;
            browser.text("#live-jobs").await.contains("No dead jobs").then_some(())
        })
        .await;
    }

    async fn board_page_reports_an_unresponsive_service(world: World) {
        let browser = Browser::start().await;
        browser.open(&format!("{}/admin/queues", world.base_url())).await;
        let is_lost = async |wanted: bool| {
            eventually(TO_RESTART, &format!("lost: {wanted}"), async || {
                let hidden = browser.evaluate("document.querySelector('[data-live-lost]').hidden").await;
                (hidden == json!(!wanted)).then_some(())
            })
            .await;
        };
        is_lost(false).await;
        world.api().terminate().await;
        is_lost(true).await;
        browser.inspect("admin-queues-lost").await;
        world.api().restart().await;
        is_lost(false).await;
    }
}

/// Marks the current page.
async fn stays(browser: &Browser) {
    browser.evaluate("void (window.isTheSame = true)").await;
}

/// Expects that the page was not loaded again.
async fn assert_has_stayed(browser: &Browser) {
    assert_eq!(browser.evaluate("window.isTheSame === true").await, json!(true));
}
