//! A publish in JSON and as an archive: the same site under the same rules as a form.

use handbill_tests::{Call, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};

const STYLE: &str = "h1 { color: teal }";
const TAR: &str = "application/x-tar";

in_both_modes! {
    async fn a_site_is_published_in_json(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let files = json!([
            { "path": "index.html", "content": PAGE },
            { "path": "app.css", "content": "aDEgeyBjb2xvcjogdGVhbCB9", "encoding": "base64" },
        ]);
        let body = json!({ "slug": "my-site", "message": "By JSON", "files": files });
        let published = agent.post("/v1/publish").json(&body).await.expect(201);
        assert_serves(&front_page(&visitor, &published).await, PAGE);
        assert_eq!(visitor.open_site(&published, "app.css").await.expect(200).text(), STYLE);
        let staged = agent.post("/v1/artifacts/my-site/versions?activate=false");
        let staged = staged.json(&json!({ "html": page_saying("staged") })).await.expect(201);
        assert_eq!(staged.integer("version"), 2);
        assert_serves(&front_page(&visitor, &published).await, PAGE);
        let named = agent.post("/v1/artifacts/my-site/versions");
        named.json(&json!({ "slug": "other", "html": PAGE })).await.refused(400, "invalid_request").naming("slug");
        let versions = agent.artifact("my-site").await.expect(200);
        assert_eq!(versions.string("versions.1.message"), "By JSON");
    }

    async fn a_site_is_published_as_an_archive(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let site = tar(&[("site/index.html", PAGE), ("site/app.css", STYLE)]);
        let sent = agent.post("/v1/publish?slug=my-site&message=By%20tar").raw(TAR, site);
        let published = sent.await.expect(201);
        assert!(published.string("host").starts_with("my-site-"), "{published:?}");
        assert_serves(&front_page(&visitor, &published).await, PAGE);
        assert_eq!(visitor.open_site(&published, "app.css").await.expect(200).text(), STYLE);
        let site = tar(&[("index.html", PAGE)]);
        let other = agent.post("/v1/artifacts/my-site/versions?slug=other").raw(TAR, site);
        other.await.refused(400, "invalid_request").naming("slug");
        let next = agent.post("/v1/artifacts/my-site/versions?slug=my-site&message=Next");
        let next = next.raw(TAR, tar(&[("index.html", &page_saying("next"))])).await.expect(201);
        assert_eq!(next.integer("version"), 2);
        assert_serves(&front_page(&visitor, &published).await, &page_saying("next"));
        let versions = agent.artifact("my-site").await.expect(200);
        assert_eq!(versions.string("versions.0.message"), "Next");
        assert_eq!(versions.string("versions.1.message"), "By tar");
    }

    async fn a_retry_in_another_form_is_the_same_request(world: World) {
        let agent = world.agent().await;
        let keyed = |call: Call| call.idempotency_key("one");
        let files = [("app.css", STYLE.as_bytes()), ("index.html", PAGE.as_bytes())];
        let by_form = keyed(agent.publish_files("my-site", &files)).await.expect(201);
        let json = json!({ "slug": "my-site", "files": [
            { "path": "app.css", "content": STYLE },
            { "path": "index.html", "content": PAGE },
        ]});
        let by_json = keyed(agent.post("/v1/publish").json(&json)).await.expect(201);
        let archive = tar(&[("index.html", PAGE), ("app.css", STYLE)]);
        let by_tar = keyed(agent.post("/v1/publish?slug=my-site").raw(TAR, archive.clone())).await.expect(201);
        assert_eq!(by_form.json(), by_json.json());
        assert_eq!(by_form.json(), by_tar.json());
        let other = keyed(agent.post("/v1/publish?slug=my-site&message=Other").raw(TAR, archive));
        other.await.refused(409, "idempotency_conflict");
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
    }

    async fn another_content_type_is_refused_with_those_that_are_accepted(world: World) {
        let agent = world.agent().await;
        for path in ["/v1/publish", "/v1/artifacts/my-page/versions"] {
            let refused = agent.post(path).raw("text/html", PAGE).await.refused(415, "unsupported_media_type");
            for kind in ["multipart/form-data", "application/json", "application/zip", "application/x-tar"] {
                assert!(refused.string("hint").contains(kind), "{refused:?}");
            }
        }
    }
}

pub fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}
