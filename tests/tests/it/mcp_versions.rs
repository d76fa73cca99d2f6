//! The versions of the protocol side by side, and what is there beside the tools: resources, prompts, and
//! questions to the human.

use handbill_tests::{Agent, Call, Method, Value, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, page_saying, sound_ledger};
use crate::mcp::{failed, tool_result};

const NEWEST: &str = "2026-07-28";

in_both_modes! {
    async fn every_version_lists_and_calls_the_same_tools(world: World) {
        let agent = world.agent().await;
        let newest = modern(&agent, "tools/list", json!({})).await.expect(200).at("result.tools");
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let greeting = json!({
                "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test",
                    "version": "1" },
            });
            let greeted = agent.ask_mcp("initialize", &greeting).await.expect(200);
            assert_eq!(greeted.at("result.protocolVersion"), version);
            let ask = |method: &str, params: Value| {
                agent.ask_mcp(method, &params).header("MCP-Protocol-Version", version)
            };
            let listed = ask("tools/list", json!({})).await.expect(200);
            assert_eq!(listed.at("result.tools"), newest, "{version}");
            for field in ["ttlMs", "cacheScope", "resultType"] {
                assert_eq!(listed.at("result").get(field), None, "{version} does not have it");
            }
            tool_result(&ask("tools/call", json!({ "name": "get_account" })).await);
            // It was never a method of this version.
            let discovered = ask("server/discover", json!({})).await;
            assert!(discovered.json().get("error").is_some(), "{discovered:?}");
        }
    }

    async fn the_newest_version_is_used_without_a_handshake(world: World) {
        let agent = world.agent().await;
        let discovered = modern(&agent, "server/discover", json!({})).await.expect(200).at("result");
        let versions = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
        assert_eq!(discovered["supportedVersions"], versions, "{discovered}");
        assert_eq!(fields_of(&discovered["capabilities"]), ["prompts", "resources", "tools"]);
        for method in ["server/discover", "tools/list", "prompts/list", "resources/templates/list"] {
            let listed = modern(&agent, method, json!({})).await.expect(200).at("result");
            assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(300_000), &json!("public")),
                "{method}");
            assert_eq!(listed["resultType"], "complete", "{method}");
        }
        let pages = modern(&agent, "resources/list", json!({})).await.expect(200).at("result");
        assert_eq!((&pages["ttlMs"], &pages["cacheScope"]), (&json!(0), &json!("private")));
        tool_result(&call_modern(&agent, "get_account", json!({})).await);
        for method in ["no/such/method", "ping", "logging/setLevel"] {
            let unknown = modern(&agent, method, json!({ "level": "info" })).await.expect(404);
            assert_eq!(unknown.at("error.code"), -32601, "{method}: {unknown:?}");
        }
    }

    async fn headers_that_do_not_match_the_body_are_refused(world: World) {
        let agent = world.agent().await;
        let params = || json!({ "name": "get_account", "arguments": {} });
        for (name, value) in [
            ("MCP-Protocol-Version", "2025-11-25"),
            ("Mcp-Method", "tools/list"),
            ("Mcp-Method", ""),
            ("Mcp-Name", "delete_artifact"),
            ("Mcp-Name", ""),
        ] {
            let mut headers = headers_of("tools/call", "get_account");
            headers.retain(|(header, _)| *header != name);
            if !value.is_empty() {
                headers.push((name, value.to_owned()));
            }
            let refused = sent(&agent, "tools/call", params(), headers).await.expect(400);
            assert_eq!(refused.at("error.code"), -32020, "{name}: {value}: {refused:?}");
        }
        let unknown = message("tools/list", json!({}), "2031-01-01");
        let headers = headers_of("tools/list", "");
        let refused = with_headers(agent.mcp(&unknown), &headers, "2031-01-01").await.expect(400);
        assert_eq!(refused.at("error.code"), -32022, "{refused:?}");
        assert!(refused.at("error.data.supported").as_array().is_some_and(|listed| listed.len() == 5));
    }

    async fn pages_of_the_account_are_resources(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let files = json!([
            { "path": "index.html", "content": PAGE },
            { "path": "css/app.css", "content": "h1 { color: teal }" },
            { "path": "a b.bin", "content": "AP8A/w==", "encoding": "base64" },
        ]);
        let published = agent.call_tool("publish_artifact", &json!({ "slug": "my-page",
            "files": files })).await;
        let url = tool_result(&published)["url"].as_str().unwrap().to_owned();
        agent.call_tool("publish_artifact", &staged("staged-only")).await;

        let listed = agent.ask_mcp("resources/list", &json!({})).await.expect(200).at("result.resources");
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!((&listed[0]["uri"], &listed[0]["name"]), (&json!("handbill://pages/my-page/"),
            &json!("my-page")));
        assert!(listed[0]["description"].as_str().unwrap().contains(&url), "{listed}");
        let templates = agent.ask_mcp("resources/templates/list", &json!({})).await.expect(200);
        assert_eq!(templates.at("result.resourceTemplates.0.uriTemplate"), "handbill://pages/{slug}/{+path}");

        let read = async |agent: &Agent, uri: &str| agent.ask_mcp("resources/read",
            &json!({ "uri": uri })).await;
        for (uri, field, content, kind) in [
            ("handbill://pages/my-page/", "text", PAGE, "text/html"),
            ("handbill://pages/my-page/css/app.css", "text", "h1 { color: teal }", "text/css"),
            ("handbill://pages/my-page/a%20b.bin", "blob", "AP8A/w==", "application/octet-stream"),
        ] {
            let one = read(&agent, uri).await.expect(200).at("result.contents.0");
            assert_eq!((&one["uri"], &one[field]), (&json!(uri), &json!(content)), "{one}");
            assert!(one["mimeType"].as_str().unwrap().starts_with(kind), "{one}");
        }
        for (agent, uri) in [
            (&agent, "handbill://pages/my-page/missing.css"),
            (&agent, "handbill://pages/staged-only/"),
            (&agent, "file:///etc/passwd"),
            (&other, "handbill://pages/my-page/"),
        ] {
            let missing = read(agent, uri).await.expect(200);
            assert_eq!((missing.at("error.code"), missing.at("error.data.code")), (json!(-32002),
                json!("not_found")));
        }
        let missing = modern(&agent, "resources/read", json!({ "uri": "handbill://pages/no-such/" })).await;
        assert_eq!(missing.expect(200).at("error.code"), -32602);
        let writer = agent.minted(&json!({ "scopes": "artifacts:write" })).await;
        let refused = read(&writer, "handbill://pages/my-page/").await.expect(200);
        assert_eq!(refused.at("error.data.code"), "insufficient_scope");
        let paged = agent.ask_mcp("resources/list", &json!({ "cursor": "nonsense" })).await.expect(200);
        assert_eq!(paged.at("error.data.code"), "invalid_request");
    }

    async fn prompts_tell_an_agent_what_to_do(world: World) {
        let agent = world.agent().await;
        let listed = agent.ask_mcp("prompts/list", &json!({})).await.expect(200).at("result.prompts");
        let names: Vec<_> = listed.as_array().unwrap().iter().map(|prompt| prompt["name"].clone()).collect();
        assert_eq!(names, ["publish", "share_privately", "hand_over"]);
        let params = json!({ "name": "share_privately", "arguments": { "slug": "my-page" } });
        let prompt = agent.ask_mcp("prompts/get", &params).await.expect(200).at("result.messages.0");
        assert_eq!(prompt["role"], "user");
        let text = prompt["content"]["text"].as_str().unwrap();
        assert!(text.contains("my-page") && text.contains("set_visibility"), "{text}");
        let unknown = agent.ask_mcp("prompts/get", &json!({ "name": "no_such" })).await.expect(200);
        assert_eq!(unknown.at("error.code"), -32602);
    }

    async fn a_version_is_staged_described_and_scanned_over_mcp(world: World) {
        let agent = world.agent().await;
        let files = |html: &str| json!([{ "path": "index.html", "content": html }]);
        let first = json!({ "slug": "my-page", "files": files(PAGE), "message": "The first",
            "wait": "scan" });
        let published = tool_result(&agent.call_tool("publish_artifact", &first).await);
        assert_eq!(published["moderation_status"], "pass", "{published}");
        let next = page_saying("next");
        let second = json!({ "slug": "my-page", "files": files(&next), "activate": false });
        let staged = tool_result(&agent.call_tool("publish_artifact", &second).await);
        let shown = agent.artifact("my-page").await.expect(200);
        assert_eq!((shown.at("version"), shown.at("versions.1.message")), (json!(1), json!("The first")));
        let version_url = staged["version_url"].as_str().unwrap();
        assert_serves(&world.visitor().open(version_url).await, &next);
        let live = agent.call_tool("rollback_artifact", &json!({ "slug": "my-page", "version": 2 })).await;
        assert_eq!(tool_result(&live)["version"], 2);
        let bad = json!({ "files": files(PAGE), "message": "two\nlines" });
        failed(&agent.call_tool("publish_artifact", &bad).await, "invalid_request");
    }

    async fn visibility_is_set_over_mcp_at_its_price(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let set = async |to: &str| {
            agent.call_tool("set_visibility", &json!({ "slug": "my-page", "visibility": to })).await
        };
        let challenge = failed(&set("private").await, "payment_required");
        assert_eq!((&challenge["reason"], &challenge["amount_usd"]), (&json!("visibility"), &json!(0.5)));
        tool_result(&agent.call_tool("add_credits", &json!({ "amount_usd": 1,
            "payment_scheme": "dev" })).await);
        let private = tool_result(&set("private").await);
        assert_eq!(private["visibility"], "private");
        world.visitor().open(private["signed_url"].as_str().unwrap()).await.expect(200);
        assert_eq!(tool_result(&set("public").await)["visibility"], "public");
        failed(&set("hidden").await, "invalid_request");
        let missing = json!({ "slug": "no-such-page", "visibility": "public" });
        failed(&agent.call_tool("set_visibility", &missing).await, "not_found");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "1")]
    async fn price_is_confirmed_by_the_human_where_the_client_can_ask(world: World) {
        let agent = world.agent().await;
        let page = json!({ "slug": "my-page", "files": [{ "path": "index.html", "content": PAGE }] });
        // Within the allowance nothing is asked. Without credit the refusal has the price.
        tool_result(&call_modern(&agent, "publish_artifact", page.clone()).await);
        failed(&call_modern(&agent, "publish_artifact", page.clone()).await, "payment_required");

        let credit = json!({ "amount_usd": 1, "payment_scheme": "dev" });
        let question = call_modern(&agent, "add_credits", credit.clone()).await.expect(200).at("result");
        assert_eq!(question["resultType"], "input_required", "{question}");
        let asked = &question["inputRequests"]["confirm_price"];
        assert_eq!(asked["method"], "elicitation/create", "{question}");
        assert!(asked["params"]["message"].as_str().unwrap().contains("1 USD"), "{question}");
        assert_eq!(sound_ledger(&world, &agent).await, []);
        let answered = async |tool: &str, arguments: &Value, action: &str, state: &Value| {
            let params = json!({
                "name": tool,
                "arguments": arguments,
                "inputResponses": { "confirm_price": { "action": action, "content": {} } },
                "requestState": state,
            });
            sent(&agent, "tools/call", params, headers_of("tools/call", tool)).await
        };
        for no in ["decline", "cancel"] {
            let declined = answered("add_credits", &credit, no, &question["requestState"]).await;
            let body = failed(&declined, "payment_required");
            assert!(body["message"].as_str().unwrap().contains("declined"), "{body}");
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
        let yes_to_credit = question["requestState"].clone();
        tool_result(&answered("add_credits", &credit, "accept", &yes_to_credit).await);

        let question = call_modern(&agent, "publish_artifact", page.clone()).await.expect(200).at("result");
        assert_eq!(question["resultType"], "input_required", "{question}");
        // Consent that was not signed, or to another call, does not count.
        for other in [json!("5000"), yes_to_credit] {
            let again = answered("publish_artifact", &page, "accept", &other).await.expect(200);
            assert_eq!(again.at("result.resultType"), "input_required");
        }
        let paid = tool_result(&answered("publish_artifact", &page, "accept",
            &question["requestState"]).await);
        assert_eq!((&paid["version"], &paid["account"]["credits_usd"]), (&json!(2), &json!(0.995)));

        let private = json!({ "slug": "my-page", "visibility": "private" });
        let question = call_modern(&agent, "set_visibility", private.clone()).await.expect(200).at("result");
        assert!(question.to_string().contains("0.5 USD"), "{question}");
        tool_result(&answered("set_visibility", &private, "accept", &question["requestState"]).await);
        // A rehearsal and what is free are not asked about.
        let mut rehearsal = page.clone();
        rehearsal["dry_run"] = json!(true);
        assert_eq!(tool_result(&call_modern(&agent, "publish_artifact", rehearsal).await)["price_usd"],
            0.005);
        let public = json!({ "slug": "my-page", "visibility": "public" });
        tool_result(&call_modern(&agent, "set_visibility", public).await);
        // A client that cannot ask is not asked.
        let unasked = tool_result(&agent.call_tool("publish_artifact", &page).await);
        assert_eq!(unasked["version"], 3);
        let ledger = sound_ledger(&world, &agent).await;
        let charges: Vec<_> = ledger.iter().map(|charge| charge.delta_micro).collect();
        assert_eq!(charges, [1_000_000, -5_000, -500_000, -5_000], "{ledger:?}");
    }

    async fn browsers_call_from_any_origin_with_a_token_and_never_with_a_cookie(world: World) {
        let agent = world.agent().await;
        let foreign = |call: Call| call.header("Origin", "https://app.example");
        for path in ["/mcp", "/v1/publish", "/v1/artifacts/my-page"] {
            let preflight = foreign(world.stranger().call(Method::OPTIONS, path))
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "authorization,mcp-protocol-version");
            let allowed = preflight.await.expect(204);
            assert_eq!(allowed.header("Access-Control-Allow-Origin"), "*");
            assert_eq!(allowed.header("Access-Control-Allow-Credentials"), "");
            for name in ["Authorization", "MCP-Protocol-Version", "Mcp-Method", "X-PAYMENT"] {
                assert!(allowed.header("Access-Control-Allow-Headers").contains(name), "{name}");
            }
        }
        let account = foreign(agent.account()).await.expect(200);
        let tool = foreign(agent.call_tool("get_account", &json!({}))).await.expect(200);
        let refused = foreign(world.stranger().post("/mcp").json(&json!({}))).await.expect(401);
        for reply in [&account, &tool, &refused] {
            assert_eq!(reply.header("Access-Control-Allow-Origin"), "*", "{reply:?}");
            assert!(reply.header("Access-Control-Expose-Headers").contains("WWW-Authenticate"));
        }
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        let read = foreign(human.get("/auth/me")).await.expect(200);
        assert_eq!(read.header("Access-Control-Allow-Origin"), "");
        let with_cookie = foreign(human.get("/v1/status")).await.expect(200);
        assert_eq!(with_cookie.header("Access-Control-Allow-Origin"), "");
    }
}

fn staged(slug: &str) -> Value {
    json!({ "slug": slug, "activate": false, "files": [{ "path": "index.html", "content": PAGE }] })
}

/// The headers that name the method, and the tool or resource.
fn headers_of(method: &str, name: &str) -> Vec<(&'static str, String)> {
    let mut headers = vec![("MCP-Protocol-Version", NEWEST.to_owned()), ("Mcp-Method", method.to_owned())];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    headers
}

fn message(method: &str, mut params: Value, version: &str) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn with_headers(call: Call, headers: &[(&'static str, String)], version: &str) -> Call {
    headers.iter().fold(call, |call, (name, value)| {
        let value = if *name == "MCP-Protocol-Version" && version != NEWEST { version } else { value };
        call.header(name, value)
    })
}

/// A request in the newest version with these headers.
fn sent(agent: &Agent, method: &str, params: Value, headers: Vec<(&'static str, String)>) -> Call {
    with_headers(agent.mcp(&message(method, params, NEWEST)), &headers, NEWEST)
}

/// A request in the newest version, by a client that can ask its human.
fn modern(agent: &Agent, method: &str, params: Value) -> Call {
    let name = params["uri"].as_str().filter(|_| method == "resources/read").unwrap_or_default().to_owned();
    sent(agent, method, params, headers_of(method, &name))
}

fn call_modern(agent: &Agent, tool: &str, arguments: Value) -> Call {
    let params = json!({ "name": tool, "arguments": arguments });
    sent(agent, "tools/call", params, headers_of("tools/call", tool))
}
