//! Pages that a browser loaded before a publish: their scripts, styles and fonts with fingerprinted names are
//! served for a day from versions that are no longer live.

use std::time::Duration;

use handbill_tests::{Call, Method, Reply, Visitor, in_both_modes, json};

use crate::expectations::PAGE;
use crate::moderation::{moderate, moderator};

const HOUR: Duration = Duration::from_secs(3600);
const SCRIPT: &str = "assets/lazy-3f2a9c1b.js";
const SCRIPT_TEXT: &[u8] = b"export const text = 'old';";
const OLD: [(&str, &[u8]); 9] = [
    ("index.html", b"<!doctype html><title>old</title>"),
    (SCRIPT, SCRIPT_TEXT),
    ("assets/style.abcdefgh.css", b"p { color: red }"),
    ("face-DiwrgT_a.woff2", b"wOF2"),
    ("app.js", b"plain"),
    ("assets/short-3f2a9c1.js", b"short"),
    ("3f2a9c1b3f2a.js", b"no separator"),
    ("page-3f2a9c1b.html", b"<!doctype html><title>page</title>"),
    ("icon-3f2a9c1b.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
];

in_both_modes! {
    async fn fingerprinted_files_of_the_last_version_are_served_to_browsers_only(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let site = agent.publish_files("my-site", &OLD).await.expect(201);
        for (path, _) in OLD {
            visitor.open_site(&site, path).await.expect(200);
        }
        agent.publish("my-site", PAGE).await.expect(201);
        for (path, purpose, status) in [
            (SCRIPT, "script", 200),
            (SCRIPT, "style", 200),
            ("assets/style.abcdefgh.css", "style", 200),
            ("face-DiwrgT_a.woff2", "font", 200),
            (SCRIPT, "document", 404),
            (SCRIPT, "iframe", 404),
            (SCRIPT, "empty", 404),
            (SCRIPT, "image", 404),
            (SCRIPT, "Script", 404),
            ("app.js", "script", 404),
            ("assets/short-3f2a9c1.js", "script", 404),
            ("3f2a9c1b3f2a.js", "script", 404),
            ("page-3f2a9c1b.html", "script", 404),
            ("page-3f2a9c1b", "script", 404),
            ("page-3f2a9c1b.html", "document", 404),
            ("icon-3f2a9c1b.svg", "font", 404),
            ("assets/other-3f2a9c1b.js", "script", 404),
            ("lazy-3f2a9c1b.js", "script", 404),
        ] {
            assert_eq!(ask(&visitor, &site, path, purpose).await.status, status, "{path} as {purpose}");
        }
        for (path, _) in &OLD[1..] {
            visitor.open_site(&site, path).await.expect(404);
        }
        let served = ask(&visitor, &site, SCRIPT, "script").await;
        assert_eq!(served.text().as_bytes(), SCRIPT_TEXT);
        assert_eq!(served.header("Cache-Control"), "public, max-age=60");
        assert_eq!(served.header("Vary"), "Accept-Encoding, Sec-Fetch-Dest");
        assert_eq!(served.header("X-Content-Type-Options"), "nosniff");
        assert!(served.header("Content-Type").starts_with("text/javascript"), "{served:?}");
        let held = ask(&visitor, &site, SCRIPT, "script").header("If-None-Match", served.header("ETag"));
        held.await.expect(304);
        let path = format!("{}{SCRIPT}", site.string("url"));
        visitor.call(Method::HEAD, &path).header("Sec-Fetch-Dest", "script").await.expect(200);
        visitor.open(&format!("{}{SCRIPT}", site.string("version_url"))).await.expect(200);
        let second = agent.artifact("my-site").await.expect(200).string("versions.0.url");
        let at_version = visitor.open(&format!("{second}{SCRIPT}")).header("Sec-Fetch-Dest", "script");
        at_version.await.expect(404);
    }

    async fn every_version_of_the_last_day_counts_and_a_staged_one_does_not(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let script = |number: u32| format!("part-0000000{number}.js");
        let mut site = None;
        for number in 1..=3 {
            let files: [(&str, &[u8]); 2] = [("index.html", b"<p>x</p>"), (&script(number), b"1")];
            site = Some(agent.publish_files("my-site", &files).await.expect(201));
        }
        let site = site.unwrap();
        let staged = agent.post("/v1/artifacts/my-site/versions?activate=false");
        let staged = staged.file("index.html", "<p>x</p>").file(&script(4), "4");
        staged.await.expect(201);
        for (number, status) in [(1, 200), (2, 200), (3, 200), (4, 404)] {
            assert_eq!(ask(&visitor, &site, &script(number), "script").await.status, status, "{number}");
        }
        agent.activate("my-site", 1).await.expect(200);
        for number in 1..=3 {
            ask(&visitor, &site, &script(number), "script").await.expect(200);
        }
        agent.activate("my-site", 4).await.expect(200);
        ask(&visitor, &site, &script(1), "script").await.expect(200);
        ask(&visitor, &site, &script(4), "script").await.expect(200);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "365d")]
    async fn old_files_are_gone_after_a_day(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let site = agent.publish_files("my-site", &OLD).await.expect(201);
        world.advance(48 * HOUR);
        agent.publish("my-site", PAGE).await.expect(201);
        ask(&visitor, &site, SCRIPT, "script").await.expect(200);
        world.advance(23 * HOUR);
        ask(&visitor, &site, SCRIPT, "script").await.expect(200);
        world.advance(2 * HOUR);
        ask(&visitor, &site, SCRIPT, "script").await.expect(404);
    }

    async fn old_files_close_with_their_page_and_their_version_at_once(world: World) {
        let (agent, visitor, moderator) =
            (world.agent().await, world.visitor(), moderator(&world, "ada").await);
        let site = agent.publish_files("my-site", &OLD).await.expect(201);
        let host = site.string("host");
        agent.publish("my-site", PAGE).await.expect(201);
        ask(&visitor, &site, SCRIPT, "script").await.expect(200);
        moderate(&moderator, &host, "block").await.expect(200);
        ask(&visitor, &site, SCRIPT, "script").await.expect(451);
        moderate(&moderator, &host, "pass").await.expect(200);
        ask(&visitor, &site, SCRIPT, "script").await.expect(200);

        let private = agent.set_visibility("my-site", "private").paying("dev:0.5").await.expect(200);
        ask(&visitor, &site, SCRIPT, "script").await.expect(403);
        let signed = private.string("signed_url").replace("?sig=", &format!("{SCRIPT}?sig="));
        let shown = visitor.open(&signed).header("Sec-Fetch-Dest", "script").await.expect(200);
        assert_eq!(shown.header("Cache-Control"), "private, max-age=60");
        visitor.open(&signed).await.expect(404);
        agent.set_visibility("my-site", "public").await.expect(200);

        // The version with the files is blocked itself, and then the other one is live again.
        agent.activate("my-site", 1).await.expect(200);
        moderate(&moderator, &host, "block").await.expect(200);
        agent.activate("my-site", 2).await.expect(200);
        visitor.open_site(&site, "").await.expect(200);
        ask(&visitor, &site, SCRIPT, "script").await.expect(404);

        // Contents of its own, because those of the first site are blocked everywhere now.
        let others = [("index.html", &b"<p>other</p>"[..]), (SCRIPT, b"other")];
        agent.publish_files("other-site", &others).await.expect(201);
        let other = agent.publish("other-site", PAGE).await.expect(201);
        ask(&visitor, &other, SCRIPT, "script").await.expect(200);
        let few = agent.call(Method::PATCH, "/v1/artifacts/other-site").json(&json!({ "versions_kept": 1 }));
        few.await.expect(200);
        world.operator().run_cleanup().await.expect(200);
        ask(&visitor, &other, SCRIPT, "script").await.expect(404);
        agent.delete("other-site").await.expect(200);
        ask(&visitor, &other, SCRIPT, "script").await.expect(404);
    }

    async fn old_files_take_precedence_over_rules_and_have_their_headers(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let site = agent.publish_files("my-site", &OLD).await.expect(201);
        let rules: [(&str, &[u8]); 3] = [
            ("index.html", b"<!doctype html><title>new</title>"),
            ("_redirects", b"/* /index.html 200"),
            ("_headers", b"/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n  X-Site: mine"),
        ];
        agent.publish_files("my-site", &rules).await.expect(201);
        let served = ask(&visitor, &site, SCRIPT, "script").await.expect(200);
        assert_eq!(served.text().as_bytes(), SCRIPT_TEXT);
        assert_eq!(served.header("X-Site"), "mine");
        assert_eq!(served.header("Cache-Control"), "public, max-age=31536000, immutable");
        assert!(served.header("Vary").contains("Sec-Fetch-Dest"), "{served:?}");
        for purpose in ["", "document"] {
            let page = ask(&visitor, &site, SCRIPT, purpose).await.expect(200);
            let is_varied = page.header("Vary").contains("Sec-Fetch-Dest");
            assert!(page.text().contains("new") && is_varied, "{page:?}");
        }
        let own = [("index.html", &b"<p>x</p>"[..]), ("404.html", b"<p>not here</p>")];
        agent.publish_files("my-site", &own).await.expect(201);
        ask(&visitor, &site, SCRIPT, "script").await.expect(200);
        let missing = ask(&visitor, &site, SCRIPT, "").await.expect(404);
        assert!(missing.text().contains("not here") && missing.header("Vary").contains("Sec-Fetch-Dest"));
        let plain = visitor.open_site(&site, "app.js").await.expect(404);
        assert_eq!(plain.header("Vary"), "Accept-Encoding");
    }
}

fn ask(visitor: &Visitor, site: &Reply, path: &str, purpose: &str) -> Call {
    let call = visitor.open_site(site, path);
    if purpose.is_empty() { call } else { call.header("Sec-Fetch-Dest", purpose) }
}
