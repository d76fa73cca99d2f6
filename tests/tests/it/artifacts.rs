//! Spec 2.2, 2.3, 3.2 and 4.3: listing, reading, rolling back and deleting.

use handbill_tests::{Method, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, millis_from_now, page_saying};

const ARTIFACT_FIELDS: [&str; 8] =
    ["host", "id", "moderation_status", "slug", "title", "url", "version", "visibility"];

in_both_modes! {
    async fn the_list_shows_every_artifact_of_the_account(world: World) {
        let agent = world.agent().await;
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
        let first = agent.publish("page-one", PAGE).await.expect(201);
        agent.publish("page-two", PAGE).await.expect(201);
        let list = agent.artifacts().await.expect(200).json();
        let mut slugs: Vec<_> =
            list.as_array().unwrap().iter().map(|artifact| artifact["slug"].as_str().unwrap()).collect();
        slugs.sort_unstable();
        assert_eq!(slugs, ["page-one", "page-two"]);
        let artifact =
            list.as_array().unwrap().iter().find(|artifact| artifact["slug"] == "page-one").unwrap();
        let own = ["created_at", "updated_at", "versions_days", "versions_kept", "views_month"];
        let mut expected = [&ARTIFACT_FIELDS[..], &own].concat();
        expected.sort_unstable();
        assert_eq!(fields_of(artifact), expected);
        assert_eq!(artifact["id"], first.at("artifact_id"));
        assert_eq!(artifact["host"], first.at("host"));
        assert_eq!(artifact["url"], first.at("url"));
        assert_eq!(artifact["visibility"], "public");
        assert_eq!(artifact["version"], 1);
    }

    async fn the_detail_lists_the_versions_newest_first(world: World) {
        let agent = world.agent().await;
        agent.publish("my-site", PAGE).await.expect(201);
        agent.publish_files("my-site", &[("index.html", b"12345"), ("a.css", b"678")]).await.expect(201);
        let detail = agent.artifact("my-site").await.expect(200);
        let own = ["created_at", "moderation", "updated_at", "versions", "versions_days", "versions_kept"];
        let mut expected = [&ARTIFACT_FIELDS[..], &own[..]].concat();
        expected.sort_unstable();
        assert_eq!(detail.field_names(), expected);
        assert_eq!(detail.integer("version"), 2);
        let versions = detail.at("versions");
        assert_eq!(versions.as_array().unwrap().len(), 2);
        for version in versions.as_array().unwrap() {
            let fields = [
                "created_at",
                "created_via",
                "file_count",
                "id",
                "live",
                "message",
                "moderation_status",
                "seq",
                "total_bytes",
                "url",
            ];
            assert_eq!(fields_of(version), fields);
            assert!(millis_from_now(version["created_at"].as_str().unwrap()).abs() < 60_000, "{version}");
        }
        let facts =
            |at: usize| [&versions[at]["seq"], &versions[at]["file_count"], &versions[at]["total_bytes"]];
        assert_eq!(facts(0), [2, 2, 8]);
        assert_eq!(facts(1).map(|fact| fact.as_u64().unwrap()), [1, 1, PAGE.len() as u64]);
        assert_eq!((&versions[0]["live"], &versions[1]["live"]), (&json!(true), &json!(false)));
        assert_ne!(versions[0]["id"], versions[1]["id"]);
    }

    async fn a_version_carries_the_message_that_it_was_published_with(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", page_saying("one")).field("message", "The first draft").await.expect(201);
        agent.publish("my-page", page_saying("two")).await.expect(201);
        agent.add_version("my-page", page_saying("three")).field("message", "Fïx 🐛").await.expect(201);
        let detail = agent.artifact("my-page").await.expect(200);
        let message = |at: usize| detail.at("versions")[at]["message"].clone();
        assert_eq!([message(0), message(1), message(2)], [json!("Fïx 🐛"), json!(null), json!("The first draft")]);
        let long = agent.publish("my-page", PAGE).field("message", "ü".repeat(201)).await.expect(400);
        assert_eq!(long.string("code"), "invalid_request");
        assert!(long.string("message").starts_with("message: "), "{}", long.string("message"));
    }

    async fn any_version_can_be_made_live_again_and_is_served_at_once(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        for text in ["one", "two", "three"] {
            agent.publish("my-page", page_saying(text)).await.expect(201);
        }
        for (version, text) in [(1, "one"), (3, "three"), (2, "two"), (2, "two")] {
            let activated = agent.activate("my-page", version).await.expect(200);
            assert_eq!(activated.field_names(), ARTIFACT_FIELDS);
            assert_eq!(activated.integer("version"), version);
            assert_serves(&front_page(&visitor, &activated).await, &page_saying(text));
        }
        let fourth = agent.publish("my-page", page_saying("four")).await.expect(201);
        assert_eq!(fourth.integer("version"), 4);
        assert_serves(&front_page(&visitor, &fourth).await, &page_saying("four"));
    }

    async fn activating_costs_nothing(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.publish("my-page", PAGE).await.expect(201);
        agent.activate("my-page", 1).await.expect(200);
        assert_eq!(agent.account().await.expect(200).integer("free_publishes_left"), 3);
    }

    async fn missing_artifacts_and_versions_get_404(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.artifact("no-such-page").await.refused(404, "not_found");
        agent.activate("no-such-page", 1).await.refused(404, "not_found");
        agent.delete("no-such-page").await.refused(404, "not_found");
        agent.activate("my-page", 2).await.refused(404, "not_found").naming("version");
    }

    async fn version_that_is_not_a_positive_integer_is_an_invalid_body(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let activate = || agent.post("/v1/artifacts/my-page/activate");
        for body in [
            json!({}),
            json!({ "version": 0 }),
            json!({ "version": -1 }),
            json!({ "version": "1" }),
            json!([]),
        ] {
            activate().json(&body).await.refused(400, "invalid_body");
        }
        activate().raw("application/json", "{\"version\": 1").await.refused(400, "invalid_body");
    }

    async fn a_deleted_artifact_is_gone_everywhere_at_once(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", PAGE).await.expect(201);
        front_page(&visitor, &published).await.expect(200);
        let deleted = agent.delete("my-page").await.expect(200);
        assert_eq!(deleted.json(), json!({ "slug": "my-page", "deleted": true }));
        let gone = front_page(&visitor, &published).await.expect(404);
        assert_eq!(gone.header("Cache-Control"), "no-store");
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
        agent.artifact("my-page").await.refused(404, "not_found");
        agent.activate("my-page", 1).await.refused(404, "not_found");
        agent.delete("my-page").await.refused(404, "not_found");
    }

    async fn a_deleted_slug_is_free_for_a_new_artifact_with_a_new_host(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let old = agent.publish("my-page", page_saying("old")).await.expect(201);
        agent.delete("my-page").await.expect(200);
        let new = agent.publish("my-page", page_saying("new")).await.expect(201);
        assert_eq!(new.integer("version"), 1);
        assert_ne!(new.string("artifact_id"), old.string("artifact_id"));
        assert_ne!(new.string("host"), old.string("host"));
        front_page(&visitor, &old).await.expect(404);
        assert_serves(&front_page(&visitor, &new).await, &page_saying("new"));
    }

    async fn other_accounts_can_neither_read_nor_change_an_artifact(world: World) {
        let (owner, other) = (world.agent().await, world.agent().await);
        let published = owner.publish("my-page", PAGE).await.expect(201);
        other.artifact("my-page").await.refused(404, "not_found");
        other.activate("my-page", 1).await.refused(404, "not_found");
        other.call(Method::DELETE, "/v1/artifacts/my-page").await.refused(404, "not_found");
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
    }
}
