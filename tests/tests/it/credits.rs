//! Spec 4.8 and 4.9: credit is bought exactly and once, and is never spent twice.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Agent, Human, Mode, World, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, at_two_processes, entry, receipt_of, sound_ledger};
use crate::teams::{claimed_by, joined_as};

in_both_modes! {
    async fn credit_purchase_without_payment_returns_the_challenge(world: World) {
        let agent = world.agent().await;
        for amount in ["1", "12.5", "99.999999", "100"] {
            let challenge =
                agent.buy_credit(amount.parse().unwrap()).await.refused(402, "payment_required");
            let fields = ["accepts", "amount_usd", "code", "doc_url", "hint", "message", "reason"];
            assert_eq!(challenge.field_names(), fields);
            assert_eq!(challenge.string("reason"), "credits");
            assert_eq!(challenge.number("amount_usd"), amount.parse::<f64>().unwrap());
            let accepts = challenge.at("accepts");
            let schemes: Vec<_> = accepts.as_array().unwrap().iter().map(|entry| &entry["scheme"]).collect();
            assert_eq!(schemes, ["dev", "x402-usdc-base", "mpp-card"]);
            assert_eq!(fields_of(&accepts[0]), ["instructions", "scheme"]);
            assert!(accepts[0]["instructions"].as_str().unwrap().contains(&format!("dev:{amount}")), "{accepts}");
            for stub in [&accepts[1], &accepts[2]] {
                assert_eq!(fields_of(stub), ["scheme", "status"]);
                assert_eq!(stub["status"], "stub");
            }
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn the_exact_payment_is_credited_and_gives_a_receipt(world: World) {
        let agent = world.agent().await;
        let first = agent.buy_credit(12.5).paying("dev:12.5").await.expect(200);
        assert_eq!(first.field_names(), ["credits_usd", "receipt"]);
        assert_eq!(first.number("credits_usd"), 12.5);
        let one = receipt_of(&first, "12.5");
        // Every spelling of the same amount is accepted.
        let second = agent.buy_credit(1.000001).paying("dev:1.00000100").await.expect(200);
        assert_eq!(second.number("credits_usd"), 13.500001);
        let two = receipt_of(&second, "1.000001");
        assert_ne!(one["id"], two["id"]);
        let reason = |receipt: &handbill_tests::Value| format!("topup-dev:{}", receipt["id"].as_str().unwrap());
        let credited = [entry(reason(&one), 12_500_000), entry(reason(&two), 1_000_001)];
        assert_eq!(sound_ledger(&world, &agent).await, credited);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 13.500001);
    }

    async fn a_payment_of_another_amount_is_refused_and_never_charged(world: World) {
        let agent = world.agent().await;
        let payments =
            ["dev:4.999999", "dev:5.000001", "dev:500", "dev:0", "dev:-5", "dev:", "5", "dev:5e0", "mpp-card:5"];
        for payment in payments {
            let refused = agent.buy_credit(5.0).paying(payment).await.refused(402, "payment_required");
            assert_eq!(refused.number("amount_usd"), 5.0, "after {payment}");
            assert!(refused.string("message").contains("nothing was charged"), "{refused:?}");
        }
        let refused = agent.buy_credit(5.0).paying("dev:6").await.refused(402, "payment_required");
        assert!(refused.string("message").contains("6 USD does not match: exactly 5 USD"), "{refused:?}");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn an_amount_that_cannot_be_bought_is_an_invalid_body_that_names_it(world: World) {
        let agent = world.agent().await;
        let buy = |body: &str| {
            let call = agent.post("/v1/credits").paying("dev:5");
            call.raw("application/json", body.to_owned())
        };
        for amount in [
            "0.999999", "0", "-5", "100.000001", "101", "1e300", "123456789012345678901234567890", "1.0000001",
            "\"5\"", "null", "true", "[5]", "{}",
        ] {
            let refused = buy(&format!("{{\"amount_usd\": {amount}}}")).await;
            let refused = refused.refused(400, "invalid_body").naming("amount_usd");
            assert!(!refused.text().contains("pars"), "{refused:?}");
        }
        buy("{}").await.refused(400, "invalid_body").naming("amount_usd");
        buy("{\"amount_usd\": 5, \"currency\": \"usd\"}").await.refused(400, "invalid_body").naming("currency");
        for body in ["", "5", "[]", "{\"amount_usd\": NaN}", "{\"amount_usd\": 1e999}", "{\"amount_usd\": 5"] {
            buy(body).await.refused(400, "invalid_body");
        }
        agent.post("/v1/credits").paying("dev:5").await.refused(415, "unsupported_media_type");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn payment_header_buys_no_credit_when_dev_payments_are_closed(world: World) {
        let agent = world.agent().await;
        for call in [agent.buy_credit(5.0), agent.buy_credit(5.0).paying("dev:5")] {
            let refused = call.await.refused(402, "payment_required");
            for offer in refused.at("accepts").as_array().unwrap() {
                assert_eq!(fields_of(offer), ["scheme", "status"], "{refused:?}");
            }
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn permission_to_buy_credit_is_checked_before_the_amount(world: World) {
        let agent = world.agent().await;
        world.stranger().buy_credit(5.0).paying("dev:5").await.refused(401, "unauthorized");
        let unknown = agent.with_token("svc_sk_00000000000000000000000000000000");
        unknown.buy_credit(500.0).await.refused(401, "unauthorized");
        world.advance(Duration::from_secs(31 * 60));
        agent.buy_credit(5.0).paying("dev:5").await.refused(403, "account_expired");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn only_the_owner_may_buy_credit(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let buy = |person: &Human| {
            person.post("/v1/credits").json(&json!({ "amount_usd": 5 })).paying("dev:5").into_future()
        };
        for role in ["admin", "member"] {
            let other = joined_as(&world, &owner, role, role).await;
            buy(&other).await.refused(403, "forbidden").naming("owner");
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
        assert_eq!(buy(&owner).await.expect(200).number("credits_usd"), 5.0);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 1);
    }

    async fn repeated_idempotency_key_credits_once(world: World) {
        let agent = world.agent().await;
        let buy = |amount: f64| agent.buy_credit(amount).idempotency_key("top-up-1");
        // A 402 does not occupy its idempotency key, with or without a payment.
        buy(5.0).await.refused(402, "payment_required");
        buy(7.0).paying("dev:5").await.refused(402, "payment_required");
        let bought = buy(5.0).paying("dev:5").await.expect(200);
        for again in [buy(5.0).paying("dev:5"), buy(5.0), buy(5.0).paying("dev:6")] {
            let again = again.await.expect(200);
            assert_eq!(again.json(), bought.json());
            assert_eq!(again.header("X-PAYMENT-RESPONSE"), bought.header("X-PAYMENT-RESPONSE"));
        }
        for other in [buy(6.0).paying("dev:6"), buy(6.0)] {
            other.await.refused(409, "idempotency_conflict");
        }
        let publish = agent.publish("my-page", PAGE).idempotency_key("top-up-1");
        publish.await.refused(409, "idempotency_conflict");
        assert_eq!(sound_ledger(&world, &agent).await.len(), 1);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "30d")]
    async fn a_key_is_free_again_after_a_day(world: World) {
        let agent = world.agent().await;
        let buy = |amount: f64| agent.buy_credit(amount).idempotency_key("daily").paying(format!("dev:{amount}"));
        buy(5.0).await.expect(200);
        world.advance(Duration::from_secs(23 * 3600));
        assert_eq!(buy(5.0).await.expect(200).number("credits_usd"), 5.0);
        world.advance(Duration::from_secs(2 * 3600));
        assert_eq!(buy(6.0).await.expect(200).number("credits_usd"), 11.0);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 2);
    }

    async fn concurrent_purchases_with_one_key_are_credited_once(world: World) {
        let agent = world.agent().await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        let buy = |caller: &Agent| caller.buy_credit(5.0).paying("dev:5").idempotency_key("key").into_future();
        let replies = join_all(callers.iter().cycle().take(20).map(buy)).await;
        let first = replies[0].json();
        assert!(replies.into_iter().all(|reply| reply.expect(200).json() == first));
        assert_eq!(sound_ledger(&world, &agent).await.len(), 1);
    }

    async fn concurrent_purchases_without_a_key_are_all_credited(world: World) {
        let agent = world.agent().await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        let buy = |caller: &Agent| caller.buy_credit(5.0).paying("dev:5").into_future();
        for reply in join_all(callers.iter().cycle().take(20).map(buy)).await {
            reply.expect(200);
        }
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 100.0);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 20);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "2")]
    async fn concurrent_publishes_never_spend_credit_twice(world: World) {
        const CREDITS: usize = 3;
        let agent = agent_with_credit_for_three(&world).await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        if world.mode() == Mode::Production {
            world.start_worker(&["--queues", "publish"]).await;
        }
        let publish = |caller: &Agent| caller.publish("page-one", PAGE).into_future();
        let replies = join_all(callers.iter().cycle().take(10 * CREDITS).map(publish)).await;
        let mut statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![201; CREDITS], vec![402; 9 * CREDITS]].concat());
        let versions = agent.artifact("page-one").await.expect(200).at("versions");
        assert_eq!(versions.as_array().unwrap().len(), 1 + CREDITS);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.0);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 3 + CREDITS);
    }
}

/// An agent whose free publishes are used up and whose credit pays for three more. The smallest top-up pays
/// for two hundred, so that the rest is spent on hiding two pages.
async fn agent_with_credit_for_three(world: &World) -> Agent {
    let agent = world.agent().await;
    agent.buy_credit(1.015).paying("dev:1.015").await.expect(200);
    for slug in ["page-one", "page-two"] {
        agent.publish(slug, PAGE).await.expect(201);
        agent.set_visibility(slug, "unlisted").await.expect(200);
    }
    agent
}
