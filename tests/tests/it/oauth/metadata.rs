//! What a client reads before it connects, registration, and the addresses of client documents.

use handbill_tests::{Call, Method, Value, in_both_modes, json};
use tokio::net::TcpListener;

use super::app::{App, refused};

in_both_modes! {
    async fn a_refused_request_leads_to_the_metadata(world: World) {
        let (stranger, base_url) = (world.stranger(), world.base_url());
        for (path, resource) in [("/mcp", "/mcp"), ("/v1/account", "")] {
            let method = if path == "/mcp" { Method::POST } else { Method::GET };
            let refused = stranger.call(method, path).raw("application/json", "{}").await.expect(401);
            let challenge = refused.header("WWW-Authenticate");
            let metadata = format!("{base_url}/.well-known/oauth-protected-resource{resource}");
            assert!(challenge.starts_with("Bearer "), "{challenge}");
            assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{challenge}");
            assert!(challenge.contains("scope=\"artifacts:write artifacts:read\""), "{challenge}");
            let metadata = stranger.get(&metadata[base_url.len()..]).await.expect(200);
            assert_eq!(metadata.header("Access-Control-Allow-Origin"), "*");
            assert_eq!(metadata.string("resource"), format!("{base_url}{resource}"));
            assert_eq!(metadata.at("authorization_servers"), json!([base_url]));
            assert_eq!(metadata.at("scopes_supported"), json!(["artifacts:write", "artifacts:read"]));
        }
        let server = stranger.get("/.well-known/oauth-authorization-server").await.expect(200);
        assert_eq!(server.string("issuer"), base_url);
        assert_eq!(server.at("code_challenge_methods_supported"), json!(["S256"]));
        assert_eq!(server.at("token_endpoint_auth_methods_supported"), json!(["none"]));
        assert_eq!(server.at("authorization_response_iss_parameter_supported"), json!(true));
        for endpoint in ["token", "registration", "revocation", "device_authorization"] {
            let address = server.string(&format!("{endpoint}_endpoint"));
            let path = address.strip_prefix(&base_url).unwrap_or_else(|| panic!("{address}"));
            stranger.get(path).await.refused(405, "method_not_allowed");
        }
    }

    async fn pages_of_any_origin_read_the_endpoints_for_programs_and_never_the_consent(world: World) {
        let stranger = world.stranger();
        let preflight = async |path: &str| {
            let asked = stranger.call(Method::OPTIONS, path).header("Origin", "https://app.example");
            asked.header("Access-Control-Request-Method", "POST").await
        };
        let open = async |call: Call| {
            let reply = call.header("Origin", "https://app.example").await;
            assert_eq!(reply.header("Access-Control-Allow-Credentials"), "", "{reply:?}");
            reply.header("Access-Control-Allow-Origin") == "*"
        };
        for path in [
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            // A client that tries an address that does not exist can read that it does not.
            "/.well-known/oauth-authorization-server/mcp",
        ] {
            assert_eq!(preflight(path).await.expect(204).header("Access-Control-Allow-Origin"), "*", "{path}");
            assert!(open(stranger.get(path)).await, "{path}");
            assert!(!open(stranger.get(path).header("Cookie", "svc_sess=x")).await, "{path}");
        }
        for path in ["/oauth/register", "/oauth/token", "/oauth/revoke", "/oauth/device_authorization"] {
            let allowed = preflight(path).await.expect(204);
            assert!(allowed.header("Access-Control-Allow-Headers").contains("Content-Type"), "{path}");
            assert!(open(stranger.post(path).form(&[])).await, "{path}");
            assert!(open(stranger.get(path)).await, "{path}: 405");
        }
        for path in ["/oauth/authorize", "/oauth/device"] {
            assert_eq!(preflight(path).await.header("Access-Control-Allow-Origin"), "", "{path}");
            assert!(!open(stranger.get(path)).await, "{path}");
        }
    }

    async fn clients_register_within_bounds(world: World) {
        let stranger = world.stranger();
        let register = async |terms: &Value| stranger.post("/oauth/register").json(terms).await;
        let registered = register(&json!({
            "client_name": " An\u{202e} App\n",
            "redirect_uris": ["http://localhost/cb", "cursor://cb"],
            "token_endpoint_auth_method": "client_secret_post",
            "grant_types": ["authorization_code", "refresh_token"],
            "contacts": ["a@b.example"],
        }))
        .await
        .expect(201);
        assert_eq!(registered.string("client_name"), "An App");
        assert_eq!(registered.string("token_endpoint_auth_method"), "none");
        assert_eq!(registered.at("redirect_uris"), json!(["http://localhost/cb", "cursor://cb"]));
        let unnamed = register(&json!({ "redirect_uris": ["https://app.example/cb"] })).await.expect(201);
        assert_eq!(unnamed.string("client_name"), "app.example");
        let long = format!("https://app.example/{}", "a".repeat(380));
        for (terms, error) in [
            (json!({}), "invalid_redirect_uri"),
            (json!({ "redirect_uris": ["http://app.example/cb"] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": ["https://app.example/cb#x"] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": vec!["https://a.example/cb"; 11] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": vec![long; 4] }), "invalid_client_metadata"),
            (json!({ "redirect_uris": "https://app.example/cb" }), "invalid_client_metadata"),
            (json!([]), "invalid_client_metadata"),
        ] {
            refused(&register(&terms).await, error);
        }
        let mut limited = None;
        for _ in 0..30 {
            let reply = register(&json!({ "redirect_uris": ["https://app.example/cb"] })).await;
            if reply.status == 429 {
                limited = Some(reply);
                break;
            }
        }
        let limited = limited.expect("registration is rate limited");
        assert_eq!(limited.string("error"), "temporarily_unavailable");
        assert!(!limited.header("Retry-After").is_empty());
    }

    async fn client_documents_are_not_fetched_from_this_machine_or_its_network(world: World) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = App::register(&world).await;
        for target in [
            format!("https://127.0.0.1:{port}/client.json"),
            format!("https://localhost:{port}/client.json"),
            format!("https://[::1]:{port}/client.json"),
            format!("https://[::ffff:127.0.0.1]:{port}/client.json"),
            format!("https://0x7f000001:{port}/client.json"),
            format!("https://user@127.0.0.1:{port}/client.json"),
            "https://127.0.0.1/client.json".into(),
            "https://2130706433/client.json".into(),
            "https://localhost/client.json".into(),
            "https://169.254.169.254/latest/meta-data".into(),
            "https://metadata.google.internal/computeMetadata/v1/".into(),
            "https://10.0.0.1/client.json".into(),
            "https://no-such-host.invalid/client.json".into(),
            "https://app.example/".into(),
            "http://app.example/client.json".into(),
            "file:///etc/passwd".into(),
        ] {
            let reply = world.human().get(&app.request(&[("client_id", &target)])).await;
            assert_eq!((reply.status, reply.header("Location")), (400, ""), "{target}");
        }
        let connected = tokio::time::timeout(std::time::Duration::from_millis(200), listener.accept()).await;
        assert!(connected.is_err(), "the server connected to its own machine");
    }
}
