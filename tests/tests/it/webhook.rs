//! Spec 4.8 and 6.1: the card processor's events, which are accepted only when signed, and credited once.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{
    Method, Mode, PATIENCE, Processor, Value, WEBHOOK_SECRET, World, eventually, in_both_modes, json,
    program, sign,
};

use crate::expectations::{PAGE, at_two_processes, entry, sound_ledger};

const REDELIVERIES: usize = 20;
const TOLERANCE_SECONDS: i64 = 300;

in_both_modes! {
    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn a_paid_checkout_is_credited_once_by_handle_or_by_id(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let id = agent.signup.as_ref().unwrap().string("account.id");
        let by_handle = Processor::paid("cs_1", &agent.handle(), 1_999);
        assert_credited(&processor, &by_handle, true).await;
        for _ in 0..3 {
            assert_credited(&processor, &by_handle, false).await;
        }
        // The session counts, whatever else its event contains.
        assert_credited(&processor, &Processor::paid("cs_1", &id, 50_000), false).await;
        assert_credited(&processor, &Processor::paid("cs_2", &id, 500), true).await;
        let credits = [entry("topup-card-processor:cs_1", 19_990_000), entry("topup-card-processor:cs_2", 5_000_000)];
        assert_eq!(sound_ledger(&world, &agent).await, credits);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 24.99);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn other_event_types_are_acknowledged_and_ignored(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let paid = || Processor::paid("cs_1", &agent.handle(), 500);
        let with = |path: &str, value: Value| {
            let mut event = paid();
            *event.pointer_mut(path).unwrap() = value;
            event
        };
        for event in [
            with("/type", json!("checkout.session.expired")),
            with("/type", json!("payout.paid")),
            with("/type", json!(null)),
            with("/data/object/payment_status", json!("unpaid")),
            with("/data/object/payment_status", json!("no_payment_required")),
            with("/data", json!([])),
            json!({}),
            json!([]),
            json!(null),
            json!("checkout.session.completed"),
        ] {
            assert_credited(&processor, &event, false).await;
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
        assert_credited(&processor, &paid(), true).await;
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn uncreditable_payment_is_acknowledged_counted_and_logged(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let handle = agent.handle();
        let unknown = ["acct_nobody", "", "01K0000000000000000000000A", &handle.to_uppercase(), "a'; --", "\n"];
        for (number, account) in unknown.iter().enumerate() {
            let event = Processor::paid(&format!("cs_unknown_{number}"), account, 500);
            assert_credited(&processor, &event, false).await;
            assert_logged(&world, &format!("cs_unknown_{number}"));
        }
        let odd = [
            ("currency", json!("eur")),
            ("currency", json!(null)),
            ("amount_total", json!(0)),
            ("amount_total", json!(-500)),
            ("amount_total", json!(500.5)),
            ("amount_total", json!("500")),
            ("amount_total", json!(1e19)),
            ("amount_total", json!(null)),
            ("metadata", json!({})),
            ("metadata", json!({ "account_id": 7 })),
        ];
        for (number, (field, value)) in odd.into_iter().enumerate() {
            let session = format!("cs_odd_{number}");
            let mut event = Processor::paid(&session, &handle, 500);
            event["data"]["object"][field] = value;
            assert_credited(&processor, &event, false).await;
            assert_logged(&world, &session);
        }
        let counted = world.operator().call(Method::GET, "/metrics").await.expect(200).text();
        assert!(counted.contains("\nhandbill_checkouts_uncredited_total 16\n"), "{counted}");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn wrongly_signed_webhook_call_is_refused_and_credits_nothing(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let body = Processor::paid("cs_1", &agent.handle(), 500).to_string();
        let now = processor.now_seconds;
        let good = sign(WEBHOOK_SECRET, now, body.as_bytes());
        let refuse = async |signature: &str, body: &str| {
            let refused = processor.call(signature, body.to_owned()).await.refused(400, "invalid_request");
            refused.naming("Card-Processor-Signature");
        };
        processor.unsigned(body.clone()).await.refused(400, "invalid_request").naming("Card-Processor-Signature");
        for signature in [
            String::new(),
            "nonsense".into(),
            good.clone(),
            format!("t={now}"),
            format!("v1={good}"),
            format!("t={now},v0={good}"),
            format!("t={now},v1="),
            format!("t={now},v1={}", &good[..62]),
            format!("t={now},v1={}", "0".repeat(64)),
            format!("t={now},t={now},v1={good}"),
            format!("t={},v1={good}", now + 1),
            format!("t={now},v1={}", sign("whsec_another", now, body.as_bytes())),
            format!("t={now},v1={}", sign("", now, body.as_bytes())),
        ] {
            refuse(&signature, &body).await;
        }
        let header = format!("t={now},v1={good}");
        refuse(&header, &format!("{body} ")).await;
        refuse(&header, &body.replace("500", "50000")).await;
        refuse(&header, "not JSON").await;
        let twice = processor.call(&header, body.clone()).header("Card-Processor-Signature", "t=1,v1=00");
        twice.await.refused(400, "invalid_request");
        // Five minutes and more, either way. The clock advances while the test runs.
        for seconds in [now - TOLERANCE_SECONDS - 1, now + TOLERANCE_SECONDS + 60, 0, i64::from(u32::MAX)] {
            refuse(&processor.header_at(seconds, body.as_bytes()), &body).await;
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
        assert_eq!(processor.call(&header, body.clone()).await.expect(200).at("credited"), true);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn webhook_accepts_signatures_within_five_minutes_and_any_of_several(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let now = processor.now_seconds;
        let event = |number: usize| Processor::paid(&format!("cs_{number}"), &agent.handle(), 500).to_string();
        for (number, seconds) in [now - TOLERANCE_SECONDS + 30, now + TOLERANCE_SECONDS - 1].into_iter().enumerate() {
            let body = event(number);
            let response = processor.call(&processor.header_at(seconds, body.as_bytes()), body).await.expect(200);
            assert_eq!(response.at("credited"), true, "{response:?}");
        }
        for (number, header) in
            ["t=T,v1=00,v1=GOOD", "t=T,v1=GOOD,v1=00", "v0=x,v1=no-hex,v1=GOOD,t=T,v2=", "t=T, v1=GOOD"].iter().enumerate()
        {
            let body = event(10 + number);
            let good = sign(WEBHOOK_SECRET, now, body.as_bytes());
            let header = header.replace('T', &now.to_string()).replace("GOOD", &good);
            let response = processor.call(&header, body).await.expect(200);
            assert_eq!(response.at("credited"), true, "{header}: {response:?}");
        }
        // The service's own clock decides.
        world.advance(Duration::from_secs(600));
        processor.send_event(&Processor::paid("cs_late", &agent.handle(), 500)).await.refused(400, "invalid_request");
        assert_credited(&world.processor(), &Processor::paid("cs_late", &agent.handle(), 500), true).await;
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn a_signed_body_that_is_no_json_is_an_invalid_body(world: World) {
        let processor = world.processor();
        for body in [&b""[..], b"{", b"{}{}", b"paid", b"\xff\xfe", "[".repeat(10_000).as_bytes()] {
            let header = processor.header_at(processor.now_seconds, body);
            processor.call(&header, body.to_vec()).await.refused(400, "invalid_body");
        }
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn long_ignored_event_is_acknowledged_and_an_oversized_one_is_rejected(world: World) {
        let processor = world.processor();
        let event = |bytes: usize| {
            let object = json!({ "id": "in_1", "lines": "x".repeat(bytes) });
            json!({ "id": "evt_1", "type": "invoice.paid", "data": { "object": object } }).to_string()
        };
        for bytes in [70_000, 1_000_000] {
            let long = event(bytes);
            let header = processor.header_at(processor.now_seconds, long.as_bytes());
            let response = processor.call(&header, long).await.expect(200);
            assert_eq!(response.json(), json!({ "received": true, "credited": false }));
        }
        let endless = event(1_048_576);
        let header = processor.header_at(processor.now_seconds, endless.as_bytes());
        processor.call(&header, endless).await.refused(413, "too_large");
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn webhook_ignores_the_content_type(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        for (number, content_type) in ["text/plain", "application/octet-stream", "x"].iter().enumerate() {
            let body = Processor::paid(&format!("cs_{number}"), &agent.handle(), 500).to_string();
            let header = processor.header_at(processor.now_seconds, body.as_bytes());
            let response = processor.call(&header, "").raw(content_type, body).await.expect(200);
            assert_eq!(response.at("credited"), true, "{content_type}");
        }
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn an_expired_account_is_credited_and_kept(world: World) {
        let agent = world.agent().await;
        world.advance(Duration::from_secs(31 * 60));
        assert_credited(&world.processor(), &Processor::paid("cs_1", &agent.handle(), 500), true).await;
        let cleaned = world.operator().run_cleanup().await.expect(200);
        assert_eq!(cleaned.integer("purged"), 0);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 5.0);
        agent.publish("my-page", PAGE).await.refused(403, "account_expired");
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn concurrent_redeliveries_credit_once(world: World) {
        let agent = world.agent().await;
        let processors = at_two_processes(&world, &world.processor(), Processor::at).await;
        let event = Processor::paid("cs_1", &agent.handle(), 500);
        let calls = (0..REDELIVERIES).map(|number| processors[number % 2].send_event(&event).into_future());
        let replies: Vec<_> = join_all(calls).await.into_iter().map(|reply| reply.expect(200)).collect();
        let credited = replies.iter().filter(|reply| reply.at("credited") == true).count();
        assert_eq!(credited, 1);
        assert_eq!(sound_ledger(&world, &agent).await, [entry("topup-card-processor:cs_1", 5_000_000)]);
    }

    async fn webhook_without_a_secret_is_disabled(world: World) {
        let agent = world.agent().await;
        let event = Processor::paid("cs_1", &agent.handle(), 500);
        let processor = world.processor();
        processor.send_event(&event).await.refused(501, "not_configured");
        processor.unsigned(event.to_string()).await.refused(501, "not_configured");
        processor.call("nonsense", "not JSON").await.refused(501, "not_configured");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhook_returns_503_without_the_database() {
    let setup =
        World::with(Mode::Production, program!()).env("HANDBILL_CARD__WEBHOOK_SECRET", WEBHOOK_SECRET);
    let world = setup.with_own_postgres().start().await;
    let agent = world.agent().await;
    let event = Processor::paid("cs_1", &agent.handle(), 500);
    world.postgres().stop();
    let refused = world.processor().send_event(&event).await.refused(503, "overloaded");
    assert!(refused.header("Retry-After").parse::<u64>().is_ok(), "{refused:?}");
    world.postgres().start().await;
    let response = eventually(PATIENCE * 2, "the event is accepted", async || {
        let reply = world.processor().send_event(&event).await;
        (reply.status != 503).then_some(reply)
    })
    .await;
    assert_eq!(response.expect(200).at("credited"), true);
    assert_eq!(sound_ledger(&world, &agent).await, [entry("topup-card-processor:cs_1", 5_000_000)]);
}

async fn assert_credited(processor: &Processor, event: &Value, credited: bool) {
    let response = processor.send_event(event).await.expect(200);
    assert_eq!(response.json(), json!({ "received": true, "credited": credited }), "{event}");
}

#[track_caller]
fn assert_logged(world: &World, session: &str) {
    let logs = world.logs();
    let response = logs.lines().any(|line| line.contains("ERROR") && line.contains(session));
    assert!(response, "{session} stands in no line of errors");
}
