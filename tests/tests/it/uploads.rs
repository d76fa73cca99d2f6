//! Spec 4.11 and beyond: files that are uploaded to an address of their own and published by name, so that
//! their bytes do not pass through a model.

use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{
    Agent, Call, Method, Mode, PATIENCE, Reply, Value, World, eventually, fields_of, in_both_modes, json,
    program,
};

use crate::expectations::{PAGE, assert_serves, millis_from_now, page_saying};
use crate::mcp::{failed, tool_result};

const MINUTE: Duration = Duration::from_secs(60);

in_both_modes! {
    async fn site_is_uploaded_with_the_documented_curl_command_and_published(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let staged = stage(&agent).await;
        assert_eq!(fields_of(&staged), ["curl", "expires_at", "hint", "upload", "url"]);
        let (url, curl) = (staged["url"].as_str().unwrap(), staged["curl"].as_str().unwrap());
        assert_eq!(curl, format!("curl -sS -F 'files=@index.html;filename=index.html' '{url}'"));
        let lasts_ms = millis_from_now(staged["expires_at"].as_str().unwrap());
        assert!((lasts_ms - 15 * 60_000).abs() < 60_000, "{lasts_ms}");
        // Before the upload there is nothing to publish.
        failed(&publish(&agent, "my-page", &staged).await, "not_found");

        let kept = address(&world, &staged)
            .file("index.html", PAGE)
            .file("css/app.css", "h1 { color: teal }")
            .await
            .expect(201);
        assert_eq!(kept.field_names(), ["expires_at", "file_count", "hint", "total_bytes", "upload"]);
        assert_eq!((kept.at("upload"), kept.integer("file_count")), (staged["upload"].clone(), 2));
        assert_eq!(kept.integer("total_bytes"), i64::try_from(PAGE.len() + 18).unwrap());
        assert!(kept.string("hint").contains("publish_upload"), "{kept:?}");
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]), "an upload is no publish");

        let published = tool_result(&publish(&agent, "my-page", &staged).await);
        let url = published["url"].as_str().unwrap();
        assert_serves(&visitor.open(url).await, PAGE);
        let sheet = visitor.open(&format!("{url}css/app.css")).await.expect(200);
        assert_eq!(sheet.text(), "h1 { color: teal }");
        let versions = agent.artifact("my-page").await.expect(200).at("versions");
        assert_eq!((&versions[0]["created_via"], &versions[0]["file_count"]), (&json!("mcp"), &json!(2)));
    }

    async fn single_page_is_uploaded_as_a_raw_body(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let large = page_saying(&"large ".repeat(100_000));
        for (method, kind) in [
            (Method::PUT, "text/html"),
            (Method::POST, "application/x-www-form-urlencoded"),
            (Method::PUT, "application/octet-stream"),
        ] {
            let staged = stage(&agent).await;
            let call = world.stranger().call(method, path_of(&staged)).raw(kind, large.clone());
            assert_eq!(call.await.expect(201).integer("total_bytes"), i64::try_from(large.len()).unwrap());
            let published = tool_result(&publish(&agent, "my-page", &staged).await);
            assert_serves(&visitor.open(published["url"].as_str().unwrap()).await, &large);
        }
        let staged = stage(&agent).await;
        address(&world, &staged).field("html", PAGE).await.expect(201);
        let published = tool_result(&publish(&agent, "my-page", &staged).await);
        assert_serves(&visitor.open(published["url"].as_str().unwrap()).await, PAGE);
    }

    async fn upload_is_deleted_by_the_publish_that_uses_it(world: World) {
        let agent = world.agent().await;
        let staged = stage(&agent).await;
        address(&world, &staged).field("html", PAGE).await.expect(201);
        tool_result(&publish(&agent, "my-page", &staged).await);
        for slug in ["my-page", "other-page"] {
            let ended = failed(&publish(&agent, slug, &staged).await, "not_found");
            assert!(ended["hint"].as_str().unwrap().contains("stage_upload"), "{ended}");
        }
        assert_eq!(agent.artifact("my-page").await.expect(200).at("versions").as_array().unwrap().len(), 1);
        // Its address accepts no second upload.
        address(&world, &staged).field("html", PAGE).await.refused(409, "upload_taken");
    }

    async fn concurrent_publishes_of_one_upload_create_one_version(world: World) {
        let agent = world.agent().await;
        let staged = stage(&agent).await;
        address(&world, &staged).field("html", PAGE).await.expect(201);
        let replies = join_all((0..6).map(|_| publish(&agent, "my-page", &staged))).await;
        let is_published = |reply: &&Reply| reply.at("result.isError") != json!(true);
        assert!(replies.iter().filter(is_published).count() > 0, "{replies:?}");
        for reply in &replies {
            match is_published(&reply) {
                true => assert_eq!(tool_result(reply)["version"], 1),
                false => assert_eq!(failed(reply, "not_found")["code"], "not_found"),
            }
        }
        assert_eq!(agent.artifact("my-page").await.expect(200).at("versions").as_array().unwrap().len(), 1);
    }

    async fn upload_url_accepts_one_upload(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let staged = stage(&agent).await;
        let put = |html: &str| world.stranger().call(Method::PUT, path_of(&staged)).raw("text/html", html.to_owned());
        // A refused upload stored nothing.
        put("").await.refused(400, "invalid_request");
        put(&page_saying("first")).await.expect(201);
        for _ in 0..2 {
            let refused = put(&page_saying("second")).await.refused(409, "upload_taken");
            assert!(refused.string("hint").contains("stage_upload"), "{refused:?}");
        }
        let published = tool_result(&publish(&agent, "my-page", &staged).await);
        assert_serves(&visitor.open(published["url"].as_str().unwrap()).await, &page_saying("first"));
    }

    async fn upload_urls_and_staged_uploads_expire(world: World) {
        let (agent, _) = crate::teams::claimed_by(&world, "ada").await;
        let (early, late, never) = (stage(&agent).await, stage(&agent).await, stage(&agent).await);
        address(&world, &early).field("html", PAGE).await.expect(201);
        address(&world, &never).field("html", PAGE).await.expect(201);
        world.advance(16 * MINUTE);
        let refused = address(&world, &late).field("html", PAGE).await.refused(404, "not_found");
        assert!(refused.string("message").contains("any more"), "{refused:?}");
        assert!(refused.string("hint").contains("stage_upload"), "{refused:?}");
        tool_result(&publish(&agent, "my-page", &early).await);
        world.advance(45 * MINUTE);
        let lapsed = failed(&publish(&agent, "my-page", &never).await, "not_found");
        assert!(lapsed["hint"].as_str().unwrap().contains("stage_upload"), "{lapsed}");
    }

    async fn forged_upload_url_is_not_found(world: World) {
        let agent = world.agent().await;
        let staged = stage(&agent).await;
        let good = path_of(&staged).to_owned();
        let last = good.chars().last().unwrap();
        let mended = &good[..good.len() - 1];
        for path in [
            format!("{mended}{}", if last == '0' { '1' } else { '0' }),
            format!("{good}0"),
            mended.to_owned(),
            "/v1/uploads/nonsense".to_owned(),
            format!("/v1/uploads/{}", staged["upload"].as_str().unwrap()),
        ] {
            let refused = world.stranger().post(&path).field("html", PAGE).await.refused(404, "not_found");
            assert!(refused.string("message").contains("upload"), "{path}: {refused:?}");
        }
        let wrong = world.stranger().get(&good).await.refused(405, "method_not_allowed");
        assert_eq!(wrong.header("Allow"), "POST, PUT");
        address(&world, &staged).field("html", PAGE).await.expect(201);
    }

    async fn staged_upload_belongs_to_its_account(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let staged = stage(&agent).await;
        address(&world, &staged).field("html", PAGE).await.expect(201);
        failed(&publish(&other, "my-page", &staged).await, "not_found");
        for name in ["", "nonsense", "01KC4GZJ2Q8W5T7RXN3VB6M9DE", "../../blobs"] {
            failed(&publish(&agent, "my-page", &json!({ "upload": name })).await, "not_found");
        }
        // Another token of the account can publish it as well.
        let colleague = agent.minted(&json!({ "scopes": "artifacts:write" })).await;
        tool_result(&publish(&colleague, "my-page", &staged).await);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "0")]
    async fn staged_upload_survives_a_402(world: World) {
        let agent = world.agent().await;
        let staged = stage(&agent).await;
        address(&world, &staged).field("html", PAGE).await.expect(201);
        failed(&publish(&agent, "my-page", &staged).await, "payment_required");
        let credit = json!({ "amount_usd": 1, "payment_scheme": "dev" });
        tool_result(&agent.call_tool("add_credits", &credit).await);
        let published = tool_result(&publish(&agent, "my-page", &staged).await);
        assert_eq!(published["account"]["credits_usd"], json!(0.995));
    }

    async fn staged_upload_has_the_limits_of_a_publish(world: World) {
        let agent = world.agent().await;
        let staged = stage(&agent).await;
        let call = || address(&world, &staged);
        let crowd = (0..51).fold(call(), |call, file| call.file(&format!("{file}.txt"), "x"));
        crowd.await.refused(413, "too_large");
        call().raw("text/html", vec![b'x'; 10 * 1_048_576 + 1]).await.refused(413, "too_large");
        call().file("big", vec![b'x'; 10 * 1_048_576 + 1]).await.refused(413, "too_large");
        call().file("../index.html", PAGE).await.refused(400, "invalid_request").naming("files");
        call().file("a", PAGE).file("a", PAGE).await.refused(400, "invalid_request").naming("files");
        call().field("html", PAGE).field("slug", "my-page").await.refused(400, "invalid_request").naming("slug");
        call().field("html", PAGE).field("message", "new").await.refused(400, "invalid_request").naming("message");
        call().await.refused(400, "invalid_request").naming("body");
        // After all that, the address still accepts its one upload.
        call().raw("text/html", vec![b'x'; 10 * 1_048_576]).await.expect(201);
    }

    async fn newest_uploads_are_kept_and_the_oldest_is_evicted(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let theirs = stage(&other).await;
        address(&world, &theirs).field("html", PAGE).await.expect(201);
        let mut all = Vec::new();
        for _ in 0..6 {
            let staged = stage(&agent).await;
            address(&world, &staged).field("html", PAGE).await.expect(201);
            all.push(staged);
        }
        let gone = failed(&publish(&agent, "my-page", &all[0]).await, "not_found");
        assert!(gone["hint"].as_str().unwrap().contains("stage_upload"), "{gone}");
        // Its address does not bring it back.
        address(&world, &all[0]).field("html", PAGE).await.refused(404, "not_found");
        for staged in &all[1..] {
            address(&world, staged).field("html", PAGE).await.refused(409, "upload_taken");
        }
        tool_result(&publish(&agent, "my-page", &all[1]).await);
        tool_result(&publish(&agent, "my-page", &all[5]).await);
        tool_result(&publish(&other, "my-page", &theirs).await);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "5m")]
    async fn expired_account_accepts_no_uploads(world: World) {
        let agent = world.agent().await;
        let staged = stage(&agent).await;
        world.advance(6 * MINUTE);
        let refused = address(&world, &staged).field("html", PAGE).await.refused(403, "account_expired");
        assert!(refused.string("hint").contains("POST /v1/signup"), "{refused:?}");
    }

    async fn upload_urls_are_limited_per_account_and_minute(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let mut given = 0;
        let refused = loop {
            let reply = agent.call_tool("stage_upload", &json!({})).await;
            if reply.at("result.isError") == json!(true) {
                break failed(&reply, "rate_limited");
            }
            given += 1;
            assert!(given < 100, "no end of addresses");
        };
        assert!(given >= 20, "only {given}: {refused}");
        stage(&other).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_uploads_are_swept() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let uploads = world.folder().join("data/blobs/uploads");
    let staged = stage(&agent).await;
    address(&world, &staged).field("html", PAGE).await.expect(201);
    assert_eq!(files_below(&uploads), 1);
    // The sweep runs every hour.
    world.advance(130 * MINUTE);
    let is_empty = async || (files_below(&uploads) == 0).then_some(());
    eventually(PATIENCE, "the sweep of uploads", is_empty).await;
}

fn files_below(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let counted = |path: &Path| if path.is_dir() { files_below(path) } else { 1 };
    entries.map(|entry| counted(&entry.unwrap().path())).sum()
}

pub async fn stage(agent: &Agent) -> Value {
    tool_result(&agent.call_tool("stage_upload", &json!({})).await)
}

async fn publish(agent: &Agent, slug: &str, staged: &Value) -> handbill_tests::Reply {
    agent.call_tool("publish_upload", &json!({ "slug": slug, "upload": staged["upload"] })).await
}

/// A call to the staged address, without a token.
pub fn address(world: &World, staged: &Value) -> Call {
    world.stranger().post(path_of(staged))
}

fn path_of(staged: &Value) -> &str {
    let url = staged["url"].as_str().unwrap();
    &url[url.find("/v1/").expect("an address of the API")..]
}
