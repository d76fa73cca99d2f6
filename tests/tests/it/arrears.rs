//! Spec 2.9, 3.5 and 4.13: an account in arrears. Metering charges regardless of the balance. Until the debt
//! is paid, publishes are refused, and pages are served as before.

use futures::future::join_all;
use handbill_tests::{Agent, Human, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_unpaid, at_two_processes, front_page, receipt_of, sound_ledger};
use crate::teams::{joined_as, person};

in_both_modes! {
    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "2")]
    async fn publishes_get_402_while_the_balance_is_negative_even_with_allowance_left(world: World) {
        let agent = agent_in_arrears(&world, 1).await;
        assert_eq!(agent.account().await.expect(200).integer("free_publishes_left"), 2);
        let publishes = || {
            [
                agent.publish("page-0", PAGE),
                agent.publish("another-page", PAGE),
                agent.add_version("page-0", PAGE),
                agent.post("/v1/artifacts/page-0/versions?activate=false").field("html", PAGE),
            ]
        };
        for call in publishes() {
            let challenge = call.await.refused(402, "payment_required");
            assert_eq!((challenge.string("reason"), challenge.number("amount_usd")), ("publish".into(), 0.5));
            assert!(challenge.string("accepts.0.instructions").contains("dev:0.5"), "{challenge:?}");
        }
        for (call, payment) in publishes().into_iter().zip(["dev:0.005", "dev:0.505", "dev:0.499", "dev:1"]) {
            let refused = call.paying(payment).await.refused(402, "payment_required");
            assert_eq!(refused.number("amount_usd"), 0.5);
        }
        // Existing content is served, read, rolled back and deleted as before.
        let shown = agent.artifact("page-0").await.expect(200);
        assert_eq!(front_page(&world.visitor(), &shown).await.expect(200).text(), PAGE);
        agent.activate("page-0", 1).await.expect(200);

        let paid = agent.publish("page-0", PAGE).paying("dev:0.5").await.expect(201);
        receipt_of(&paid, "0.5");
        assert_eq!(paid.number("account.credits_usd"), 0.0);
        assert_eq!(paid.integer("account.free_publishes_left"), 1);
        assert_unpaid(&agent.publish("page-0", PAGE).paying("dev:0.5").await.expect(201));
        sound_ledger(&world, &agent).await;
    }

    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "0")]
    async fn price_is_added_to_the_arrears_beyond_the_allowance(world: World) {
        let agent = agent_in_arrears(&world, 1).await;
        for call in [agent.publish("page-0", PAGE), agent.add_version("page-0", PAGE)] {
            let challenge = call.await.refused(402, "payment_required");
            assert_eq!(challenge.at("amount_usd").to_string(), "0.505");
            assert!(challenge.string("message").contains("owes 0.5 USD"), "{challenge:?}");
        }
        agent.publish("page-0", PAGE).paying("dev:0.5").await.refused(402, "payment_required");
        let paid = agent.add_version("page-0", PAGE).paying("dev:0.505").await.expect(201);
        receipt_of(&paid, "0.505");
        assert_eq!(paid.number("account.credits_usd"), 0.0);
        let challenge = agent.publish("page-0", PAGE).await.refused(402, "payment_required");
        assert_eq!(challenge.at("amount_usd").to_string(), "0.005");
        sound_ledger(&world, &agent).await;
    }

    async fn credit_purchase_settles_the_arrears_without_extra_cost(world: World) {
        let agent = agent_in_arrears(&world, 3).await;
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), -1.5);
        let challenge = agent.buy_credit(1.0).await.refused(402, "payment_required");
        assert_eq!((challenge.string("reason"), challenge.number("amount_usd")), ("credits".into(), 1.0));
        let bought = agent.buy_credit(1.0).paying("dev:1").await.expect(200);
        assert_eq!(bought.number("credits_usd"), -0.5);
        let challenge = agent.publish("page-0", PAGE).await.refused(402, "payment_required");
        assert_eq!(challenge.number("amount_usd"), 0.5);
        agent.buy_credit(1.0).paying("dev:1").await.expect(200);
        assert_unpaid(&agent.publish("page-0", PAGE).await.expect(201));
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.5);
        sound_ledger(&world, &agent).await;
    }

    async fn hiding_a_page_in_arrears_also_charges_them_and_making_it_public_is_free(world: World) {
        let agent = agent_in_arrears(&world, 1).await;
        assert_unpaid(&agent.set_visibility("page-0", "private").await.expect(200));
        assert_unpaid(&agent.set_visibility("page-0", "public").paying("dev:0.5").await.expect(200));
        // The first call paid its month.
        assert_unpaid(&agent.set_visibility("page-0", "unlisted").await.expect(200));
        let challenge =
            agent.set_visibility("public-page", "unlisted").await.refused(402, "payment_required");
        assert_eq!((challenge.string("reason"), challenge.number("amount_usd")), ("visibility".into(), 1.0));
        let call = agent.set_visibility("public-page", "unlisted").paying("dev:0.5");
        call.await.refused(402, "payment_required");
        let paid = agent.set_visibility("public-page", "unlisted").paying("dev:1").await.expect(200);
        assert_eq!(receipt_of(&paid, "1.0")["amount_usd"], 1.0);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.0);
        sound_ledger(&world, &agent).await;
    }

    async fn arrears_are_shown_on_every_tab_until_they_are_paid(world: World) {
        let agent = agent_in_arrears(&world, 3).await;
        let owner = person(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let path = |tab: &str| format!("/dashboard/{}{tab}", agent.handle());
        let open = async |person: &Human, tab: &str| {
            person.get(&path(tab)).header("Accept", "text/html").await.expect(200).text()
        };
        for tab in ["", "/usage", "/credit", "/team", "/tokens", "/audit", "/deleted", "/pages/public-page"] {
            let page = open(&owner, tab).await;
            assert!(
                page.contains("This account owes $1.50.") && page.contains(">Pay $1.50</a>"),
                "{tab}: {page}"
            );
        }
        let guest = open(&member, "").await;
        assert!(
            guest.contains("owes $1.50") && guest.contains("Ask the owner") && !guest.contains(">Pay"),
            "{guest}"
        );
        assert!(open(&owner, "/credit").await.contains("value=\"1.5\" checked"));
        owner.post(&path("/credit/top-up")).form(&[("amount_usd", "1.50")]).await.expect(302);
        assert!(!open(&owner, "").await.contains("owes"));
    }

    async fn concurrent_publishes_pay_arrears_once(world: World) {
        let agent = agent_in_arrears(&world, 1).await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        let publish = |caller: &Agent| caller.publish("page-0", PAGE).paying("dev:0.5").into_future();
        let replies = join_all(callers.iter().cycle().take(8).map(publish)).await;
        let paid = replies.into_iter().map(|reply| reply.expect(201).json());
        assert_eq!(paid.filter(|body| body.get("receipt").is_some()).count(), 1);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.0);
        sound_ledger(&world, &agent).await;
    }
}

/// A claimed account that owes half a dollar for each of its unlisted pages, `page-0` and so on: it paid
/// their first month, and a later one was metered. Its `public-page` is free.
async fn agent_in_arrears(world: &World, unlisted_pages: u32) -> Agent {
    let agent = world.agent().await;
    agent.publish("public-page", PAGE).await.expect(201);
    for number in 0..unlisted_pages {
        let slug = format!("page-{number}");
        agent.publish(&slug, PAGE).await.expect(201);
        agent.set_visibility(&slug, "unlisted").paying("dev:0.5").await.expect(200);
    }
    let claim_url = agent.account().await.expect(200).string("claim_url");
    person(world, "olga").await.claim(&claim_url).await.expect(200);
    let usage = agent.usage().await.expect(200);
    assert_eq!(usage.number("credits_usd"), 0.0);
    let (year, month) =
        usage.string("month").split_once('-').map(|(y, m)| (y.to_owned(), m.to_owned())).unwrap();
    let next_year = format!("{}-{month}", year.parse::<u32>().unwrap() + 1);
    world.operator().post("/internal/run-metering").json(&json!({ "month": next_year })).await.expect(200);
    let owed = agent.usage().await.expect(200).number("credits_usd");
    assert_eq!(owed, -0.5 * f64::from(unlisted_pages));
    agent
}
