//! Edits of text over MCP: each old text occurs exactly once, and no edit removes another's change.

use futures::future::join_all;
use handbill_tests::{Agent, Value, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves};
use crate::mcp::tool_result;

const EDITORS: usize = 5;

in_both_modes! {
    async fn text_is_replaced_in_the_live_version(world: World) {
        let agent = world.agent().await;
        let style = "h1 { color: teal }\nh2 { color: navy }\n";
        let files: [(&str, &[u8]); 3] =
            [("index.html", PAGE.as_bytes()), ("css/app.css", style.as_bytes()), ("dot.bin", b"\0\xff")];
        let first = agent.publish_files("my-site", &files).await.expect(201);
        let edits = json!([
            { "path": "css/app.css", "old": "teal", "new": "navy }\nh1 { top: 0" },
            { "path": "css/app.css", "old": "h2 { color: navy }\n", "new": "" },
            { "path": "index.html", "old": "<h1>Hello</h1>", "new": "<h1>Hello you</h1><img src=no.png>" },
        ]);
        let edited = tool_result(&edit(&agent, edits).await);
        let fields = ["account", "artifact_id", "host", "url", "version", "version_url", "warnings"];
        assert_eq!(fields_of(&edited), fields);
        assert_eq!((&edited["version"], &edited["url"]), (&json!(2), &first.at("url")));
        assert_eq!(edited["warnings"][0]["target"], "no.png");
        let page = world.visitor().open(&first.string("url")).await;
        assert_serves(&page, &PAGE.replace("Hello</h1>", "Hello you</h1><img src=no.png>"));
        let style = world.visitor().open_site(&first, "css/app.css").await.expect(200).text();
        assert_eq!(style, "h1 { color: navy }\nh1 { top: 0 }\n");
        assert_eq!(&world.visitor().open_site(&first, "dot.bin").await.expect(200).body[..], b"\0\xff");
        let detail = agent.artifact("my-site").await.expect(200);
        assert_eq!(detail.string("versions.0.created_via"), "mcp");
    }

    async fn an_edit_that_does_not_apply_changes_nothing(world: World) {
        let agent = world.agent().await;
        let text = "<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>\n";
        let files: [(&str, &[u8]); 2] = [("index.html", text.as_bytes()), ("dot.bin", b"\0\xff")];
        agent.publish_files("my-site", &files).await.expect(201);
        let good = json!({ "path": "index.html", "old": "one", "new": "1" });
        let bad = |old: &str| json!([good, { "path": "index.html", "old": old, "new": "x" }]);
        let twice = refused(&agent, bad("<li>"), "edit_mismatch").await;
        assert_eq!(fields_of(&twice), ["code", "doc_url", "edit", "hint", "hits", "message", "nearest", "path"]);
        assert_eq!((&twice["hits"], &twice["edit"]), (&json!(2), &json!(1)));
        assert_eq!(twice["path"], "index.html");
        assert_eq!(twice["nearest"], json!([
            { "line": 2, "text": "  <li>1</li>" }, { "line": 3, "text": "  <li>two</li>" },
        ]), "after the first edit");
        let none = refused(&agent, bad("<li>tow</li>"), "edit_mismatch").await;
        assert_eq!(none["hits"], 0);
        assert_eq!(none["nearest"][0], json!({ "line": 3, "text": "  <li>two</li>" }));
        // The first edit has removed it.
        assert_eq!(refused(&agent, bad("one"), "edit_mismatch").await["hits"], 0);
        refused(&agent, bad(""), "invalid_request").await;
        refused(&agent, json!([]), "invalid_request").await;
        let binary = json!([{ "path": "dot.bin", "old": "a", "new": "" }]);
        let binary = refused(&agent, binary, "invalid_request").await;
        assert!(binary["message"].as_str().unwrap().contains("dot.bin"), "{binary}");
        refused(&agent, json!([{ "path": "other.html", "old": "a", "new": "" }]), "not_found").await;
        let elsewhere = json!({ "slug": "nowhere", "edits": [good] });
        let unknown = agent.call_tool("edit_artifact", &elsewhere).await.expect(200);
        assert_eq!(unknown.at("result.structuredContent.code"), "not_found");
        for (expected, code) in [(json!(0), "invalid_request"), (json!(7), "version_conflict")] {
            let call = json!({ "slug": "my-site", "edits": [good], "expected_version": expected });
            let reply = agent.call_tool("edit_artifact", &call).await.expect(200);
            assert_eq!(reply.at("result.structuredContent.code"), code);
        }
        for scope in ["artifacts:write", "artifacts:read"] {
            let limited = agent.minted(&json!({ "scopes": scope })).await;
            refused(&limited, json!([good]), "insufficient_scope").await;
        }
        let usage = agent.usage().await.expect(200);
        assert_eq!(usage.integer("publishes.used"), 1);
        let call = json!({ "slug": "my-site", "edits": [good], "expected_version": 1 });
        tool_result(&agent.call_tool("edit_artifact", &call).await);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn no_edit_is_lost_when_several_agents_edit_at_once(world: World) {
        let agent = world.agent().await;
        let lines: String = (0..EDITORS).map(|number| format!("<p>line {number}</p>\n")).collect();
        agent.publish("my-site", lines).await.expect(201);
        let edits = (0..EDITORS).map(|number| {
            let (old, new) = (format!("<p>line {number}</p>"), format!("<p>edited {number}</p>"));
            edit(&agent, json!([{ "path": "index.html", "old": old, "new": new }]))
        });
        for reply in join_all(edits.map(IntoFuture::into_future)).await {
            tool_result(&reply);
        }
        let page = agent.get("/v1/artifacts/my-site/files/index.html").await.expect(200).text();
        assert_eq!(page.matches("edited").count(), EDITORS, "{page}");
        let detail = agent.artifact("my-site").await.expect(200);
        assert_eq!(detail.at("versions").as_array().unwrap().len(), EDITORS + 1);
    }
}

fn edit(agent: &Agent, edits: Value) -> handbill_tests::Call {
    agent.call_tool("edit_artifact", &json!({ "slug": "my-site", "edits": edits }))
}

async fn refused(agent: &Agent, edits: Value, code: &str) -> Value {
    let reply = edit(agent, edits).await.expect(200);
    assert_eq!(reply.at("result.isError"), true, "{reply:?}");
    let body = reply.at("result.structuredContent");
    assert_eq!(body["code"], code, "{body}");
    body
}
