//! Spec 3.3: every version is looked at, and what is found decides what is served.

use handbill_tests::{Agent, PATIENCE, eventually, in_both_modes};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};

const SEED_PHRASE_FORM: &str =
    "<html><body><form><label>Enter your seed phrase <input name=\"seed\"></label></form></body></html>";
const BANK_LOGIN_FORM: &str =
    "<html><body><h1>PayPal</h1><form><input type=\"password\" name=\"p\"></form></body></html>";

in_both_modes! {
    async fn a_harmless_page_passes(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
    }

    async fn a_page_that_asks_for_a_seed_phrase_is_blocked(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "my-page", "blocked").await;
        let blocked = eventually(PATIENCE, "a 451", async || {
            let reply = front_page(&visitor, &published).await;
            (reply.status == 451).then_some(reply)
        })
        .await;
        assert!(!blocked.text().contains("seed phrase"), "{blocked:?}");
        assert_eq!(blocked.header("Cache-Control"), "no-store");
    }

    async fn a_page_to_be_reviewed_is_still_served(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", BANK_LOGIN_FORM).await.expect(201);
        becomes(&agent, "my-page", "review").await;
        assert_serves(&front_page(&world.visitor(), &published).await, BANK_LOGIN_FORM);
    }

    async fn activating_a_clean_version_ends_the_block(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        agent.publish("my-page", page_saying("clean")).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "my-page", "blocked").await;
        let activated = agent.activate("my-page", 1).await.expect(200);
        assert_eq!(activated.string("moderation_status"), "pass");
        assert_serves(&front_page(&visitor, &activated).await, &page_saying("clean"));
        agent.activate("my-page", 2).await.expect(200);
        front_page(&visitor, &activated).await.expect(451);
    }
}

async fn becomes(agent: &Agent, slug: &str, status: &str) {
    eventually(PATIENCE, &format!("{slug} becomes {status}"), async || {
        let detail = agent.artifact(slug).await.expect(200);
        (detail.string("moderation_status") == status).then_some(())
    })
    .await;
}
