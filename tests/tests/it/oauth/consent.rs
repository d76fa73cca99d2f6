//! The consent page, from the app's request to its token.

use std::time::Duration;

use handbill_tests::{in_both_modes, json};

use super::app::{App, Owner, REDIRECT, STATE, parameter};
use crate::expectations::PAGE;

const HTML: &str = "text/html";

in_both_modes! {
    async fn a_person_connects_an_app_to_an_account(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let request = app.request(&[]);
        let signed_out = world.human().get(&request).header("Accept", HTML).await.expect(200);
        for shown in [
            "Test App wants access", "a program on this computer", "Publish, change and delete pages",
            "/signin?next=%2Foauth%2Fauthorize", "Continue with a new account",
        ] {
            assert!(signed_out.text().contains(shown), "{shown}: {}", signed_out.text());
        }
        assert!(!signed_out.text().contains("Create and revoke tokens"), "{}", signed_out.text());
        let policy = signed_out.header("Content-Security-Policy");
        assert!(policy.contains("form-action 'self' http://127.0.0.1:7777;"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        let signed_in = owner.human.get(&request).header("Accept", HTML).await.expect(200);
        assert!(signed_in.text().contains(&owner.handle) && signed_in.text().contains("signed in as ada"));

        let allowed = app.pressed(&owner.human, "allow", &owner.handle, &[]).await.expect(302);
        let location = allowed.header("Location");
        assert!(location.starts_with(&format!("{REDIRECT}?code=")), "{location}");
        assert_eq!(parameter(location, "state").as_deref(), Some(STATE));
        assert_eq!(parameter(location, "iss"), Some(world.base_url()));
        let tokens = app.exchange(&parameter(location, "code").unwrap(), &[]).await.expect(200);
        assert_eq!((tokens.string("token_type"), tokens.integer("expires_in")), ("Bearer".into(), 3600));
        assert_eq!(tokens.string("scope"), "artifacts:write artifacts:read");
        assert_eq!(tokens.header("Cache-Control"), "no-store");
        assert_eq!(tokens.header("Access-Control-Allow-Origin"), "*");

        let connected = app.with(&tokens);
        assert_eq!(connected.account().await.expect(200).string("account.handle"), owner.handle);
        connected.publish("my-page", PAGE).await.expect(201);
        connected.ask_mcp("tools/list", &json!({})).await.expect(200);
        let listed = owner.agent.tokens().await.expect(200).json();
        let own = listed.as_array().unwrap().iter().find(|token| token["name"] == "oauth:Test App").unwrap();
        assert_eq!(own["scopes"], "artifacts:write,artifacts:read");
        // What is missing is named, so that the client can ask for it.
        let refused = connected.tokens().await.refused(403, "insufficient_scope");
        let challenge = refused.header("WWW-Authenticate");
        let missing = "Bearer error=\"insufficient_scope\", scope=\"tokens:manage\"";
        assert!(challenge.starts_with(missing), "{challenge}");
        assert!(challenge.contains("resource_metadata="), "{challenge}");
    }

    async fn a_tool_that_needs_another_scope_makes_the_client_ask_for_it(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let tokens = app.exchange(&app.code(&owner.human, &owner.handle).await, &[]).await.expect(200);
        let invite = json!({ "name": "create_invite", "arguments": {} });
        let refused = app.with(&tokens).ask_mcp("tools/call", &invite).await.expect(403);
        let challenge = refused.header("WWW-Authenticate");
        let needed = "error=\"insufficient_scope\", scope=\"artifacts:write artifacts:read account:manage\"";
        assert!(challenge.contains(needed) && challenge.contains("resource_metadata="), "{challenge}");
        assert_eq!(refused.at("result.structuredContent.code"), "insufficient_scope");
        let code = app.code_with(&owner.human, &owner.handle, &[("scope", "artifacts:write")]).await;
        let writer = app.with(&app.exchange(&code, &[]).await.expect(200));
        let refused = writer.ask_mcp("resources/list", &json!({})).await.expect(403);
        let challenge = refused.header("WWW-Authenticate");
        assert!(challenge.contains("scope=\"artifacts:write artifacts:read\""), "{challenge}");
        // In a batch the status is that of the whole.
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": invite });
        let batch = app.with(&tokens).mcp(&json!([call])).await.expect(200);
        assert_eq!(batch.at("0.result.structuredContent.code"), "insufficient_scope");
        // A client whose token is set by hand cannot ask for another, and gets the error of the tool.
        let own = owner.agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        assert_eq!(own.ask_mcp("tools/call", &invite).await.expect(200).at("result.isError"), true);
    }

    async fn an_app_starts_with_a_new_account(world: World) {
        let app = App::register(&world).await;
        let scope = ("scope", "artifacts:read artifacts:write");
        let page = app.pressed(&world.human(), "new_account", "", &[scope]).await;
        let page = page.expect(200).text().replace("&amp;", "&").replace("&#38;", "&");
        let between = |begin: &str, end: &str| {
            let rest = page.split_once(begin).unwrap_or_else(|| panic!("{begin}: {page}")).1;
            rest.split_once(end).unwrap().0.to_owned()
        };
        let claim_url = between("<code id=\"claim-url\">", "</code>");
        let onward = between("<a class=\"button\" href=\"", "\"");
        assert!(page.contains("Continue to Test App") && onward.starts_with(REDIRECT), "{page}");
        assert_eq!(parameter(&onward, "state").as_deref(), Some(STATE));
        let tokens = app.exchange(&parameter(&onward, "code").unwrap(), &[]).await.expect(200);
        let connected = app.with(&tokens);
        connected.publish("my-page", PAGE).await.expect(201);
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        human.claim(&claim_url).await.expect(200);
        assert_eq!(connected.account().await.expect(200).string("account.status"), "claimed");
        // The app's token is the only one: no other secret was made that nobody has.
        assert_eq!(human.tokens().await.expect(200).json().as_array().unwrap().len(), 1);
    }

    async fn a_person_denies_an_app(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        for human in [&owner.human, &world.human()] {
            let denied = app.pressed(human, "deny", "", &[]).await.expect(302);
            let location = denied.header("Location");
            assert!(location.starts_with(REDIRECT), "{location}");
            assert_eq!(parameter(location, "error").as_deref(), Some("access_denied"));
            assert_eq!(parameter(location, "state").as_deref(), Some(STATE));
            assert_eq!(parameter(location, "iss"), Some(world.base_url()));
            assert_eq!(parameter(location, "code"), None);
        }
    }

    async fn faulty_requests_return_to_the_app_or_stay_here(world: World) {
        let app = App::register(&world).await;
        let human = world.human();
        for (change, error) in [
            (("response_type", "token"), "unsupported_response_type"),
            (("code_challenge", ""), "invalid_request"),
            (("code_challenge", "short"), "invalid_request"),
            (("code_challenge_method", "plain"), "invalid_request"),
            (("code_challenge_method", ""), "invalid_request"),
            (("scope", "openid"), "invalid_scope"),
            (("resource", "https://other.example/mcp"), "invalid_target"),
        ] {
            let reply = human.get(&app.request(&[change])).await.expect(302);
            assert_eq!(parameter(reply.header("Location"), "error").as_deref(), Some(error), "{change:?}");
            assert_eq!(parameter(reply.header("Location"), "iss"), Some(world.base_url()), "{change:?}");
            // A site on the internet is only reached by a click.
            let far = human.get(&app.request(&[change, ("redirect_uri", "https://app.example/cb")])).await;
            assert!(far.expect(400).text().contains("Return to app.example"), "{change:?}");
        }
        for change in [
            ("client_id", "nonsense"),
            ("client_id", ""),
            ("redirect_uri", "https://evil.example/cb"),
            ("redirect_uri", "https://app.example/cb/"),
            ("redirect_uri", "http://127.0.0.1:7777/other"),
            ("redirect_uri", "http://localhost:7777/callback"),
            ("redirect_uri", ""),
            ("redirect_uri", "javascript:alert(1)"),
        ] {
            let shown = human.get(&app.request(&[change])).await;
            let denied = app.pressed(&human, "deny", "", &[change]).await;
            for reply in [shown, denied] {
                assert_eq!((reply.status, reply.header("Location")), (400, ""), "{change:?}");
            }
        }
        let twice = format!("{}&client_id=x", app.request(&[]));
        human.get(&twice).await.expect(400);
        // The port of this machine is free.
        human.get(&app.request(&[("redirect_uri", "http://127.0.0.1:51000/callback")])).await.expect(200);
    }

    async fn only_the_persons_own_page_and_accounts_count(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let other = Owner::new(&world, "bob").await;
        let foreign = app.pressed(&owner.human, "allow", &other.handle, &[]).await.expect(403);
        assert_eq!(foreign.header("Location"), "");
        let evil = owner.human.on_a_page_of("https://evil.example");
        for decision in ["allow", "new_account", "deny"] {
            app.pressed(&evil, decision, &owner.handle, &[]).await.refused(403, "forbidden");
        }
        let signed_out = app.pressed(&world.human(), "allow", &owner.handle, &[]).await.expect(302);
        assert!(signed_out.header("Location").starts_with("/signin?next=%2Foauth"), "{signed_out:?}");
        // A member grants no more than the role has.
        owner.admit(&other.human).await;
        let all = [("scope", "artifacts:write artifacts:read tokens:manage account:manage")];
        let code = app.code_with(&other.human, &owner.handle, &all).await;
        let tokens = app.exchange(&code, &[]).await.expect(200);
        assert_eq!(tokens.string("scope"), "artifacts:write artifacts:read");
        let code = app.code_with(&owner.human, &owner.handle, &all).await;
        let tokens = app.exchange(&code, &[]).await.expect(200);
        assert_eq!(tokens.string("scope"), "artifacts:write artifacts:read tokens:manage account:manage");
        // A token that it creates ends with its own.
        let minted = app.with(&tokens).mint(&json!({})).await.expect(201).string("token");
        world.advance(Duration::from_secs(3601));
        world.stranger().with_token(&minted).account().await.refused(401, "unauthorized");
    }

    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "1")]
    async fn new_accounts_for_apps_count_as_sign_ups(world: World) {
        let app = App::register(&world).await;
        app.pressed(&world.human(), "new_account", "", &[]).await.expect(200);
        let limited = app.pressed(&world.human(), "new_account", "", &[]).await.expect(429);
        assert!(limited.text().contains("Too many attempts") && limited.text().contains("Test App"));
        world.stranger().post("/v1/signup").await.refused(429, "rate_limited");
    }
}
