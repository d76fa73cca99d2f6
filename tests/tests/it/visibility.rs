//! Spec 3.2, 4.3 and 4.12: who may see an artifact, what leaving public visibility costs, and that it is
//! charged once.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Agent, Method, Reply, Visitor, in_both_modes, json};

use crate::expectations::{
    PAGE, assert_serves, assert_unpaid, at_two_processes, entry, front_page, receipt_of, sound_ledger,
};

const PRICE_MICRO: i64 = 500_000;
const DAY: Duration = Duration::from_secs(24 * 3600);

in_both_modes! {
    async fn hiding_a_page_costs_half_a_dollar_and_the_price_is_shown_first(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", PAGE).await.expect(201);
        for visibility in ["unlisted", "private"] {
            let challenge = agent.set_visibility("my-page", visibility).await.refused(402, "payment_required");
            assert_eq!(challenge.string("reason"), "visibility");
            assert_eq!(challenge.at("amount_usd").to_string(), "0.5");
            assert!(challenge.string("accepts.0.instructions").contains("dev:0.5"), "{challenge:?}");
        }
        assert_eq!(agent.artifact("my-page").await.expect(200).string("visibility"), "public");
        assert_eq!(indexing(&visitor, &published).await, "");
        assert_eq!(sound_ledger(&world, &agent).await, []);

        let paid = agent.set_visibility("my-page", "unlisted").paying("dev:0.5").await.expect(200);
        let fields =
            ["host", "id", "moderation_status", "receipt", "slug", "title", "url", "version", "visibility"];
        assert_eq!(paid.field_names(), fields);
        assert_eq!(paid.string("visibility"), "unlisted");
        assert_eq!((paid.string("id"), paid.integer("version")), (published.string("artifact_id"), 1));
        assert_eq!(indexing(&visitor, &published).await, "noindex");
        assert_eq!(agent.artifact("my-page").await.expect(200).string("visibility"), "unlisted");

        let receipt = receipt_of(&paid, "0.5");
        let usage = agent.usage().await.expect(200);
        let charged = [
            entry(format!("topup-dev:{}", receipt["id"].as_str().unwrap()), PRICE_MICRO),
            entry(month_of(&paid, &usage), -PRICE_MICRO),
        ];
        assert_eq!(sound_ledger(&world, &agent).await, charged);
        assert_eq!(usage.integer("private_artifacts.count"), 1);
        assert_eq!(usage.number("private_artifacts.monthly_cost_usd"), 0.5);
    }

    async fn new_page_is_staged_made_private_and_then_activated(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let stage = || agent.post("/v1/publish?activate=false").field("slug", "my-page").field("html", PAGE);
        let staged = stage().await.expect(201);
        let url = staged.string("url");
        assert_eq!(visitor.open(&url).await.status, 404);
        agent.set_visibility("my-page", "private").await.refused(402, "payment_required");
        assert_eq!(visitor.open(&url).await.status, 404);
        let paid = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let signed = paid.string("signed_url");
        for url in [&url, &signed] {
            assert_eq!(visitor.open(url).await.status, 404);
        }
        agent.activate("my-page", 1).await.expect(200);
        assert_eq!(visitor.open(&url).await.status, 403);
        assert_serves(&visitor.open(&signed).await, PAGE);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 2);
        // On a page that has a live version, the parameter does what it does on `POST …/versions`.
        assert_eq!(stage().await.expect(201).integer("version"), 2);
        assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), 1);
        agent.post("/v1/publish?activate=perhaps").field("html", PAGE).await.refused(400, "invalid_request");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "365d")]
    async fn visibility_is_charged_once_a_month_regardless_of_changes(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let first = agent.set_visibility("my-page", "unlisted").paying("dev:0.5").await.expect(200);
        for visibility in ["private", "unlisted", "public", "private", "public", "unlisted", "unlisted"] {
            let free = agent.set_visibility("my-page", visibility).paying("dev:0.5").await.expect(200);
            assert_eq!(free.string("visibility"), visibility);
            assert_unpaid(&free);
        }
        let usage = agent.usage().await.expect(200);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 2);

        world.advance(32 * DAY);
        // Another month is charged when the page leaves public visibility in it, not before.
        assert_unpaid(&agent.set_visibility("my-page", "private").await.expect(200));
        assert_unpaid(&agent.set_visibility("my-page", "public").await.expect(200));
        agent.set_visibility("my-page", "private").await.refused(402, "payment_required");
        agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let later = agent.usage().await.expect(200);
        let ledger = sound_ledger(&world, &agent).await;
        assert_eq!(ledger[1], entry(month_of(&first, &usage), -PRICE_MICRO));
        assert_eq!(ledger[3], entry(month_of(&first, &later), -PRICE_MICRO));
        assert_eq!(ledger.len(), 4);
    }

    async fn free_visibility_change_ignores_a_payment_and_needs_no_credit(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        for payment in ["dev:0.5", "dev:100", "nonsense"] {
            assert_unpaid(&agent.set_visibility("my-page", "public").paying(payment).await.expect(200));
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn a_payment_of_another_amount_is_refused_and_changes_nothing(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        for payment in ["dev:0.49", "dev:0.500001", "dev:1", "dev:0", "dev:-0.5", "x402-usdc-base:0.5"] {
            let call = agent.set_visibility("my-page", "private").paying(payment);
            let refused = call.await.refused(402, "payment_required");
            assert_eq!(refused.at("amount_usd").to_string(), "0.5");
            assert!(refused.string("message").contains("nothing was charged"), "{refused:?}");
        }
        assert_eq!(agent.artifact("my-page").await.expect(200).string("visibility"), "public");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn prepaid_credit_pays_without_a_header_and_without_a_receipt(world: World) {
        let agent = world.agent().await;
        for slug in ["page-one", "page-two", "page-three"] {
            agent.publish(slug, PAGE).await.expect(201);
        }
        agent.buy_credit(1.2).paying("dev:1.2").await.expect(200);
        for slug in ["page-one", "page-two"] {
            assert_unpaid(&agent.set_visibility(slug, "private").await.expect(200));
        }
        // The remaining credit does not reduce the price: the payment must cover all of it.
        let refused = agent.set_visibility("page-three", "private").await.refused(402, "payment_required");
        assert_eq!(refused.at("amount_usd").to_string(), "0.5");
        agent.set_visibility("page-three", "private").paying("dev:0.3").await.refused(402, "payment_required");
        assert_eq!(agent.account().await.expect(200).at("credits_usd").to_string(), "0.2");
        assert_eq!(sound_ledger(&world, &agent).await.len(), 3);
    }

    async fn private_page_opens_with_its_signed_link_and_changes_apply_at_once(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", PAGE).await.expect(201);
        assert_serves(&front_page(&visitor, &published).await, PAGE);
        let hidden = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let signed_url = hidden.string("signed_url");
        let (url, signature) = signed_url.split_once("?sig=").expect("a signature in the link");
        assert_eq!((url, signature.len()), (&*published.string("url"), 16));
        front_page(&visitor, &published).await.expect(403);
        assert_serves(&visitor.open(&signed_url).await, PAGE);
        assert_eq!(agent.artifact("my-page").await.expect(200).string("signed_url"), signed_url);

        let unlisted = agent.set_visibility("my-page", "unlisted").await.expect(200);
        assert_eq!(unlisted.json().get("signed_url"), None);
        assert_eq!(indexing(&visitor, &published).await, "noindex");
        // A new version of a page that is not public is not public either.
        agent.set_visibility("my-page", "private").await.expect(200);
        agent.publish("my-page", PAGE).await.expect(201);
        front_page(&visitor, &published).await.expect(403);

        agent.set_visibility("my-page", "public").await.expect(200);
        assert_eq!(indexing(&visitor, &published).await, "");
        assert_eq!(agent.usage().await.expect(200).integer("private_artifacts.count"), 0);
    }

    async fn new_artifact_with_a_reused_slug_is_charged_separately(world: World) {
        let agent = world.agent().await;
        for _ in 0..2 {
            agent.publish("my-page", PAGE).await.expect(201);
            agent.set_visibility("my-page", "private").await.refused(402, "payment_required");
            agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
            agent.delete("my-page").await.expect(200);
        }
        assert_eq!(sound_ledger(&world, &agent).await.len(), 4);
    }

    async fn artifact_of_another_account_is_404_even_with_a_payment(world: World) {
        let (owner, other) = (world.agent().await, world.agent().await);
        owner.publish("my-page", PAGE).await.expect(201);
        other.set_visibility("my-page", "private").await.refused(404, "not_found");
        let paid = other.set_visibility("my-page", "private").paying("dev:0.5");
        paid.await.refused(404, "not_found");
        world.stranger().set_visibility("my-page", "private").await.refused(401, "unauthorized");
        assert_eq!(owner.artifact("my-page").await.expect(200).string("visibility"), "public");
        assert_eq!(world.ledger().await, []);
    }

    async fn unknown_visibility_is_an_invalid_body(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let patch = || agent.call(Method::PATCH, "/v1/artifacts/my-page").paying("dev:0.5");
        for body in [
            json!({}),
            json!({ "visibility": null }),
            json!({ "visibility": "Private" }),
            json!({ "visibility": "secret" }),
            json!({ "visibility": 1 }),
            json!({ "visibility": "private", "visible": true }),
        ] {
            patch().json(&body).await.refused(400, "invalid_body").naming("visib");
        }
        for body in ["", "{", "[]", "\"private\"", "{\"visibility\": \"private\""] {
            patch().raw("application/json", body).await.refused(400, "invalid_body");
        }
        patch().raw("text/plain", "private").await.refused(415, "unsupported_media_type");
        agent.set_visibility("No_Slug", "private").await.refused(400, "invalid_request").naming("slug");
        assert_eq!(agent.artifact("my-page").await.expect(200).string("visibility"), "public");
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn expired_account_cannot_change_visibility(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        world.advance(Duration::from_secs(31 * 60));
        for visibility in ["public", "private"] {
            let call = agent.set_visibility("my-page", visibility).paying("dev:0.5");
            call.await.refused(403, "account_expired");
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn concurrent_visibility_changes_are_charged_once(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        let hide = |caller: &Agent| caller.set_visibility("my-page", "private").paying("dev:0.5").into_future();
        let replies = join_all(callers.iter().cycle().take(20).map(hide)).await;
        let paid = replies.into_iter().filter(|reply| {
            assert_eq!((reply.status, &*reply.string("visibility")), (200, "private"), "{reply:?}");
            reply.json().get("receipt").is_some()
        });
        assert_eq!(paid.count(), 1);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 2);
    }

    async fn concurrent_visibility_changes_never_spend_credit_twice(world: World) {
        let agent = world.agent().await;
        let slugs = ["page-one", "page-two", "page-three", "page-four", "page-five"];
        for slug in slugs {
            agent.publish(slug, PAGE).await.expect(201);
        }
        agent.buy_credit(1.0).paying("dev:1").await.expect(200);
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        let hide = |(caller, slug): (&Agent, _)| caller.set_visibility(slug, "unlisted").into_future();
        let replies = join_all(callers.iter().cycle().zip(slugs).map(hide)).await;
        let mut statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 402, 402, 402]);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 3);
        assert_eq!(agent.usage().await.expect(200).integer("private_artifacts.count"), 2);
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn outside_dev_mode_no_payment_header_pays_for_visibility(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        for call in [
            agent.set_visibility("my-page", "private"),
            agent.set_visibility("my-page", "private").paying("dev:0.5"),
        ] {
            let refused = call.await.refused(402, "payment_required");
            let accepts = refused.at("accepts");
            let offers = accepts.as_array().unwrap();
            assert!(offers.iter().all(|offer| offer.get("instructions").is_none()), "{refused:?}");
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }
}

/// The indexing header of a visitor's response.
async fn indexing(visitor: &Visitor, published: &Reply) -> String {
    let page = front_page(visitor, published).await;
    assert_serves(&page, PAGE);
    page.header("X-Robots-Tag").to_owned()
}

/// The ledger reason for an artifact's month.
fn month_of(artifact: &Reply, usage: &Reply) -> String {
    format!("visibility:{}:{}", artifact.string("id"), usage.string("month"))
}
