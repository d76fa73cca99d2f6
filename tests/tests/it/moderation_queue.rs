//! Spec 3.3 and 4.10: the review queue, what moderators see of its pages, and the effects of their decisions.

use std::future::IntoFuture;
use std::time::Duration;

use handbill_tests::{Call, Method, Reply, Value, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::teams::claimed_by;

/// A page that the scan sends to review.
pub const DOUBTFUL: &str =
    "<html><body><h1>PayPal</h1><form><input type=\"password\" name=\"p\"></form></body></html>";

in_both_modes! {
    async fn a_page_in_review_is_listed_with_its_evidence_and_blocked_at_once(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", DOUBTFUL).await.expect(201);
        agent.publish("harmless", PAGE).await.expect(201);
        becomes(&agent, "my-page", "review").await;
        becomes(&agent, "harmless", "pass").await;
        let host = published.string("host");
        report(&world, &host, "It is not my bank.").await.expect(201);

        let queue = list(&world, "").await.expect(200);
        assert_eq!(queue.field_names(), ["items", "next"]);
        assert_eq!(hosts(&queue), [host.as_str()]);
        assert_eq!(queue.string("items.0.account"), agent.handle());
        assert_eq!(queue.at("items.0.rules"), json!(["password_near_lure"]));
        assert_eq!((queue.integer("items.0.open_reports"), queue.integer("items.0.version")), (1, 1));

        let item = review_item(&world, &host).await.expect(200);
        assert_eq!(item.string("account.status"), "provisional");
        assert_eq!(item.string("live.moderation_status"), "review");
        assert_eq!(item.string("live.moderated_by"), "scan");
        assert_eq!(item.string("live.evidence.0.file"), "index.html");
        assert!(item.string("live.evidence.0.words.0").contains("paypal"), "{item:?}");
        assert_eq!(item.string("reports.0.reason"), "It is not my bank.");
        assert_eq!(item.at("reports.0.answered_at"), json!(null));
        assert_eq!(item.string("decisions.0.source"), "scan");

        let decision = json!({ "action": "block", "note": "A copy of PayPal.", "version": 1 });
        let made = decide(&world, &host, &decision).await.expect(200);
        assert_eq!(made.json(), json!({
            "host": host, "slug": "my-page", "version": 1, "moderation_status": "blocked",
            "elsewhere": { "blocked": 0, "hosts": [], "has_more": false },
        }));
        front_page(&visitor, &published).await.expect(451);
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
        assert_eq!(hosts(&list(&world, "?status=blocked").await.expect(200)), [host.as_str()]);
        assert_ne!(review_item(&world, &host).await.expect(200).at("reports.0.answered_at"), json!(null));

        let log = audit(&world, "?moderators=true").await.expect(200);
        assert_eq!(log.at("items").as_array().map(Vec::len), Some(1));
        assert_eq!((log.string("items.0.host"), log.string("items.0.decided_by")), (host.clone(), "Ada".into()));
        assert_eq!(log.string("items.0.note"), "A copy of PayPal.");
        assert_eq!(log.string("items.0.moderation_status"), "blocked");
        let passed = decide(&world, &host, &json!({ "action": "pass" })).await.expect(200);
        assert_eq!(passed.string("moderation_status"), "pass");
        assert_serves(&front_page(&visitor, &published).await, DOUBTFUL);

        // Decisions are kept after the page is deleted.
        agent.delete("my-page").await.expect(200);
        let log = audit(&world, &format!("?host={host}")).await.expect(200);
        let sources: Vec<_> = (0..3).map(|at| log.string(&format!("items.{at}.source"))).collect();
        assert_eq!(sources, ["moderator", "moderator", "scan"]);
        review_item(&world, &host).await.refused(404, "not_found").naming("host");
    }

    async fn decision_on_a_version_that_is_no_longer_live_is_refused(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", DOUBTFUL).await.expect(201);
        let host = published.string("host");
        agent.publish("my-page", page_saying("mended")).await.expect(201);
        let decision = json!({ "action": "block", "version": 1 });
        let refused = decide(&world, &host, &decision).await.refused(409, "version_changed");
        assert!(refused.string("message").contains("version 2"), "{refused:?}");
        assert!(refused.string("hint").contains("GET /internal/moderation/"), "{refused:?}");
        assert_serves(&front_page(&visitor, &published).await, &page_saying("mended"));
        assert_eq!(audit(&world, "?moderators=true").await.expect(200).at("items"), json!([]));

        let elsewhere = json!({ "action": "pass", "elsewhere": [host] });
        decide(&world, &host, &elsewhere).await.refused(400, "invalid_request").naming("elsewhere");
        for (bad, field) in [
            (json!({}), "action"),
            (json!({ "action": "burn" }), "action"),
            (json!({ "action": "pass", "version": 0 }), "version"),
            (json!({ "action": "pass", "why": "x" }), "why"),
            (json!({ "action": "block", "elsewhere": true }), "elsewhere"),
            (json!({ "action": "block", "elsewhere": vec![&host; 101] }), "elsewhere"),
            (json!({ "action": "block", "seen": { "decision": "x", "report": null, "appeal": null } }), "decision"),
        ] {
            decide(&world, &host, &bad).await.refused(400, "invalid_body").naming(field);
        }
        for note in ["x".repeat(2_001), "a\u{0}b".to_owned()] {
            let decision = json!({ "action": "pass", "note": note });
            decide(&world, &host, &decision).await.refused(400, "invalid_request").naming("note");
        }
        let malformed = json!({ "action": "block", "elsewhere": ["NO"] });
        decide(&world, &host, &malformed).await.refused(400, "invalid_request").naming("elsewhere");
        let path = format!("/internal/moderation/{host}");
        for nobody in ["", "\u{3164}"] {
            let unnamed = world.operator().post(&path).header("X-Operator", nobody).json(&json!({ "action": "block" }));
            unnamed.await.refused(400, "invalid_request").naming("X-Operator");
        }
        let unnamed = world.operator().post(&path).json(&json!({ "action": "block" }));
        unnamed.await.refused(400, "invalid_request").naming("X-Operator");
        let missing = decide(&world, "no-such-page-0000", &decision).await.refused(404, "not_found").naming("host");
        assert!(missing.string("hint").contains("GET /internal/moderation"), "{missing:?}");
        decide(&world, "No", &decision).await.refused(400, "invalid_request").naming("host");
        for (query, field) in
            [("?status=burnt", "status"), ("?after=x", "after"), ("?after=1.NO", "after")]
        {
            list(&world, query).await.refused(400, "invalid_request").naming(field);
        }
        for (query, field) in [("?host=NO", "host"), ("?before=%00", "before"), ("?moderators=x", "moderators")] {
            audit(&world, query).await.refused(400, "invalid_request").naming(field);
        }
    }

    async fn block_also_applies_to_copies_on_other_pages(world: World) {
        let (one, another, visitor) = (world.agent().await, world.agent().await, world.visitor());
        let bad = one.publish("bad", DOUBTFUL).await.expect(201);
        let style = b"p{}".as_slice();
        let same = another
            .publish_files("same", &[("index.html", DOUBTFUL.as_bytes()), ("style.css", style)])
            .await
            .expect(201);
        let own = one.publish("own-copy", DOUBTFUL).await.expect(201);
        let other = another
            .publish_files("other", &[("index.html", PAGE.as_bytes()), ("style.css", style)])
            .await
            .expect(201);
        for (agent, slug) in [(&one, "bad"), (&another, "same"), (&one, "own-copy")] {
            becomes(agent, slug, "review").await;
        }
        let host = bad.string("host");
        let mut expected = [same.string("host"), own.string("host")];
        expected.sort();
        let item = review_item(&world, &host).await.expect(200);
        let listed: Vec<_> = (0..2).map(|at| item.string(&format!("same_content.pages.{at}.host"))).collect();
        assert_eq!((listed.as_slice(), item.at("same_content.has_more")), (expected.as_slice(), json!(false)));
        assert_eq!(item.string("same_content.pages.0.file"), "index.html");
        assert_eq!(item.at("same_content.pages.0.passed_by_moderator"), json!(false));

        // A page without the same content is not affected, even if it is named.
        let named = [&expected[..], &[other.string("host")]].concat();
        let decision = json!({ "action": "block", "version": 1, "elsewhere": named, "note": "One of three." });
        let made = decide(&world, &host, &decision).await.expect(200);
        assert_eq!(made.at("elsewhere"), json!({ "blocked": 2, "hosts": expected, "has_more": false }));
        for page in [&bad, &same, &own] {
            front_page(&visitor, page).await.expect(451);
        }
        assert_serves(&front_page(&visitor, &other).await, PAGE);
        let log = audit(&world, "?moderators=true").await.expect(200);
        let mut decided: Vec<_> = (0..3).map(|at| log.string(&format!("items.{at}.host"))).collect();
        decided.sort();
        let mut all = [host.clone(), same.string("host"), own.string("host")];
        all.sort();
        assert_eq!(decided, all);
        assert_eq!(review_item(&world, &host).await.expect(200).at("same_content.pages"), json!([]));
    }

    async fn pages_that_only_share_a_script_with_a_blocked_page_are_not_copies(world: World) {
        let (one, another) = (world.agent().await, world.agent().await);
        let (script, missing): (&[u8], &[u8]) = (b"function open() {}", b"<h1>There is no such page</h1>");
        let site = |index: &'static str| [("index.html", index.as_bytes()), ("lib.js", script), ("404.html", missing)];
        let bad = one.publish_files("bad", &site(DOUBTFUL)).await.expect(201);
        another.publish_files("honest", &site(PAGE)).await.expect(201);
        becomes(&one, "bad", "review").await;
        let item = review_item(&world, &bad.string("host")).await.expect(200);
        assert_eq!(item.at("same_content.pages"), json!([]));
    }

    #[settings("HANDBILL_TEST_FAULTS" = "moderation.elsewhere:instead=1")]
    async fn failure_on_a_copy_keeps_the_decision_and_earlier_blocks(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let mut published = Vec::new();
        for slug in ["one", "two", "three"] {
            published.push(agent.publish(slug, page_saying("bad")).await.expect(201));
        }
        let host = published[0].string("host");
        let mut others = [published[1].string("host"), published[2].string("host")];
        others.sort();
        let decision = json!({ "action": "block", "elsewhere": others });
        let made = decide(&world, &host, &decision).await.expect(200);
        assert_eq!(made.at("elsewhere"), json!({ "blocked": 1, "hosts": [others[0]], "has_more": true }));
        front_page(&visitor, &published[0]).await.expect(451);
        // Repeating the decision continues with the rest.
        let made = decide(&world, &host, &decision).await.expect(200);
        assert_eq!(made.at("elsewhere"), json!({ "blocked": 1, "hosts": [others[1]], "has_more": false }));
        for page in &published {
            front_page(&visitor, page).await.expect(451);
        }
    }

    async fn decision_reports_copies_beyond_its_limit(world: World) {
        let (one, _) = claimed_by(&world, "one").await;
        let (another, _) = claimed_by(&world, "another").await;
        let mut last = String::new();
        for number in 0..102 {
            let owner = if number < 52 { &one } else { &another };
            let page = owner.publish(&format!("page-{number}"), page_saying("bad")).await.expect(201);
            last = page.string("host");
        }
        let others = async || {
            let item = review_item(&world, &last).await.expect(200);
            let pages = item.at("same_content.pages");
            let host = |page: &Value| page["host"].as_str().unwrap().to_owned();
            let hosts: Vec<_> = pages.as_array().unwrap().iter().map(host).collect();
            (hosts, item.at("same_content.has_more"))
        };
        let (hosts, has_more) = others().await;
        assert_eq!((hosts.len(), has_more), (100, json!(true)));
        let made = decide(&world, &last, &json!({ "action": "block", "elsewhere": hosts })).await.expect(200);
        assert_eq!((made.integer("elsewhere.blocked"), made.at("elsewhere.has_more")), (100, json!(true)));
        let (hosts, has_more) = others().await;
        assert_eq!((hosts.len(), has_more), (1, json!(false)));
        let made = decide(&world, &last, &json!({ "action": "block", "elsewhere": hosts })).await.expect(200);
        assert_eq!((made.integer("elsewhere.blocked"), made.at("elsewhere.has_more")), (1, json!(false)));
    }

    async fn blocked_content_stays_blocked_in_other_versions(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        agent.publish("my-page", page_saying("bad")).await.expect(201);
        agent.publish("my-page", page_saying("good")).await.expect(201);
        let published = agent.publish("my-page", page_saying("bad")).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        let host = published.string("host");
        decide(&world, &host, &json!({ "action": "block", "version": 3 })).await.expect(200);
        agent.activate("my-page", 1).await.expect(200);
        front_page(&visitor, &published).await.expect(451);
        agent.activate("my-page", 2).await.expect(200);
        assert_serves(&front_page(&visitor, &published).await, &page_saying("good"));
        let log = audit(&world, &format!("?host={host}&moderators=true")).await.expect(200);
        assert_eq!(log.at("items").as_array().map(Vec::len), Some(2));
    }

    async fn decision_on_an_outdated_case_is_refused_and_later_reports_stay_open(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", DOUBTFUL).await.expect(201).string("host");
        becomes(&agent, "my-page", "review").await;
        let seen = review_item(&world, &host).await.expect(200).at("seen");
        assert_eq!(seen["report"], json!(null));
        let decision = |seen: &Value| json!({ "action": "pass", "version": 1, "seen": seen });
        report(&world, &host, "It is not my bank.").await.expect(201);
        decide(&world, &host, &decision(&seen)).await.expect(200);
        let item = review_item(&world, &host).await.expect(200);
        assert_eq!(item.at("reports.0.answered_at"), json!(null));
        let refused = decide(&world, &host, &decision(&seen)).await.refused(409, "version_changed");
        assert!(refused.string("message").contains("its status is now pass"), "{refused:?}");
        assert!(refused.string("hint").contains("seen"), "{refused:?}");
        decide(&world, &host, &decision(&item.at("seen"))).await.expect(200);
        assert_ne!(review_item(&world, &host).await.expect(200).at("reports.0.answered_at"), json!(null));
    }

    #[settings("HANDBILL_TEST_FAULTS" = "moderation.before_rule:pause_ms=3000")]
    async fn page_deleted_during_a_decision_is_not_found(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        let decision = json!({ "action": "block", "version": 1 });
        let deciding = tokio::spawn(decide(&world, &host, &decision).into_future());
        // Its progress is not visible from outside. The result is the same if it has not begun.
        tokio::time::sleep(Duration::from_millis(700)).await;
        agent.delete("my-page").await.expect(200);
        deciding.await.unwrap().refused(404, "not_found").naming("host");
        assert_eq!(audit(&world, "?moderators=true").await.expect(200).at("items"), json!([]));
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "60s")]
    async fn expired_page_leaves_the_review_queue_and_decisions_outlive_the_account(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", DOUBTFUL).await.expect(201).string("host");
        becomes(&agent, "my-page", "review").await;
        decide(&world, &host, &json!({ "action": "block", "note": "A copy of a bank." })).await.expect(200);
        report(&world, &host, "It is not my bank.").await.expect(201);
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [host.as_str()]);
        world.advance(Duration::from_secs(61));
        for query in ["", "?status=blocked"] {
            assert_eq!(hosts(&list(&world, query).await.expect(200)), [""; 0]);
        }
        world.operator().run_cleanup().await.expect(200);
        review_item(&world, &host).await.refused(404, "not_found");
        for query in ["", "?moderators=true", &format!("?host={host}")] {
            let log = audit(&world, query).await.expect(200);
            assert_eq!(log.at("items").as_array().map(Vec::len), Some(1), "{query}");
            assert_eq!((log.string("items.0.host"), log.string("items.0.decided_by")), (host.clone(), "Ada".into()));
            assert_eq!(log.string("items.0.note"), "A copy of a bank.");
        }
    }

    async fn scan_blocks_and_reported_pages_can_be_passed(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        let reported = agent.publish("reported", PAGE).await.expect(201);
        becomes(&agent, "my-page", "blocked").await;
        becomes(&agent, "reported", "pass").await;
        let (host, other) = (published.string("host"), reported.string("host"));
        assert_eq!(hosts(&list(&world, "?status=blocked").await.expect(200)), [host.as_str()]);
        report(&world, &other, "I do not like it.").await.expect(201);
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [other.as_str()]);
        for host in [&host, &other] {
            decide(&world, host, &json!({ "action": "pass" })).await.expect(200);
        }
        assert_serves(&front_page(&visitor, &published).await, SEED_PHRASE_FORM);
        for query in ["", "?status=blocked"] {
            assert_eq!(hosts(&list(&world, query).await.expect(200)), [""; 0]);
        }
    }

    #[settings("HANDBILL_LIMITS__REPORTS_PER_MINUTE" = "100")]
    async fn long_review_queue_is_paginated(world: World) {
        let (owner, _) = claimed_by(&world, "owner").await;
        let mut published = Vec::new();
        for number in 0..55 {
            let page = owner.publish(&format!("page-{number}"), page_saying("one")).await.expect(201);
            report(&world, &page.string("host"), "x").await.expect(201);
            published.push(page.string("host"));
        }
        let first = list(&world, "").await.expect(200);
        assert_eq!(hosts(&first).len(), 50);
        let rest = list(&world, &format!("?after={}", first.string("next"))).await.expect(200);
        assert_eq!(rest.at("next"), json!(null));
        let mut all = [hosts(&first), hosts(&rest)].concat();
        all.sort();
        published.sort();
        assert_eq!(all, published);
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.before_judge:pause_ms=3000")]
    async fn a_page_is_listed_as_pending_until_its_scan_is_done(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        let pending = list(&world, "?status=pending").await.expect(200);
        assert_eq!(hosts(&pending), [host]);
        assert_eq!(pending.string("items.0.moderation_status"), "pending");
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
        becomes(&agent, "my-page", "pass").await;
        assert_eq!(hosts(&list(&world, "?status=pending").await.expect(200)), [""; 0]);
    }

    async fn review_queue_is_not_found_without_the_secret(world: World) {
        let operator = world.operator();
        let unknown = operator.call_knowing("wrong", Method::GET, "/internal/nothing").await;
        let agent = world.agent().await;
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        for path in ["/internal/moderation".to_owned(), format!("/internal/moderation/{host}"), "/internal/audit".into()]
        {
            for method in [Method::GET, Method::POST, Method::PUT] {
                for reply in [
                    operator.call_knowing("wrong", method.clone(), &path).await,
                    agent.call(method.clone(), &path).await,
                    human.call(method.clone(), &path).await,
                ] {
                    assert_eq!(reply.refused(404, "not_found").json(), unknown.json(), "{path}");
                }
            }
        }
    }
}

pub fn list(world: &World, query: &str) -> Call {
    world.operator().call(Method::GET, &format!("/internal/moderation{query}"))
}

pub fn review_item(world: &World, host: &str) -> Call {
    world.operator().call(Method::GET, &format!("/internal/moderation/{host}"))
}

pub fn audit(world: &World, query: &str) -> Call {
    world.operator().call(Method::GET, &format!("/internal/audit{query}"))
}

/// A decision by Ada.
pub fn decide(world: &World, host: &str, decision: &Value) -> Call {
    let path = format!("/internal/moderation/{host}");
    world.operator().post(&path).header("X-Operator", "Ada").json(decision)
}

pub fn report(world: &World, host: &str, reason: &str) -> Call {
    world.stranger().post("/v1/reports").json(&json!({ "host": host, "reason": reason }))
}

pub fn hosts(list: &Reply) -> Vec<String> {
    let items = list.at("items");
    let hosts = items.as_array().unwrap().iter().map(|item| item["host"].as_str().unwrap().to_owned());
    hosts.collect()
}
