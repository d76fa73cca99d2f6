//! Spec 4.6 and the browser routes: the pages for signing in, and errors in a browser.

use handbill_tests::{Human, Method, Reply, in_both_modes};

use crate::expectations::{PAGE, PASSWORD, assert_page, assert_serves, open_result};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

in_both_modes! {
    async fn person_signs_up_and_in_and_out_on_the_pages(world: World) {
        let human = world.human();
        let dashboard = human.get("/dashboard").header("Accept", BROWSER).await.expect(302);
        let signin = dashboard.header("Location").to_owned();
        assert_eq!(signin, "/signin?next=/dashboard");
        let page = human.get(&signin).header("Accept", BROWSER).await;
        assert_page(&page, 200);
        for part in ["method=\"post\"", "name=\"username\"", "name=\"password\"", "value=\"/dashboard\""] {
            assert!(page.text().contains(part), "{part} is missing: {page:?}");
        }

        let registered = submit(&human, "register", "Ada", PASSWORD, "/invite/abc?x=1").await.expect(302);
        assert_eq!(registered.header("Location"), "/invite/abc?x=1");
        assert_page(&human.get("/dashboard").await, 200);
        let again = human.get("/signin").await;
        assert!(again.text().contains("signed in as <strong>ada</strong>"), "{again:?}");

        let signed_out = human.post("/signout").header("Accept", BROWSER).await.expect(302);
        assert_eq!(signed_out.header("Location"), "/signin");
        human.me().await.refused(401, "unauthorized");
        human.get("/dashboard").await.expect(302);
        let signed_in = submit(&human, "sign_in", "ada", PASSWORD, "").await.expect(302);
        assert_eq!(signed_in.header("Location"), "/dashboard");
        human.me().await.expect(200);
    }

    async fn sign_in_never_redirects_to_another_site(world: World) {
        let human = world.human();
        human.register("ada", PASSWORD).await.expect(201);
        let elsewhere = ["//evil.example", "/\\evil.example", "https://evil.example/", "javascript:alert(1)", "/\t/evil"];
        for (number, next) in elsewhere.iter().enumerate() {
            let encoded = encoded_query("next", next);
            let page = human.get(&format!("/signin?{encoded}")).await.expect(200);
            assert!(!page.text().contains("evil") && !page.text().contains("alert"), "{page:?}");
            // Logins are limited. Two suffice, and a foreign `next` in the form is treated like one in the
            // link.
            if number < 2 {
                let signed_in = submit(&human, "sign_in", "ada", PASSWORD, next).await.expect(302);
                assert_eq!(signed_in.header("Location"), "/dashboard");
            }
        }
    }

    async fn refused_form_shows_its_error_in_place(world: World) {
        let human = world.human();
        let name = "<script>alert(1)</script>\"'";
        let refused = submit(&human, "register", name, PASSWORD, "/dashboard").await;
        assert_page(&refused, 400);
        let text = refused.text();
        assert!(text.contains("Use 3 to 30 letters") && text.contains("value=\"/dashboard\""), "{text}");
        assert!(text.contains("&#60;script&#62;") && !text.contains("\"'"), "not escaped: {text}");
        assert_page(&submit(&human, "register", "ada", "weak", "").await, 400);
        assert_page(&submit(&human, "sign_in", "ada", PASSWORD, "").await, 401);
        assert_eq!(human.cookie("svc_sess"), None);
        // A program that posts the same gets JSON.
        let fields = [("username", "ada"), ("password", PASSWORD)];
        human.post("/signin").form(&fields).await.refused(401, "invalid_credentials");
        let elsewhere = human.on_a_page_of(&world.serve_url());
        elsewhere.post("/signin").form(&fields).await.refused(403, "forbidden");
        assert_page(&elsewhere.post("/signin").header("Accept", BROWSER).form(&fields).await, 403);
        elsewhere.post("/signout").await.refused(403, "forbidden");
    }

    #[settings("HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "1")]
    async fn sign_in_form_has_the_rate_limit_of_the_call(world: World) {
        let human = world.human();
        assert_page(&submit(&human, "sign_in", "ada", PASSWORD, "").await, 401);
        let limited = submit(&human, "sign_in", "ada", PASSWORD, "").await;
        assert_page(&limited, 429);
        assert!((1..=60).contains(&limited.header("Retry-After").parse::<u64>().unwrap()), "{limited:?}");
    }

    async fn page_is_published_with_the_front_page_form(world: World) {
        let human = world.human();
        assert_page(&human.get("/").header("Accept", BROWSER).await, 200);
        let shown = open_result(&human, &paste(&human, PAGE).await).await;
        let token = between(&shown.text(), "<code id=\"token\">", "<");
        let agent = world.stranger().with_token(&token);
        let account = agent.account().await.expect(200);
        assert_eq!(account.integer("free_publishes_left"), 4);
        for part in [&account.string("handle"), &account.string("claim_url"), "29 minutes"] {
            assert!(shown.text().contains(part), "{part} is missing: {shown:?}");
        }
        let url = between(&shown.text(), "<code id=\"url\"><a href=\"", "\"");
        assert_serves(&world.visitor().open(&url).await, PAGE);
    }

    async fn front_page_shows_refused_input_with_its_error(world: World) {
        let human = world.human();
        let empty = paste(&human, "").await;
        assert_page(&empty, 400);
        assert!(empty.text().contains("This is empty.") && empty.text().contains("aria-invalid"), "{empty:?}");
        let large = paste(&human, &"x".repeat(10 * 1_048_576 + 1)).await;
        assert_page(&large, 413);
        assert!(large.text().contains("10 MB") && large.body.len() < 20_000);
        // Forms of other sites have no effect, and programs get JSON.
        let elsewhere = human.on_a_page_of(&world.serve_url());
        assert_page(&paste(&elsewhere, PAGE).await, 403);
        human.post("/").field("html", "").await.refused(400, "invalid_request").naming("html");
        human.post("/").form(&[("html", PAGE)]).header("Accept", BROWSER).await.expect(400);
        let named = human.post("/").field("html", PAGE).field("slug", "my-page").await;
        named.refused(400, "invalid_request").naming("slug");
        let both = human.post("/").field("html", PAGE).file("a.css", "p {}").await;
        both.refused(400, "invalid_request").naming("html");
    }

    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "2")]
    async fn front_page_publishes_count_towards_the_sign_up_limit(world: World) {
        let human = world.human();
        paste(&human, PAGE).await.expect(303);
        world.stranger().post("/v1/signup").await.expect(201);
        let limited = paste(&human, "<p>\"kept\" & shown</p>").await;
        assert_page(&limited, 429);
        assert!((1..=60).contains(&limited.header("Retry-After").parse::<u64>().unwrap()), "{limited:?}");
        assert!(limited.text().contains("&#34;kept&#34; &#38; shown"), "{limited:?}");
        world.stranger().post("/v1/signup").await.refused(429, "rate_limited");
        // A large paste is not read, and is not sent back at five times its length.
        let large = paste(&human, &"<".repeat(10 * 1_048_576)).await;
        assert_page(&large, 429);
        assert!(large.body.len() < 20_000, "{} bytes", large.body.len());
        assert!(large.text().contains("Go back in your browser"), "{large:?}");
    }

    async fn wrong_method_on_a_page_lists_the_allowed_ones(world: World) {
        let human = world.human();
        for (path, allowed) in
            [("/signin", "GET, HEAD, POST"), ("/claim/abc", "GET, HEAD, POST"), ("/dashboard", "GET, HEAD")]
        {
            let refused = human.call(Method::PUT, path).await.refused(405, "method_not_allowed");
            assert_eq!(refused.header("Allow"), allowed);
            let page = human.call(Method::DELETE, path).header("Accept", BROWSER).await;
            assert_page(&page, 405);
            assert_eq!(page.header("Allow"), allowed);
        }
        human.call(Method::HEAD, "/signin").await.expect(200);
        // A path that is not for people responds to a browser as to all clients.
        human.get("/v1/account").header("Accept", BROWSER).await.refused(401, "unauthorized");
    }

    async fn stylesheet_and_script_load_nothing_external(world: World) {
        let style = world.human().get("/assets/page.css").await.expect(200);
        assert_eq!(style.header("Content-Type"), "text/css; charset=utf-8");
        let others = style.text().replace("url(caslon.woff2)", "");
        assert!(!others.contains("@import") && !others.contains("url("), "{style:?}");
        let script = world.human().get("/assets/page.js").await.expect(200);
        assert_eq!(script.header("Content-Type"), "text/javascript; charset=utf-8");
        let count_of = |call: &str| script.text().matches(call).count();
        let asks_for_itself_alone = count_of("fetch(") == count_of("fetch(location.href,");
        assert!(count_of("://") == 0 && asks_for_itself_alone, "{script:?}");
    }
}

/// Posts the form of the sign-in page as a browser does.
async fn submit(human: &Human, action: &str, username: &str, password: &str, next: &str) -> Reply {
    let fields = [("action", action), ("username", username), ("password", password), ("next", next)];
    human.post("/signin").header("Accept", BROWSER).form(&fields).await
}

/// Posts the front page's form as a browser does.
async fn paste(human: &Human, html: &str) -> Reply {
    human.post("/").header("Accept", BROWSER).field("html", html.to_owned()).await
}

/// The text between two others.
#[track_caller]
fn between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing: {text}"));
    rest.split(after).next().expect("a part").to_owned()
}

fn encoded_query(name: &str, value: &str) -> String {
    let encoded: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("{name}={encoded}")
}
