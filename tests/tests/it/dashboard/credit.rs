//! The credit of an account: its owner buys it with dev money or by card.

use handbill_tests::{CardBehaviour, Processor, in_both_modes};

use super::TABS;
use super::driver::{DashboardDriver, assert_fault, assert_has, assert_warned, between};
use crate::expectations::{PAGE, PASSWORD, assert_page, sound_ledger};
use crate::teams::{claimed_by, joined_as};

in_both_modes! {
    async fn owner_buys_credit_once_per_form(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        let page = dashboard.open("/credit").await;
        assert_has(&page, &["No transactions yet", "Test credit"]);
        assert!(!page.contains("By card"), "{page}");
        let key = between(&page, "name=\"key\" value=\"", "\"").to_owned();
        // A form that is sent twice buys once.
        for _ in 0..2 {
            let bought =
                dashboard.submit("/credit/top-up", &[("amount_usd", " $7.50 "), ("key", &key)]).await;
            assert_has(&bought, &["$7.50", "Credit (test)"]);
        }
        assert_eq!(sound_ledger(&world, &agent).await.len(), 1);
        let other = dashboard.post("/credit/top-up", &[("amount_usd", "8"), ("key", &key)]).await;
        assert_warned(&other, 409, "Idempotency-Key");
        for amount in ["", "0.99", "100.01", "-5", "five", "1e2", "5.0000001", "<b>"] {
            let refused = dashboard.post("/credit/top-up", &[("amount_usd", amount)]).await;
            assert_fault(&refused, 400, "dev-amount", "This must be from 1 to 100 dollars.");
            let typed = amount.replace('<', "&#60;").replace('>', "&#62;");
            assert!(
                refused.text().contains(&format!("value=\"{typed}\"")),
                "what was typed is gone: {refused:?}"
            );
        }
        // An offered amount is bought, whatever was typed before.
        let offered = dashboard.submit("/credit/top-up", &[("offer", "10"), ("amount_usd", "x")]).await;
        assert_has(&offered, &["$17.50", "$10.00"]);
        let typed = dashboard.post("/credit/top-up", &[("offer", "other"), ("amount_usd", "x")]).await;
        assert_fault(&typed, 400, "dev-amount", "This must be from 1 to 100 dollars.");
        let guest = DashboardDriver::of(&admin, &agent);
        let seen = guest.open("/credit").await;
        assert_has(&seen, &["$17.50", "Only the owner of the account can buy credit", "Credit (test)"]);
        assert!(!seen.contains("name=\"amount_usd\""), "{seen}");
        assert_page(&guest.post("/credit/top-up", &[("amount_usd", "5")]).await, 403);
        assert_page(&guest.post("/credit/checkout", &[("amount_usd", "5")]).await, 501);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 2);
    }

    async fn credit_page_shows_what_is_charged_next(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert!(!dashboard.open("/credit").await.contains("Next charges"));
        agent.publish("my-page", PAGE).await.expect(201);
        agent.set_visibility("my-page", "unlisted").paying("dev:0.5").await.expect(200);
        let page = dashboard.open("/credit").await;
        assert_has(&page, &["Next charges", "1 unlisted or private page<", "On 1 "]);
        let usage = dashboard.open("/usage").await;
        assert_has(&usage, &["<span class=\"amount\">$0.50</span> expected", "$0.50 charged so far"]);
    }

    #[given(with_card_processor)]
    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn credit_is_bought_by_card_outside_dev_mode(world: World) {
        let (agent, owner) = (world.agent().await, world.human());
        owner.register("olga", PASSWORD).await.expect(201);
        owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        agent.publish("my-page", PAGE).await.expect(201);
        let dashboard = DashboardDriver::of(&owner, &agent);
        for tab in TABS {
            dashboard.open(tab).await;
        }
        let page = dashboard.open("/credit").await;
        assert_has(&page, &["By card", "$5 to $500"]);
        assert!(!page.contains("Test credit"), "{page}");
        assert_page(&dashboard.post("/credit/top-up", &[("amount_usd", "5")]).await, 402);
        for amount in ["", "4.99", "500.01", "5.001", "many"] {
            let refused = dashboard.post("/credit/checkout", &[("amount_usd", amount)]).await;
            assert_fault(&refused, 400, "card-amount", "This must be from 5 to 500, in whole cents.");
        }
        world.card().set_behaviour(CardBehaviour::Answers(500, "{}".into()));
        let failed = dashboard.post("/credit/checkout", &[("amount_usd", "20")]).await;
        assert_warned(&failed, 502, "card processor refused");
        world.card().set_behaviour(CardBehaviour::Opens);
        let checkout = [("amount_usd", "20"), ("page", "my-page"), ("visibility", "private")];
        let opened = dashboard.post("/credit/checkout", &checkout).await;
        assert_page(&opened, 200);
        let order = world.card().orders().pop().unwrap();
        // The person returns to the page that the credit is for.
        let (back, base_url) = (dashboard.path("/credit?page=my-page&visibility=private"), world.base_url());
        assert_has(&opened.text(), &[&format!("href=\"{}\">Not now", back.replace('&', "&#38;"))]);
        assert_eq!(order.fields["cancel_url"], format!("{base_url}{back}"));
        assert_eq!(order.fields["success_url"], format!("{base_url}{back}&done=paid-by-card"));
        let unpaid = dashboard.open("/credit?page=my-page&visibility=private").await;
        assert_has(&unpaid, &["Not enough credit to make my-page private"]);
        let paid = dashboard.open("/credit?page=my-page&visibility=private&done=paid-by-card").await;
        assert_has(&paid, &["The credit is added when the card processor confirms the payment."]);
        assert_eq!(order.fields["line_items[0][price_data][unit_amount]"], "2000");
        let text = opened.text();
        let session = between(&text, &format!("href=\"{}/pay/", world.card().url()), "\"");
        assert_has(&text, &["Pay $20.00 by card"]);
        assert!(dashboard.open("/credit").await.contains("No transactions yet"));
        let account = &order.fields["metadata[account_id]"];
        world.processor().send_event(&Processor::paid(session, account, 2_000)).await.expect(200);
        assert_has(&dashboard.open("/credit").await, &["$20.00", "Credit, by card", session]);
        dashboard.submit("/pages/my-page/visibility", &[("visibility", "private")]).await;
        assert_eq!(agent.artifact("my-page").await.string("visibility"), "private");
        dashboard.submit("/tokens/mint", &[("artifacts:read", "on")]).await;
    }
}
