//! Spec 4.8: a person buys credit by card, from a processor that may refuse, send invalid responses or none.

use futures::future::join_all;
use handbill_tests::{Agent, Call, CardBehaviour, Human, Processor, SECRET_KEY, in_both_modes, json};

use crate::expectations::{entry, sound_ledger};
use crate::teams::{claimed_by, joined_as, person};

pub const CHECKOUT: &str = "/v1/credits/checkout";

in_both_modes! {
    #[given(with_card_processor)]
    async fn owner_is_redirected_to_the_processor_and_credited_on_its_event(world: World) {
        let (agent, owner) = claimed_by(&world, "owner").await;
        let opened = check_out(&owner, json!(20)).await.expect(200);
        assert_eq!(opened.field_names(), ["amount_usd", "hint", "session_id", "url"]);
        assert_eq!(opened.at("amount_usd").to_string(), "20.0");
        let session = opened.string("session_id");
        assert_eq!(opened.string("url"), format!("{}/pay/{session}", world.card().url()));

        let orders = world.card().orders();
        assert_eq!(orders.len(), 1);
        let order = &orders[0];
        assert_eq!(order.call, "POST /v1/checkout/sessions");
        assert_eq!(order.authorization, format!("Bearer {SECRET_KEY}"));
        assert_eq!(order.content_type, "application/x-www-form-urlencoded");
        assert!(order.idempotency_key.starts_with("checkout-"), "{order:?}");
        assert!(!order.version.is_empty(), "{order:?}");
        let id = agent.account().await.expect(200).string("id");
        let back = format!("{}/dashboard/{}/credit", world.base_url(), agent.handle());
        let back_having_paid = format!("{back}?done=paid-by-card");
        for (field, value) in [
            ("mode", "payment"),
            ("payment_method_types[0]", "card"),
            ("line_items[0][quantity]", "1"),
            ("line_items[0][price_data][currency]", "usd"),
            ("line_items[0][price_data][unit_amount]", "2000"),
            ("metadata[account_id]", id.as_str()),
            ("success_url", back_having_paid.as_str()),
            ("cancel_url", back.as_str()),
        ] {
            assert_eq!(order.fields[field], value, "{field}");
        }
        // The return from the processor credits nothing. Only the processor's event does.
        assert_eq!(sound_ledger(&world, &agent).await, []);
        let account = &order.fields["metadata[account_id]"];
        let response = world.processor().send_event(&Processor::paid(&session, account, 2_000)).await.expect(200);
        assert_eq!(response.json(), json!({ "received": true, "credited": true }));
        let credit = entry(format!("topup-card-processor:{session}"), 20_000_000);
        assert_eq!(sound_ledger(&world, &agent).await, [credit]);
    }

    #[given(with_card_processor)]
    async fn checkout_accepts_only_whole_cents_from_5_to_500_dollars(world: World) {
        let (_, owner) = claimed_by(&world, "owner").await;
        for (amount, cents) in [("5", "500"), ("500", "50000"), ("19.99", "1999"), ("5.10", "510")] {
            let opened = check_out_raw(&owner, &format!(r#"{{"amount_usd":{amount}}}"#)).await.expect(200);
            assert_eq!(opened.number("amount_usd"), amount.parse::<f64>().unwrap());
            let order = world.card().orders().pop().unwrap();
            assert_eq!(order.fields["line_items[0][price_data][unit_amount]"], cents);
        }
        let orders = world.card().orders().len();
        for amount in [
            "4.99", "4.999999", "500.01", "0", "-5", "-0", "1e300", "5.001", "19.999", "\"5\"", "null", "true", "[5]",
            "{}",
        ] {
            let refused = check_out_raw(&owner, &format!(r#"{{"amount_usd":{amount}}}"#)).await;
            let refused = refused.refused(400, "invalid_body").naming("amount_usd");
            assert!(!refused.text().contains("pars"), "{refused:?}");
        }
        for body in ["", "{", "{}", "[]", "null", r#"{"amount_usd":NaN}"#, r#"{"amount_usd":5,"account":"a"}"#] {
            check_out_raw(&owner, body).await.refused(400, "invalid_body");
        }
        owner.post(CHECKOUT).raw("text/plain", r#"{"amount_usd":5}"#).await.refused(415, "unsupported_media_type");
        assert_eq!(world.card().orders().len(), orders, "a refused amount reached the processor");
    }

    #[given(with_card_processor)]
    async fn only_a_signed_in_owner_buys_by_card(world: World) {
        let (agent, owner) = claimed_by(&world, "owner").await;
        let order = json!({ "amount_usd": 20 });
        let by_token = agent.post(CHECKOUT).json(&order).await.refused(403, "session_required");
        assert!(by_token.string("hint").contains("POST /v1/credits"), "{by_token:?}");
        let nobody = world.stranger().post(CHECKOUT).json(&order).await.refused(401, "unauthorized");
        assert!(nobody.string("hint").contains("POST /v1/signup"), "{nobody:?}");
        let unknown = world.stranger().post(CHECKOUT).header("Cookie", "svc_sess=unknown").json(&order).await;
        unknown.refused(401, "unauthorized");
        let elsewhere = owner.on_a_page_of("https://evil.example");
        elsewhere.post(CHECKOUT).json(&order).await.refused(403, "forbidden");

        for role in ["member", "admin"] {
            let colleague = joined_as(&world, &owner, role, role).await;
            check_out(&colleague, json!(20)).await.refused(403, "forbidden").naming("owner");
        }
        let refused = check_out(&person(&world, "stranger").await, json!(20)).await.refused(403, "forbidden");
        assert!(refused.string("hint").contains("open a claim link or an invite"), "{refused:?}");
        assert!(world.card().orders().is_empty());
    }

    #[given(with_card_processor)]
    async fn owner_of_several_accounts_selects_the_one_to_credit(world: World) {
        let (first, owner) = claimed_by(&world, "owner").await;
        let second = world.agent().await;
        owner.claim(&second.account().await.expect(200).string("claim_url")).await.expect(200);
        let (theirs, _) = claimed_by(&world, "another").await;
        let id = |agent: &Agent| agent.signup.as_ref().unwrap().string("account.id");
        check_out(&owner, json!(20)).await.expect(200);
        for name in [second.handle(), id(&second)] {
            check_out(&owner, json!(20)).header("X-Account", name).await.expect(200);
        }
        let credited: Vec<_> =
            world.card().orders().iter().map(|order| order.fields["metadata[account_id]"].clone()).collect();
        assert_eq!(credited, [id(&first), id(&second), id(&second)]);
        for name in [theirs.handle(), id(&theirs), "acct_nobody".into()] {
            let refused = check_out(&owner, json!(20)).header("X-Account", name).await.refused(403, "forbidden");
            assert!(refused.string("hint").contains("GET /auth/me"), "{refused:?}");
        }
        assert_eq!(world.card().orders().len(), 3);
    }

    #[given(with_card_processor)]
    async fn failed_session_creation_at_the_processor_is_502_and_never_500(world: World) {
        let (agent, owner) = claimed_by(&world, "owner").await;
        let behaviours = [
            CardBehaviour::Answers(402, r#"{"error":{"type":"card_error","code":"amount_too_small"}}"#.into()),
            CardBehaviour::Answers(401, format!(r#"{{"error":{{"message":"Invalid API Key: {SECRET_KEY}"}}}}"#)),
            CardBehaviour::Answers(500, "on fire".into()),
            CardBehaviour::Answers(302, String::new()),
            CardBehaviour::Answers(200, String::new()),
            CardBehaviour::Answers(200, "<html>".into()),
            CardBehaviour::Answers(200, r#"{"id":"cs_1"}"#.into()),
            CardBehaviour::Answers(200, r#"{"id":"cs_1","url":"javascript:alert(1)"}"#.into()),
            CardBehaviour::Answers(200, r#"{"id":"two words","url":"https://pay.example/"}"#.into()),
            CardBehaviour::Answers(200, format!(r#"{{"id":"cs_1","url":"https://pay.example/","x":"{}"}}"#, "x".repeat(300_000))),
            CardBehaviour::Silent,
        ];
        for behaviour in behaviours {
            let label = format!("{behaviour:?}").chars().take(80).collect::<String>();
            world.card().set_behaviour(behaviour);
            let refused = check_out(&owner, json!(20)).await.refused(502, "processor_error");
            assert!(!refused.text().contains(SECRET_KEY), "after {label}");
        }
        assert!(world.logs().contains("amount_too_small"), "the reason is not logged");
        world.card().set_behaviour(CardBehaviour::Opens);
        check_out(&owner, json!(20)).await.expect(200);
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    #[given(with_card_processor)]
    async fn concurrent_checkouts_open_separate_sessions(world: World) {
        let (_, owner) = claimed_by(&world, "owner").await;
        let opened = join_all((0..8).map(|_| check_out(&owner, json!(20)).into_future())).await;
        let mut sessions: Vec<_> =
            opened.into_iter().map(|reply| reply.expect(200).string("session_id")).collect();
        sessions.sort();
        sessions.dedup();
        assert_eq!(sessions.len(), 8);
    }

    async fn checkout_without_card_payments_is_refused_for_people_and_tokens(world: World) {
        let (agent, owner) = claimed_by(&world, "owner").await;
        check_out(&owner, json!(20)).await.refused(501, "not_configured");
        check_out(&person(&world, "stranger").await, json!(20)).await.refused(501, "not_configured");
        agent.post(CHECKOUT).json(&json!({ "amount_usd": 20 })).await.refused(403, "session_required");
        world.stranger().post(CHECKOUT).json(&json!({ "amount_usd": 20 })).await.refused(401, "unauthorized");
        check_out(&owner, json!(1)).await.refused(400, "invalid_body");
    }

    #[settings("HANDBILL_CARD__API_URL" = "http://127.0.0.1:9")]
    async fn processor_without_a_key_disables_card_payments(world: World) {
        let (_, owner) = claimed_by(&world, "owner").await;
        check_out(&owner, json!(20)).await.refused(501, "not_configured");
    }

    #[settings(
        "HANDBILL_ALLOW_PUBLIC_DEV" = "true",
        "HANDBILL_CARD__API_URL" = "http://127.0.0.1:9",
        "HANDBILL_CARD__SECRET_KEY" = SECRET_KEY
    )]
    async fn a_processor_that_is_not_there_is_502(world: World) {
        let (_, owner) = claimed_by(&world, "owner").await;
        check_out(&owner, json!(20)).await.refused(502, "processor_error");
    }
}

fn check_out(person: &Human, amount_usd: handbill_tests::Value) -> Call {
    person.post(CHECKOUT).json(&json!({ "amount_usd": amount_usd }))
}

fn check_out_raw(person: &Human, body: &str) -> Call {
    person.post(CHECKOUT).raw("application/json", body.to_owned())
}
