//! The moderation pages: who has access, and what a suspected page may do while a moderator views it.

use std::time::Duration;

use handbill_tests::{Human, Method, PATIENCE, Reply, eventually, in_both_modes};

use crate::expectations::{PAGE, front_page, page_saying};
use crate::moderation::becomes;
use crate::moderation_queue::{DOUBTFUL, audit, hosts, list};

pub const OPERATOR_PASSWORD: &str = "a password of the operator's own";
const HALF_A_DAY: Duration = Duration::from_secs(12 * 3600);
const BROWSER: &str = "text/html,application/xhtml+xml";

in_both_modes! {
    #[settings("HANDBILL_DEV_MODE" = "false", "HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD)]
    async fn operators_sign_in_with_name_and_password(world: World) {
        let human = world.human();
        let led = human.get("/admin/audit").await.expect(302);
        assert_eq!(led.header("Location"), "/admin/signin?next=/admin/audit");
        human.get("/admin/signin").await.expect(200);
        for wrong in ["", "wrong", &OPERATOR_PASSWORD.to_uppercase()] {
            let refused = sign_in(&human, "Ada", wrong).await;
            assert!(refused.status == 401 && refused.text().contains("Wrong name or password."), "{refused:?}");
            assert!(refused.headers.get("set-cookie").is_none(), "{refused:?}");
        }
        assert_eq!(sign_in(&human, "a password typed as a name", "wrong").await.status, 401);
        assert!(world.api().log().contains("operator sign-in refused"), "{}", world.api().log());
        assert_eq!(sign_in(&human, " \u{200b} ", OPERATOR_PASSWORD).await.status, 400);
        sign_in(&human.on_a_page_of("http://evil.example"), "Ada", OPERATOR_PASSWORD).await.expect(403);
        human.get("/admin/moderation").await.expect(302);

        let signed_in = sign_in(&human, "Ada", OPERATOR_PASSWORD).await.expect(302);
        assert_eq!(signed_in.header("Location"), "/admin/audit");
        let cookie = signed_in.header("Set-Cookie").to_owned();
        for flag in ["HttpOnly", "SameSite=Strict", "Path=/admin", "Max-Age=43200"] {
            assert!(cookie.split("; ").any(|part| part == flag), "{cookie}");
        }
        for path in ["/admin/moderation", "/admin/audit"] {
            let page = human.get(path).await.expect(200);
            assert!(page.text().contains("Ada"), "{page:?}");
            assert_eq!(page.header("Cache-Control"), "no-store");
        }
        assert_eq!(human.get("/admin").await.expect(302).header("Location"), "/admin/moderation");
        human.post("/admin/audit").await.expect(405);

        human.on_a_page_of("http://evil.example").post("/admin/signout").await.expect(403);
        human.post("/admin/signout").await.expect(302);
        assert_eq!(human.cookie("svc_admin"), None);
        human.get("/admin/moderation").await.expect(302);

        sign_in(&human, "Ada", OPERATOR_PASSWORD).await.expect(302);
        world.advance(HALF_A_DAY - Duration::from_secs(60));
        human.get("/admin/moderation").await.expect(200);
        world.advance(Duration::from_secs(120));
        human.get("/admin/moderation").await.expect(302);
        // An expired session loses the typed note, and the page says so.
        let led = human.post("/admin/moderation/my-page-a1b2").form(&[("note", "Long.")]).await.expect(302);
        assert!(human.get(led.header("Location")).await.expect(200).text().contains("was not saved"));
        assert!(!world.api().log().contains("a password typed as a name"), "{}", world.api().log());
    }

    #[settings(
        "HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD,
        "HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "3"
    )]
    async fn operator_password_attempts_are_rate_limited(world: World) {
        let human = world.human();
        for _ in 0..3 {
            assert_eq!(sign_in(&human, "Ada", "wrong").await.status, 401);
        }
        let refused = sign_in(&human, "Ada", OPERATOR_PASSWORD).await.expect(429);
        assert!(refused.header("Retry-After").parse::<u32>().is_ok(), "{refused:?}");
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn admin_pages_need_the_secret_outside_dev_mode_without_a_password(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        let page = format!("/admin/moderation/{host}");
        let preview = format!("{page}/preview/1/");
        let operator = world.operator();
        for path in ["/admin", "/admin/signin", "/admin/signout", "/admin/moderation", "/admin/audit", &page, &preview] {
            for method in [Method::GET, Method::POST, Method::PUT] {
                for call in [
                    world.stranger().call(method.clone(), path),
                    operator.call_knowing("wrong", method.clone(), path),
                ] {
                    call.await.refused(404, "not_found").naming("endpoint");
                }
            }
        }
        let browser = world.stranger().get("/admin/moderation").header("Accept", BROWSER).await.expect(404);
        assert!(browser.text().contains("Page not found"), "{browser:?}");
        for path in ["/admin/moderation", "/admin/audit", &page, &preview] {
            operator.call(Method::GET, path).await.expect(200);
        }
        let decision = operator.post(&page).header("X-Operator", " Bea\u{9}");
        decision.form(&[("action", "block"), ("version", "1")]).await.expect(302);
        assert_eq!(audit(&world, "?moderators=true").await.expect(200).string("items.0.decided_by"), "Bea");
        // The secret gives access to existing pages. It does not create others.
        operator.call(Method::GET, "/admin/nothing").await.refused(404, "not_found");
    }

    async fn dev_mode_admin_pages_without_a_password_reject_cross_site_requests(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let page = format!("/admin/moderation/{}", published.string("host"));
        assert_eq!(human.get("/admin/signin").await.expect(302).header("Location"), "/admin/moderation");
        human.get(&page).await.expect(200);
        let decision = [("action", "block"), ("version", "1")];
        human.on_a_page_of(&world.serve_url()).post(&page).form(&decision).await.refused(403, "forbidden");
        front_page(&world.visitor(), &published).await.expect(200);
        human.post(&page).form(&decision).await.expect(302);
        front_page(&world.visitor(), &published).await.expect(451);
    }

    async fn dev_mode_admin_pages_without_a_password_are_local_only(world: World) {
        let human = world.human();
        human.get("/admin/moderation").await.expect(200);
        for path in ["/admin/moderation", "/admin/queues", "/admin/signin"] {
            for through in ["X-Forwarded-For", "Forwarded", "Via"] {
                human.get(path).header(through, "127.0.0.1").await.refused(403, "forbidden").naming("dev mode");
            }
        }
        world.operator().call(Method::GET, "/admin/queues").header("X-Forwarded-For", "192.0.2.1").await.expect(200);
    }

    #[settings("HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD)]
    async fn decision_on_the_case_page_redirects_and_an_outdated_one_shows_the_live_version(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        let published = agent.publish("my-page", DOUBTFUL).await.expect(201);
        let copy = agent.publish("copy", DOUBTFUL).await.expect(201);
        becomes(&agent, "my-page", "review").await;
        becomes(&agent, "copy", "review").await;
        sign_in(&human, "Ada", OPERATOR_PASSWORD).await.expect(302);
        let queue = human.get("/admin/moderation").await.expect(200).text();
        let host = published.string("host");
        assert!(queue.contains(&host) && queue.contains("asks for a password near a phishing lure"), "{queue}");
        let page = format!("/admin/moderation/{host}");
        let case = human.get(&page).await.expect(200).text();
        assert!(case.contains("paypal") && case.contains(&copy.string("host")), "{case}");

        let late = [("action", "block"), ("version", "7"), ("note", "Look <twice>.")];
        let refused = human.post(&page).header("Accept", BROWSER).form(&late).await.expect(409);
        assert!(refused.text().contains("Look &#60;twice&#62;."), "{refused:?}");
        assert!(refused.text().contains("The version to decide on has changed"), "{refused:?}");
        let burnt = [("action", "burn"), ("version", "1")];
        human.post(&page).header("Accept", BROWSER).form(&burnt).await.expect(400);
        let column = |name: &str| {
            let value = case.split(&format!("name=\"{name}\" value=\"")).nth(1).expect("a hidden field");
            value.split('"').next().unwrap().to_owned()
        };
        let (decision, listed) = (column("decision"), column("listed"));
        assert_eq!((listed.as_str(), column("report")), (copy.string("host").as_str(), String::new()));
        let unseen = [("action", "pass"), ("version", "1"), ("decision", ""), ("report", ""), ("note", "Kept."), ("elsewhere", "on")];
        let refused = human.post(&page).header("Accept", BROWSER).form(&unseen).await.expect(409);
        let refused = refused.text();
        assert!(refused.contains("Another decision was made") && refused.contains("Kept."), "{refused}");
        assert!(!refused.contains(" checked"), "the tick was of another list: {refused}");
        let decision = [
            ("action", "block"),
            ("version", "1"),
            ("decision", decision.as_str()),
            ("report", ""),
            ("elsewhere", "on"),
            ("listed", listed.as_str()),
        ];
        let led = human.post(&page).form(&decision).await.expect(302);
        let response = human.get(led.header("Location")).await.expect(200).text();
        assert!(response.contains(&format!("{host} is blocked. Visitors see a notice.")) && response.contains("1 other page"), "{response}");
        for page in [&published, &copy] {
            front_page(&world.visitor(), page).await.expect(451);
        }
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
        let log = human.get(&format!("/admin/audit?host={host}")).await.expect(200).text();
        assert!(log.contains("Ada, <span class=\"note\">a moderator</span>") && log.contains("blocked"), "{log}");
        human.get("/admin/audit?host=NO").await.expect(400);
        human.get("/admin/moderation/no-such-page-0000").await.refused(404, "not_found");
    }

    #[settings("HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD)]
    async fn preview_is_sandboxed_and_uncounted_and_only_for_operators(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        agent.buy_credit(5.0).paying("dev:5").await.expect(200);
        let index = b"<link rel=stylesheet href=css/a.css><link rel=preconnect href=//x.example><h1>Hi</h1><script>x()</script>";
        let wide: Vec<u8> = "\u{feff}<h1>Wide \u{fc}</h1>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let files: [(&str, &[u8]); 5] = [
            ("index.html", index),
            ("wide.html", &wide),
            ("css/a.css", b"h1{color:red}"),
            ("docs/index.html", b"<p>docs</p>"),
            ("about.html", b"<p>about</p>"),
        ];
        let host = agent.publish_files("my-site", &files).await.expect(201).string("host");
        agent.publish("my-site", page_saying("the next")).await.expect(201);
        agent.set_visibility("my-site", "private").await.expect(200);
        let page = format!("/admin/moderation/{host}");
        human.post(&page).form(&[("action", "block"), ("version", "2")]).await.expect(302);
        sign_in(&human, "Ada", OPERATOR_PASSWORD).await.expect(302);
        human.post(&page).form(&[("action", "block"), ("version", "2")]).await.expect(302);

        let preview = format!("{page}/preview/1");
        for (path, found) in [("/", "Hi"), ("/index.html", "Hi"), ("/docs/", "docs"), ("/about", "about"), ("/css/a.css", "red"), ("/wide.html", "<h1>Wide ü</h1>")]
        {
            let shown = human.get(&format!("{preview}{path}")).await.expect(200);
            assert!(shown.text().contains(found), "{shown:?}");
            assert!(!shown.text().contains("preconnect"), "{shown:?}");
            assert_tied_up(&shown);
        }
        let folder = human.get(&format!("{preview}/docs")).await.expect(302);
        assert_eq!(folder.header("Location"), format!("{preview}/docs/"));
        human.get(&format!("{preview}/nothing")).await.refused(404, "not_found").naming("file");
        human.get(&format!("{page}/preview/3/")).await.refused(404, "not_found").naming("version");
        human.get(&format!("{page}/preview/x/")).await.refused(404, "not_found");
        assert!(human.get(&format!("{page}/preview/2/")).await.expect(200).text().contains("the next"));
        let source = human.get(&format!("{page}/source/1/index.html")).await.expect(200);
        assert_eq!(source.header("Content-Type"), "text/plain; charset=utf-8");
        assert!(source.text().contains("<script>x()") && source.text().contains("preconnect"));
        assert_tied_up(&source);
        let source = human.get(&format!("{page}/source/1/wide.html")).await.expect(200);
        assert_eq!(source.text().trim_start_matches('\u{feff}'), "<h1>Wide ü</h1>");
        // The preview frame reports errors as well.
        for (path, status) in [("preview/1/nothing", 404), ("source/1/nothing", 404), ("preview/7/", 404)] {
            let response = human.get(&format!("{page}/{path}")).header("Accept", BROWSER).await.expect(status);
            assert!(response.header("Content-Security-Policy").contains("frame-ancestors 'self'"), "{response:?}");
            assert!(response.header("Content-Type").starts_with("text/plain") && response.text().contains("It may have been deleted."), "{response:?}");
            assert_tied_up(&response);
        }
        let missing = human.get(&format!("{preview}/nothing")).await.refused(404, "not_found");
        assert!(missing.string("hint").contains("GET /internal/moderation"), "{missing:?}");

        // The request for the page's frame has no cookie. Its address contains the authorization.
        let case = human.get(&page).await.expect(200);
        assert!(case.header("Content-Security-Policy").contains("frame-src 'self'"), "{case:?}");
        let case = case.text();
        let framed = case.split("<iframe").nth(1).and_then(|rest| rest.split("src=\"").nth(1)).unwrap();
        let framed = framed.split('"').next().unwrap();
        let stranger = world.stranger();
        assert!(stranger.get(framed).await.expect(200).text().contains("the next"));
        for other in [framed.replace("/preview/2/", "/preview/1/"), framed.replacen('~', "~1", 1), format!("{preview}/")] {
            assert_eq!(stranger.get(&other).await.status, 302, "{other}");
        }
        stranger.get(&framed.replace("/preview/", "/source/")).await.expect(302);
        world.advance(Duration::from_secs(3601));
        stranger.get(framed).await.expect(302);
        let response = stranger.get(framed).header("Accept", BROWSER).await.expect(403);
        assert!(response.text().contains("This preview has expired"), "{response:?}");
        assert_tied_up(&response);
        // The account has expired meanwhile. Moderators can still view its page.
        human.get(&format!("{preview}/")).await.expect(200);

        // None of these count as views. The operator's view comes after all that an edge might have sent.
        world.operator().count_view(&host).await.expect(200);
        eventually(PATIENCE, "the operator's view", async || {
            (agent.usage().await.expect(200).integer("traffic.views") == 1).then_some(())
        })
        .await;
    }
}

fn assert_tied_up(shown: &Reply) {
    let policy = shown.header("Content-Security-Policy");
    for part in ["sandbox", "default-src 'none'", "form-action 'none'"] {
        assert!(policy.split("; ").any(|directive| directive == part), "{policy}");
    }
    assert!(!policy.contains("allow-") && !policy.contains("script-src"), "{policy}");
    assert_eq!(shown.header("X-Content-Type-Options"), "nosniff");
    assert_eq!(shown.header("Cache-Control"), "no-store");
    assert_eq!(shown.header("Referrer-Policy"), "no-referrer");
    assert_eq!(shown.header("X-DNS-Prefetch-Control"), "off");
}

pub async fn sign_in(human: &Human, name: &str, password: &str) -> Reply {
    let form = [("name", name), ("password", password), ("next", "/admin/audit")];
    human.post("/admin/signin").header("Accept", BROWSER).form(&form).await
}
