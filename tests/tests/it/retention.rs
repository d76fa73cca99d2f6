//! How many versions an account or an artifact keeps: the settings, and what the cleanup deletes.

use std::time::Duration;

use handbill_tests::{Agent, Call, Method, Value, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::{moderate, moderator};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Sends a change of the settings.
type Change<'a> = &'a dyn Fn(&Value) -> Call;
/// Reads the settings.
type Read<'a> = &'a dyn Fn() -> Call;

in_both_modes! {
    async fn settings_are_shown_changed_alone_and_turned_off_by_null(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let calls: [(Change<'_>, Read<'_>); 2] = [
            (&|body| change_artifact(&agent, "my-page", body), &|| agent.artifact("my-page")),
            (&|body| change_account(&agent, body), &|| agent.account()),
        ];
        for (change, read) in calls {
            let steps = [
                (json!({ "versions_kept": 3 }), (json!(3), json!(null))),
                (json!({ "versions_days": 10_000 }), (json!(3), json!(10_000))),
                (json!({ "versions_kept": null }), (json!(null), json!(10_000))),
                (json!({ "versions_kept": 1, "versions_days": null }), (json!(1), json!(null))),
                (json!({ "versions_kept": null, "versions_days": null }), (json!(null), json!(null))),
            ];
            let settings = read().await.expect(200);
            assert!(settings.at("versions_kept").is_null() && settings.at("versions_days").is_null());
            for (body, (kept, days)) in steps {
                for reply in [change(&body).await.expect(200), read().await.expect(200)] {
                    assert_eq!(reply.at("versions_kept"), kept, "{body}");
                    assert_eq!(reply.at("versions_days"), days, "{body}");
                }
            }
            for field in ["versions_kept", "versions_days"] {
                for wrong in [json!(0), json!(10_001), json!(-1), json!(1.5), json!("5"), json!(true)] {
                    change(&json!({ field: wrong })).await.refused(400, "invalid_body").naming(field);
                }
            }
        }
        let both = json!({ "visibility": "public", "versions_kept": 3 });
        change_artifact(&agent, "my-page", &both).await.refused(400, "invalid_body").naming("visibility");
        let nothing = change_artifact(&agent, "my-page", &json!({}));
        nothing.await.refused(400, "invalid_body").naming("visibility");
        let changed = change_account(&agent, &json!({ "allow_agent_join": false, "versions_kept": 9 })).await;
        assert_eq!(changed.at("allow_agent_join"), false);
        assert_eq!(changed.at("versions_kept"), 9);
        let reader = agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        let few = json!({ "versions_kept": 3 });
        change_artifact(&agent, "no-such-page", &few).await.refused(404, "not_found");
        change_artifact(&reader, "my-page", &few).await.refused(403, "insufficient_scope");
        change_artifact(&agent, "my-page", &few).await.expect(200);
        let listed = reader.artifacts().await.expect(200);
        assert_eq!((listed.at("0.versions_kept"), listed.at("0.versions_days")), (json!(3), json!(null)));
        change_account(&reader, &few).await.refused(403, "insufficient_scope");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "20")]
    async fn cleanup_keeps_the_newest_versions_and_the_live_one(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = publish_versions(&agent, "my-page", 5).await;
        let before = storage(&agent).await;
        clean_up(&world).await;
        assert_eq!(seqs(&agent, "my-page").await, [5, 4, 3, 2, 1], "off by default");
        agent.activate("my-page", 2).await.expect(200);
        visitor.open(&published[0]).await.expect(200);

        change_artifact(&agent, "my-page", &json!({ "versions_kept": 2 })).await.expect(200);
        assert_eq!(seqs(&agent, "my-page").await, [5, 4, 3, 2, 1], "nothing is deleted by the call");
        clean_up(&world).await;
        assert_eq!(seqs(&agent, "my-page").await, [5, 4, 2]);
        assert!(storage(&agent).await < before);
        visitor.open(&published[0]).await.expect(404);
        assert_serves(&visitor.open(&published[3]).await, &page_saying("version 4"));
        agent.activate("my-page", 1).await.refused(404, "not_found");
        let next = agent.add_version("my-page", PAGE).await.expect(201);
        assert_eq!(next.integer("version"), 6);
        assert_serves(&front_page(&visitor, &next).await, PAGE);

        change_artifact(&agent, "my-page", &json!({ "versions_kept": null })).await.expect(200);
        clean_up(&world).await;
        assert_eq!(seqs(&agent, "my-page").await, [6, 5, 4, 2]);
        let audit = agent.get("/v1/account/audit").await.expect(200).json().to_string();
        assert!(audit.contains("artifact.versions_deleted"), "{audit}");
    }

    async fn rule_of_an_artifact_replaces_that_of_its_account(world: World) {
        let agent = world.agent().await;
        publish_versions(&agent, "one", 2).await;
        publish_versions(&agent, "other", 2).await;
        change_account(&agent, &json!({ "versions_kept": 1 })).await.expect(200);
        change_artifact(&agent, "other", &json!({ "versions_kept": 2 })).await.expect(200);
        clean_up(&world).await;
        assert_eq!(seqs(&agent, "one").await, [2]);
        assert_eq!(seqs(&agent, "other").await, [2, 1]);
        change_artifact(&agent, "other", &json!({ "versions_kept": null })).await.expect(200);
        clean_up(&world).await;
        assert_eq!(seqs(&agent, "other").await, [2]);
    }

    #[settings(
        "HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "365d",
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "20"
    )]
    async fn days_delete_older_versions_and_with_a_number_either_keeps_a_version(world: World) {
        let agent = world.agent().await;
        publish_versions(&agent, "by-days", 2).await;
        publish_versions(&agent, "by-both", 2).await;
        change_account(&agent, &json!({ "versions_days": 2 })).await.expect(200);
        let both = json!({ "versions_kept": 3, "versions_days": 2 });
        change_artifact(&agent, "by-both", &both).await.expect(200);
        world.advance(3 * DAY);
        for slug in ["by-days", "by-both"] {
            let staged = agent.post(&format!("/v1/artifacts/{slug}/versions?activate=false"));
            staged.field("html", page_saying("new")).await.expect(201);
        }
        agent.add_version("by-both", page_saying("newer")).await.expect(201);
        clean_up(&world).await;
        assert_eq!(seqs(&agent, "by-days").await, [3, 2], "2 is live");
        assert_eq!(seqs(&agent, "by-both").await, [4, 3, 2]);
    }

    async fn version_that_a_moderator_holds_stays(world: World) {
        let agent = world.agent().await;
        let page = agent.publish("my-page", page_saying("bad")).await.expect(201);
        let moderator = moderator(&world, "ada").await;
        moderate(&moderator, &page.string("host"), "block").await.expect(200);
        for text in ["second", "third"] {
            agent.add_version("my-page", page_saying(text)).await.expect(201);
        }
        moderate(&moderator, &page.string("host"), "pass").await.expect(200);
        agent.add_version("my-page", page_saying("fourth")).await.expect(201);
        change_artifact(&agent, "my-page", &json!({ "versions_kept": 1 })).await.expect(200);
        clean_up(&world).await;
        // The second waits for the moderator, too: it was published while the page was held.
        assert_eq!(seqs(&agent, "my-page").await, [4, 2, 1]);
    }
}

fn change_artifact(agent: &Agent, slug: &str, body: &Value) -> Call {
    agent.call(Method::PATCH, &format!("/v1/artifacts/{slug}")).json(body)
}

fn change_account(agent: &Agent, body: &Value) -> Call {
    agent.call(Method::PATCH, "/v1/account").json(body)
}

/// Publishes so many versions, and returns their own addresses.
async fn publish_versions(agent: &Agent, slug: &str, count: usize) -> Vec<String> {
    let mut addresses = Vec::new();
    for number in 1..=count {
        let page = page_saying(&format!("version {number}"));
        addresses.push(agent.publish(slug, page).await.expect(201).string("version_url"));
    }
    addresses
}

async fn seqs(agent: &Agent, slug: &str) -> Vec<i64> {
    let detail = agent.artifact(slug).await.expect(200).json();
    let versions = detail["versions"].as_array().unwrap();
    versions.iter().map(|version| version["seq"].as_i64().unwrap()).collect()
}

async fn storage(agent: &Agent) -> i64 {
    agent.account().await.expect(200).integer("usage.storage_bytes")
}

async fn clean_up(world: &World) {
    world.operator().run_cleanup().await.expect(200);
}
