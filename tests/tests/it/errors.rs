//! Spec 7 and 4.10: every error has one form, and the documents say what there is.

use handbill_tests::{Method, in_both_modes};

in_both_modes! {
    async fn an_unknown_endpoint_says_where_the_endpoints_are_listed(world: World) {
        let stranger = world.stranger();
        for path in ["/", "/v1", "/v1/", "/v1/nothing", "/v2/publish", "/v1/artifacts/a/b/c"] {
            let refused = stranger.get(path).await.refused(404, "not_found");
            assert!(refused.string("hint").contains("/openapi.json"), "{refused:?}");
            assert_eq!(refused.field_names(), ["code", "hint", "message"]);
        }
    }

    async fn a_wrong_method_is_405_and_the_right_ones_are_allowed(world: World) {
        let agent = world.agent().await;
        let wrong = [
            (Method::GET, "/v1/signup", "POST"),
            (Method::GET, "/v1/publish", "POST"),
            (Method::PUT, "/v1/artifacts", "GET"),
            (Method::POST, "/v1/status", "GET"),
            (Method::PUT, "/v1/artifacts/a-page", "DELETE"),
        ];
        for (method, path, allowed) in wrong {
            let refused = agent.call(method, path).await.refused(405, "method_not_allowed");
            assert!(refused.header("Allow").contains(allowed), "{refused:?}");
        }
    }

    async fn json_that_does_not_parse_or_fit_is_an_invalid_body(world: World) {
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

    async fn errors_are_json_that_nobody_caches_or_sniffs(world: World) {
        let refused = world.stranger().account().await.refused(401, "unauthorized");
        assert!(refused.header("Content-Type").starts_with("application/json"), "{refused:?}");
        assert!(!refused.header("Cache-Control").contains("public"), "{refused:?}");
    }

    async fn the_description_lists_what_there_is(world: World) {
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

    async fn the_documentation_is_a_page(world: World) {
        let docs = world.stranger().get("/docs").await;
        // With or without a slash at the end.
        let docs = if docs.status == 200 { docs } else { world.stranger().get("/docs/").await };
        let docs = docs.expect(200);
        assert!(docs.header("Content-Type").starts_with("text/html"), "{docs:?}");
    }
}
