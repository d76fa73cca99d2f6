//! Rehearsals (`dry_run=true`), which do everything but publish, and publishes that wait for the verdict of
//! their scan (`wait=scan`).

use std::path::Path;
use std::time::{Duration, Instant};

use handbill_tests::{Agent, Call, Mode, Reply, Value, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_untouched, page_saying};
use crate::mcp::tool_result;
use crate::moderation::SEED_PHRASE_FORM;
use crate::teams::claimed_by;

const PUBLISH: &str = "/v1/publish";
const REHEARSE: &str = "/v1/publish?dry_run=true";
const SECRET_PATH: &str = "notes.txt";

in_both_modes! {
    async fn a_rehearsal_reports_price_warnings_and_changes_and_stores_nothing(world: World) {
        let agent = world.agent().await;
        let objects = stored_files(&world);
        let site = || [("index.html", PAGE), ("a.css", "a {}"), ("b/c.txt", "c")];
        let new = files(agent.post(REHEARSE).field("slug", "my-site"), &site()).await.expect(200);
        assert_eq!(new.field_names(), ["added", "changed", "price_usd", "removed", "unchanged", "warnings"]);
        assert_eq!(new.json(), changes(&["a.css", "b/c.txt", "index.html"], &[], &[], 0));
        assert!(new.headers.get("location").is_none());
        assert_untouched(&agent).await;
        assert_eq!(stored_files(&world), objects);

        files(agent.post(PUBLISH).field("slug", "my-site"), &site()).await.expect(201);
        let next = [("index.html", "<img src=no.png>"), ("a.css", "a {}"), ("d.txt", "d"), ("B.txt", "b")];
        for path in [REHEARSE, "/v1/artifacts/my-site/versions?dry_run=true",
            "/v1/artifacts/my-site/versions?dry_run=true&activate=false"] {
            let call = agent.post(path);
            let call = if path == REHEARSE { call.field("slug", "my-site") } else { call };
            let rehearsed = files(call, &next).await.expect(200);
            let mut shown = rehearsed.json();
            assert_eq!(shown["warnings"][0]["code"], "missing_file", "{path}: {rehearsed:?}");
            shown["warnings"] = json!([]);
            assert_eq!(shown, changes(&["B.txt", "d.txt"], &["index.html"], &["b/c.txt"], 1), "{path}");
        }
        let same = files(agent.post(REHEARSE).field("slug", "my-site"), &site()).await.expect(200);
        assert_eq!(same.json(), changes(&[], &[], &[], 3));
        let detail = agent.artifact("my-site").await.expect(200);
        assert_eq!(detail.at("versions").as_array().unwrap().len(), 1);
        let usage = agent.usage().await.expect(200);
        assert_eq!((usage.integer("publishes.used"), usage.number("credits_usd")), (1, 0.0));
        assert!(world.ledger().await.is_empty());
    }

    async fn a_rehearsal_compares_with_the_live_version(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", page_saying("one")).await.expect(201);
        let staged = agent.post("/v1/artifacts/my-page/versions?activate=false");
        staged.field("html", page_saying("two")).await.expect(201);
        let same = agent.post(REHEARSE).field("slug", "my-page").field("html", page_saying("one"));
        assert_eq!(same.await.expect(200).integer("unchanged"), 1);
        let json = agent.post(REHEARSE).json(&json!({ "slug": "my-page", "html": page_saying("two") }));
        assert_eq!(json.await.expect(200).at("changed"), json!(["index.html"]));
        // Without a slug, and after a deletion, everything is new.
        let unnamed = agent.post(REHEARSE).field("html", page_saying("one")).await.expect(200);
        assert_eq!(unnamed.at("added"), json!(["index.html"]));
        agent.delete("my-page").await.expect(200);
        let gone = agent.post(REHEARSE).field("slug", "my-page").field("html", page_saying("one"));
        assert_eq!(gone.await.expect(200).at("added"), json!(["index.html"]));
        let arguments = json!({ "dry_run": true, "files": [{ "path": "index.html", "content": PAGE }] });
        let tool = tool_result(&agent.call_tool("publish_artifact", &arguments).await.expect(200));
        assert_eq!(tool, changes(&["index.html"], &[], &[], 0));
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
    }

    async fn a_rehearsal_costs_nothing_and_says_what_the_publish_would_cost(world: World) {
        let agent = world.agent().await;
        let dry = || agent.post(REHEARSE).field("slug", "my-page").field("html", PAGE);
        assert_eq!(dry().paying("dev:0.005").await.expect(200).number("price_usd"), 0.0);
        for _ in 0..5 {
            agent.publish("my-page", PAGE).await.expect(201);
        }
        let paid = dry().paying("dev:0.005").await.expect(200);
        assert_eq!(paid.at("price_usd").to_string(), "0.005");
        assert!(paid.headers.get("x-payment-response").is_none() && paid.json()["receipt"].is_null());
        assert!(world.ledger().await.is_empty());
        agent.buy_credit(5.0).paying("dev:5").await.expect(200);
        for _ in 0..2 {
            assert_eq!(dry().await.expect(200).number("price_usd"), 0.005);
        }
        assert_eq!(agent.usage().await.expect(200).number("credits_usd"), 5.0);
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 5);
    }

    async fn a_rehearsal_leaves_idempotency_keys_alone(world: World) {
        let agent = world.agent().await;
        let dry = |html: &str| {
            agent.post(REHEARSE).field("slug", "my-page").field("html", html.to_owned()).idempotency_key("one")
        };
        dry(PAGE).await.expect(200);
        // The key is free for another request.
        let other = page_saying("other");
        let published = agent.publish("my-page", other.as_str()).idempotency_key("one").await.expect(201);
        // Neither the response of that request nor a conflict with it.
        assert_eq!(dry(PAGE).await.expect(200).at("changed"), json!(["index.html"]));
        assert_eq!(dry(&other).await.expect(200).integer("unchanged"), 1);
        let repeated = agent.publish("my-page", other.as_str()).idempotency_key("one").await.expect(201);
        assert_eq!(repeated.json(), published.json());
    }

    #[settings(
        "HANDBILL_LIMITS__CLAIMED_ARTIFACTS" = "1",
        "HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "2",
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "4"
    )]
    async fn a_rehearsal_gets_the_refusal_of_the_publish(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.publish("other-page", PAGE).await.expect(201);
        let artifact = agent.artifact("other-page").await.expect(200).string("id");
        let pinned = agent.minted(&json!({ "artifact_id": artifact })).await;
        let reader = agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        let versions = "/v1/artifacts/my-page/versions";
        let unknown = "/v1/artifacts/nowhere/versions";
        let page = |agent: &Agent, path: &str| agent.post(path).field("html", PAGE);
        let named = |agent: &Agent, path: &str, slug: &str| page(agent, path).field("slug", slug.to_owned());
        same_refusal(400, "invalid_request", PUBLISH, |path| named(&agent, path, "No Slug")).await;
        same_refusal(400, "invalid_request", versions, |path| named(&agent, path, "other-page")).await;
        same_refusal(401, "unauthorized", PUBLISH, |path| page(&world.stranger(), path)).await;
        same_refusal(403, "insufficient_scope", PUBLISH, |path| page(&reader, path)).await;
        same_refusal(403, "insufficient_scope", PUBLISH, |path| page(&pinned, path)).await;
        same_refusal(403, "insufficient_scope", PUBLISH, |path| named(&pinned, path, "my-page")).await;
        same_refusal(403, "insufficient_scope", versions, |path| page(&pinned, path)).await;
        same_refusal(404, "not_found", unknown, |path| page(&agent, path)).await;
        let json = json!({ "html": PAGE });
        same_refusal(404, "not_found", unknown, |path| agent.post(path).json(&json)).await;
        let leak = |path: &str| page_with(agent.post(path), SECRET_PATH, agent.token());
        same_refusal(400, "secret_in_publish", PUBLISH, leak).await;
        let if_match = |path: &str| named(&agent, path, "my-page").header("If-Match", "\"v7\"");
        same_refusal(412, "version_conflict", PUBLISH, if_match).await;
        let new = |path: &str| page(&agent, path).header("If-None-Match", "*");
        same_refusal(412, "version_conflict", versions, new).await;
        let first = |path: &str| page(&agent, path).header("If-Match", "*");
        same_refusal(412, "version_conflict", unknown, first).await;
        let large = vec![b'x'; 10 * 1_048_576];
        let too_large = |path: &str| page_with(agent.post(path), "a.bin", [&large[..], b"x"].concat());
        same_refusal(413, "too_large", PUBLISH, too_large).await;
        agent.publish_files("big-page", &[("a.bin", &large)]).await.expect(201);
        let more = vec![b'y'; 10 * 1_048_576];
        let storage = |path: &str| page_with(agent.post(path), "b.bin", &more);
        same_refusal(413, "too_large", PUBLISH, storage).await;
        agent.publish("my-page", page_saying("last")).await.expect(201);
        let unpaid = |path: &str| named(&agent, path, "my-page");
        same_refusal(402, "payment_required", PUBLISH, unpaid).await;
        same_refusal(402, "payment_required", versions, |path| page(&agent, path)).await;
        for wrong in ["dev:0.004", "dev:5", "card:1"] {
            let wrong_amount = |path: &str| unpaid(path).paying(wrong);
            same_refusal(402, "payment_required", PUBLISH, wrong_amount).await;
        }
        let (claimed, _) = claimed_by(&world, "ada").await;
        claimed.publish("my-page", PAGE).await.expect(201);
        let second = |path: &str| named(&claimed, path, "second");
        same_refusal(403, "quota_exceeded", PUBLISH, second).await;
        world.advance(Duration::from_secs(31 * 60));
        same_refusal(403, "account_expired", PUBLISH, |path| page(&agent, path)).await;
    }

    #[settings("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "3")]
    async fn rehearsals_count_against_the_rate_limit_of_publishes(world: World) {
        let agent = world.agent().await;
        for _ in 0..3 {
            agent.post(REHEARSE).field("html", PAGE).await.expect(200);
        }
        let dry = agent.post(REHEARSE).field("html", PAGE).await.refused(429, "rate_limited");
        assert!(dry.header("Retry-After").parse::<u64>().unwrap() > 0);
        agent.publish("my-page", PAGE).await.refused(429, "rate_limited");
    }

    async fn malformed_parameters_publish_nothing(world: World) {
        let agent = world.agent().await;
        for query in ["dry_run=1", "dry_run=", "dry_run=yes", "dry_run=true&dry_run=true"] {
            let refused = agent.post(&format!("{PUBLISH}?{query}")).field("html", PAGE).await;
            refused.refused(400, "invalid_request").naming("dry_run");
        }
        for query in ["wait=", "wait=true", "wait=scans", "wait=scan&wait=scan"] {
            let refused = agent.post(&format!("{PUBLISH}?{query}")).field("html", PAGE).await;
            refused.refused(400, "invalid_request").naming("wait");
        }
        let arguments = json!({ "dry_run": "true", "files": [{ "path": "index.html", "content": PAGE }] });
        let refused = agent.call_tool("publish_artifact", &arguments).await.expect(200);
        assert_eq!(refused.at("result.structuredContent.code"), "invalid_request");
        assert_untouched(&agent).await;
    }

    async fn a_publish_waits_for_the_verdict(world: World) {
        let agent = world.agent().await;
        let waiting = |slug: &str, html: &str| {
            let call = agent.post("/v1/publish?wait=scan").field("slug", slug.to_owned());
            call.field("html", html.to_owned())
        };
        let passed = waiting("my-page", PAGE).await.expect(201);
        assert_eq!(passed.string("moderation_status"), "pass");
        assert!(passed.json()["reason"].is_null(), "{passed:?}");
        let blocked = waiting("harmful", SEED_PHRASE_FORM).await.expect(201);
        assert_eq!(blocked.string("moderation_status"), "blocked");
        let notice = agent.artifact("harmful").await.expect(200).string("moderation.message");
        assert_eq!(blocked.string("reason"), notice);
        // The verdict is the one on the staged version, not on the live one.
        let staged = agent.post("/v1/artifacts/my-page/versions?activate=false&wait=scan");
        let staged = staged.field("html", SEED_PHRASE_FORM).await.expect(201);
        assert_eq!(staged.integer("version"), 2);
        assert_eq!(staged.string("moderation_status"), "blocked");
        assert_eq!(agent.artifact("my-page").await.expect(200).string("moderation_status"), "pass");
        let without = agent.publish("my-page", page_saying("next")).await.expect(201);
        assert!(without.json()["moderation_status"].is_null() && without.json()["reason"].is_null());
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.compute:pause_ms=15000")]
    async fn a_slow_scan_is_pending_and_the_publish_succeeds(world: World) {
        let agent = world.agent().await;
        let began = Instant::now();
        let slow = agent.post("/v1/publish?wait=scan").field("slug", "my-page").field("html", PAGE);
        let slow = slow.await.expect(201);
        let waited = began.elapsed();
        assert_eq!(slow.string("moderation_status"), "pending");
        assert_eq!(slow.string("reason"), "This version has not been checked yet.");
        assert!((Duration::from_secs(9)..Duration::from_secs(14)).contains(&waited), "{waited:?}");
        assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), 1);
    }
}

/// How many files and objects the blob store holds.
fn stored_files(world: &World) -> usize {
    fn count(folder: &Path) -> usize {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
    }
    count(&world.folder().join(match world.mode() {
        Mode::Embedded => "data/blobs",
        Mode::Production => "s3",
    }))
}

fn changes(added: &[&str], changed: &[&str], removed: &[&str], unchanged: u64) -> Value {
    json!({
        "price_usd": 0.0,
        "warnings": [],
        "added": added,
        "changed": changed,
        "removed": removed,
        "unchanged": unchanged,
    })
}

fn files(call: Call, files: &[(&str, &str)]) -> Call {
    files.iter().fold(call, |call, (path, content)| call.file(path, (*content).to_owned()))
}

fn page_with(call: Call, path: &str, content: impl AsRef<[u8]>) -> Call {
    call.file("index.html", PAGE).file(path, content.as_ref().to_vec())
}

/// The rehearsal and the publish get the same refusal. The rehearsal is made first and again afterwards.
async fn same_refusal(status: u16, code: &str, path: &str, call: impl Fn(&str) -> Call) {
    let dry_path = format!("{path}?dry_run=true");
    let first: Reply = call(&dry_path).await.refused(status, code);
    let real = call(path).await.refused(status, code);
    let again = call(&dry_path).await.refused(status, code);
    assert_eq!((first.json(), again.json()), (real.json(), real.json()));
}
