//! Spec 2.9, 2.10 and 4.9: the challenge, the exact payment, and what is never charged.

use handbill_tests::{Agent, Reply, fields_of, in_both_modes};

use crate::expectations::{
    PAGE, assert_serves, assert_unpaid, entry, front_page, page_saying, receipt_of, sound_ledger,
};

in_both_modes! {
    async fn publish_beyond_the_allowance_returns_the_challenge(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        let challenge = agent.publish("my-page", PAGE).await.refused(402, "payment_required");
        assert_eq!(challenge.string("reason"), "publish");
        assert_eq!(challenge.at("amount_usd").to_string(), "0.005");
        let accepts = challenge.at("accepts");
        let schemes: Vec<_> = accepts.as_array().unwrap().iter().map(|entry| &entry["scheme"]).collect();
        assert_eq!(schemes, ["dev", "x402-usdc-base", "mpp-card"]);
        assert_eq!(fields_of(&accepts[0]), ["instructions", "scheme"]);
        assert!(accepts[0]["instructions"].as_str().unwrap().contains("dev:0.005"), "{accepts}");
        for stub in [&accepts[1], &accepts[2]] {
            assert_eq!(fields_of(stub), ["scheme", "status"]);
            assert_eq!(stub["status"], "stub");
        }
        assert_publishes(&agent, 5).await;
    }

    async fn the_exact_payment_publishes_and_gives_a_receipt(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        let paid = agent.publish("my-page", page_saying("paid")).paying("dev:0.005").await.expect(201);
        assert_eq!(paid.integer("version"), 6);
        receipt_of(&paid, "0.005");
        assert_eq!(paid.integer("account.free_publishes_left"), 0);
        assert_publishes(&agent, 6).await;
    }

    async fn a_payment_of_another_amount_is_refused_and_never_charged(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        for amount in ["0.004", "0.0051", "0.006", "1", "100", "0", "-0.005"] {
            let call = agent.publish("my-page", PAGE).paying(format!("dev:{amount}"));
            let refused = call.await.refused(402, "payment_required");
            assert_eq!(refused.at("amount_usd").to_string(), "0.005", "after {amount}");
        }
        let refused = agent.publish("my-page", PAGE).paying("dev:1").await.refused(402, "payment_required");
        assert!(refused.string("message").contains("0.005"), "{refused:?}");
        assert_publishes(&agent, 5).await;
    }

    async fn a_payment_that_cannot_be_read_is_refused_and_never_charged(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        for payment in
            ["dev", "dev:", "dev:five", "x402-usdc-base:0.005", "0.005", "dev:0.0050000001", "dev:1e-3"]
        {
            agent.publish("my-page", PAGE).paying(payment).await.refused(402, "payment_required");
        }
        assert_publishes(&agent, 5).await;
    }

    async fn a_payment_on_a_free_call_is_ignored(world: World) {
        let agent = world.agent().await;
        for payment in ["dev:0.005", "dev:100", "nonsense"] {
            let free = agent.publish("my-page", PAGE).paying(payment).await.expect(201);
            assert_unpaid(&free);
        }
        assert_publishes(&agent, 3).await;
    }

    async fn every_notation_of_the_exact_amount_is_accepted(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        for (payments, spelling) in (1..).zip(["0.0050000", "0.00500000000000", "00.005"]) {
            let paid = agent.publish("my-page", PAGE).paying(format!("dev:{spelling}")).await.expect(201);
            receipt_of(&paid, "0.005");
            assert_publishes(&agent, 5 + payments).await;
        }
        agent.publish("my-page", PAGE).paying("dev:0.0050000001").await.refused(402, "payment_required");
    }

    async fn a_header_that_is_sent_twice_is_refused_and_never_charged(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        let call = || agent.publish("my-page", PAGE);
        for second in ["dev:0.005", "dev:1"] {
            let refused = call().paying("dev:0.005").paying(second).await;
            refused.refused(400, "invalid_request").naming("X-PAYMENT");
        }
        let keyed = || call().paying("dev:0.005").idempotency_key("one");
        keyed().idempotency_key("two").await.refused(400, "invalid_request").naming("Idempotency-Key");
        let bought = agent.buy_credit(5.0).paying("dev:5").paying("dev:5").await;
        bought.refused(400, "invalid_request").naming("X-PAYMENT");
        let hidden = agent.set_visibility("my-page", "private").paying("dev:0.5").paying("dev:0.5").await;
        hidden.refused(400, "invalid_request").naming("X-PAYMENT");
        assert_publishes(&agent, 5).await;
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn a_new_version_past_the_allowance_is_paid_like_a_publish(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        // A missing page is 404 and not 402.
        agent.add_version("no-such-page", PAGE).await.refused(404, "not_found");
        agent.add_version("no-such-page", PAGE).paying("dev:0.005").await.refused(404, "not_found");
        let challenge = agent.add_version("my-page", PAGE).await.refused(402, "payment_required");
        assert_eq!(challenge.string("reason"), "publish");
        assert_eq!(challenge.at("amount_usd").to_string(), "0.005");
        agent.add_version("my-page", PAGE).paying("dev:0.01").await.refused(402, "payment_required");
        assert_publishes(&agent, 5).await;

        let html = page_saying("a paid version");
        let paid = agent.add_version("my-page", html.clone()).paying("dev:0.005").await.expect(201);
        receipt_of(&paid, "0.005");
        assert_serves(&front_page(&world.visitor(), &paid).await, &html);
        assert_publishes(&agent, 6).await;
        // A version that is not activated costs the same.
        let stage = || agent.post("/v1/artifacts/my-page/versions?activate=false").field("html", PAGE);
        stage().await.refused(402, "payment_required");
        assert_eq!(stage().paying("dev:0.005").await.expect(201).integer("version"), 7);
        assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), 6);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 4);
    }

    async fn prepaid_credit_pays_for_publishes_and_versions_without_a_header(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        agent.publish("my-page", PAGE).await.refused(402, "payment_required");
        let bought = agent.buy_credit(1.0).paying("dev:1").await.expect(200);
        let published = agent.publish("my-page", PAGE).await.expect(201);
        assert_unpaid(&published);
        assert_eq!(published.at("account.credits_usd").to_string(), "0.995");
        let added = agent.add_version("my-page", PAGE).await.expect(201);
        assert_eq!(added.at("account.credits_usd").to_string(), "0.99");
        // A payment on top of the credit is credited, then spent. The credit stays.
        let paid = agent.publish("my-page", PAGE).paying("dev:0.005").await.expect(201);
        assert_eq!(paid.at("account.credits_usd").to_string(), "0.99");
        let versions = agent.artifact("my-page").await.expect(200).at("versions");
        let publish = |at: usize| entry(format!("publish:{}", versions[at]["id"].as_str().unwrap()), -5_000);
        let top_up = |paid: &Reply, micro| entry(format!("topup-dev:{}", paid.string("receipt.id")), micro);
        let spent =
            [top_up(&bought, 1_000_000), publish(2), publish(1), top_up(&paid, 5_000), publish(0)];
        assert_eq!(sound_ledger(&world, &agent).await, spent);
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn dev_payments_settle_nothing_outside_dev_mode(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        let refused =
            agent.publish("my-page", PAGE).paying("dev:0.005").await.refused(402, "payment_required");
        for entry in refused.at("accepts").as_array().unwrap() {
            assert_eq!(fields_of(entry), ["scheme", "status"], "{refused:?}");
        }
        assert_publishes(&agent, 5).await;
    }

    async fn repeated_idempotency_key_publishes_once(world: World) {
        let agent = world.agent().await;
        let send = async |html: &str| agent.publish("my-page", html).idempotency_key("key-1").await;
        let first = send(PAGE).await.expect(201);
        let again = send(PAGE).await.expect(201);
        assert_eq!(first.json(), again.json());
        send(&page_saying("another")).await.refused(409, "idempotency_conflict");
        assert_publishes(&agent, 1).await;
        agent.publish("my-page", PAGE).idempotency_key("key-2").await.expect(201);
        assert_publishes(&agent, 2).await;
    }

    async fn a_key_belongs_to_its_account(world: World) {
        let (one, other) = (world.agent().await, world.agent().await);
        let mine = one.publish("my-page", PAGE).idempotency_key("key").await.expect(201);
        let theirs = other.publish("my-page", page_saying("theirs")).idempotency_key("key").await.expect(201);
        assert_ne!(mine.string("host"), theirs.string("host"));
    }

    async fn idempotency_key_of_a_402_may_be_reused_with_the_payment(world: World) {
        let agent = agent_out_of_allowance(&world).await;
        let send = || agent.publish("my-page", PAGE).idempotency_key("key");
        send().await.refused(402, "payment_required");
        let paid = send().paying("dev:0.005").await.expect(201);
        let again = send().paying("dev:0.005").await.expect(201);
        assert_eq!(paid.json(), again.json());
        assert_eq!(again.header("X-PAYMENT-RESPONSE"), paid.header("X-PAYMENT-RESPONSE"));
        assert_publishes(&agent, 6).await;
    }
}

async fn agent_out_of_allowance(world: &handbill_tests::World) -> Agent {
    let agent = world.agent().await;
    for left in (0..5).rev() {
        let published = agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(published.integer("account.free_publishes_left"), left);
    }
    agent
}

/// Expects this many versions and a balance of zero, so that every payment was spent.
async fn assert_publishes(agent: &Agent, count: i64) {
    let usage: Reply = agent.usage().await.expect(200);
    assert_eq!(usage.integer("publishes.used"), count, "{usage:?}");
    assert_eq!(usage.number("credits_usd"), 0.0, "{usage:?}");
    assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), count);
}
