//! Versions as archives, and `handbill download`.

use handbill_tests::{Agent, Call, Method, in_both_modes, json};
use sha2::{Digest, Sha256};

use crate::expectations::{PAGE, page_saying};

in_both_modes! {
    async fn a_version_is_downloaded_as_an_archive_and_published_again(world: World) {
        let agent = published(&world).await;
        agent.add_version("my-site", page_saying("next")).await.expect(201);
        for (query, content_type, ending) in [
            ("?version=1", "application/zip", "zip"),
            ("?version=1&format=tar.gz", "application/gzip", "tar.gz"),
        ] {
            let reply = archive(&agent, query).await.expect(200);
            assert_eq!(reply.header("Content-Type"), content_type);
            let disposition = format!("attachment; filename=\"my-site-v1.{ending}\"");
            assert_eq!(reply.header("Content-Disposition"), disposition);
            assert_eq!(reply.header("Content-Length"), reply.body.len().to_string());
            assert_eq!(reply.header("Repr-Digest"), digest_of(&reply.body));
            let again = archive(&agent, query).await.expect(200);
            assert_eq!((&again.body, again.header("ETag")), (&reply.body, reply.header("ETag")));
            let copied = agent.post("/v1/publish?slug=copy").raw(content_type, reply.body.clone());
            let copy = copied.await.expect(201).integer("version");
            let files = async |path: &str| agent.get(path).await.expect(200).json();
            assert_eq!(
                files(&format!("/v1/artifacts/copy/files?version={copy}")).await,
                files("/v1/artifacts/my-site/files?version=1").await,
            );
        }
        let live = archive(&agent, "").await.expect(200);
        assert!(live.header("Content-Disposition").contains("my-site-v2.zip"));
        assert_eq!(archive(&agent, "?format=zip").await.expect(200).body, live.body);
        let copied = agent.post("/v1/publish?slug=copy").raw("application/zip", live.body.clone());
        copied.await.expect(201);
        let page = agent.get("/v1/artifacts/copy/files/index.html").await.expect(200);
        assert_eq!(page.text(), page_saying("next"));
    }

    async fn a_known_archive_is_not_sent_again(world: World) {
        let agent = published(&world).await;
        let first = archive(&agent, "").await.expect(200);
        let tag = first.header("ETag");
        assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        let known = archive(&agent, "").header("If-None-Match", tag).await.expect(304);
        assert!(known.body.is_empty());
        assert_eq!(known.header("ETag"), tag);
        archive(&agent, "?format=tar.gz").header("If-None-Match", tag).await.expect(200);
        let head = agent.call(Method::HEAD, "/v1/artifacts/my-site/archive").await.expect(200);
        assert!(head.body.is_empty());
        for name in ["ETag", "Repr-Digest", "Content-Length", "Content-Type", "Content-Disposition"] {
            assert_eq!(head.header(name), first.header(name), "{name}");
        }
    }

    async fn unknown_versions_formats_and_callers_get_no_archive(world: World) {
        let agent = published(&world).await;
        archive(&agent, "?version=2").await.refused(404, "not_found");
        agent.get("/v1/artifacts/other/archive").await.refused(404, "not_found");
        for (query, name) in [("?format=rar", "format"), ("?format=", "format"), ("?version=x", "version"),
            ("?format=zip&format=zip", "format")] {
            archive(&agent, query).await.refused(400, "invalid_request").naming(name);
        }
        archive(&world.agent().await, "").await.refused(404, "not_found");
        archive(&world.stranger(), "").await.refused(401, "unauthorized");
        let writer = agent.minted(&json!({ "scopes": "artifacts:write" })).await;
        archive(&writer, "").await.refused(403, "insufficient_scope");
    }
}

async fn published(world: &handbill_tests::World) -> Agent {
    let agent = world.agent().await;
    let files: [(&str, &[u8]); 4] = [
        ("index.html", PAGE.as_bytes()),
        ("css/app.css", b"a {}"),
        ("ü b/dot.bin", b"\0\xff"),
        ("empty", b""),
    ];
    agent.publish_files("my-site", &files).await.expect(201);
    agent
}

fn archive(agent: &Agent, query: &str) -> Call {
    agent.get(&format!("/v1/artifacts/my-site/archive{query}"))
}

fn digest_of(bytes: &[u8]) -> String {
    use base64::Engine;
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(bytes));
    format!("sha-256=:{digest}:")
}
