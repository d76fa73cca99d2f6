//! Card money after the first payment: refunds, disputes, delayed payments, and events that must not be
//! booked.

use futures::future::join_all;
use handbill_tests::{Agent, Method, Processor, Value, WEBHOOK_SECRET, in_both_modes, json, sign};

use crate::expectations::{PAGE, at_two_processes, entry, sound_ledger};

in_both_modes! {
    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn a_refund_debits_the_account_that_its_payment_credited(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        report(&processor, &Processor::paid_by("pi_1", "cs_1", &agent.handle(), 2_000), true).await;
        report(&processor, &Processor::refunded("pi_1", "re_1", 2_000), false).await;
        for _ in 0..2 {
            report(&processor, &Processor::refunded("pi_1", "re_1", 2_000), false).await;
        }
        let entries = [
            entry("topup-card-processor:cs_1", 20_000_000),
            entry("refund-card-processor:re_1", -20_000_000),
        ];
        assert_eq!(sound_ledger(&world, &agent).await, entries);
        // Another payment and another account are not affected.
        let stranger = world.agent().await;
        report(&processor, &Processor::paid_by("pi_2", "cs_2", &stranger.handle(), 2_000), true).await;
        report(&processor, &Processor::refunded("pi_1", "re_1", 2_000), false).await;
        assert_eq!((credits(&agent).await, credits(&stranger).await), (0.0, 20.0));
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn partial_refunds_never_take_back_more_than_the_payment(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        report(&processor, &Processor::paid_by("pi_1", "cs_1", &agent.handle(), 2_000), true).await;
        report(&processor, &Processor::refunded("pi_1", "re_1", 500), false).await;
        report(&processor, &Processor::refunded("pi_1", "re_2", 1_200), false).await;
        // The first event again, late.
        report(&processor, &Processor::refunded("pi_1", "re_1", 500), false).await;
        let entries = [
            entry("topup-card-processor:cs_1", 20_000_000),
            entry("refund-card-processor:re_1", -5_000_000),
            entry("refund-card-processor:re_2", -7_000_000),
        ];
        assert_eq!(sound_ledger(&world, &agent).await, entries);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn a_dispute_after_a_refund_takes_only_what_was_not_refunded(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        report(&processor, &Processor::paid_by("pi_1", "cs_1", &agent.handle(), 2_000), true).await;
        report(&processor, &Processor::refunded("pi_1", "re_1", 500), false).await;
        for _ in 0..2 {
            report(&processor, &Processor::disputed("pi_1", "dp_1", 2_000), false).await;
        }
        // Later events never take back more than was credited.
        report(&processor, &Processor::refunded("pi_1", "re_2", 2_000), false).await;
        report(&processor, &Processor::disputed("pi_1", "dp_2", 2_000), false).await;
        let entries = [
            entry("topup-card-processor:cs_1", 20_000_000),
            entry("refund-card-processor:re_1", -5_000_000),
            entry("refund-card-processor:dp_1", -15_000_000),
        ];
        assert_eq!(sound_ledger(&world, &agent).await, entries);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn reversals_that_arrive_before_their_payment_are_booked_with_it(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let refunded = Processor::refunded("pi_1", "re_1", 500);
        let disputed = Processor::disputed("pi_1", "dp_1", 1_000);
        for early in [&refunded, &disputed, &refunded, &Processor::refunded("pi_2", "re_2", 2_000)] {
            report(&processor, early, false).await;
        }
        let paid = Processor::paid_by("pi_1", "cs_1", &agent.handle(), 2_000);
        report(&processor, &paid, true).await;
        for late in [&paid, &refunded, &disputed] {
            report(&processor, late, false).await;
        }
        let mut ledger = sound_ledger(&world, &agent).await;
        ledger[1..].sort_by(|one, other| one.reason.cmp(&other.reason));
        let entries = [
            entry("topup-card-processor:cs_1", 20_000_000),
            entry("refund-card-processor:dp_1", -10_000_000),
            entry("refund-card-processor:re_1", -5_000_000),
        ];
        assert_eq!(ledger, entries);
        // Both at the same moment.
        let processors = at_two_processes(&world, &processor, Processor::at).await;
        for number in 0..10 {
            let (payment, refund) = (format!("pi_both_{number}"), format!("re_both_{number}"));
            let paid = Processor::paid_by(&payment, &format!("cs_both_{number}"), &agent.handle(), 100);
            let refunded = Processor::refunded(&payment, &refund, 100);
            let (paid, refunded) =
                tokio::join!(processors[0].send_event(&paid).into_future(), processors[1].send_event(&refunded).into_future());
            paid.expect(200);
            refunded.expect(200);
        }
        assert_eq!(credits(&agent).await, 5.0);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn refund_of_spent_credit_makes_the_balance_negative_and_publishes_get_402(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        report(&processor, &Processor::paid_by("pi_1", "cs_1", &agent.handle(), 500), true).await;
        for _ in 0..6 {
            agent.publish("my-page", PAGE).await.expect(201);
        }
        report(&processor, &Processor::disputed("pi_1", "dp_1", 500), false).await;
        assert_eq!(credits(&agent).await, -0.005);
        let refused = agent.publish("my-page", PAGE).await.expect(402);
        assert_eq!(refused.number("amount_usd"), 0.01);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn a_delayed_payment_is_credited_under_the_reason_of_its_session(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let mut completed = Processor::paid("cs_1", &agent.handle(), 500);
        completed["data"]["object"]["payment_status"] = json!("unpaid");
        report(&processor, &completed, false).await;
        let mut succeeded = Processor::paid("cs_1", &agent.handle(), 500);
        succeeded["type"] = json!("checkout.session.async_payment_succeeded");
        report(&processor, &succeeded, true).await;
        report(&processor, &succeeded, false).await;
        report(&processor, &Processor::paid("cs_1", &agent.handle(), 500), false).await;
        assert_eq!(sound_ledger(&world, &agent).await, [entry("topup-card-processor:cs_1", 5_000_000)]);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn checkout_session_credits_only_one_account(world: World) {
        let (first, second, processor) = (world.agent().await, world.agent().await, world.processor());
        report(&processor, &Processor::paid("cs_1", &first.handle(), 500), true).await;
        report(&processor, &Processor::paid("cs_1", &second.handle(), 500), false).await;
        assert_eq!((credits(&first).await, credits(&second).await), (5.0, 0.0));
        // Both at the same moment. The processor repeats an event that loses the race.
        let processors = at_two_processes(&world, &processor, Processor::at).await;
        let events = [&first, &second].map(|agent| Processor::paid("cs_2", &agent.handle(), 700));
        let calls = (0..20).map(|number| processors[number % 2].send_event(&events[number % 2]).into_future());
        let credited = join_all(calls).await.into_iter().filter(|reply| {
            reply.status == 200 && reply.at("credited") == true
        });
        assert_eq!(credited.count(), 1);
        assert_eq!(credits(&first).await + credits(&second).await, 12.0);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET, "HANDBILL_CARD__LIVEMODE" = "true")]
    async fn only_payments_in_the_configured_mode_move_money(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let paid = |session: &str| Processor::paid_by("pi_1", session, &agent.handle(), 500);
        let with = |mut event: Value, field: &str, value: Value| {
            event["data"]["object"][field] = value;
            event
        };
        for event in [
            with(paid("cs_1"), "mode", json!("subscription")),
            with(paid("cs_2"), "livemode", json!(false)),
        ] {
            report(&processor, &event, false).await;
        }
        let mut test_mode = paid("cs_3");
        test_mode["livemode"] = json!(false);
        report(&processor, &test_mode, false).await;
        let live = with(with(paid("cs_4"), "mode", json!("payment")), "livemode", json!(true));
        report(&processor, &live, true).await;
        report(&processor, &with(Processor::refunded("pi_1", "re_1", 500), "livemode", json!(false)), false).await;
        assert_eq!(sound_ledger(&world, &agent).await, [entry("topup-card-processor:cs_4", 5_000_000)]);
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn money_that_cannot_be_booked_is_logged_and_counted(world: World) {
        let processor = world.processor();
        let mut in_euros = Processor::refunded("pi_1", "re_2", 500);
        in_euros["data"]["object"]["currency"] = json!("eur");
        let mut reinstated = Processor::disputed("pi_1", "dp_1", 500);
        reinstated["type"] = json!("charge.dispute.funds_reinstated");
        for event in [Processor::refunded("pi_unknown", "re_1", 500), in_euros, reinstated] {
            report(&processor, &event, false).await;
        }
        let counted = world.operator().call(Method::GET, "/metrics").await.expect(200).text();
        assert!(counted.contains("\nhandbill_card_reversals_unbooked_total 3\n"), "{counted}");
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn signature_is_also_accepted_in_the_stripe_signature_header(world: World) {
        let (agent, processor) = (world.agent().await, world.processor());
        let body = Processor::paid("cs_1", &agent.handle(), 500).to_string();
        let now = processor.now_seconds;
        let good = processor.header_at(now, body.as_bytes());
        let bad = format!("t={now},v1={}", sign("whsec_another", now, body.as_bytes()));
        let call = || processor.unsigned(body.clone());
        call().header("Stripe-Signature", &bad).await.refused(400, "invalid_request");
        // If both headers are sent, ours counts.
        let both = call().header("Stripe-Signature", &good).header("Card-Processor-Signature", &bad);
        both.await.refused(400, "invalid_request");
        assert_eq!(call().header("Stripe-Signature", &good).await.expect(200).at("credited"), true);
    }
}

async fn report(processor: &Processor, event: &Value, credited: bool) {
    let reply = processor.send_event(event).await.expect(200);
    assert_eq!(reply.json(), json!({ "received": true, "credited": credited }), "{event}");
}

async fn credits(agent: &Agent) -> f64 {
    agent.account().await.expect(200).number("credits_usd")
}
