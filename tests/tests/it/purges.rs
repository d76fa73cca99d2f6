//! Deleting for good: what is purged is nowhere any more, and what was only deleted can be restored.

use std::path::Path;
use std::time::Duration;

use handbill_tests::{Agent, Method, PATIENCE, Value, World, eventually, in_both_modes, json};

use crate::day_two::{objects_of, succeeded};
use crate::expectations::{front_page, page_saying};

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn storage_of(agent: &Agent) -> i64 {
    agent.usage().await.expect(200).integer("storage.bytes")
}

async fn publish_site(agent: &Agent, slug: &str, files: &[(&str, &str)]) -> handbill_tests::Reply {
    let call = agent.post("/v1/publish").field("slug", slug.to_owned());
    files.iter().fold(call, |call, (path, text)| call.file(path, (*text).to_owned())).await.expect(201)
}

fn purge(agent: &Agent, slug: &str) -> handbill_tests::Call {
    agent.call(Method::DELETE, &format!("/v1/artifacts/{slug}?purge=true"))
}

fn delete_version(agent: &Agent, slug: &str, seq: u32) -> handbill_tests::Call {
    agent.call(Method::DELETE, &format!("/v1/artifacts/{slug}/versions/{seq}"))
}

fn restore(agent: &Agent, slug: &str) -> handbill_tests::Call {
    agent.post(&format!("/v1/artifacts/{slug}/restore"))
}

/// The folder of all objects.
fn store_of(world: &World) -> std::path::PathBuf {
    objects_of(world).parent().unwrap().to_owned()
}

/// The objects below a folder that contain these bytes.
fn objects_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(objects_with(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

async fn erased(world: &World, text: &str) {
    let objects = store_of(world);
    eventually(PATIENCE, "the erasure of every byte", async || {
        objects_with(&objects, text).is_empty().then_some(())
    })
    .await;
}

in_both_modes! {
    async fn a_purged_artifact_is_gone_with_every_byte_and_its_storage(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let kept = [("index.html", "<p>kept index</p>"), ("shared.css", "shared-by-both{color:red}")];
        publish_site(&agent, "kept", &kept).await;
        let before = storage_of(&agent).await;
        let shared = ("shared.css", kept[1].1);
        let files = [("index.html", "<p>secret-front</p>"), ("a.css", "secret-style{}"), shared];
        let first = publish_site(&agent, "gone", &files).await;
        let version = first.string("version_url");
        let next = [("index.html", "<p>secret-second</p>"), ("b.css", "secret-other{}")];
        publish_site(&agent, "gone", &next).await;
        assert!(storage_of(&agent).await > before);

        let purged = purge(&agent, "gone").await.expect(200);
        assert_eq!(purged.json(), json!({ "slug": "gone", "deleted": true, "purged": true }));
        assert_eq!(storage_of(&agent).await, before);
        front_page(&visitor, &first).await.expect(404);
        visitor.open(&version).await.expect(404);
        for text in ["secret-front", "secret-style", "secret-second", "secret-other"] {
            erased(&world, text).await;
        }
        assert!(!objects_with(&store_of(&world), "shared-by-both").is_empty());
        succeeded(world.command(&["scrub"], &[]).await);
        purge(&agent, "gone").await.refused(404, "not_found");
        restore(&agent, "gone").await.refused(404, "not_found");
        agent.artifact("gone").await.refused(404, "not_found");
    }

    async fn a_version_that_is_not_live_is_deleted_with_its_part_of_a_bundle(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let one =
            [("index.html", "<p>first-front</p>"), ("only.css", "first-only{}"), ("both.css", "in-both{}")];
        let first = publish_site(&agent, "my-page", &one).await;
        let before = storage_of(&agent).await;
        let two = [("index.html", "<p>second-front</p>"), ("both.css", one[2].1)];
        let second = publish_site(&agent, "my-page", &two).await;
        delete_version(&agent, "my-page", 2).await.refused(409, "version_live");
        visitor.open(&first.string("version_url")).await.expect(200);

        delete_version(&agent, "my-page", 1).await.expect(200);
        visitor.open(&first.string("version_url")).await.expect(404);
        delete_version(&agent, "my-page", 1).await.refused(404, "not_found").naming("version");
        agent.activate("my-page", 1).await.refused(404, "not_found");
        assert!(storage_of(&agent).await < before + 30);
        erased(&world, "first-front").await;
        erased(&world, "first-only").await;
        // The rest of the bundle is unharmed.
        front_page(&visitor, &second).await.expect(200);
        let style = format!("{}both.css", second.string("url"));
        assert_eq!(visitor.open(&style).await.expect(200).text(), "in-both{}");
        succeeded(world.command(&["scrub"], &[]).await);
        let versions = agent.artifact("my-page").await.expect(200);
        assert_eq!(versions.at("versions").as_array().unwrap().len(), 1);
        assert_eq!(agent.publish("my-page", page_saying("three")).await.expect(201).integer("version"), 3);
    }

    async fn a_deleted_artifact_is_restored_with_its_host_for_30_days(world: World) {
        let (agent, _) = crate::teams::claimed_by(&world, "olga").await;
        let visitor = world.visitor();
        let page = agent.publish("my-page", page_saying("old")).await.expect(201);
        restore(&agent, "my-page").await.refused(404, "not_found");
        agent.delete("my-page").await.expect(200);
        front_page(&visitor, &page).await.expect(404);
        let restored = restore(&agent, "my-page").await.expect(200);
        assert_eq!(restored.string("host"), page.string("host"));
        front_page(&visitor, &page).await.expect(200);
        agent.delete("my-page").await.expect(200);
        agent.publish("my-page", page_saying("new")).await.expect(201);
        restore(&agent, "my-page").await.refused(409, "slug_taken");
        // By its host, the older one is restored although the other was deleted last.
        agent.delete("my-page").await.expect(200);
        let by_host = format!("/v1/artifacts/my-page/restore?host={}", page.string("host"));
        let restored = agent.post(&by_host).await.expect(200);
        assert_eq!(restored.string("host"), page.string("host"));
        agent.post(&by_host).await.refused(404, "not_found");
        front_page(&visitor, &page).await.expect(200);
        agent.delete("my-page").await.expect(200);
        world.advance(DAY * 31);
        restore(&agent, "my-page").await.refused(404, "not_found");
        purge(&agent, "my-page").await.refused(404, "not_found");
    }

    async fn a_repeated_purge_does_not_reach_an_older_deleted_artifact(world: World) {
        let agent = world.agent().await;
        let older = agent.publish("my-page", page_saying("older")).await.expect(201);
        agent.delete("my-page").await.expect(200);
        agent.publish("my-page", page_saying("newer")).await.expect(201);
        purge(&agent, "my-page").await.expect(200);
        purge(&agent, "my-page").await.refused(404, "not_found");
        let restored = restore(&agent, "my-page").await.expect(200);
        assert_eq!(restored.string("host"), older.string("host"));
    }

    async fn a_restored_private_artifact_is_charged_once_a_month(world: World) {
        let (agent, _) = crate::teams::claimed_by(&world, "olga").await;
        let page = agent.publish("my-page", page_saying("secret")).await.expect(201);
        agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let balance = async || agent.account().await.expect(200).number("credits_usd");
        let before = balance().await;
        agent.delete("my-page").await.expect(200);
        restore(&agent, "my-page").await.expect(200);
        assert_eq!(balance().await, before, "the month is paid");
        front_page(&world.visitor(), &page).await.expect(403);
        agent.delete("my-page").await.expect(200);
        let month = |seconds: i64| domain::Time::from_millis(seconds * 1_000).month();
        let now = month(world.now_seconds());
        let mut days = 0;
        while month(world.now_seconds()) == now && days < 29 {
            world.advance(DAY);
            days += 1;
        }
        restore(&agent, "my-page").await.expect(200);
        let is_charged = month(world.now_seconds()) != now;
        assert_eq!(balance().await, before - if is_charged { 0.5 } else { 0.0 });
    }

    async fn a_block_during_a_purge_keeps_the_version_or_finds_it_gone(world: World) {
        let agent = world.agent().await;
        let page = agent.publish("my-page", page_saying("bad words")).await.expect(201);
        let decide = format!("/internal/moderation/{}", page.string("host"));
        let block = async {
            let decision = world.operator().post(&decide).header("X-Operator", "alice");
            decision.json(&json!({ "action": "block" })).await
        };
        let (blocked, purged) = tokio::join!(block, async { purge(&agent, "my-page").await.expect(200) });
        let is_kept = !objects_with(&store_of(&world), "bad words").is_empty();
        match blocked.status {
            200 => assert_eq!((purged.at("held_versions"), is_kept), (json!([1]), true)),
            _ => assert_eq!((blocked.status, purged.at("purged"), is_kept), (404, json!(true), false)),
        }
        front_page(&world.visitor(), &page).await.expect(404);
    }

    async fn a_block_among_activations_and_publishes_closes_the_version_it_decided_on(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", page_saying("bad words")).await.expect(201);
        agent.publish("my-page", page_saying("good words")).await.expect(201);
        agent.activate("my-page", 1).await.expect(200);
        let decide = format!("/internal/moderation/{}", page.string("host"));
        let block = async {
            let block = || {
                let decision = world.operator().post(&decide).header("X-Operator", "alice");
                decision.json(&json!({ "action": "block" }))
            };
            // Refused if another version goes live between its two reads.
            loop {
                let blocked = block().await;
                if blocked.status != 409 {
                    break blocked.expect(200);
                }
            }
        };
        let activate = async { agent.activate("my-page", 2).await.expect(200) };
        let publish = async { agent.publish("my-page", page_saying("other words")).await.expect(201) };
        let (blocked, _, _) = tokio::join!(block, activate, publish);
        let versions = agent.artifact("my-page").await.expect(200).at("versions");
        let versions = versions.as_array().unwrap();
        let status = |version: &Value| version["moderation_status"].as_str().unwrap().to_owned();
        let decided = versions.iter().find(|version| version["seq"] == blocked.at("version")).unwrap();
        assert_eq!(status(decided), "blocked");
        visitor.open(decided["url"].as_str().unwrap()).await.expect(451);
        let live = versions.iter().find(|version| version["live"] == true).unwrap();
        // A version that was published after the block waits for a moderator.
        let is_closed = ["blocked", "review"].contains(&&*status(live));
        front_page(&visitor, &page).await.expect(if is_closed { 451 } else { 200 });
        for version in versions {
            let is_closed = is_closed || status(version) == "blocked" || status(version) == "review";
            let seen = visitor.open(version["url"].as_str().unwrap()).await;
            assert_eq!(seen.status, if is_closed { 451 } else { 200 }, "{version} of {versions:?}");
        }
    }

    async fn blocked_versions_are_kept_as_evidence_and_the_response_says_so(world: World) {
        let agent = world.agent().await;
        let page = agent.publish("my-page", page_saying("evidence of a crime")).await.expect(201);
        let decide = format!("/internal/moderation/{}", page.string("host"));
        let decision = world.operator().post(&decide).header("X-Operator", "alice");
        decision.json(&json!({ "action": "block" })).await.expect(200);
        agent.publish("my-page", page_saying("harmless")).await.expect(201);
        delete_version(&agent, "my-page", 1).await.refused(409, "version_held");
        let purged = purge(&agent, "my-page").await.expect(200);
        assert_eq!(purged.at("purged"), false);
        assert!(purged.at("held_versions").as_array().unwrap().contains(&json!(1)));
        assert!(purged.string("message").contains("evidence"));
        restore(&agent, "my-page").await.refused(404, "not_found");
        assert!(!objects_with(&store_of(&world), "evidence of a crime").is_empty());
    }

    async fn purges_and_publishes_of_the_same_content_at_once_never_lose_a_served_byte(world: World) {
        let (one, other, visitor) = (world.agent().await, world.agent().await, world.visitor());
        let files = [("index.html", "<p>the same front</p>"), ("same.css", "same-style{}")];
        publish_site(&one, "page", &files).await;
        let published = async {
            let mut last = None;
            for number in 0..3 {
                last = Some(publish_site(&other, &format!("copy-{number}"), &files).await);
            }
            last.unwrap()
        };
        let purged = async {
            purge(&one, "page").await.expect(200);
            publish_site(&one, "page", &files).await;
            purge(&one, "page").await.expect(200);
        };
        let activated = async { one.activate("page", 1).await };
        let (last, (), _) = tokio::join!(published, purged, activated);
        assert!(front_page(&visitor, &last).await.expect(200).text().contains("the same front"));
        let style = format!("{}same.css", last.string("url"));
        assert_eq!(visitor.open(&style).await.expect(200).text(), "same-style{}");
        succeeded(world.command(&["scrub"], &[]).await);
        assert_eq!(storage_of(&one).await, 0);
    }
}
