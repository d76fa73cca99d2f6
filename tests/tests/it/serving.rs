//! Spec 4.12: how pages are found, rewritten and served.

use std::time::Duration;

use handbill_tests::{Method, PATIENCE, Reply, World, eventually, in_both_modes};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};

const STYLE: &str = "body { color: teal; }\n";

in_both_modes! {
    async fn page_is_served_with_its_headers(world: World) {
        let site = publish_site(&world).await;
        let page = world.visitor().open_site(&site, "").await.expect(200);
        assert!(page.header("Content-Type").starts_with("text/html"), "{page:?}");
        assert_eq!(page.header("X-Content-Type-Options"), "nosniff");
        assert_eq!(page.header("Cache-Control"), "public, max-age=60");
        let policy = page.header("Content-Security-Policy");
        for needed in ["'unsafe-inline'", "data:", "blob:", "fonts.gstatic.com"] {
            assert!(policy.contains(needed), "{needed} is missing in {policy:?}");
        }
        let style = world.visitor().open_site(&site, "css/app.css").await.expect(200);
        assert_eq!(style.text(), STYLE);
        assert_eq!(style.header("X-Content-Type-Options"), "nosniff");
        assert_eq!(style.header("Cache-Control"), "public, max-age=60");
    }

    async fn provisional_page_has_a_badge_before_its_body_end_tag(world: World) {
        let agent = world.agent().await;
        let html = "<html><body><p>text</p></body></html>";
        let published = agent.publish("my-page", html).await.expect(201);
        let served = front_page(&world.visitor(), &published).await.expect(200).text();
        assert!(
            served.starts_with("<html><body><p>text</p>") && served.ends_with("</body></html>"),
            "{served}"
        );
        let badge = &served["<html><body><p>text</p>".len()..served.len() - "</body></html>".len()];
        assert!(badge.to_lowercase().contains("hosted on"), "{badge}");
    }

    async fn only_html_gets_the_badge(world: World) {
        let agent = world.agent().await;
        let script = "document.write('</body>')";
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("app.js", script.as_bytes())];
        let published = agent.publish_files("my-site", &files).await.expect(201);
        assert_eq!(world.visitor().open_site(&published, "app.js").await.expect(200).text(), script);
    }

    async fn a_site_is_found_by_path_and_by_name(world: World) {
        let site = publish_site(&world).await;
        let visitor = world.visitor();
        let host = site.string("host");
        let port = world.serve_url().rsplit_once(':').unwrap().1.to_owned();
        for name in [
            format!("{host}.localhost"),
            format!("{host}.localhost:{port}"),
            format!("{}.LOCALHOST", host.to_uppercase()),
        ] {
            assert_serves(&visitor.open_by_name(&name, "/").await, PAGE);
            assert_eq!(visitor.open_by_name(&name, "/css/app.css").await.expect(200).text(), STYLE);
            visitor.open_by_name(&name, "/no-such-page").await.expect(404);
        }
        visitor.open_by_name("no-such-site-0000.localhost", "/").await.expect(404);
        visitor.open_by_name(&format!("{host}.example.com"), "/").await.expect(404);
    }

    async fn unknown_pages_get_a_styled_404(world: World) {
        let site = publish_site(&world).await;
        let host = site.string("host");
        let addresses = [
            format!("/site/{host}/nothing"),
            format!("/site/{host}/css/nothing.css"),
            "/site/no-such-site-0000/".into(),
            "/site/".into(),
            "/site/..%2f..%2fetc/passwd".into(),
            "/".into(),
            format!("/site/{host}/%2e%2e/%2e%2e/etc/passwd"),
        ];
        for address in addresses {
            let missing = world.visitor().open(&address).await.expect(404);
            assert!(missing.header("Content-Type").starts_with("text/html"), "{missing:?}");
            assert_eq!(missing.header("X-Content-Type-Options"), "nosniff", "{missing:?}");
        }
    }

    async fn a_site_may_bring_its_own_404(world: World) {
        let agent = world.agent().await;
        let own = page_saying("nothing here, says this site");
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("404.html", own.as_bytes())];
        let published = agent.publish_files("my-site", &files).await.expect(201);
        for path in ["nothing", "deep/er/nothing.html"] {
            let missing = world.visitor().open_site(&published, path).await.expect(404);
            assert!(missing.text().contains("nothing here, says this site"), "{missing:?}");
        }
    }

    async fn directories_and_clean_urls_resolve_to_their_pages(world: World) {
        let agent = world.agent().await;
        let pages = ["front", "about", "docs"].map(page_saying);
        let files = [
            ("index.html", pages[0].as_bytes()),
            ("about.html", pages[1].as_bytes()),
            ("docs/index.html", pages[2].as_bytes()),
        ];
        let published = agent.publish_files("my-site", &files).await.expect(201);
        let visitor = world.visitor();
        for (path, page) in [
            ("", 0),
            ("index.html", 0),
            ("about", 1),
            ("about.html", 1),
            ("docs/", 2),
            ("docs/index.html", 2),
        ] {
            assert_serves(&visitor.open_site(&published, path).await, &pages[page]);
        }
        let host = published.string("host");
        for (from, to) in [
            (format!("/site/{host}/docs"), format!("/site/{host}/docs/")),
            (format!("/site/{host}"), format!("/site/{host}/")),
        ] {
            let redirect = visitor.open(&from).await.expect(301);
            let location = redirect.header("Location");
            assert!(location == to || location == format!("{}{to}", world.serve_url()), "{redirect:?}");
        }
        let by_name = visitor.open_by_name(&format!("{host}.localhost"), "/docs").await.expect(301);
        assert!(
            by_name.header("Location").ends_with("/docs/") && !by_name.header("Location").contains("/site/"),
            "{by_name:?}"
        );
    }

    async fn an_unchanged_page_is_answered_304(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let visitor = world.visitor();
        let page = front_page(&visitor, &published).await.expect(200);
        let tag = page.header("ETag").to_owned();
        assert!(tag.starts_with('"') && tag.len() > 8, "no strong tag: {tag}");
        for sent in [tag.clone(), format!("\"other\", {tag}"), "*".into(), format!("W/{tag}")] {
            let unchanged =
                visitor.open(&published.string("url")).header("If-None-Match", sent).await.expect(304);
            assert!(unchanged.body.is_empty());
            assert_eq!(unchanged.header("ETag"), tag);
            assert_eq!(unchanged.header("Cache-Control"), "public, max-age=60");
        }
        agent.publish("my-page", page_saying("new")).await.expect(201);
        let changed = visitor.open(&published.string("url")).header("If-None-Match", tag.clone()).await;
        assert_serves(&changed, &page_saying("new"));
        assert_ne!(changed.header("ETag"), tag);
    }

    async fn head_answers_like_get_without_a_body_and_nothing_else_is_allowed(world: World) {
        let site = publish_site(&world).await;
        let (visitor, url) = (world.visitor(), site.string("url"));
        let page = visitor.open(&url).await.expect(200);
        let head = visitor.call(Method::HEAD, &url).await.expect(200);
        assert!(head.body.is_empty());
        for name in ["Content-Type", "ETag", "Cache-Control", "X-Content-Type-Options"] {
            assert_eq!(head.header(name), page.header(name), "{name}");
        }
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            let refused = visitor.call(method, &url).await.expect(405);
            assert!(refused.header("Allow").contains("GET"), "{refused:?}");
        }
    }

    async fn range_request_gets_partial_content(world: World) {
        let site = publish_site(&world).await;
        let ask =
            async |range: &str| world.visitor().open_site(&site, "css/app.css").header("Range", range).await;
        let part = ask("bytes=0-3").await.expect(206);
        assert_eq!(part.text(), "body");
        assert_eq!(part.header("Content-Range"), format!("bytes 0-3/{}", STYLE.len()));
        assert_eq!(ask("bytes=-3").await.expect(206).text(), &STYLE[STYLE.len() - 3..]);
        ask("bytes=1000-").await.expect(416);
        assert_eq!(ask("lines=1-2").await.expect(200).text(), STYLE);
    }

    async fn large_text_is_compressed_on_request(world: World) {
        let agent = world.agent().await;
        let style = "p { color: teal; }\n".repeat(500);
        let published = agent.publish_files("my-site", &[("app.css", style.as_bytes())]).await.expect(201);
        for encoding in ["br", "zstd", "gzip"] {
            let small = world
                .visitor()
                .open_site(&published, "app.css")
                .header("Accept-Encoding", encoding)
                .await
                .expect(200);
            assert_eq!(small.header("Content-Encoding"), encoding, "{small:?}");
            assert!(small.body.len() < style.len() / 5, "{}", small.body.len());
            assert!(small.header("Vary").to_lowercase().contains("accept-encoding"), "{small:?}");
        }
        for none in ["identity", "", "br;q=0"] {
            let plain = world
                .visitor()
                .open_site(&published, "app.css")
                .header("Accept-Encoding", none)
                .await
                .expect(200);
            assert_eq!(plain.text(), style);
        }
    }

    async fn page_views_are_counted_and_asset_requests_are_not(world: World) {
        let agent = world.agent().await;
        let files: [(&str, &[u8]); 3] =
            [("index.html", PAGE.as_bytes()), ("more.html", PAGE.as_bytes()), ("a.css", b"a{}")];
        let published = agent.publish_files("my-site", &files).await.expect(201);
        let visitor = world.visitor();
        let page = visitor.open_site(&published, "").await.expect(200);
        visitor.open_site(&published, "more.html").await.expect(200);
        visitor.open_site(&published, "").header("If-None-Match", page.header("ETag")).await.expect(304);
        visitor.open_site(&published, "a.css").await.expect(200);
        visitor.open_site(&published, "nothing").await.expect(404);
        visitor.call(Method::HEAD, &published.string("url")).await.expect(200);
        let views = async || agent.usage().await.expect(200).integer("traffic.views");
        eventually(PATIENCE, "three views", async || (views().await == 3).then_some(())).await;
        // A late view would show as a fourth.
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        assert_eq!(views().await, 3);
    }
}

async fn publish_site(world: &World) -> Reply {
    let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("css/app.css", STYLE.as_bytes())];
    world.agent().await.publish_files("my-site", &files).await.expect(201)
}
