//! What HTTP clients expect of the API: file names as clients send them, `Location`, `ETag`, compression,
//! redirects, and the files for crawlers and browsers.

use handbill_tests::{Agent, Method, Reply, in_both_modes, json};

use crate::expectations::{PAGE, PASSWORD};

const BOUNDARY: &str = "a-boundary";

in_both_modes! {
    async fn percent_encoded_paths_are_decoded(world: World) {
        for (disposition, address) in [
            (r#"filename="css%2Fapp.css""#, "css/app.css"),
            (r#"filename="b%C3%BCcher%2F%C3%BC.txt""#, "b%C3%BCcher/%C3%BC.txt"),
            (r#"filename="x.txt"; filename*=UTF-8''%C3%BC.txt"#, "%C3%BC.txt"),
            (r#"filename*=UTF-8''a%20b.txt"#, "a%20b.txt"),
            (r#"filename="say %22hi%22.txt""#, "say%20%22hi%22.txt"),
            (r#"filename="100%25.txt""#, "100%2525.txt"),
        ] {
            let published = publish_as(&world.agent().await, disposition).await.expect(201);
            let shown = world.visitor().open_site(&published, address).await.expect(200);
            assert_eq!(shown.text(), "content", "{disposition}");
        }
    }

    async fn path_with_invisible_characters_is_refused_in_every_encoding(world: World) {
        let agent = world.agent().await;
        for disposition in [
            "filename=\"invoice\u{202e}fdp.exe\"",
            "filename=\"a\u{200b}.txt\"",
            "filename*=UTF-8''a%E2%80%AE.txt",
            "filename=\"..%2F..%2Fetc\"",
        ] {
            publish_as(&agent, disposition).await.refused(400, "invalid_request").naming("files");
        }
        let files = json!([{ "path": "a\u{202e}.html", "content": "x" }]);
        let called = agent.call_tool("publish_artifact", &json!({ "slug": "my-page", "files": files })).await;
        assert_eq!(called.at("result.isError"), true, "{called:?}");
    }

    async fn created_responses_have_a_location(world: World) {
        let signed_up = world.stranger().call(Method::POST, "/v1/signup").await.expect(201);
        let base = world.base_url();
        assert_eq!(signed_up.header("Location"), format!("{base}/v1/account"));
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(published.header("Location"), format!("{base}/v1/artifacts/my-page"));
        let location = published.header("Location").strip_prefix(&base).unwrap().to_owned();
        assert_eq!(agent.get(&location).await.expect(200).string("slug"), "my-page");
        let added = agent.add_version("my-page", PAGE).await.expect(201);
        assert_eq!(added.header("Location"), format!("{base}/v1/artifacts/my-page"));
        let minted = agent.post("/v1/tokens").await.expect(201);
        assert_eq!(minted.header("Location"), format!("{base}/v1/tokens/{}", minted.string("id")));
        let human = world.human();
        let registered = human.register("somebody", PASSWORD).await.expect(201);
        assert_eq!(registered.header("Location"), format!("{base}/auth/me"));
    }

    async fn a_slash_at_the_end_is_redirected_with_the_method_and_the_query(world: World) {
        for (method, path, to) in [
            (Method::GET, "/signin/?next=%2Fdashboard", "/signin?next=%2Fdashboard"),
            (Method::GET, "/docs/errors/", "/docs/errors"),
            (Method::GET, "/report/", "/report"),
            (Method::POST, "/v1/signup/", "/v1/signup"),
            (Method::GET, "/v1/artifacts/my-page/", "/v1/artifacts/my-page"),
        ] {
            let moved = world.stranger().call(method, path).await.expect(308);
            assert_eq!(moved.header("Location"), to);
        }
        for path in ["/nothing/", "/v1/nothing/", "//evil.example/"] {
            world.stranger().get(path).await.expect(404);
        }
    }

    async fn documents_and_pages_are_compressed_and_have_etags(world: World) {
        for (path, is_public) in [
            ("/openapi.json", true), ("/openapi-3.1.json", true), ("/docs", true), ("/docs/errors", true), ("/docs/reference/artifacts", true),
                ("/skill/reference/contents.md", true), ("/skill", true), ("/skill/reference.md", true),
            ("/llms.txt", true), ("/assets/page.css", true), ("/", false), ("/signin", false),
        ] {
            let plain = world.stranger().get(path).header("Accept-Encoding", "identity").await.expect(200);
            assert_eq!(plain.header("Cache-Control").starts_with("public"), is_public, "{path}");
            for encoding in ["br", "gzip"] {
                let encoded = world.stranger().get(path).header("Accept-Encoding",
                    encoding).await.expect(200);
                assert_eq!(encoded.header("Content-Encoding"), encoding, "{path}");
                assert!(encoded.header("Vary").contains("Accept-Encoding"), "{path}");
                assert!(encoded.body.len() < plain.body.len(), "{path}");
            }
            let tag = plain.header("ETag");
            let again = world.stranger().get(path).header("If-None-Match", tag).header("Accept-Encoding",
                "br").await;
            assert!(again.expect(304).body.is_empty(), "{path}");
        }
        let json = world.agent().await.get("/v1/account").header("Accept-Encoding", "br").await.expect(200);
        assert_eq!(json.header("Content-Encoding"), "");
    }

    #[settings("HANDBILL_SERVICE__CONTACT" = "abuse@example.com")]
    async fn favicon_and_robots_and_other_well_known_files_exist(world: World) {
        let icon = world.stranger().get("/favicon.ico").await.expect(200);
        assert_eq!(icon.header("Content-Type"), "image/x-icon");
        let robots = world.stranger().get("/robots.txt").await.expect(200).text();
        assert!(robots.contains("User-agent: *\n") && robots.contains("Disallow: /\n"), "{robots}");
        let security = world.stranger().get("/.well-known/security.txt").await.expect(200).text();
        assert!(security.starts_with("Contact: mailto:abuse@example.com\nExpires: "), "{security}");
    }

    #[settings("HANDBILL_SERVICE__ROBOTS" = "User-agent: *, Disallow: /private")]
    async fn security_txt_needs_a_contact_and_robots_txt_is_configurable(world: World) {
        world.stranger().get("/.well-known/security.txt").await.refused(404, "not_found");
        let robots = world.stranger().get("/robots.txt").await.expect(200).text();
        assert_eq!(robots, "User-agent: *\nDisallow: /private\n");
    }
}

/// Publishes one file with this `Content-Disposition`.
async fn publish_as(agent: &Agent, disposition: &str) -> Reply {
    let body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"slug\"\r\n\r\nnamed\r\n--{BOUNDARY}\r\n\
         Content-Disposition: form-data; name=\"files\"; {disposition}\r\n\r\ncontent\r\n--{BOUNDARY}--\r\n"
    );
    agent.post("/v1/publish").raw(&format!("multipart/form-data; boundary={BOUNDARY}"), body).await
}
