//! Sites with redirects, rewrites and headers of their own, in `_redirects` and `_headers`.

use handbill_tests::{Agent, Method, Reply, Value, in_both_modes, json};

use crate::expectations::{assert_serves, page_saying};
use crate::moderation::becomes;

const REDIRECTS: &str = "# moved\n/old /about 302\n/blog/* https://blog.example/:splat\n/hidden /_headers 200\n\
                         /data.json /about 302\n/forced.txt /about 307!\n/shop/* /closed.html 404\n\
                         /* /index.html 200\n";
const HEADERS: &str =
    "/*\n  X-Frame-Options: DENY\n/app.3f2a9c1b.js\n  Cache-Control: public, max-age=31536000, immutable\n";

async fn publish(agent: &Agent, redirects: &str) -> Reply {
    let (front, about, closed) = (page_saying("front"), page_saying("about"), page_saying("closed"));
    let files: [(&str, &[u8]); 8] = [
        ("index.html", front.as_bytes()),
        ("about.html", about.as_bytes()),
        ("closed.html", closed.as_bytes()),
        ("data.json", b"{}"),
        ("forced.txt", b"text"),
        ("app.3f2a9c1b.js", b"1"),
        ("_redirects", redirects.as_bytes()),
        ("_headers", HEADERS.as_bytes()),
    ];
    agent.publish_files("my-site", &files).await.expect(201)
}

fn codes_and_lines(warnings: &Value) -> Vec<(String, String, i64)> {
    let warnings = warnings.as_array().expect("a list of warnings").iter();
    let text = |warning: &Value, field: &str| warning[field].as_str().expect("a text").to_owned();
    warnings
        .map(|warning| (text(warning, "code"), text(warning, "path"), warning["line"].as_i64().unwrap_or(0)))
        .collect()
}

in_both_modes! {
    async fn a_site_redirects_and_rewrites_by_its_own_rules(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = publish(&agent, REDIRECTS).await;
        let expected = [("bad_config".into(), "_redirects".into(), 4)];
        assert_eq!(codes_and_lines(&published.at("warnings")), expected);
        let root = format!("/site/{}/", published.string("host"));
        for (path, status, location) in [
            ("old?x=1", 302, format!("{root}about?x=1")),
            ("blog/2026/hi", 301, "https://blog.example/2026/hi".to_owned()),
            ("forced.txt", 307, format!("{root}about")),
        ] {
            let reply = visitor.open_site(&published, path).await.expect(status);
            assert_eq!(reply.header("Location"), location);
            assert_eq!(reply.header("X-Frame-Options"), "DENY");
        }
        for (path, text) in [("", "front"), ("about", "about"), ("any/deep/path", "front")] {
            let reply = visitor.open_site(&published, path).await;
            assert_serves(&reply, &page_saying(text));
            assert_eq!(reply.header("X-Frame-Options"), "DENY");
            assert_eq!(reply.header("Cache-Control"), "public, max-age=60");
        }
        assert_eq!(visitor.open_site(&published, "data.json").await.expect(200).text(), "{}");
        let closed = visitor.open_site(&published, "shop/x").await.expect(404);
        assert!(closed.text().contains("<p>closed</p>"), "{}", closed.text());
        let hashed = visitor.open_site(&published, "app.3f2a9c1b.js").await.expect(200);
        assert_eq!(hashed.header("Cache-Control"), "public, max-age=31536000, immutable");
        for path in ["hidden", "_redirects", "_headers", "%5Fredirects"] {
            let reply = visitor.open_site(&published, path).await;
            assert!(!reply.text().contains("X-Frame-Options") && !reply.text().contains("# moved"), "{path}");
        }
        let listed = agent.get("/v1/artifacts/my-site/files").await.expect(200).json();
        let paths: Vec<_> = listed.as_array().unwrap().iter().map(|file| file["path"].as_str()).collect();
        assert!(paths.contains(&Some("_redirects")) && paths.contains(&Some("_headers")), "{paths:?}");
        publish(&agent, "/old /closed 308\n/_redirects /about 200").await;
        let changed = visitor.open_site(&published, "old").await.expect(308);
        assert_eq!(changed.header("Location"), format!("{root}closed"));
        visitor.open_site(&published, "any").await.expect(404);
        assert_serves(&visitor.open_site(&published, "_redirects").await, &page_saying("about"));
        visitor.open_site(&published, "_headers").await.expect(404);
    }

    #[settings("HANDBILL_EDGE__URL_STYLE" = "host")]
    async fn rules_work_under_the_sites_own_name(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let host = publish(&agent, REDIRECTS).await.string("host");
        let port = world.serve_url().rsplit_once(':').unwrap().1.to_owned();
        let own_name = format!("{host}.localhost:{port}");
        let reply = visitor.open_by_name(&own_name, "/old?x=1").await.expect(302);
        assert_eq!(reply.header("Location"), "/about?x=1");
        assert_eq!(reply.header("X-Frame-Options"), "DENY");
        let reply = visitor.open_by_name(&own_name, "/any/path").await;
        assert_serves(&reply, &page_saying("front"));
        assert_eq!(reply.header("X-Frame-Options"), "DENY");
        let reply = visitor.open(&format!("/site/{host}/old")).await.expect(301);
        assert_eq!(reply.header("Location"), format!("http://{own_name}/old"));
    }

    async fn a_private_sites_signature_follows_redirects_within_it_only(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = publish(&agent, REDIRECTS).await;
        let private = agent.set_visibility("my-site", "private").paying("dev:0.5").await.expect(200);
        let signed_url = private.string("signed_url");
        let (url, sig) = signed_url.split_once('?').unwrap();
        visitor.open(&format!("{url}old")).await.expect(403);
        let reply = visitor.open(&format!("{url}old?{sig}")).await.expect(302);
        let root = format!("/site/{}/", published.string("host"));
        assert_eq!(reply.header("Location"), format!("{root}about?{sig}"));
        let reply = visitor.open(&format!("{url}blog/x?a=1&{sig}")).await.expect(301);
        assert_eq!(reply.header("Location"), "https://blog.example/x?a=1");
        let reply = visitor.open(&format!("{url}app.3f2a9c1b.js?{sig}")).await.expect(200);
        assert_eq!(reply.header("Cache-Control"), "private, max-age=31536000, immutable");
        let reply = visitor.open(&format!("{url}any?{sig}")).await.expect(200);
        assert_eq!(reply.header("Referrer-Policy"), "same-origin");
        let head = visitor.call(Method::HEAD, &format!("{url}any?{sig}")).await.expect(200);
        assert_eq!(head.text(), "");
    }

    async fn placeholders_fill_targets_and_files_take_precedence(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let rules = "/news/:year/:slug /blog/:slug?y=:year 303\n/moved /closed 308\n/about /closed 302\n";
        let published = publish(&agent, rules).await;
        let root = format!("/site/{}/", published.string("host"));
        for (path, status, location) in [
            ("news/2026/hi?a=1", 303, format!("{root}blog/hi?y=2026&a=1")),
            ("moved", 308, format!("{root}closed")),
        ] {
            let reply = visitor.open_site(&published, path).await.expect(status);
            assert_eq!(reply.header("Location"), location);
        }
        // The file about.html is also at /about.
        assert_serves(&visitor.open_site(&published, "about").await, &page_saying("about"));
    }

    async fn a_file_has_at_most_100_rules(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let rules: String = (1..=101).map(|number| format!("/r{number} /about 302\n")).collect();
        let published = publish(&agent, &rules).await;
        assert_eq!(codes_and_lines(&published.at("warnings")), [("bad_config".into(), "_redirects".into(), 101)]);
        visitor.open_site(&published, "r100").await.expect(302);
        visitor.open_site(&published, "r101").await.expect(404);
    }

    async fn headers_of_a_site_only_tighten(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let headers = "/*\n  Content-Security-Policy: default-src 'none'\n  Cache-Control: public, max-age=600\n\
                       \x20 Set-Cookie: a=b\n  Location: /x\n  Link: <https://a.example/>; rel=canonical\n";
        let page = page_saying("front");
        let files: [(&str, &[u8]); 2] = [("index.html", page.as_bytes()), ("_headers", headers.as_bytes())];
        let published = agent.publish_files("my-site", &files).await.expect(201);
        let reply = visitor.open_site(&published, "").await.expect(200);
        let policies: Vec<_> = reply.headers.get_all("Content-Security-Policy").iter().collect();
        assert!(policies.len() == 2 && policies[1] == "default-src 'none'", "{policies:?}");
        assert_eq!(reply.header("Cache-Control"), "public, max-age=60");
        assert_eq!(reply.header("Link"), "<https://a.example/>; rel=canonical");
        for refused in ["Set-Cookie", "Location"] {
            assert_eq!(reply.header(refused), "", "{refused}");
        }
        // At the address of a version, the service names the canonical address.
        let version = visitor.open(&published.string("version_url")).await.expect(200);
        let links: Vec<_> = version.headers.get_all("Link").iter().collect();
        assert_eq!(links, [format!("<{}>; rel=\"canonical\"", published.string("url")).as_str()]);
    }

    async fn a_version_has_its_own_rules_at_its_own_address(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let first = publish(&agent, "/old /about 302").await;
        publish(&agent, "/old /closed 302").await;
        let address = first.string("version_url");
        let reply = visitor.open(&format!("{address}old")).await.expect(302);
        let root = address.strip_prefix(&world.serve_url()).unwrap();
        assert_eq!(reply.header("Location"), format!("{root}about"));
        let reply = visitor.open(&format!("{address}app.3f2a9c1b.js")).await.expect(200);
        assert_eq!(reply.header("Cache-Control"), "public, max-age=60", "it closes with its page");
        assert_eq!(reply.header("X-Frame-Options"), "DENY");
    }

    async fn a_provisional_site_that_redirects_elsewhere_is_reviewed(world: World) {
        let agent = world.agent().await;
        publish(&agent, REDIRECTS).await;
        becomes(&agent, "my-site", "review").await;
        publish(&agent, "/* /index.html 200").await;
        becomes(&agent, "my-site", "pass").await;
    }

    async fn each_faulty_rule_is_a_warning_with_its_line(world: World) {
        let agent = world.agent().await;
        let files = json!([
            { "path": "index.html", "content": page_saying("front") },
            { "path": "_redirects", "content": "/a /index.html\n/b\n/c https://x.example/ 200\n/d /index 301 Country=us" },
            { "path": "_headers", "content": "/*\n  Set-Cookie: a=b\n  X-A: 1\n\n  Location: /x\n" },
        ]);
        let body = json!({ "slug": "my-site", "files": files });
        let published = agent.post("/v1/publish").json(&body).await.expect(201);
        let expected = [
            ("_headers", 2),
            ("_headers", 5),
            ("_redirects", 2),
            ("_redirects", 3),
            ("_redirects", 4),
        ];
        let mut found = codes_and_lines(&published.at("warnings"));
        found.sort();
        assert_eq!(found, expected.map(|(path, line)| ("bad_config".to_owned(), path.to_owned(), line)));
        let warning = &published.at("warnings")[0];
        assert!(warning["message"].is_string() && warning["hint"].is_string(), "{warning}");
    }
}
