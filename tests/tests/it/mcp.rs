//! Spec 4.11: the MCP tools. Each does the same as its endpoint, and responds with the same body.

use std::time::Duration;

use handbill_tests::{Agent, Reply, Value, fields_of, in_both_modes, json};

use crate::expectations::{
    PAGE, assert_serves, entry, front_page, millis_from_now, page_saying, sound_ledger,
};
use crate::teams::{claimed_by, person};

const MINUTE: Duration = Duration::from_secs(60);

in_both_modes! {
    async fn page_is_published_read_rolled_back_and_deleted_over_mcp(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let first = page_saying("first");
        let published = tool_result(&publish(&agent, "my-page", &first).await);
        let fields = ["account", "artifact_id", "host", "url", "version", "version_url", "warnings"];
        assert_eq!(fields_of(&published), fields);
        assert_eq!((&published["version"], &published["account"]["free_publishes_left"]), (&json!(1), &json!(4)));
        let url = published["url"].as_str().unwrap();
        assert_serves(&visitor.open(url).await, &first);

        let second = page_saying("second");
        let again = tool_result(&publish(&agent, "my-page", &second).await);
        assert_eq!((&again["url"], &again["version"]), (&published["url"], &json!(2)));
        assert_serves(&visitor.open(url).await, &second);

        let shown = tool_result(&agent.call_tool("get_artifact", &json!({ "slug": "my-page" })).await);
        assert_eq!(settled(shown.clone()), settled(agent.artifact("my-page").await.expect(200).json()));
        assert_eq!(shown["versions"][0]["created_via"], "mcp");
        let list = agent.call_tool("list_artifacts", &json!({})).await.expect(200);
        assert_eq!(list.at("result.structuredContent"), text_of(&list));
        assert_eq!(fields_of(&text_of(&list)), ["artifacts", "next_cursor"]);
        assert_eq!(text_of(&list)["next_cursor"], Value::Null);
        let listed = text_of(&list)["artifacts"].clone();
        assert_eq!(settled(listed), settled(agent.artifacts().await.expect(200).json()));

        let back = agent.call_tool("rollback_artifact", &json!({ "slug": "my-page", "version": 1 })).await;
        assert_eq!(tool_result(&back)["version"], 1);
        assert_serves(&visitor.open(url).await, &first);
        let gone = tool_result(&agent.call_tool("delete_artifact", &json!({ "slug": "my-page" })).await);
        assert_eq!(gone, json!({ "slug": "my-page", "deleted": true }));
        visitor.open(url).await.expect(404);
        assert_eq!(text_of(&agent.call_tool("list_artifacts", &json!({})).await)["artifacts"], json!([]));
    }

    async fn a_site_of_several_files_may_hold_binary_ones(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let files = json!([
            { "path": "index.html", "content": PAGE, "encoding": "utf-8" },
            { "path": "css/app.css", "content": "h1 { color: teal }" },
            { "path": "img/dot.bin", "content": "AP8A/w==", "encoding": "base64" },
        ]);
        // Without a slug one is generated.
        let published = tool_result(&agent.call_tool("publish_artifact", &json!({ "files": files })).await);
        let url = published["url"].as_str().unwrap();
        assert_eq!(visitor.open(&format!("{url}css/app.css")).await.expect(200).text(), "h1 { color: teal }");
        assert_eq!(&visitor.open(&format!("{url}img/dot.bin")).await.expect(200).body[..], b"\0\xff\0\xff");
    }

    async fn publish_to_a_private_page_returns_its_signed_link(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        tool_result(&publish(&agent, "my-page", PAGE).await);
        agent.call_tool("add_credits", &json!({ "amount_usd": 1, "payment_scheme": "dev" })).await;
        let shown = agent.set_visibility("my-page", "private").await.expect(200);

        let next = page_saying("next");
        let published = tool_result(&publish(&agent, "my-page", &next).await);
        assert_eq!(published["signed_url"], shown.at("signed_url"));
        visitor.open(published["url"].as_str().unwrap()).await.expect(403);
        assert_serves(&visitor.open(published["signed_url"].as_str().unwrap()).await, &next);
        let by_rest = agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(by_rest.at("signed_url"), shown.at("signed_url"));
        let public = tool_result(&publish(&agent, "another-page", PAGE).await);
        assert_eq!(public.get("signed_url"), None);
    }

    async fn integral_floats_and_null_encodings_are_accepted(world: World) {
        let agent = world.agent().await;
        let files = json!([{ "path": "index.html", "content": PAGE, "encoding": null }]);
        tool_result(&agent.call_tool("publish_artifact", &json!({ "slug": "my-page", "files": files })).await);
        let back = agent.call_tool("rollback_artifact", &json!({ "slug": "my-page", "version": 1.0 })).await;
        assert_eq!(tool_result(&back)["version"], 1);
        for (tool, arguments) in [
            ("rollback_artifact", json!({ "slug": "my-page", "version": 1.5 })),
            ("add_credits", json!({ "amount_usd": "5", "payment_scheme": "dev" })),
            ("publish_artifact", json!({ "files": [5] })),
        ] {
            let message = failed(&agent.call_tool(tool, &arguments).await, "invalid_request")["message"].clone();
            let is_rust = ["u32", "f64", "struct"].iter().any(|word| message.as_str().unwrap().contains(word));
            assert!(!is_rust, "{tool}: {message}");
        }
    }

    async fn the_account_is_shown_claimed_and_shared(world: World) {
        let agent = world.agent().await;
        let shown = tool_result(&agent.call_tool("get_account", &json!({})).await);
        assert_eq!(without(&shown, "member_count"), agent.account().await.expect(200).json());
        assert_eq!((&shown["member_count"], &shown["allow_agent_join"]), (&json!(0), &json!(true)));
        let refused = failed(&agent.call_tool("create_invite", &json!({})).await, "forbidden");
        assert!(refused["hint"].as_str().unwrap().contains("claim_url"), "{refused}");

        let link = tool_result(&agent.call_tool("create_claim_link", &json!({})).await);
        assert_eq!(fields_of(&link), ["claim_url", "expires_at"]);
        let human = person(&world, "ada").await;
        human.claim(shown["claim_url"].as_str().unwrap()).await.refused(404, "not_found");
        human.claim(link["claim_url"].as_str().unwrap()).await.expect(200);
        let claimed = tool_result(&agent.call_tool("get_account", &json!({})).await);
        assert_eq!((&claimed["status"], &claimed["member_count"]), (&json!("claimed"), &json!(1)));
        assert_eq!(claimed.get("claim_url"), None);
        failed(&agent.call_tool("create_claim_link", &json!({})).await, "already_claimed");

        let terms = json!({ "role": "admin", "max_uses": 2, "ttl_hours": 5 });
        let invite = tool_result(&agent.call_tool("create_invite", &terms).await);
        assert_eq!(fields_of(&invite), ["code", "expires_at", "invite_url", "max_uses", "role"]);
        assert_eq!((&invite["role"], &invite["max_uses"]), (&json!("admin"), &json!(2)));
        let hours = millis_from_now(invite["expires_at"].as_str().unwrap()) as f64 / 3_600_000.0;
        assert!((4.9..5.1).contains(&hours), "{invite}");
        let guest = agent.joined(invite["code"].as_str().unwrap()).await;
        // An invited agent can publish on the account, but not manage it.
        tool_result(&publish(&guest, "of-the-guest", PAGE).await);
        let refused = failed(&guest.call_tool("create_invite", &json!({})).await, "insufficient_scope");
        assert!(refused["message"].as_str().unwrap().contains("account:manage"), "{refused}");
    }

    async fn mcp_refusal_has_the_body_of_its_rest_endpoint(world: World) {
        let agent = world.agent().await;
        tool_result(&publish(&agent, "my-page", PAGE).await);
        let missing = failed(&agent.call_tool("get_artifact", &json!({ "slug": "no-such-page" })).await, "not_found");
        assert_eq!(missing, agent.artifact("no-such-page").await.refused(404, "not_found").json());
        let rollback = json!({ "slug": "my-page", "version": 9 });
        let missing = failed(&agent.call_tool("rollback_artifact", &rollback).await, "not_found");
        assert_eq!(missing, agent.activate("my-page", 9).await.refused(404, "not_found").json());
        failed(&agent.call_tool("delete_artifact", &json!({ "slug": "no-such-page" })).await, "not_found");

        let reader = agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        tool_result(&reader.call_tool("list_artifacts", &json!({})).await);
        tool_result(&reader.call_tool("get_account", &json!({})).await);
        let refused = failed(&publish(&reader, "my-page", PAGE).await, "insufficient_scope");
        assert_eq!(refused, reader.publish("my-page", PAGE).await.refused(403, "insufficient_scope").json());
        for (tool, arguments) in [
            ("delete_artifact", json!({ "slug": "my-page" })),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 1 })),
            ("create_claim_link", json!({})),
            ("add_credits", json!({ "amount_usd": 1, "payment_scheme": "dev" })),
            ("stage_upload", json!({})),
            ("publish_upload", json!({ "upload": "01KC4GZJ2Q8W5T7RXN3VB6M9DE" })),
        ] {
            failed(&reader.call_tool(tool, &arguments).await, "insufficient_scope");
        }
        let writer = agent.minted(&json!({ "scopes": "artifacts:write" })).await;
        for tool in ["list_artifacts", "get_account"] {
            failed(&writer.call_tool(tool, &json!({})).await, "insufficient_scope");
        }
        let artifact = agent.artifact("my-page").await.expect(200).string("id");
        let pinned = agent.minted(&json!({ "artifact_id": artifact })).await;
        failed(&publish(&pinned, "another-page", PAGE).await, "insufficient_scope");
        for (tool, arguments) in [
            ("get_artifact", json!({ "slug": "no-such-page" })),
            ("delete_artifact", json!({ "slug": "no-such-page" })),
            ("rollback_artifact", json!({ "slug": "no-such-page", "version": 1 })),
        ] {
            failed(&pinned.call_tool(tool, &arguments).await, "insufficient_scope");
        }
        assert_eq!(tool_result(&publish(&pinned, "my-page", PAGE).await)["version"], 2);
    }

    async fn an_expired_account_is_read_and_not_changed(world: World) {
        let agent = world.agent().await;
        tool_result(&publish(&agent, "my-page", PAGE).await);
        world.advance(31 * MINUTE);
        for (tool, arguments) in [
            ("publish_artifact", json!({ "files": [{ "path": "index.html", "content": PAGE }] })),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 1 })),
            ("delete_artifact", json!({ "slug": "my-page" })),
            ("create_claim_link", json!({})),
            ("add_credits", json!({ "amount_usd": 1, "payment_scheme": "dev" })),
            ("stage_upload", json!({})),
            ("publish_upload", json!({ "upload": "01KC4GZJ2Q8W5T7RXN3VB6M9DE" })),
        ] {
            let refused = failed(&agent.call_tool(tool, &arguments).await, "account_expired");
            // No tool signs up. The hint refers to the API.
            let hinted = format!("POST {}/v1/signup", world.base_url());
            let hint = refused["hint"].as_str().unwrap();
            assert!(hint.contains(&hinted) && hint.contains("your human"), "{tool}: {refused}");
        }
        tool_result(&agent.call_tool("list_artifacts", &json!({})).await);
        tool_result(&agent.call_tool("get_artifact", &json!({ "slug": "my-page" })).await);
        tool_result(&agent.call_tool("get_account", &json!({})).await);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "1")]
    async fn price_is_returned_with_the_call_that_pays_it(world: World) {
        let agent = world.agent().await;
        tool_result(&publish(&agent, "my-page", PAGE).await);
        let challenge = failed(&publish(&agent, "my-page", PAGE).await, "payment_required");
        let fields = ["accepts", "amount_usd", "code", "doc_url", "hint", "message", "reason"];
        assert_eq!(fields_of(&challenge), fields);
        assert_eq!(challenge["amount_usd"].to_string(), "0.005");
        let rest = agent.publish("my-page", PAGE).await.refused(402, "payment_required").json();
        for field in ["reason", "amount_usd", "message"] {
            assert_eq!(challenge[field], rest[field], "{field}");
        }
        let call = r#"add_credits with {"amount_usd": 1, "payment_scheme": "dev"}"#;
        for text in [&challenge["hint"], &challenge["accepts"][0]["instructions"]] {
            assert!(text.as_str().unwrap().contains(call), "{text}");
        }
        assert!(challenge["hint"].as_str().unwrap().contains("tell your human"), "{challenge}");

        let bought = agent.call_tool("add_credits", &json!({ "amount_usd": 1, "payment_scheme": "dev" })).await;
        let bought = tool_result(&bought);
        assert_eq!(fields_of(&bought), ["credits_usd", "receipt"]);
        assert_eq!((&bought["credits_usd"], &bought["receipt"]["rail"]), (&json!(1.0), &json!("dev")));
        let paid = tool_result(&publish(&agent, "my-page", PAGE).await);
        assert_eq!((&paid["version"], &paid["account"]["credits_usd"]), (&json!(2), &json!(0.995)));
        let version = agent.artifact("my-page").await.expect(200).string("versions.0.id");
        let top_up = format!("topup-dev:{}", bought["receipt"]["id"].as_str().unwrap());
        let ledger = [entry(top_up, 1_000_000), entry(format!("publish:{version}"), -5_000)];
        assert_eq!(sound_ledger(&world, &agent).await, ledger);
    }

    #[settings("HANDBILL_DEV_MODE" = "false", "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "0")]
    async fn no_tool_call_pays_when_dev_payments_are_closed(world: World) {
        let agent = world.agent().await;
        let arguments = json!({ "amount_usd": 1, "payment_scheme": "dev" });
        for reply in [agent.call_tool("add_credits", &arguments).await, publish(&agent, "my-page", PAGE).await] {
            let refused = failed(&reply, "payment_required");
            let hint = refused["hint"].as_str().unwrap();
            // Cards are not accepted here either.
            assert!(hint.contains("ask the operator") && !hint.contains("add_credits"), "{refused}");
            let accepts = refused["accepts"].as_array().unwrap();
            assert!(accepts.iter().all(|accept| accept.get("instructions").is_none()), "{refused}");
        }
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn invalid_argument_is_named_and_nothing_is_changed(world: World) {
        let agent = world.agent().await;
        let page = |path: &str| json!([{ "path": path, "content": PAGE }]);
        for (tool, arguments, named) in [
            ("get_artifact", json!({}), "slug"),
            ("get_artifact", json!({ "slug": null }), "slug"),
            ("get_artifact", json!({ "slug": 5 }), "slug"),
            ("get_artifact", json!({ "slug": "No Slug" }), "slug: must match ^[a-z0-9-]{3,40}$"),
            ("get_artifact", json!({ "slug": "my-page", "version": 1 }), "version"),
            ("list_artifacts", json!({ "limit": 0 }), "limit"),
            ("list_artifacts", json!({ "limit": 1001 }), "limit"),
            ("list_artifacts", json!({ "limit": "all" }), "limit"),
            ("list_artifacts", json!({ "cursor": "l17" }), "cursor"),
            ("list_artifacts", json!({ "cursor": 5 }), "cursor"),
            ("list_artifacts", json!({ "page": 2 }), "page"),
            ("rollback_artifact", json!({ "slug": "my-page" }), "version"),
            ("rollback_artifact", json!({ "slug": "my-page", "version": "1" }), "version"),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 0 }), "version"),
            ("rollback_artifact", json!({ "slug": "my-page", "version": -1 }), "version"),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 1.5 }), "version"),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 4_294_967_296_u64 }), "version"),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 2_147_483_648_u64 }), "version"),
            ("publish_artifact", json!({}), "files"),
            ("publish_artifact", json!({ "files": [] }), "files"),
            ("publish_artifact", json!({ "files": PAGE }), "files"),
            ("publish_artifact", json!({ "files": page("index.html"), "upload": "x" }), "upload"),
            ("publish_artifact", json!({ "files": page("index.html"), "slug": "no" }), "slug"),
            ("publish_artifact", json!({ "html": PAGE }), "html"),
            ("publish_artifact", json!({ "slug": "my-page" }), "files"),
            ("publish_artifact", json!({ "upload": "01KC4GZJ2Q8W5T7RXN3VB6M9DE" }), "upload"),
            ("publish_upload", json!({}), "upload"),
            ("publish_upload", json!({ "slug": "my-page" }), "upload"),
            ("publish_upload", json!({ "upload": 5 }), "upload"),
            ("publish_upload", json!({ "upload": "x", "slug": "no" }), "slug"),
            ("publish_upload", json!({ "upload": "x", "files": page("index.html") }), "files"),
            ("publish_artifact", json!({ "files": page("../index.html") }), "files[0].path"),
            ("publish_artifact", json!({ "files": page("/index.html") }), "files[0].path"),
            ("publish_artifact", json!({ "files": [{ "path": "a" }] }), "content"),
            ("publish_artifact", json!({ "files": [{ "path": "a", "content": "", "mode": 1 }] }), "mode"),
            (
                "publish_artifact",
                json!({ "files": [{ "path": "a", "content": "<p>", "encoding": "base64" }] }),
                "files[0].content",
            ),
            ("create_invite", json!({ "role": "owner" }), "role"),
            ("create_invite", json!({ "max_uses": 101 }), "max_uses"),
            ("create_invite", json!({ "ttl_hours": 0 }), "ttl_hours"),
            ("add_credits", json!({ "amount_usd": 5 }), "payment_scheme"),
            ("add_credits", json!({ "payment_scheme": "dev" }), "amount_usd"),
            ("add_credits", json!({ "amount_usd": 0.5, "payment_scheme": "dev" }), "amount_usd"),
            ("add_credits", json!({ "amount_usd": 101, "payment_scheme": "dev" }), "amount_usd"),
            ("add_credits", json!({ "amount_usd": "5", "payment_scheme": "dev" }), "amount_usd"),
            ("add_credits", json!({ "amount_usd": 5, "payment_scheme": "card" }), "payment_scheme"),
            ("stage_upload", json!({ "slug": "my-page" }), "slug"),
        ] {
            let refused = failed(&agent.call_tool(tool, &arguments).await, "invalid_request");
            assert!(refused["message"].as_str().unwrap().contains(named), "{tool} {arguments}: {refused}");
            let hint = refused["hint"].as_str().unwrap();
            assert!(hint.contains(&format!("call {tool} again")), "{refused}");
        }
        let files: Vec<_> = (0..51).map(|file| json!({ "path": format!("{file}"), "content": "" })).collect();
        failed(&agent.call_tool("publish_artifact", &json!({ "files": files })).await, "too_large");
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
        assert_eq!(sound_ledger(&world, &agent).await, []);
    }

    async fn arguments_may_be_omitted_for_tools_without_any(world: World) {
        let agent = world.agent().await;
        for params in [json!({ "name": "get_account" }), json!({ "name": "get_account", "arguments": null })] {
            tool_result(&agent.ask_mcp("tools/call", &params).await);
        }
        // Fields next to the arguments are ignored.
        let params = json!({ "name": "get_account", "arguments": {}, "_meta": { "progressToken": 1 } });
        tool_result(&agent.ask_mcp("tools/call", &params).await);
    }

    async fn artifact_of_another_account_is_not_found_over_mcp(world: World) {
        let (agent, _) = claimed_by(&world, "ada").await;
        tool_result(&publish(&agent, "my-page", PAGE).await);
        let other = world.agent().await;
        for (tool, arguments) in [
            ("get_artifact", json!({ "slug": "my-page" })),
            ("rollback_artifact", json!({ "slug": "my-page", "version": 1 })),
            ("delete_artifact", json!({ "slug": "my-page" })),
        ] {
            failed(&other.call_tool(tool, &arguments).await, "not_found");
        }
        let theirs = agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(front_page(&world.visitor(), &theirs).await.expect(200).text(), PAGE);
    }
}

async fn publish(agent: &Agent, slug: &str, html: &str) -> Reply {
    let files = json!([{ "path": "index.html", "content": html }]);
    agent.call_tool("publish_artifact", &json!({ "slug": slug, "files": files })).await
}

/// The body in the only text block of a result.
#[track_caller]
fn text_of(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    let content = reply.at("result.content");
    assert_eq!(content.as_array().map(Vec::len), Some(1), "{reply:?}");
    assert_eq!(content[0]["type"], "text");
    serde_json::from_str(content[0]["text"].as_str().unwrap()).expect("JSON in the text block")
}

/// The result of a tool that succeeded, which is the same as text and as structured content.
#[track_caller]
pub fn tool_result(reply: &Reply) -> Value {
    let body = text_of(reply);
    assert_eq!(reply.at("result.isError"), false, "{reply:?}");
    if body.is_object() {
        assert_eq!(reply.at("result.structuredContent"), body);
    }
    body
}

/// The body of a refusal with this code, which has a message and a next step.
#[track_caller]
pub fn failed(reply: &Reply, code: &str) -> Value {
    let body = text_of(reply);
    assert_eq!((reply.at("result.isError"), &body["code"]), (json!(true), &json!(code)), "{reply:?}");
    assert_eq!(reply.at("result.structuredContent"), body);
    assert!(body["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    assert!(body["hint"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    body
}

fn without(body: &Value, field: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().expect("an object").remove(field);
    body
}

/// A body without the fields that a scan or the count of views changes after the response.
fn settled(mut body: Value) -> Value {
    match &mut body {
        Value::Object(fields) => {
            fields.remove("moderation_status");
            fields.remove("moderation");
            fields.remove("views_month");
            fields.values_mut().for_each(|value| *value = settled(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = settled(item.take())),
        _ => {}
    }
    body
}
