//! Spec 4.6, 5.3: what a session is, what it represents, and who may use it.

use std::time::Duration;

use handbill_tests::{Human, Method, Reply, World, in_both_modes, json};

use crate::expectations::{PAGE, PASSWORD};

const DAY: Duration = Duration::from_secs(24 * 3600);

in_both_modes! {
    async fn session_cookie_is_http_only_and_same_site_in_responses(world: World) {
        let human = world.human();
        for signed_in in [human.dev_login("ada").await.expect(200), human.me().await.expect(200)] {
            let flags = flags_of(&signed_in);
            assert_eq!(flags, ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"], "{signed_in:?}");
        }
        let secret = human.cookie("svc_sess").unwrap();
        assert!(secret.len() >= 32 && secret.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{secret}");
    }

    #[settings(
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_API__BASE_URL" = "https://handbill.example",
        "HANDBILL_EDGE__URL_STYLE" = "host"
    )]
    async fn session_cookie_is_secure_with_https(world: World) {
        let human = world.human().on_a_page_of("https://handbill.example");
        let registered = human.register("ada", PASSWORD).await.expect(201);
        let signed_in = human.login("ada", PASSWORD).await.expect(200);
        let signed_out = human.logout().await.expect(200);
        for reply in [registered, signed_in, signed_out] {
            assert!(flags_of(&reply).iter().any(|flag| flag == "Secure"), "{reply:?}");
        }
    }

    async fn every_sign_in_creates_a_new_session_regardless_of_cookies(world: World) {
        let planted = "planted0planted0planted0planted0planted0pla";
        let stranger = world.stranger();
        let call = || stranger.get("/auth/dev?user=ada").header("Cookie", format!("svc_sess={planted}"));
        let mut secrets = Vec::new();
        for _ in 0..2 {
            let signed_in = call().await.expect(200);
            secrets.push(signed_in.header("Set-Cookie").split(';').next().unwrap().to_owned());
        }
        assert!(secrets[0] != secrets[1] && !secrets.iter().any(|secret| secret.contains(planted)));
        me_with(&world, &format!("svc_sess={planted}")).await.refused(401, "unauthorized");
        for secret in &secrets {
            me_with(&world, secret).await.expect(200);
        }
    }

    async fn signing_out_ends_the_session_on_the_server(world: World) {
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        let stolen = format!("svc_sess={}", human.cookie("svc_sess").unwrap());
        me_with(&world, &stolen).await.expect(200);
        let signed_out = human.logout().await.expect(200);
        assert_eq!(signed_out.json(), json!({ "signed_out": true }));
        assert!(flags_of(&signed_out).contains(&"Max-Age=0".to_owned()), "{signed_out:?}");
        assert_eq!(human.cookie("svc_sess"), None);
        me_with(&world, &stolen).await.refused(401, "unauthorized");
        // A second time, without a session, is not an error.
        assert_eq!(human.logout().await.expect(200).json(), json!({ "signed_out": true }));
        human.logout().header("Cookie", stolen).await.expect(200);
    }

    async fn a_new_password_ends_every_session_and_the_old_password(world: World) {
        let (here, elsewhere) = (world.human(), world.human());
        here.register("ada", PASSWORD).await.expect(201);
        elsewhere.login("ada", PASSWORD).await.expect(200);
        // Another person has a copy of the same cookie.
        let stolen = format!("svc_sess={}", here.cookie("svc_sess").unwrap());
        let new = "another Word for 1";

        let wrong = change_password(&here, "not my Password 7", new).await.refused(401, "invalid_credentials");
        assert!(!wrong.headers.contains_key("set-cookie"), "{wrong:?}");
        change_password(&here, PASSWORD, "short").await.refused(400, "weak_password");
        change_password(&here, PASSWORD, "adas own Word 1").await.refused(400, "weak_password");
        change_password(&world.human(), PASSWORD, new).await.refused(401, "unauthorized");
        let foreign = here.on_a_page_of("https://evil.example");
        change_password(&foreign, PASSWORD, new).await.refused(403, "forbidden");
        elsewhere.me().await.expect(200);
        me_with(&world, &stolen).await.expect(200);

        let changed = change_password(&here, PASSWORD, new).await.expect(302);
        assert_eq!(changed.header("Location"), "/you?done=password-changed");
        assert_eq!(flags_of(&changed), ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"]);
        assert_eq!(here.me().await.expect(200).string("user.username"), "ada");
        elsewhere.me().await.refused(401, "unauthorized");
        me_with(&world, &stolen).await.refused(401, "unauthorized");
        world.human().login("ada", PASSWORD).await.refused(401, "invalid_credentials");
        world.human().login("ada", new).await.expect(200);
    }

    async fn password_form_of_one_person_cannot_change_anothers_password(world: World) {
        let here = world.human();
        here.register("ada", PASSWORD).await.expect(201);
        // Bob has signed in in another tab meanwhile, with the same password.
        here.register("bob", PASSWORD).await.expect(201);
        let new = "another Word for 1";
        let of = |username| {
            let fields = [("username", username), ("current_password", PASSWORD), ("password", new)];
            here.post("/you/password").form(&fields)
        };
        let refused = of("ada").await.refused(400, "invalid_request");
        assert!(refused.string("message").contains("signed in"), "{refused:?}");
        for name in ["ada", "bob"] {
            world.human().login(name, PASSWORD).await.expect(200);
        }
        of("bob").await.expect(302);
        world.human().login("bob", new).await.expect(200);
    }

    async fn signing_out_everywhere_ends_all_sessions_of_one_person(world: World) {
        let (here, elsewhere, other) = (world.human(), world.human(), world.human());
        for (human, name) in [(&here, "ada"), (&elsewhere, "ada"), (&other, "bob")] {
            human.dev_login(name).await.expect(200);
        }
        let everywhere = |human: &Human| human.post("/you/sign-out-everywhere");
        everywhere(&here.on_a_page_of("https://evil.example")).await.refused(403, "forbidden");
        everywhere(&world.human()).await.refused(401, "unauthorized");
        elsewhere.me().await.expect(200);
        let signed_out = everywhere(&here).await.expect(302);
        assert_eq!(signed_out.header("Location"), "/signin");
        assert_eq!(here.cookie("svc_sess"), None);
        here.me().await.refused(401, "unauthorized");
        elsewhere.me().await.refused(401, "unauthorized");
        other.me().await.expect(200);
    }

    #[settings("HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8", "HANDBILL_ALLOW_PUBLIC_DEV" = "true")]
    async fn sessions_are_listed_with_their_origin_and_end_one_by_one(world: World) {
        let (here, elsewhere, other) = (world.human(), world.human(), world.human());
        here.register("ada", PASSWORD).await.expect(201);
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let login = elsewhere.login("ada", PASSWORD).header("X-Forwarded-For", "198.51.100.9");
        login.header("User-Agent", firefox).await.expect(200);
        other.register("bob", PASSWORD).await.expect(201);

        let page = here.get("/you").await.expect(200).text();
        for shown in ["Firefox on Linux", "198.51.100.9", "this one"] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        let ids = session_ids(&page);
        assert_eq!(ids.len(), 2, "{page}");
        let secrets = [&here, &elsewhere].map(|human| human.cookie("svc_sess").unwrap());
        assert!(secrets.iter().all(|secret| !page.contains(secret.as_str())), "{page}");
        for id in &ids {
            // The id in the list is not a credential.
            me_with(&world, &format!("svc_sess={id}")).await.refused(401, "unauthorized");
        }
        let (mine, theirs) = (session_ids(&elsewhere.get("/you").await.expect(200).text()), &ids);
        assert_eq!(std::collections::BTreeSet::from_iter(&mine), theirs.iter().collect());

        let end = |human: &Human, id: &str| human.post(&format!("/you/sessions/{id}/end"));
        let (current, remote) = current_and_other(&page, &ids);
        end(&here.on_a_page_of("https://evil.example"), &remote).await.refused(403, "forbidden");
        end(&world.human(), &remote).await.refused(401, "unauthorized");
        // Another person's session cannot be ended.
        end(&other, &remote).await.expect(302);
        elsewhere.me().await.expect(200);
        assert_eq!(end(&here, &remote).await.expect(302).header("Location"), "/you?done=session-ended");
        elsewhere.me().await.refused(401, "unauthorized");
        here.me().await.expect(200);
        // Ending an ended session is not an error. Ending the current one signs out.
        end(&here, &remote).await.expect(302);
        assert_eq!(end(&here, &current).await.expect(302).header("Location"), "/signin");
        assert_eq!(here.cookie("svc_sess"), None);
        here.me().await.refused(401, "unauthorized");
    }

    async fn current_password_attempts_are_rate_limited(world: World) {
        let human = world.human();
        human.register("ada", PASSWORD).await.expect(201);
        for _ in 0..10 {
            change_password(&human, "not my Password 7", "another Word for 1").await.refused(401, "invalid_credentials");
        }
        let limited = change_password(&human, PASSWORD, "another Word for 1").await.refused(429, "rate_limited");
        assert!(limited.headers.contains_key("retry-after"), "{limited:?}");
        world.advance(Duration::from_secs(61));
        change_password(&human, PASSWORD, "another Word for 1").await.expect(302);
    }

    async fn a_session_lasts_thirty_days_from_its_last_use(world: World) {
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        for _ in 0..2 {
            world.advance(29 * DAY);
            human.me().await.expect(200);
        }
        world.advance(31 * DAY);
        let refused = human.me().await.refused(401, "unauthorized");
        assert!(refused.string("hint").contains("POST /v1/signup to get a token"), "{refused:?}");
    }

    async fn a_change_from_another_sites_page_is_refused(world: World) {
        let agent = world.agent().await;
        let human = owner_of(&world, &agent.signup.clone().unwrap()).await;
        agent.publish("a-page", PAGE).await.expect(201);
        let edge = world.serve_url();
        for origin in [&edge, "null", "https://evil.example", "http://127.0.0.1"] {
            let elsewhere = human.on_a_page_of(origin);
            elsewhere.logout().await.refused(403, "forbidden");
            elsewhere.call(Method::DELETE, "/v1/artifacts/a-page").await.refused(403, "forbidden");
            // A read changes nothing, and the other page cannot read its response.
            elsewhere.me().header("Origin", origin).await.expect(200);
        }
        let cookie = format!("svc_sess={}", human.cookie("svc_sess").unwrap());
        for site in ["same-site", "cross-site"] {
            let logout = world.stranger().post("/auth/logout").header("Cookie", cookie.clone());
            logout.header("Sec-Fetch-Site", site).await.refused(403, "forbidden");
        }
        assert_eq!(human.me().await.expect(200).string("accounts.0.role"), "owner");
        agent.artifact("a-page").await.expect(200);
        human.call(Method::DELETE, "/v1/artifacts/a-page").await.expect(200);
    }

    async fn dev_mode_accepts_a_session_instead_of_a_token(world: World) {
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        human.get("/v1/account").await.refused(403, "forbidden");
        let (first, second) = (world.agent().await, world.agent().await);
        for agent in [&first, &second] {
            human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        }
        second.publish("a-page", PAGE).await.expect(201);

        // The oldest, unless one is named.
        assert_eq!(human.get("/v1/account").await.expect(200).string("handle"), first.handle());
        let id = second.signup.as_ref().unwrap().string("account.id");
        for name in [&second.handle(), &id] {
            let account = human.get("/v1/account").header("X-Account", name.as_str()).await.expect(200);
            assert_eq!(account.string("handle"), second.handle());
            human.get("/v1/artifacts/a-page").header("X-Account", name.as_str()).await.expect(200);
        }
        human.get("/v1/artifacts/a-page").await.refused(404, "not_found");
        let others = world.agent().await;
        let foreign = human.get("/v1/account").header("X-Account", others.handle()).await;
        foreign.refused(403, "forbidden");
        // A token takes precedence over the cookie.
        let token = human.get("/v1/account").header("Authorization", format!("Bearer {}", others.token())).await;
        assert_eq!(token.expect(200).string("handle"), others.handle());
        human.get("/v1/account").header("Authorization", "Bearer nonsense").await.refused(401, "unauthorized");
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn outside_dev_mode_a_session_cannot_replace_a_token(world: World) {
        let agent = world.agent().await;
        let human = world.human();
        human.register("ada", PASSWORD).await.expect(201);
        human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        for path in ["/v1/account", "/v1/artifacts", "/v1/usage"] {
            human.get(path).await.refused(401, "unauthorized");
        }
        assert_eq!(human.me().await.expect(200).string("accounts.0.handle"), agent.handle());
    }

    async fn token_is_not_accepted_as_a_session(world: World) {
        world.agent().await.get("/auth/me").await.refused(401, "unauthorized");
    }
}

/// A person who has claimed an account.
async fn owner_of(world: &World, signup: &Reply) -> Human {
    let human = world.human();
    human.dev_login("ada").await.expect(200);
    human.claim(&signup.string("claim_url")).await.expect(200);
    human
}

async fn me_with(world: &World, cookie: &str) -> Reply {
    world.stranger().get("/auth/me").header("Cookie", cookie).await
}

/// The ids of the sessions on a page, in its order.
fn session_ids(page: &str) -> Vec<String> {
    let after = page.split("/you/sessions/").skip(1);
    after.map(|rest| rest.split("/end").next().unwrap().to_owned()).collect()
}

/// The session that reads the page, and another.
fn current_and_other(page: &str, ids: &[String]) -> (String, String) {
    let before_its_form = page.split(">this session<").nth(1).unwrap();
    let current = session_ids(before_its_form)[0].clone();
    let other = ids.iter().find(|id| **id != current).unwrap().clone();
    (current, other)
}

fn change_password(human: &Human, current: &str, new: &str) -> handbill_tests::Call {
    human.post("/you/password").form(&[("current_password", current), ("password", new)])
}

/// The attributes of a `Set-Cookie`, sorted.
#[track_caller]
fn flags_of(reply: &Reply) -> Vec<String> {
    let cookie = reply.header("Set-Cookie");
    assert!(cookie.starts_with("svc_sess="), "{reply:?}");
    let mut flags: Vec<_> = cookie.split(';').skip(1).map(|flag| flag.trim().to_owned()).collect();
    flags.sort();
    flags
}
