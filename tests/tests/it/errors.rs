//! Spec 7 and 4.10: every error has the same form, and the documentation lists all of them.

use handbill_tests::{Method, in_both_modes};

in_both_modes! {
    async fn an_unknown_endpoint_says_where_the_endpoints_are_listed(world: World) {
        let stranger = world.stranger();
        for path in ["/v1", "/v1/", "/v1/nothing", "/v2/publish", "/v1/artifacts/a/b/c"] {
            let refused = stranger.get(path).await.refused(404, "not_found");
            for listed in ["GET /skill/reference/contents.md", "GET /llms.txt"] {
                assert!(refused.string("hint").contains(listed), "{refused:?}");
            }
            assert_eq!(refused.field_names(), ["code", "doc_url", "hint", "message"]);
            let described = format!("{}/docs/errors#not_found", world.base_url());
            assert_eq!(refused.string("doc_url"), described);
        }
    }

    async fn errors_are_problems_for_clients_that_prefer_them(world: World) {
        let problem = "application/problem+json";
        let (agent, stranger) = (world.agent().await, world.stranger());
        for (call, status, code) in [
            (agent.get("/v1/artifacts/nothing"), 404, "not_found"),
            (agent.get("/v1/artifacts?limit=0"), 400, "invalid_request"),
            (stranger.get("/v1/account"), 401, "unauthorized"),
            (stranger.get("/no-such-path"), 404, "not_found"),
            (agent.call(Method::PUT, "/v1/artifacts"), 405, "method_not_allowed"),
        ] {
            let reply = call.header("Accept", problem).await.expect(status);
            assert_eq!(reply.header("Content-Type"), problem);
            let (body, status) = (reply.json(), u64::from(status));
            assert_eq!((&body["code"], body["status"].as_u64()), (&code.into(), Some(status)), "{body}");
            assert!(body["type"].as_str().unwrap().ends_with(&format!("/docs/errors#{code}")), "{body}");
            assert!(body["title"].is_string() && body["detail"] == body["message"], "{body}");
        }
        let json = agent.get("/v1/artifacts/nothing").header("Accept", "application/json, application/problem+json");
        json.await.refused(404, "not_found");
    }

    async fn a_wrong_method_is_405_and_the_right_ones_are_allowed(world: World) {
        let agent = world.agent().await;
        let wrong = [
            (Method::GET, "/v1/signup", "POST"),
            (Method::GET, "/v1/publish", "POST"),
            (Method::PUT, "/v1/artifacts", "GET"),
            (Method::POST, "/v1/status", "GET"),
            (Method::PUT, "/v1/artifacts/a-page", "DELETE"),
            (Method::PUT, "/openapi.json", "GET"),
            (Method::POST, "/docs", "GET"),
            (Method::DELETE, "/docs/errors", "GET"),
            (Method::DELETE, "/report", "GET"),
            (Method::PUT, "/claim/abc", "POST"),
            (Method::HEAD, "/v1/signup", "POST"),
        ];
        for (method, path, allowed) in wrong {
            let refused = agent.call(method.clone(), path).await.expect(405);
            assert!(refused.header("Allow").contains(allowed), "{refused:?}");
            if method != Method::HEAD {
                refused.refused(405, "method_not_allowed");
            }
        }
    }

    async fn call_without_a_token_gets_the_sign_up_hint_before_any_other_error(world: World) {
        let stranger = world.stranger();
        let calls = [
            (Method::GET, "/v1/artifacts"),
            (Method::POST, "/v1/publish"),
            (Method::PATCH, "/v1/artifacts/NO"),
            (Method::DELETE, "/v1/tokens/nothing"),
            (Method::POST, "/v1/artifacts/my-page/versions?activate=maybe"),
        ];
        for (method, path) in calls {
            let refused = stranger.call(method, path).raw("text/plain", "x").await;
            let refused = refused.refused(401, "unauthorized");
            assert!(refused.string("hint").contains("POST /v1/signup to get a token"), "{refused:?}");
            let challenge = refused.header("WWW-Authenticate");
            assert!(challenge.starts_with("Bearer resource_metadata="), "{challenge}");
        }
    }

    async fn head_requests_are_answered_like_get_without_the_body(world: World) {
        let agent = world.agent().await;
        let paths = [("/v1/status", 200), ("/v1/account", 200), ("/docs/errors", 200), ("/v1/nothing", 404)];
        for (path, status) in paths.into_iter().chain([("/v1/artifacts/no-such-page", 404), ("/v1/artifacts/NO", 400)]) {
            let whole = agent.get(path).await.expect(status);
            let head = agent.call(Method::HEAD, path).await.expect(status);
            assert!(head.body.is_empty(), "{head:?}");
            assert_eq!(head.header("Content-Type"), whole.header("Content-Type"));
        }
    }

    async fn every_error_code_is_on_the_linked_documentation_page(world: World) {
        let stranger = world.stranger();
        let docs = stranger.get("/docs").await.expect(200);
        assert!(docs.text().contains("href=\"/docs/errors\""));
        let page = stranger.get("/docs/errors").await.expect(200);
        assert!(page.header("Content-Type").starts_with("text/html"), "{page:?}");
        // The codes of spec 7, and those that it leaves open.
        for code in [
            "unauthorized", "account_expired", "payment_required", "insufficient_scope", "invalid_request",
            "invalid_body", "weak_password", "invalid_credentials", "rate_limited", "too_large", "slug_taken",
            "not_found", "not_configured", "internal_error", "session_required", "agent_join_disabled", "forbidden",
            "username_taken", "invite_revoked", "invite_expired", "invite_used_up", "already_claimed",
            "processor_error", "quota_exceeded", "method_not_allowed", "unsupported_media_type", "overloaded",
            "idempotency_conflict",
        ] {
            assert!(page.text().contains(&format!("<code>{code}</code>")), "{code} is missing");
        }
    }

    async fn malformed_or_mismatching_json_is_an_invalid_body(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", "<p>").await.expect(201);
        let activate = || agent.post("/v1/artifacts/my-page/activate");
        for body in ["", "{", "null", "[]", "{\"version\":{}}", "\u{0}"] {
            activate().raw("application/json", body).await.refused(400, "invalid_body");
        }
    }

    async fn a_malformed_parameter_is_an_invalid_request(world: World) {
        let agent = world.agent().await;
        agent.artifact("NO").await.refused(400, "invalid_request").naming("slug");
    }

    async fn errors_are_json_with_no_store_and_nosniff(world: World) {
        let refused = world.stranger().account().await.refused(401, "unauthorized");
        assert!(refused.header("Content-Type").starts_with("application/json"), "{refused:?}");
        assert!(!refused.header("Cache-Control").contains("public"), "{refused:?}");
    }

    async fn openapi_document_lists_all_endpoints(world: World) {
        let description = world.stranger().get("/openapi.json").await.expect(200);
        assert_eq!(description.string("info.version"), "0.1.0");
        let paths = description.at("paths");
        let calls = [
            ("/v1/status", "get"),
            ("/v1/signup", "post"),
            ("/v1/publish", "post"),
            ("/v1/artifacts", "get"),
            ("/v1/artifacts/{slug}", "get"),
            ("/v1/artifacts/{slug}", "delete"),
            ("/v1/artifacts/{slug}/activate", "post"),
            ("/v1/account", "get"),
            ("/v1/usage", "get"),
            ("/claim/{code}", "post"),
            ("/invite/{code}", "get"),
            ("/signin", "get"),
            ("/report", "get"),
            ("/skill", "get"),
            ("/mcp", "post"),
        ];
        for (path, method) in calls {
            assert!(paths[path][method].is_object(), "{method} {path} is not described");
        }
        let publish = &paths["/v1/publish"]["post"];
        assert!(publish["requestBody"]["content"]["multipart/form-data"].is_object(), "{publish}");
        for status in ["201", "401", "402", "403", "413"] {
            assert!(publish["responses"][status].is_object(), "publish does not describe {status}");
        }
        assert!(description.text().contains("X-PAYMENT"));
    }

    async fn documentation_is_an_html_page(world: World) {
        let docs = world.stranger().get("/docs").await;
        // With or without a trailing slash.
        let docs = if docs.status == 200 { docs } else { world.stranger().get("/docs/").await };
        let docs = docs.expect(200);
        assert!(docs.header("Content-Type").starts_with("text/html"), "{docs:?}");
    }
}
