//! What a person in a browser gets from any address: a page for a wrong path, a redirect for a trailing
//! slash, a language, an icon, a preview for links, and the operator's links. Programs still get JSON.

use handbill_tests::{Agent, Reply, in_both_modes, json};

use crate::expectations::{PAGE, assert_page};
use crate::teams::claimed_by;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

in_both_modes! {
    async fn wrong_path_is_a_page_for_browsers_and_json_for_programs(world: World) {
        for path in [
            "/pricing", "/status", "/docs/nothing", "/skill/reference/nothing.md", "/assets/nothing.css",
            "/v1/nothing", "/v1/artifacts/a/b/c", "/auth/nothing", "/internal/nothing", "/internal/queues",
            "/.well-known/nothing", "/nothing/", "/webhooks/nothing", "/oauth/nothing", "//evil.example/",
        ] {
            let page = world.stranger().get(path).header("Accept", BROWSER).await;
            assert_page(&page, 404);
            assert!(page.text().contains("Page not found"), "{path}: {page:?}");
            assert_is_for_people(&page, path);
            for accept in ["application/json", "*/*"] {
                let json = world.stranger().get(path).header("Accept", accept).await;
                json.refused(404, "not_found");
            }
        }
    }

    async fn browser_gets_json_for_what_an_existing_call_refuses(world: World) {
        let refused = world.stranger().get("/v1/account").header("Accept", BROWSER).await;
        refused.refused(401, "unauthorized");
        let agent = world.agent().await;
        agent.get("/v1/artifacts/no-such-page").header("Accept", BROWSER).await.refused(404, "not_found");
    }

    async fn trailing_slash_of_every_page_is_redirected(world: World) {
        for path in ["/docs", "/docs/errors", "/signin", "/report", "/skill", "/you", "/device"] {
            let with_slash = format!("{path}/?a=b");
            let moved = world.stranger().get(&with_slash).header("Accept", BROWSER).await.expect(308);
            assert_eq!(moved.header("Location"), format!("{path}?a=b"));
        }
    }

    #[settings(
        "HANDBILL_SERVICE__CONTACT" = "abuse@example.com",
        "HANDBILL_SERVICE__TERMS" = "https://example.com/terms?a=1&b=2",
        "HANDBILL_SERVICE__IMPRINT" = "https://example.com/imprint",
    )]
    async fn every_page_has_a_language_an_icon_and_the_operators_links(world: World) {
        let human = world.human();
        for path in ["/", "/signin", "/report", "/docs/errors", "/device", "/nothing", "/claim/nothing"] {
            let page = human.get(path).header("Accept", BROWSER).await;
            assert_is_for_people(&page, path);
            for link in [
                "<a href=\"https://example.com/terms?a=1&#38;b=2\">Terms</a>",
                "<a href=\"https://example.com/imprint\">Imprint</a>",
                "<a href=\"mailto:abuse@example.com\">Contact</a>",
            ] {
                assert!(page.text().contains(link), "{link} is missing on {path}: {page:?}");
            }
            assert!(!page.text().contains(">Privacy<"), "{path}");
        }
        let visitor = world.visitor();
        for (path, status) in [("/", 404), ("/site/no-such-page-a1b2/", 404)] {
            let page = visitor.open(path).await.expect(status);
            assert_is_for_people(&page, path);
            assert!(page.text().contains("<a href=\"https://example.com/terms?a=1&amp;b=2\">Terms</a>"));
        }
    }

    async fn links_to_the_front_page_and_to_claims_have_previews(world: World) {
        let front = world.stranger().get("/").await.expect(200).text();
        assert!(!front.contains("noindex"), "{front}");
        let picture = format!("<meta property=\"og:image\" content=\"{}/assets/og.png\">", world.base_url());
        let (human, agent) = (world.human(), world.agent().await);
        let claim_url = claim_url(&agent);
        let claim = human.get(human.path_of(&claim_url)).header("Accept", BROWSER).await.expect(200).text();
        assert!(claim.contains("<meta name=\"robots\" content=\"noindex\">"), "{claim}");
        for page in [&front, &claim] {
            assert!(page.contains(&picture), "{page}");
            for part in [
                "<meta property=\"og:title\" content=\"",
                "<meta name=\"description\" property=\"og:description\" content=\"",
                "<meta name=\"twitter:card\" content=\"summary_large_image\">",
                "<meta name=\"theme-color\" ",
            ] {
                assert!(page.contains(part) && !page.contains(&format!("{part}\"")), "{part}: {page}");
            }
        }
        let robots = world.stranger().get("/robots.txt").await.expect(200).text();
        assert!(robots.contains("Allow: /claim/\n") && robots.contains("Allow: /assets/\n"), "{robots}");
    }

    async fn pages_name_their_own_address_without_its_query(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let claim = owner.path_of(&claim_url(&world.agent().await)).to_owned();
        let invite = agent.invite(&json!({})).await.expect(201).string("invite_url");
        let invite = owner.path_of(&invite).to_owned();
        let own_addresses = [
            ("/", "canonical"),
            ("/docs", "canonical"),
            ("/docs/quickstart", "canonical"),
            (&claim, "secret"),
            (&invite, "secret"),
        ];
        for (path, kind) in own_addresses {
            let call = owner.get(&format!("{path}?account=x")).header("Accept", BROWSER);
            let page = call.await.expect(200).text();
            let address = format!("{}{path}", world.base_url());
            let url = format!("<meta property=\"og:url\" content=\"{address}\">");
            assert!(page.contains(&url), "{path}: {page}");
            let canonical = format!("<link rel=\"canonical\" href=\"{address}\">");
            assert_eq!(page.contains(&canonical), kind == "canonical", "{path}: {page}");
            assert_eq!(page.contains("\"canonical\""), kind == "canonical", "{path}: {page}");
        }
        for path in ["/signin", "/report", "/docs/search?q=x"] {
            let page = world.stranger().get(path).header("Accept", BROWSER).await.expect(200).text();
            assert!(!page.contains("og:url") && !page.contains("\"canonical\""), "{path}: {page}");
        }
    }

    async fn icons_and_fonts_are_served_with_their_types(world: World) {
        for (name, content_type, start) in [
            ("caslon.woff2", "font/woff2", &b"wOF2"[..]),
            ("mark.svg", "image/svg+xml", &b"<svg "[..]),
            ("og.png", "image/png", &b"\x89PNG"[..]),
            ("touch-icon.png", "image/png", &b"\x89PNG"[..]),
        ] {
            let asset = world.stranger().get(&format!("/assets/{name}")).await.expect(200);
            assert_eq!(asset.header("Content-Type"), content_type);
            assert_eq!(asset.header("Cache-Control"), "public, max-age=604800", "{name}");
            assert!(asset.body.starts_with(start), "{name}");
        }
    }

    #[settings("HANDBILL_SERVICE__CONTACT" = "abuse@example.com")]
    async fn security_txt_is_also_where_older_tools_expect_it(world: World) {
        let well_known = world.stranger().get("/.well-known/security.txt").await.expect(200);
        let at_root = world.stranger().get("/security.txt").await.expect(200);
        assert_eq!(at_root.text(), well_known.text());
        let canonical = format!("\nCanonical: {}/.well-known/security.txt\n", world.base_url());
        assert!(at_root.text().ends_with(&canonical), "{at_root:?}");
    }

    async fn private_page_opens_by_its_signature_in_the_form(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let hidden = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let signed_url = hidden.string("signed_url");
        let (_, signature) = signed_url.split_once("?sig=").expect("a signature in the link");
        let visitor = world.visitor();
        let page = visitor.open_site(&published, "").await.expect(403);
        assert!(page.text().contains("<form method=\"get\">"), "{page:?}");
        assert!(!page.text().contains("not valid"), "{page:?}");
        let wrong = visitor.open_site(&published, "?sig=0123456789abcdef").await.expect(403);
        assert!(wrong.text().contains("This link is not valid for this page"), "{wrong:?}");
        visitor.open_site(&published, &format!("?sig={signature}")).await.expect(200);
    }
}

#[track_caller]
fn claim_url(agent: &Agent) -> String {
    agent.signup.as_ref().expect("an agent that signed up").string("claim_url")
}

/// What every page of the service has.
fn assert_is_for_people(page: &Reply, path: &str) {
    assert_eq!(page.header("Content-Type"), "text/html; charset=utf-8", "{path}");
    let text = page.text();
    assert!(text.starts_with("<!doctype html>\n<html lang=\"en\">"), "{path}: {text}");
    for part in
        ["<meta name=\"viewport\" content=\"width=device-width", "<link rel=\"icon\" href=\"", "<title>"]
    {
        assert!(text.contains(part), "{part} is missing on {path}: {text}");
    }
}
