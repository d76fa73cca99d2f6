//! Spec 3.3 and 4.10: anyone may report a page. A report sends an unscanned page to review and releases none.

use std::time::Duration;

use handbill_tests::{Agent, Call, Reply, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes, scans_are_done};

in_both_modes! {
    #[settings("HANDBILL_TEST_FAULTS" = "scan.before_judge:pause_ms=3000")]
    async fn a_report_sends_an_unscanned_page_to_review_and_a_later_scan_may_only_block_it(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let harmless = agent.publish("harmless", PAGE).await.expect(201);
        let harmful = agent.publish("harmful", SEED_PHRASE_FORM).await.expect(201);
        for published in [&harmless, &harmful] {
            let taken = report(&world, &published.string("host")).await.expect(201);
            assert_eq!(taken.field_names(), ["host", "id", "moderation_status"]);
            assert_eq!(taken.string("host"), published.string("host"));
            assert_eq!(taken.string("moderation_status"), "review");
        }
        assert_eq!(status_of(&agent, "harmless").await, "review");
        assert_serves(&front_page(&visitor, &harmless).await, PAGE);
        becomes(&agent, "harmful", "blocked").await;
        front_page(&visitor, &harmful).await.expect(451);
        scans_are_done(&world, 2).await;
        assert_eq!(status_of(&agent, "harmless").await, "review");
    }

    async fn report_does_not_change_the_status_of_a_scanned_page(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let passed = agent.publish("passed", PAGE).await.expect(201);
        let blocked = agent.publish("blocked", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "passed", "pass").await;
        becomes(&agent, "blocked", "blocked").await;
        for (published, status) in [(&passed, "pass"), (&blocked, "blocked")] {
            for _ in 0..2 {
                let taken = report(&world, &published.string("host")).await.expect(201);
                assert_eq!(taken.string("moderation_status"), status);
            }
        }
        assert_serves(&front_page(&visitor, &passed).await, PAGE);
        front_page(&visitor, &blocked).await.expect(451);
    }

    async fn only_existing_pages_can_be_reported(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        agent.delete("my-page").await.expect(200);
        for host in [published.string("host").as_str(), "no-such-page-0000"] {
            let refused = report(&world, host).await.refused(404, "not_found").naming("host");
            assert!(refused.string("hint").contains("the first part of its URL"), "{refused:?}");
        }
    }

    #[settings("HANDBILL_LIMITS__REPORTS_PER_MINUTE" = "100")]
    async fn invalid_report_error_names_the_field(world: World) {
        let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
        let host = published.string("host");
        let report = || world.stranger().post("/v1/reports");
        for bad in ["", "short", "my page a1b2", "../../etc/passwd", &"a".repeat(46)] {
            report().json(&json!({ "host": bad })).await.refused(400, "invalid_request").naming("host");
        }
        for bad in ["x".repeat(2_001), "a\u{0}b".to_owned()] {
            let body = json!({ "host": host, "reason": bad });
            report().json(&body).await.refused(400, "invalid_request").naming("reason");
        }
        for (bad, field) in [
            (json!({}), "host"),
            (json!({ "host": 1 }), "host"),
            (json!({ "host": host, "reason": ["x"] }), "reason"),
            (json!({ "host": host, "why": "x" }), "why"),
        ] {
            report().json(&bad).await.refused(400, "invalid_body").naming(field);
        }
        let on_a_host_of_its_own = format!("{host}.localhost");
        for same in [&host.to_uppercase(), &published.string("url"), &on_a_host_of_its_own] {
            let taken = report().json(&json!({ "host": same })).await.expect(201);
            assert_eq!(taken.string("host"), host);
        }
        for good in [json!({ "host": host, "reason": "ü".repeat(2_000) }), json!({ "host": host, "reason": null })] {
            report().json(&good).await.expect(201);
        }
    }

    #[settings("HANDBILL_LIMITS__REPORTS_PER_MINUTE" = "3")]
    async fn reports_are_limited_by_address_and_minute(world: World) {
        let host = world.agent().await.publish("my-page", PAGE).await.expect(201).string("host");
        for _ in 0..3 {
            report(&world, &host).await.expect(201);
        }
        let limited = report(&world, &host).await.refused(429, "rate_limited");
        let seconds: u64 = limited.header("Retry-After").parse().expect("seconds");
        assert!((1..=60).contains(&seconds), "{limited:?}");
        world.advance(Duration::from_secs(seconds));
        report(&world, &host).await.expect(201);
    }

    async fn report_form_works(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", page_saying("hello")).await.expect(201).string("host");
        let human = world.human();
        let form = browser(human.get(&format!("/report?host={host}"))).await.expect(200);
        assert!(form.header("Content-Type").starts_with("text/html"), "{form:?}");
        assert!(form.text().contains(&format!("value=\"{host}\"")), "{form:?}");
        let foreign = browser(human.get("/report?host=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")).await.expect(200);
        assert!(!foreign.text().contains("<script>"), "{foreign:?}");

        let send = |fields: String| {
            browser(human.post("/report")).raw("application/x-www-form-urlencoded", fields)
        };
        let thanks = send(format!("host={host}&reason=It+asks+for+%3Cb%3Emoney%3C/b%3E")).await.expect(303);
        assert_eq!(thanks.header("Location"), "/report/thanks");
        let thanks = browser(human.get("/report/thanks")).await.expect(200);
        assert!(thanks.text().contains("Thank you") && !thanks.text().contains(&host), "{thanks:?}");
        send(format!("host={}", host.to_uppercase())).await.expect(303);
        let by_program = human.post("/report").raw("application/x-www-form-urlencoded", format!("host={host}"));
        assert!(by_program.await.expect(201).text().contains(&host));
        let unknown = send("host=no-such-page-0000&reason=".to_owned()).await.expect(404);
        assert!(unknown.header("Content-Type").starts_with("text/html"), "{unknown:?}");
        send("host=%3Cscript%3E".to_owned()).await.expect(400);
        let to_program = human.post("/report").raw("application/x-www-form-urlencoded", "host=no-such-page-0000");
        to_program.await.refused(404, "not_found");
    }
}

fn report(world: &World, host: &str) -> Call {
    world.stranger().post("/v1/reports").json(&json!({ "host": host, "reason": "It asks for money." }))
}

fn browser(call: Call) -> Call {
    call.header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
}

async fn status_of(agent: &Agent, slug: &str) -> String {
    let detail: Reply = agent.artifact(slug).await.expect(200);
    detail.string("moderation_status")
}
