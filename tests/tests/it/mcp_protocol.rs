//! Spec 4.11, the protocol: messages before and around tool calls, and responses to invalid messages.

use handbill_tests::{Agent, Method, Reply, Value, fields_of, in_both_modes, json};

use crate::expectations::PAGE;

const TOOLS: [&str; 16] = [
    "publish_artifact",
    "edit_artifact",
    "stage_upload",
    "publish_upload",
    "list_artifacts",
    "get_artifact",
    "list_files",
    "read_file",
    "diff_versions",
    "rollback_artifact",
    "set_visibility",
    "delete_artifact",
    "get_account",
    "create_claim_link",
    "create_invite",
    "add_credits",
];

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

in_both_modes! {
    async fn initialize_uses_the_requested_protocol_version_or_the_newest(world: World) {
        let agent = world.agent().await;
        for (requested, spoken) in [
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            // It has no handshake.
            ("2026-07-28", "2025-11-25"),
            ("2031-01-01", "2025-11-25"),
            ("no version", "2025-11-25"),
        ] {
            let greeting = greeted(&agent, requested).await;
            assert_eq!(greeting.at("result.protocolVersion"), spoken, "requested {requested}");
            assert_eq!(greeting.at("id"), 1);
            assert_eq!(greeting.header("Mcp-Session-Id"), "");
        }
        let greeting = greeted(&agent, "2025-06-18").await.at("result");
        assert_eq!(fields_of(&greeting["capabilities"]), ["prompts", "resources", "tools"]);
        assert_eq!(greeting["serverInfo"]["name"], "handbill");
        let guide = greeting["instructions"].as_str().unwrap();
        for word in ["publish_artifact", "relative paths", "claim_url", "add_credits", "your human"] {
            assert!(guide.contains(word), "{word} is not in the guide: {guide}");
        }
    }

    async fn pings_are_answered_and_notifications_get_no_response(world: World) {
        let agent = world.agent().await;
        let pong = agent.post("/mcp").raw("application/json", PING).await.expect(200);
        assert_eq!(pong.json(), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
        let texted = agent.mcp(&json!({ "jsonrpc": "2.0", "id": "seven",
            "method": "ping" })).await.expect(200);
        assert_eq!(texted.at("id"), "seven");
        for note in ["notifications/initialized", "notifications/cancelled", "notifications/of-my-own"] {
            let params = json!({ "requestId": 1 });
            let taken = agent.mcp(&json!({ "jsonrpc": "2.0", "method": note,
                "params": params })).await.expect(202);
            assert!(taken.body.is_empty(), "{taken:?}");
        }
    }

    async fn every_tool_is_listed_with_a_closed_schema_and_what_it_does(world: World) {
        let agent = world.agent().await;
        let listed = agent.ask_mcp("tools/list", &json!({})).await.expect(200).at("result");
        assert_eq!(listed.get("nextCursor"), None);
        let tools = listed["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS);
        for tool in tools {
            assert_eq!(
                fields_of(tool),
                ["annotations", "description", "inputSchema", "name", "outputSchema", "title"],
                "{tool}"
            );
            assert!(tool["description"].as_str().unwrap().len() > 100, "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            assert_eq!(
                fields_of(&tool["annotations"]),
                ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint", "title"]
            );
        }
        let that = |hint: &str| {
            let is_so = |tool: &&Value| tool["annotations"][hint] == true;
            tools.iter().filter(is_so).map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>()
        };
        let of_artifacts = ["list_artifacts", "get_artifact", "list_files", "read_file", "diff_versions"];
        let reading = [&of_artifacts[..], &["get_account"]].concat();
        assert_eq!(that("readOnlyHint"), reading);
        assert_eq!(that("destructiveHint"), ["delete_artifact", "create_claim_link"]);
        assert_eq!(that("openWorldHint"), ["publish_artifact", "edit_artifact", "publish_upload"]);
        let schema_of = |name: &str| {
            &tools.iter().find(|tool| tool["name"] == name).expect("a tool")["inputSchema"]
        };
        assert_eq!(schema_of("get_artifact")["properties"]["slug"]["pattern"], "^[a-z0-9-]{3,40}$");
        assert_eq!(schema_of("publish_artifact")["required"], json!(["files"]));
        assert_eq!(schema_of("publish_upload")["required"], json!(["upload"]));
    }

    async fn unknown_method_or_tool_is_a_protocol_error(world: World) {
        let agent = world.agent().await;
        let code = async |method: &str, params: Value| {
            let answer = agent.ask_mcp(method, &params).await.expect(200);
            assert!(answer.string("error.message").len() > 10, "{answer:?}");
            (answer.at("error.code"), answer.at("id"))
        };
        assert_eq!(code("tools/call", json!({ "name": "no_such_tool" })).await, (json!(-32602), json!(1)));
        for method in ["no/such/method", "logging/setLevel", "resources/subscribe"] {
            assert_eq!(code(method, json!({ "level": "info", "uri": "x:y" })).await.0, json!(-32601),
                "{method}");
        }
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({ "name": 5 })),
            ("tools/call", json!({ "name": "get_account", "arguments": [] })),
            ("initialize", json!({ "protocolVersion": 1 })),
        ] {
            assert_eq!(code(method, params).await.0, json!(-32602), "{method}");
        }
    }

    async fn malformed_message_gets_a_json_rpc_error(world: World) {
        let agent = world.agent().await;
        for (body, code, id) in [
            ("", -32700, json!(null)),
            ("{\"jsonrpc\": \"2.0\", \"id\": 1, ", -32700, json!(null)),
            ("hello", -32700, json!(null)),
            ("[]", -32600, json!(null)),
            (&format!("[{PING}"), -32700, json!(null)),
            ("{}", -32600, json!(null)),
            ("\"ping\"", -32600, json!(null)),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32600, json!(7)),
        ] {
            let refused = agent.post("/mcp").raw("application/json", body.to_owned()).await.expect(400);
            assert_eq!(refused.header("Content-Type"), "application/json", "{body}");
            assert_eq!(fields_of(&refused.json()), ["error", "id", "jsonrpc"], "{body}");
            assert_eq!((refused.integer("error.code"), refused.at("id")), (code, id), "{body}");
        }
    }

    #[settings("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "2")]
    async fn a_batch_is_answered_as_an_array_of_the_responses(world: World) {
        let agent = world.agent().await;
        let publish = json!({ "slug": "my-page", "files": [{ "path": "index.html", "content": PAGE }] });
        let batch = json!([
            ping(1),
            { "jsonrpc": "2.0", "method": "notifications/initialized" },
            tool_call("two", "publish_artifact", &publish),
            tool_call("three", "get_artifact", &json!({ "slug": "my-page" })),
            tool_call("four", "publish_artifact", &publish),
            tool_call("five", "publish_artifact", &publish),
            { "jsonrpc": "2.0", "id": 6, "method": "no/such/method" },
            7,
            [ping(8)],
        ]);
        let answered = agent.mcp(&batch).await.expect(200);
        assert_eq!(answered.header("Content-Type"), "application/json");
        let ids: Vec<_> = (0..8).map(|at| answered.at(&format!("{at}.id"))).collect();
        assert_eq!(json!(ids), json!([1, "two", "three", "four", "five", 6, null, null]), "{answered:?}");
        assert_eq!(answered.json().as_array().map(Vec::len), Some(8));
        assert_eq!(answered.at("0.result"), json!({}));
        // A message sees the effects of those before it, and counts like a request of its own.
        assert_eq!(answered.at("2.result.structuredContent.version"), 1);
        assert_eq!(answered.at("3.result.structuredContent.version"), 2);
        assert_eq!(answered.at("4.result.structuredContent.code"), "rate_limited");
        for (at, code) in [(5, -32601), (6, -32600), (7, -32600)] {
            assert_eq!(answered.at(&format!("{at}.error.code")), code, "{answered:?}");
        }
        let notifications = json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]);
        assert!(agent.mcp(&notifications).await.expect(202).body.is_empty());
        world.stranger().mcp(&json!([ping(1)])).await.refused(401, "unauthorized");
    }

    async fn a_batch_is_refused_as_a_whole_where_the_protocol_has_none(world: World) {
        let agent = world.agent().await;
        let publish = tool_call("one", "publish_artifact", &json!({
            "slug": "my-page", "files": [{ "path": "index.html", "content": PAGE }] }));
        let greeting = json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client() } });
        let in_version = |version: &str, batch: &Value| {
            let call = agent.mcp(batch);
            if version.is_empty() { call } else { call.header("MCP-Protocol-Version", version) }
        };
        for version in ["", "2024-11-05", "2025-03-26"] {
            let pong = in_version(version, &json!([ping(7)])).await.expect(200);
            assert_eq!(pong.json(), json!([{ "jsonrpc": "2.0", "id": 7, "result": {} }]), "{version}");
        }
        for (version, batch) in [
            ("2025-06-18", json!([publish])),
            ("2025-11-25", json!([publish])),
            ("2026-07-28", json!([publish])),
            ("", json!([])),
            ("", json!([publish, greeting])),
            ("", json!(vec![publish.clone(); 11])),
        ] {
            let refused = in_version(version, &batch).await.expect(400);
            assert_eq!((refused.at("error.code"), refused.at("id")), (json!(-32600), json!(null)), "{batch}");
        }
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
    }

    async fn mcp_requires_a_valid_token(world: World) {
        let agent = world.agent().await;
        let bare = world.stranger().post("/mcp").raw("application/json", PING).await;
        let bare = bare.refused(401, "unauthorized");
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", world.base_url());
        let found = format!("resource_metadata=\"{metadata}\", scope=\"artifacts:write artifacts:read\"");
        assert_eq!(bare.header("WWW-Authenticate"), format!("Bearer realm=\"handbill\", {found}"));
        assert!(bare.string("hint").contains("POST /v1/signup"), "{bare:?}");
        let revoked = agent.minted(&json!({})).await;
        let id = agent.tokens().await.expect(200).string("0.id");
        agent.revoke_token(&id).await.expect(200);
        for bad in [&agent.with_token("nonsense"), &agent.with_token(&format!("svc_sk_{}", "x".repeat(32))),
            &revoked] {
            // The token is checked first, even for the handshake.
            let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": client() });
            for refused in [
                bad.ask_mcp("initialize", &greeting).await,
                bad.ask_mcp("ping", &json!({})).await,
                bad.post("/mcp").raw("text/plain", "nonsense").await,
            ] {
                let refused = refused.refused(401, "unauthorized");
                let challenge = format!("Bearer realm=\"handbill\", error=\"invalid_token\", {found}");
                assert_eq!(refused.header("WWW-Authenticate"), challenge);
            }
        }
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        let cookie = human.post("/mcp").raw("application/json", PING).await;
        cookie.refused(401, "unauthorized");
    }

    async fn other_http_methods_get_405_with_the_allowed_one(world: World) {
        let agent = world.agent().await;
        for caller in [&agent, &world.stranger()] {
            for method in [Method::GET, Method::DELETE, Method::PUT] {
                let refused = caller.call(method, "/mcp").header("Accept", "text/event-stream").await;
                let refused = refused.refused(405, "method_not_allowed");
                assert_eq!(refused.header("Allow"), "POST");
                assert!(refused.string("hint").contains("again with POST"), "{refused:?}");
            }
        }
    }

    async fn plain_http_clients_are_served_and_unsupported_content_types_are_refused(world: World) {
        let agent = world.agent().await;
        for accept in ["application/json", "*/*", "application/json, text/event-stream", "text/html"] {
            let pong = agent.post("/mcp").header("Accept", accept).raw("application/json",
                PING).await.expect(200);
            assert_eq!(pong.header("Content-Type"), "application/json", "{accept}");
        }
        let charset = agent.post("/mcp").raw("application/json; charset=utf-8", PING).await.expect(200);
        assert_eq!(charset.at("result"), json!({}));
        for (version, status) in [("2025-06-18", 200), ("2025-11-25", 200), ("2025-03-26", 200),
            ("1999-01-01", 400)] {
            let call = agent.post("/mcp").header("MCP-Protocol-Version", version).raw("application/json",
                PING);
            let answer = call.await.expect(status);
            if status == 400 {
                answer.refused(400, "invalid_request").naming("MCP-Protocol-Version");
            }
        }
        for kind in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"] {
            let refused = agent.post("/mcp").raw(kind, PING).await.refused(415, "unsupported_media_type");
            assert!(refused.string("message").contains("application/json"), "{refused:?}");
        }
    }

    async fn pages_that_use_dns_rebinding_are_refused_and_other_clients_are_not(world: World) {
        let agent = world.agent().await;
        let own = world.base_url();
        for (host, origin, status) in [
            ("evil.example", "http://evil.example", 403),
            ("evil.example:8080", "http://evil.example:8080", 403),
            (own.trim_start_matches("http://"), "https://app.example", 200),
            (own.trim_start_matches("http://"), "null", 200),
            ("proxy.internal", "", 200),
            (own.trim_start_matches("http://"), &own, 200),
        ] {
            let call = agent.post("/mcp").header("Host", host).raw("application/json", PING);
            let call = if origin.is_empty() { call } else { call.header("Origin", origin) };
            let answer = call.await.expect(status);
            if status == 403 {
                answer.refused(403, "forbidden");
            }
        }
    }

    async fn message_with_too_many_values_is_refused_before_parsing(world: World) {
        let agent = world.agent().await;
        let zeros = "0,".repeat(8_000_000);
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"get_account","arguments":{{"x":[{zeros}0]}}}}}}"#
        );
        let refused = agent.post("/mcp").raw("application/json", call).await.refused(413, "too_large");
        assert!(refused.string("message").contains("JSON values"), "{refused:?}");
        // A large invalid message gets the same refusal.
        let refused = agent.post("/mcp").raw("application/json", format!("[{zeros}0]")).await;
        refused.refused(413, "too_large");
    }

    async fn mcp_messages_are_bounded_and_ten_megabytes_still_fit(world: World) {
        let agent = world.agent().await;
        let too_large = agent.post("/mcp").raw("application/json", vec![b' '; 17 * 1_048_576]).await;
        too_large.refused(413, "too_large");
        let page = "x".repeat(10 * 1_048_576);
        let files = json!([{ "path": "index.html", "content": page }]);
        let published = agent.call_tool("publish_artifact", &json!({ "files": files })).await.expect(200);
        assert_eq!(published.at("result.isError"), false, "{published:?}");
        let files = json!([{ "path": "index.html", "content": page + "x" }]);
        let refused = agent.call_tool("publish_artifact", &json!({ "files": files })).await.expect(200);
        assert_eq!(refused.string("result.structuredContent.code"), "too_large");
    }
}

fn ping(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn tool_call(id: &str, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn client() -> Value {
    json!({ "name": "test", "version": "1" })
}

async fn greeted(agent: &Agent, version: &str) -> Reply {
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client() });
    let greeting = agent.ask_mcp("initialize", &params).await.expect(200);
    assert_eq!(greeting.header("Content-Type"), "application/json");
    greeting
}
