//! Spec 2.7 and 8: the monthly free amounts of a claimed account, and its limit of artifacts.

use std::time::Duration;

use handbill_tests::{Agent, World, in_both_modes};

use crate::expectations::PAGE;

const DAY: Duration = Duration::from_secs(24 * 3600);

in_both_modes! {
    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "3", "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "2")]
    async fn free_publishes_reset_at_the_claim_and_on_the_first_of_the_month(world: World) {
        let agent = world.agent().await;
        for _ in 0..2 {
            agent.publish("my-page", PAGE).await.expect(201);
        }
        agent.publish("my-page", PAGE).await.refused(402, "payment_required");
        claim(&world, &agent).await;
        assert_left(&agent, 3).await;
        // A version counts as a publish, activated or not.
        agent.publish("my-page", PAGE).await.expect(201);
        agent.add_version("my-page", PAGE).await.expect(201);
        agent.post("/v1/artifacts/my-page/versions?activate=false").field("html", PAGE).await.expect(201);
        assert_left(&agent, 0).await;
        agent.publish("my-page", PAGE).await.refused(402, "payment_required");
        agent.add_version("my-page", PAGE).await.refused(402, "payment_required");

        world.advance(31 * DAY);
        assert_left(&agent, 3).await;
        let usage = agent.usage().await.expect(200);
        assert_eq!((usage.integer("publishes.used"), usage.integer("publishes.free_limit")), (0, 3));
        agent.publish("my-page", PAGE).await.expect(201);
        assert_left(&agent, 2).await;
    }

    #[settings("HANDBILL_LIMITS__CLAIMED_ARTIFACTS" = "2")]
    async fn claimed_account_has_an_artifact_limit_and_deletion_frees_a_slot(world: World) {
        let agent = world.agent().await;
        claim(&world, &agent).await;
        for slug in ["first", "second"] {
            agent.publish(slug, PAGE).await.expect(201);
        }
        let refused = agent.publish("third", PAGE).await.refused(403, "quota_exceeded");
        assert!(refused.string("hint").contains("DELETE /v1/artifacts/{slug}"), "{refused:?}");
        agent.publish("first", PAGE).await.expect(201);
        assert_left(&agent, 97).await;
        agent.delete("second").await.expect(200);
        agent.publish("third", PAGE).await.expect(201);
        agent.publish("fourth", PAGE).await.refused(403, "quota_exceeded");
    }

    async fn once_claimed_storage_is_no_longer_capped(world: World) {
        let agent = world.agent().await;
        let ten_megabytes = |fill: u8| vec![fill; 10 * 1_048_576 - 100];
        for fill in [1, 2] {
            agent.publish_files("big", &[("data.bin", &ten_megabytes(fill))]).await.expect(201);
        }
        agent.publish_files("big", &[("data.bin", &ten_megabytes(3))]).await.refused(413, "too_large");
        claim(&world, &agent).await;
        let published = agent.publish_files("big", &[("data.bin", &ten_megabytes(3))]).await.expect(201);
        assert_eq!(published.integer("version"), 3);
        let usage = agent.usage().await.expect(200);
        assert_eq!(usage.integer("storage.bytes"), 3 * (10 * 1_048_576 - 100));
        assert_eq!(usage.number("storage.est_monthly_cost_usd"), 0.0);
    }
}

async fn claim(world: &World, agent: &Agent) {
    let human = world.human();
    human.dev_login("owner").await.expect(200);
    human.claim(&agent.account().await.expect(200).string("claim_url")).await.expect(200);
}

async fn assert_left(agent: &Agent, left: i64) {
    let account = agent.account().await.expect(200);
    assert_eq!(account.integer("free_publishes_left"), left, "{account:?}");
}
