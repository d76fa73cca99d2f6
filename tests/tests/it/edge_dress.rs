//! Spec 3.1 and 4.12: how the edge rewrites pages: the badge, and the links of private sites.

use domain::Chance;
use handbill_tests::{Mode, Reply, in_both_modes};

const XHTML: &str = "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><body>\
    <p>text</p><a href=\"b.html\"/></body></html>";

in_both_modes! {
    async fn large_page_gets_the_badge_and_is_still_compressed(world: World) {
        let agent = world.agent().await;
        let filler = "<p>filler</p>".repeat(150_000);
        let published = agent.publish("my-page", format!("<body>{filler}</body>")).await.expect(201);
        let plain = world.visitor().open_site(&published, "").await.expect(200);
        assert!(plain.text().contains("hosted on") && plain.text().len() > filler.len());
        assert_eq!(plain.header("Content-Encoding"), "");
        for encoding in ["br", "zstd", "gzip"] {
            let open = || world.visitor().open_site(&published, "").header("Accept-Encoding", encoding);
            let seen = open().await.expect(200);
            assert_eq!(seen.header("Content-Encoding"), encoding);
            assert_eq!(seen.header("Content-Length"), seen.body.len().to_string());
            assert!(seen.body.len() < filler.len() / 10, "{encoding}: {} bytes", seen.body.len());
            let etag = seen.header("ETag").to_owned();
            assert_ne!(etag, plain.header("ETag"));
            assert_eq!(open().await.expect(200).body, seen.body);
            open().header("If-None-Match", etag).await.expect(304);
        }
    }

    async fn incompressible_large_page_is_rewritten_once_and_served_from_memory(world: World) {
        let noise = Chance::seeded(1).base36(3_000_000);
        let published = world.agent().await.publish("my-page", format!("<body>{noise}</body>")).await.expect(201);
        let open = || world.visitor().open_site(&published, "");
        let first = open().await.expect(200);
        assert!(first.text().contains(&noise) && first.text().contains("hosted on"));
        assert_eq!(first.header("Content-Length"), first.body.len().to_string());
        if world.mode() == Mode::Production {
            world.s3().stop().await;
        }
        let again = open().header("Accept-Encoding", "identity").await.expect(200);
        assert!(again.body == first.body && again.header("ETag") == first.header("ETag"));
        let part = open().header("Range", "bytes=1000000-1999999").await.expect(206);
        assert_eq!(part.body, first.body[1_000_000..2_000_000]);
    }

    async fn url_returned_by_the_api_is_signed_in_a_private_page(world: World) {
        let agent = world.agent().await;
        let url = agent.publish("my-page", "first").await.expect(201).string("url");
        let page = format!("<a href=\"{url}about\"><a href=\"https&#58;//evil.example/\">");
        agent.publish("my-page", page).await.expect(201);
        let (hidden, signature) = signed_link(&agent.set_visibility("my-page", "private").paying("dev:0.5").await);
        let seen = world.visitor().open(&hidden).await.expect(200).text();
        assert!(seen.contains(&format!("<a href=\"{url}about?sig={signature}\">")), "{seen}");
        assert!(seen.contains("<a href=\"https&#58;//evil.example/\">"), "{seen}");
    }

    async fn xhtml_gets_the_badge_and_its_links_are_signed(world: World) {
        let agent = world.agent().await;
        let files: [(&str, &[u8]); 2] = [("index.html", b"front"), ("a.xhtml", XHTML.as_bytes())];
        agent.publish_files("my-site", &files).await.expect(201);
        let (hidden, signature) = signed_link(&agent.set_visibility("my-site", "private").paying("dev:0.5").await);
        let page = hidden.replace("?sig=", "a.xhtml?sig=");
        let seen = world.visitor().open(&page).await.expect(200);
        assert!(seen.header("Content-Type").starts_with("application/xhtml+xml"), "{seen:?}");
        let signed = XHTML.replace("b.html", &format!("b.html?sig={signature}"));
        let (before, after) = signed.split_at(signed.find("</body>").unwrap());
        let text = seen.text();
        assert!(text.starts_with(before) && text.ends_with(after), "{text}");
        assert!(text[before.len()..].contains("hosted on"), "{text}");
    }
}

/// The signed link of a site that was just made private, and its signature.
fn signed_link(reply: &Reply) -> (String, String) {
    assert_eq!(reply.status, 200, "{reply:?}");
    let signed_url = reply.string("signed_url");
    let (_, signature) = signed_url.split_once("?sig=").expect("a signature in the link");
    (signed_url.clone(), signature.to_owned())
}
