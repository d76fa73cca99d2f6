//! The files of a version over the API and MCP: the list and the bytes, for the account only.

use handbill_tests::{Agent, Reply, Value, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, page_saying};

const STYLE: &str = "h1 { color: teal }\nh2 { color: navy }\n";
const DOT: &[u8] = b"\0\xff\0\xff";

in_both_modes! {
    async fn files_of_any_version_are_listed_and_read(world: World) {
        let agent = published_site(&world).await;
        let list = agent.get("/v1/artifacts/my-site/files").await.expect(200).json();
        assert_eq!(paths(&list), ["a b/ü.txt", "css/app.css", "dot.bin", "index.html"]);
        let style = &list[1];
        assert_eq!(fields_of(style), ["content_type", "path", "sha256", "size_bytes"]);
        assert_eq!(style["size_bytes"], STYLE.len());
        assert_eq!(style["content_type"], "text/css; charset=utf-8");
        assert_eq!(style["sha256"], domain::BlobHash::of(STYLE.as_bytes()).to_string());
        assert_eq!(agent.get("/v1/artifacts/my-site/files?version=live").await.expect(200).json(), list);

        agent.add_version("my-site", page_saying("next")).await.expect(201);
        let live = agent.get("/v1/artifacts/my-site/files").await.expect(200).json();
        assert_eq!(paths(&live), ["index.html"]);
        assert_eq!(agent.get("/v1/artifacts/my-site/files?version=1").await.expect(200).json(), list);
        let page = agent.get("/v1/artifacts/my-site/files/index.html").await.expect(200);
        assert_eq!(page.text(), page_saying("next"), "as published, without a badge");
        assert_eq!(file(&agent, "index.html").await.expect(200).text(), PAGE);
        assert_eq!(file(&agent, "css/app.css").await.expect(200).text(), STYLE);
        assert_eq!(file(&agent, "css%2Fapp.css").await.expect(200).text(), STYLE);
        assert_eq!(file(&agent, "a%20b/%C3%BC.txt").await.expect(200).text(), "umlaut");
        assert_eq!(&file(&agent, "dot.bin").await.expect(200).body[..], DOT);
    }

    async fn file_has_its_type_and_is_sandboxed(world: World) {
        let agent = published_site(&world).await;
        for (path, content_type) in [
            ("index.html", "text/html; charset=utf-8"),
            ("css/app.css", "text/css; charset=utf-8"),
            ("dot.bin", "application/octet-stream"),
        ] {
            let reply = file(&agent, path).await.expect(200);
            assert_eq!(reply.header("Content-Type"), content_type);
            assert_eq!(reply.header("X-Content-Type-Options"), "nosniff");
            assert_eq!(reply.header("Content-Security-Policy"), "sandbox");
            assert_eq!(reply.header("Cache-Control"), "no-store");
        }
    }

    async fn unknown_files_versions_and_artifacts_are_not_found(world: World) {
        let agent = published_site(&world).await;
        for path in [
            "my-site/files?version=2", "my-site/files/x.css", "my-site/files/css", "my-site/files/css/",
            "my-site/files/css/app.css/x", "my-site/files/index.html?version=2", "my-site/files//index.html",
            "my-site/files/%2E%2E/index.html", "other/files", "other/files/index.html",
        ] {
            agent.get(&format!("/v1/artifacts/{path}")).await.refused(404, "not_found");
        }
        let refused = file(&agent, "x.css").await.refused(404, "not_found");
        assert!(refused.string("hint").contains("/files"), "{refused:?}");
        for version in ["0", "-1", "one", "v1", "1.0", "", "1&version=1"] {
            let path = format!("/v1/artifacts/my-site/files?version={version}");
            agent.get(&path).await.refused(400, "invalid_request").naming("version");
        }
        let other = world.agent().await;
        for path in ["files", "files/index.html"] {
            other.get(&format!("/v1/artifacts/my-site/{path}")).await.refused(404, "not_found");
            world.stranger().get(&format!("/v1/artifacts/my-site/{path}")).await.refused(401, "unauthorized");
        }
        agent.delete("my-site").await.expect(200);
        agent.get("/v1/artifacts/my-site/files").await.refused(404, "not_found");
    }

    async fn staged_version_is_read_and_an_artifact_without_a_live_one_needs_a_number(world: World) {
        let agent = published_site(&world).await;
        let staged = agent.post("/v1/artifacts/my-site/versions?activate=false");
        staged.json(&json!({ "html": page_saying("staged") })).await.expect(201);
        let page = agent.get("/v1/artifacts/my-site/files/index.html?version=2").await.expect(200);
        assert_eq!(page.text(), page_saying("staged"));
        assert_eq!(agent.get("/v1/artifacts/my-site/files/index.html").await.expect(200).text(), PAGE);
    }

    async fn models_list_and_read_files(world: World) {
        let agent = published_site(&world).await;
        let list = tool(&agent, "list_files", json!({ "slug": "my-site" })).await;
        assert_eq!(list["version"], 1);
        assert_eq!(list["files"], agent.get("/v1/artifacts/my-site/files").await.expect(200).json());
        let read = tool(&agent, "read_file", json!({ "slug": "my-site", "path": "css/app.css" })).await;
        assert_eq!((read["content"].as_str(), &read["line_count"]), (Some(STYLE), &json!(2)));
        let line = json!({ "slug": "my-site", "path": "css/app.css", "from_line": 2, "to_line": 2 });
        let line = tool(&agent, "read_file", line).await;
        assert_eq!(line["content"], "h2 { color: navy }\n");
        assert_eq!(line["truncated"], false);
        for (arguments, code) in [
            (json!({ "slug": "my-site", "path": "x.css" }), "not_found"),
            (json!({ "slug": "my-site", "path": "index.html", "version": 2 }), "not_found"),
            (json!({ "slug": "my-site", "path": "dot.bin" }), "invalid_request"),
            (json!({ "slug": "my-site", "path": "css/app.css", "from_line": 3 }), "invalid_request"),
        ] {
            let refused = agent.call_tool("read_file", &arguments).await.expect(200);
            assert_eq!(refused.at("result.isError"), true, "{arguments}");
            assert_eq!(refused.string("result.structuredContent.code"), code, "{arguments}");
        }
    }
}

async fn published_site(world: &handbill_tests::World) -> Agent {
    let agent = world.agent().await;
    let files: [(&str, &[u8]); 4] = [
        ("index.html", PAGE.as_bytes()),
        ("css/app.css", STYLE.as_bytes()),
        ("dot.bin", DOT),
        ("a b/ü.txt", b"umlaut"),
    ];
    agent.publish_files("my-site", &files).await.expect(201);
    agent
}

/// A file of the first version.
fn file(agent: &Agent, path: &str) -> handbill_tests::Call {
    agent.get(&format!("/v1/artifacts/my-site/files/{path}?version=1"))
}

fn paths(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

async fn tool(agent: &Agent, name: &str, arguments: Value) -> Value {
    let reply: Reply = agent.call_tool(name, &arguments).await.expect(200);
    assert_eq!(reply.at("result.isError"), false, "{reply:?}");
    reply.at("result.structuredContent")
}
