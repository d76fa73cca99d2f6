//! Publishes that send only what changed: files by the SHA-256 of what the account holds, and sites that are
//! made from another version.

use futures::future::join_all;
use handbill_tests::{Agent, Call, Reply, Value, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, assert_untouched, page_saying};
use crate::mcp::tool_result;

const STYLE: &str = "h1 { color: teal }";
const OTHER: &str = "h2 { color: navy }";

in_both_modes! {
    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn a_file_is_given_by_the_hash_of_what_the_account_holds(world: World) {
        let (agent, visitor) = (site_of(&world).await, world.visitor());
        let page = page_saying("next");
        let files = json!([
            { "path": "index.html", "content": page },
            { "path": "css/app.css", "sha256": sha256(STYLE), "size_bytes": STYLE.len() },
            { "path": "copy.css", "sha256": sha256(STYLE) },
        ]);
        let next = agent.post("/v1/publish").json(&json!({ "slug": "my-site", "files": files }));
        let next = next.await.expect(201);
        assert_eq!((next.integer("version"), next.at("warnings")), (2, json!([])));
        assert_eq!(visitor.open_site(&next, "css/app.css").await.expect(200).text(), STYLE);
        assert_eq!(visitor.open_site(&next, "copy.css").await.expect(200).text(), STYLE);
        // Any version of any artifact counts, and the number of files that are sent may be none.
        let manifest = json!({ "index.html": sha256(&page), "old.html": sha256(PAGE) }).to_string();
        let other = agent.post("/v1/publish").field("slug", "other").field("manifest", manifest);
        let other = other.await.expect(201);
        assert_eq!(visitor.open_site(&other, "old.html").await.status, 200);
        let manifest = json!({ "css/app.css": sha256(STYLE) }).to_string();
        let version = agent.add_version("other", PAGE).await.expect(201).integer("version");
        let form = agent.post("/v1/artifacts/other/versions").field("manifest", manifest);
        assert_eq!(form.file("index.html", PAGE).await.expect(201).integer("version"), version + 1);
        assert_eq!(paths_of(&agent, "other").await, ["css/app.css", "index.html"]);
        // A deleted artifact still counts as the account's storage.
        agent.delete("my-site").await.expect(200);
        publish_named(&agent, "third", &[("index.html", sha256(PAGE))]).await.expect(201);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn what_the_account_does_not_hold_is_listed_and_nothing_is_published(world: World) {
        let (owner, agent) = (site_of(&world).await, world.agent().await);
        let never = sha256("never sent");
        let (page, style) = (sha256(PAGE), sha256(STYLE));
        let named = [("index.html", page), ("a", never.clone()), ("b", style), ("c", never.clone())];
        let refused = publish_named(&agent, "my-site", &named).idempotency_key("one").await;
        let refused = refused.refused(409, "content_missing");
        assert_eq!(fields_of(&refused.json()), ["code", "doc_url", "hint", "message", "missing"]);
        assert_eq!(refused.at("missing"), json!([sha256(PAGE), never, sha256(STYLE)]));
        let manifest = json!({ "index.html": sha256(PAGE) }).to_string();
        let form = agent.post("/v1/publish").field("slug", "my-site").field("manifest", manifest).await;
        assert_eq!(form.refused(409, "content_missing").at("missing"), json!([sha256(PAGE)]));
        let files = json!([{ "path": "index.html", "sha256": sha256(PAGE) }]);
        let tool = agent.call_tool("publish_artifact", &json!({ "slug": "my-site", "files": files })).await;
        assert_eq!(tool.at("result.structuredContent.missing"), json!([sha256(PAGE)]));
        assert_eq!(tool.at("result.structuredContent.code"), "content_missing");
        assert_untouched(&agent).await;
        // The key is free: the client sends what is missing.
        agent.publish("my-site", PAGE).idempotency_key("one").await.expect(201);
        // A staged upload is not a version.
        let staged = tool_result(&agent.call_tool("stage_upload", &json!({})).await);
        let path = staged["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap().to_owned();
        agent.post(&format!("/{path}")).file("index.html", "never sent").await.expect(201);
        publish_named(&agent, "my-site", &[("index.html", never)]).await.refused(409, "content_missing");
        assert_eq!(owner.usage().await.expect(200).integer("publishes.used"), 1);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn malformed_names_of_contents_are_refused(world: World) {
        let agent = site_of(&world).await;
        let hash = sha256(STYLE);
        for (file, code, field) in [
            (json!({ "path": "a", "sha256": "abc" }), "invalid_request", "sha256"),
            (json!({ "path": "a", "sha256": hash.to_uppercase() }), "invalid_request", "sha256"),
            (json!({ "path": "a", "sha256": format!("{hash}0") }), "invalid_request", "sha256"),
            (json!({ "path": "a", "sha256": hash, "content": STYLE }), "invalid_request", "sha256"),
            (json!({ "path": "a", "sha256": hash, "size_bytes": 7 }), "invalid_request", "size_bytes"),
            (json!({ "path": "a", "content": STYLE, "size_bytes": 7 }), "invalid_request", "size_bytes"),
            (json!({ "path": "a" }), "invalid_body", "content"),
            (json!({ "path": "../a", "sha256": hash }), "invalid_request", "../a"),
        ] {
            for path in ["/v1/publish", "/v1/artifacts/my-site/versions"] {
                let body = json!({ "slug": "my-site", "files": [file] });
                agent.post(path).json(&body).await.refused(400, code).naming(field);
            }
            let arguments = json!({ "slug": "my-site", "files": [file] });
            let tool = agent.call_tool("publish_artifact", &arguments).await;
            assert_eq!(tool.at("result.structuredContent.code"), "invalid_request", "{file}");
        }
        let publish = || agent.post("/v1/publish").field("slug", "my-site");
        let form = |manifest: &str| publish().field("manifest", manifest.to_owned());
        let twice = format!(r#"{{"a":"{hash}","a":"{hash}"}}"#);
        let clash = format!(r#"{{"a":"{hash}","a/b":"{hash}"}}"#);
        for (manifest, naming) in [
            ("", "manifest"), ("[]", "manifest"), ("{", "manifest"), (r#"{"a":1}"#, "manifest"),
            (r#"{"a":"abc"}"#, "manifest"), ("{}x", "manifest"), (&*twice, "occurs twice"),
            (&*clash, "\"a\""),
        ] {
            form(manifest).await.refused(400, "invalid_request").naming(naming);
        }
        let named = format!(r#"{{"a":"{hash}"}}"#);
        form(&named).file("a", STYLE).await.refused(400, "invalid_request").naming("\"a\"");
        form(&named).field("html", PAGE).await.refused(400, "invalid_request").naming("html");
        form("{}").await.refused(400, "invalid_request").naming("files");
        form("{}").file("a", STYLE).await.expect(201);
        let many = (0..51).map(|number| (number.to_string(), json!(hash))).collect::<serde_json::Map<_, _>>();
        form(&Value::from(many).to_string()).await.refused(413, "too_large");
        // The limit holds for the contents that are not sent, too.
        let large = vec![b'x'; 6_000_000];
        agent.publish_files("large", &[("a", &large)]).await.expect(201);
        let hash = domain::BlobHash::of(&large).to_string();
        publish_named(&agent, "large", &[("a", hash.clone()), ("b", hash)]).await.refused(413, "too_large");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn a_site_is_made_from_another_version(world: World) {
        let (agent, visitor) = (site_of(&world).await, world.visitor());
        let linked = "<!doctype html><link rel=stylesheet href=css/app.css>\
                      <link rel=stylesheet href=new.css>";
        let changes = json!({ "slug": "my-site", "base": "live", "delete": ["dot.bin"], "files": [
            { "path": "index.html", "content": linked },
            { "path": "new.css", "content": OTHER },
        ]});
        let second = agent.post("/v1/publish").json(&changes).await.expect(201);
        assert_eq!((second.integer("version"), second.at("warnings")), (2, json!([])), "of the whole site");
        assert_eq!(paths_of(&agent, "my-site").await, ["css/app.css", "index.html", "new.css"]);
        assert_eq!(visitor.open_site(&second, "css/app.css").await.expect(200).text(), STYLE);
        assert_eq!(visitor.open_site(&second, "new.css").await.expect(200).text(), OTHER);
        visitor.open_site(&second, "dot.bin").await.expect(404);
        // A numbered base, in a form.
        let versions = || agent.post("/v1/artifacts/my-site/versions");
        let form = versions().field("base", "1").field("delete", "css/app.css").field("delete", "dot.bin");
        assert_eq!(form.file("a/b.css", OTHER).await.expect(201).integer("version"), 3);
        assert_eq!(paths_of(&agent, "my-site").await, ["a/b.css", "index.html"]);
        // A folder takes the name of a deleted file, and a page replaces the front page.
        let form = agent.post("/v1/publish").field("slug", "my-site").field("base", "1");
        let form = form.field("delete", "dot.bin").file("dot.bin/x", OTHER).field("delete", "index.html");
        form.await.expect(201);
        assert_eq!(paths_of(&agent, "my-site").await, ["css/app.css", "dot.bin/x"]);
        let warned = versions().json(&json!({ "base": 2, "delete": ["new.css"], "html": linked }));
        let warned = warned.await.expect(201);
        assert_eq!(warned.at("warnings.0.target"), "new.css");
        // Without any change, the base is published again. A staged version can be a base.
        let again = versions().json(&json!({ "base": 2 })).await.expect(201);
        assert_eq!(again.at("warnings"), json!([]));
        assert_eq!(paths_of(&agent, "my-site").await, ["css/app.css", "index.html", "new.css"]);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn a_base_that_does_not_exist_is_not_found(world: World) {
        let agent = site_of(&world).await;
        for base in [json!(2), json!(999_999_999)] {
            for path in ["/v1/publish", "/v1/artifacts/my-site/versions"] {
                let body = json!({ "slug": "my-site", "base": base, "html": PAGE });
                agent.post(path).json(&body).await.refused(404, "not_found");
            }
            let form = agent.publish("my-site", PAGE).field("base", base.to_string());
            form.await.refused(404, "not_found");
        }
        for base in ["live", "1"] {
            agent.publish("nowhere", PAGE).field("base", base).await.refused(404, "not_found");
            agent.add_version("nowhere", PAGE).field("base", base).await.refused(404, "not_found");
        }
        let unmet = agent.publish("nowhere", PAGE).field("base", "live").header("If-Match", "\"v1\"");
        unmet.await.refused(412, "version_conflict");
        let staged = agent.post("/v1/artifacts/my-site/versions?activate=false");
        staged.json(&json!({ "base": 1, "html": page_saying("staged") })).await.expect(201);
        let from_staged = json!({ "slug": "my-site", "base": 2, "files": [] });
        let publish = || agent.post("/v1/publish").json(&from_staged).header("If-Match", "\"v1\"");
        publish().await.expect(201);
        publish().await.refused(412, "version_conflict");
        agent.delete("my-site").await.expect(200);
        agent.publish("my-site", PAGE).field("base", "live").await.refused(404, "not_found");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn malformed_bases_and_deletions_are_refused(world: World) {
        let agent = site_of(&world).await;
        let three = ["css/app.css", "dot.bin", "index.html"];
        for (body, code, naming) in [
            (json!({ "base": 0 }), "invalid_body", "base"),
            (json!({ "base": "3" }), "invalid_body", "base"),
            (json!({ "base": 1.5 }), "invalid_body", "base"),
            (json!({ "html": PAGE, "delete": ["dot.bin"] }), "invalid_request", "delete: needs base"),
            (json!({ "base": "live", "delete": ["nothing.txt"] }), "invalid_request", "nothing.txt"),
            (json!({ "base": "live", "delete": ["css"] }), "invalid_request", "\"css\""),
            (json!({ "base": "live", "delete": ["dot.bin", "dot.bin"] }), "invalid_request", "occurs twice"),
            (json!({ "base": "live", "delete": ["index.html"], "html": PAGE }), "invalid_request", "index.html"),
            (json!({ "base": "live", "delete": three }), "invalid_request", "delete"),
            (json!({ "base": "live", "delete": vec!["x"; 51] }), "invalid_request", "delete"),
            (json!({ "base": "live", "files": [{ "path": "css", "content": "" }] }), "invalid_request", "\"css\""),
        ] {
            agent.post("/v1/artifacts/my-site/versions").json(&body).await.refused(400, code).naming(naming);
        }
        let form = |base: &str| agent.post("/v1/artifacts/my-site/versions").field("base", base.to_owned());
        for base in ["", "0", "v1", "Live", "99999999999"] {
            form(base).await.refused(400, "invalid_request").naming("base");
        }
        form("1").field("base", "1").await.refused(400, "invalid_request").naming("base");
        form("1").field("delete", "").await.refused(400, "invalid_request").naming("delete");
        let without = agent.add_version("my-site", PAGE).field("delete", "x");
        without.await.refused(400, "invalid_request").naming("base");
        let unnamed = agent.post("/v1/publish").json(&json!({ "base": "live", "html": PAGE })).await;
        unnamed.refused(400, "invalid_request").naming("slug");
        let file = |number: usize| json!({ "path": number.to_string(), "content": "" });
        let fifty: Vec<_> = (0..50).map(file).collect();
        let over = agent.post("/v1/artifacts/my-site/versions").json(&json!({ "base": 1, "files": fifty }));
        over.await.refused(413, "too_large");
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
        // The fields belong to a publish alone.
        let staged = tool_result(&agent.call_tool("stage_upload", &json!({})).await);
        let path = staged["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap().to_owned();
        let manifest = json!({ "b": sha256(STYLE) }).to_string();
        for (field, value) in [("base", "1".to_owned()), ("manifest", manifest)] {
            let upload = agent.post(&format!("/{path}")).field(field, value).file("a", STYLE);
            upload.await.refused(400, "invalid_request").naming(field);
            let home = world.stranger().post("/").field(field, "1").field("html", PAGE);
            assert!(home.await.status >= 400);
        }
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn a_repeated_request_has_its_first_response(world: World) {
        let agent = site_of(&world).await;
        let keyed = |call: Call| call.idempotency_key("one");
        let sent = json!([{ "path": "a.css", "content": STYLE }, { "path": "b.css", "content": OTHER }]);
        let first = agent.post("/v1/publish").json(&json!({ "slug": "new", "files": sent }));
        let first = keyed(first).await.expect(201);
        let named = [("a.css", sha256(STYLE)), ("b.css", sha256(OTHER))];
        assert_eq!(keyed(publish_named(&agent, "new", &named)).await.expect(201).json(), first.json());
        let manifest = json!({ "b.css": sha256(OTHER) }).to_string();
        let form = agent.post("/v1/publish").field("slug", "new").field("manifest", manifest);
        assert_eq!(keyed(form.file("a.css", STYLE)).await.expect(201).json(), first.json());
        let other = keyed(publish_named(&agent, "new", &named[..1])).await;
        other.refused(409, "idempotency_conflict");

        // With the key, `live` means the version that was live at the first request.
        let keyed = |call: Call| call.idempotency_key("two");
        let html = "<link rel=stylesheet href=css/app.css>";
        let change = json!({ "slug": "my-site", "base": "live", "delete": ["css/app.css"], "files": [
            { "path": "b.css", "content": OTHER }, { "path": "index.html", "content": html },
        ]});
        let changed = || keyed(agent.post("/v1/publish").json(&change));
        let second = changed().await.expect(201);
        assert_eq!(second.at("warnings.0.target"), "css/app.css");
        assert_eq!(changed().await.expect(201).json(), second.json());
        agent.publish("my-site", PAGE).await.expect(201);
        agent.publish("my-site", page_saying("later")).await.expect(201);
        assert_eq!(changed().await.expect(201).json(), second.json());
        let form = agent.post("/v1/publish").field("slug", "my-site").field("base", "live");
        let form = form.field("delete", "css/app.css").file("index.html", html).file("b.css", OTHER);
        assert_eq!(keyed(form).await.expect(201).json(), second.json());
        let other = json!({ "slug": "my-site", "base": "live", "html": html });
        keyed(agent.post("/v1/publish").json(&other)).await.refused(409, "idempotency_conflict");
        let without = json!({ "slug": "my-site", "html": html });
        keyed(agent.post("/v1/publish").json(&without)).await.refused(409, "idempotency_conflict");
        agent.delete("my-site").await.expect(200);
        assert_eq!(changed().await.expect(201).json(), second.json());
    }

    async fn simultaneous_requests_with_one_key_share_a_response(world: World) {
        let agent = site_of(&world).await;
        let change = json!({ "slug": "my-site", "base": "live", "delete": ["dot.bin"] });
        let calls = (0..8).map(|_| agent.post("/v1/publish").json(&change).idempotency_key("one"));
        let replies = join_all(calls.map(IntoFuture::into_future)).await;
        // The first one deletes the file, so that any other would find it missing in the live version.
        for reply in &replies {
            assert_eq!(reply.clone().expect(201).json(), replies[0].json());
        }
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 2);
    }

    #[settings(
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100",
        "HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "1000"
    )]
    async fn simultaneous_changes_of_the_live_version_are_all_kept(world: World) {
        const CLIENTS: usize = 12;
        let agent = site_of(&world).await;
        // Some are sent twice at the same time, under a key.
        let calls = (0..CLIENTS).chain((0..CLIENTS).step_by(2)).map(|number| {
            let files = json!([{ "path": format!("{number:02}.html"), "content": PAGE }]);
            let body = json!({ "base": "live", "files": files });
            let call = agent.post("/v1/artifacts/my-site/versions").json(&body);
            if number % 2 == 0 { call.idempotency_key(format!("key-{number}")) } else { call }.into_future()
        });
        let published = join_all(calls).await.into_iter().map(|reply| reply.expect(201));
        let mut versions: Vec<_> = published.map(|published| published.integer("version")).collect();
        versions.sort_unstable();
        versions.dedup();
        assert_eq!(versions, (2..2 + CLIENTS as i64).collect::<Vec<_>>());
        let added = (0..CLIENTS).map(|number| format!("{number:02}.html"));
        let before = ["css/app.css", "dot.bin", "index.html"].map(str::to_owned);
        assert_eq!(paths_of(&agent, "my-site").await, added.chain(before).collect::<Vec<_>>());
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), CLIENTS as i64 + 1);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "1")]
    async fn what_is_not_sent_is_paid_for_like_what_is(world: World) {
        let agent = site_of(&world).await;
        let call = |base: &str| agent.post("/v1/publish").json(&json!({ "slug": "my-site", "base": base }));
        call("live").await.refused(402, "payment_required");
        let named = || publish_named(&agent, "my-site", &[("index.html", sha256(PAGE))]);
        named().await.refused(402, "payment_required");
        let missing = publish_named(&agent, "my-site", &[("index.html", sha256("nothing"))]);
        missing.paying("dev:0.005").await.refused(409, "content_missing");
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
        named().paying("dev:0.005").await.expect(201);
        call("live").paying("dev:0.005").await.expect(201);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn a_pinned_token_names_the_contents_of_its_artifact_alone(world: World) {
        let agent = site_of(&world).await;
        agent.publish("other", page_saying("other")).await.expect(201);
        let artifact = agent.artifact("my-site").await.expect(200).string("id");
        let pinned = agent.minted(&json!({ "scopes": "artifacts:write", "artifact_id": artifact })).await;
        publish_named(&pinned, "my-site", &[("index.html", sha256(PAGE))]).await.expect(201);
        let foreign = [("index.html", sha256(&page_saying("other")))];
        publish_named(&pinned, "my-site", &foreign).await.refused(409, "content_missing");
        for slug in ["other", "nowhere"] {
            for content in [PAGE, "never sent"] {
                let named = publish_named(&pinned, slug, &[("index.html", sha256(content))]);
                named.await.refused(403, "insufficient_scope");
            }
            let based = pinned.publish(slug, PAGE).field("base", "live");
            based.await.refused(403, "insufficient_scope");
        }
        pinned.publish("my-site", PAGE).field("base", "live").await.expect(201);
    }
}

/// An agent whose first version of `my-site` has three files.
async fn site_of(world: &handbill_tests::World) -> Agent {
    let agent = world.agent().await;
    let files: [(&str, &[u8]); 3] =
        [("index.html", PAGE.as_bytes()), ("css/app.css", STYLE.as_bytes()), ("dot.bin", b"\0\xff")];
    agent.publish_files("my-site", &files).await.expect(201);
    agent
}

fn publish_named(agent: &Agent, slug: &str, files: &[(&str, String)]) -> Call {
    let files: Vec<_> = files.iter().map(|(path, hash)| json!({ "path": path, "sha256": hash })).collect();
    agent.post("/v1/publish").json(&json!({ "slug": slug, "files": files }))
}

async fn paths_of(agent: &Agent, slug: &str) -> Vec<String> {
    let files: Reply = agent.get(&format!("/v1/artifacts/{slug}/files")).await.expect(200);
    let files = files.json();
    files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

fn sha256(content: &str) -> String {
    domain::BlobHash::of(content.as_bytes()).to_string()
}
