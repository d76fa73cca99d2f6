//! Spec 2.8 and 4.2: what a publish accepts, responds and refuses as a whole.

use std::collections::HashSet;

use handbill_tests::{fields_of, in_both_modes};

use crate::expectations::{PAGE, assert_serves, assert_untouched, front_page, page_saying};

const MB: usize = 1_048_576;

in_both_modes! {
    async fn a_page_is_published_and_served(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let fields = ["account", "artifact_id", "host", "url", "version", "version_url", "warnings"];
        assert_eq!(published.field_names(), fields);
        assert_eq!(fields_of(&published.at("account")), ["credits_usd", "expires_at", "free_publishes_left"]);
        assert_eq!(published.integer("version"), 1);
        assert_eq!(published.integer("account.free_publishes_left"), 4);
        assert_eq!(published.number("account.credits_usd"), 0.0);
        let expires_at = agent.signup.as_ref().unwrap().at("account.expires_at");
        assert_eq!(published.at("account.expires_at"), expires_at);
        let host = published.string("host");
        let tail = host.strip_prefix("my-page-").expect("a host that begins with the slug");
        assert!(
            tail.len() == 4 && tail.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
            "{host}"
        );
        assert_eq!(published.string("url"), format!("{}/site/{host}/", world.serve_url()));
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
    }

    async fn a_site_of_many_files_keeps_its_folders_and_its_bytes(world: World) {
        let every_byte: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let files: [(&str, &[u8]); 5] = [
            ("index.html", PAGE.as_bytes()),
            ("css/app.css", b"body { color: teal }"),
            ("deep/er/still/data.bin", &every_byte),
            ("with space/\u{fc}ml.txt", "gr\u{fc}\u{df}e".as_bytes()),
            ("empty.txt", b""),
        ];
        let published = world.agent().await.publish_files("my-site", &files).await.expect(201);
        let visitor = world.visitor();
        assert_serves(&front_page(&visitor, &published).await, PAGE);
        let style = visitor.open_site(&published, "css/app.css").await.expect(200);
        assert_eq!(style.body, files[1].1);
        assert!(style.header("Content-Type").starts_with("text/css"), "{style:?}");
        assert_eq!(
            visitor.open_site(&published, "deep/er/still/data.bin").await.expect(200).body,
            every_byte
        );
        let text = visitor.open_site(&published, "with%20space/%C3%BCml.txt").await.expect(200);
        assert_eq!(text.text(), "gr\u{fc}\u{df}e");
        assert!(visitor.open_site(&published, "empty.txt").await.expect(200).body.is_empty());
    }

    async fn repeated_slug_creates_a_new_version_at_the_same_url(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let first = agent.publish("my-page", page_saying("one")).await.expect(201);
        assert_serves(&front_page(&visitor, &first).await, &page_saying("one"));
        let second = agent.publish("my-page", page_saying("two")).await.expect(201);
        assert_eq!(second.integer("version"), 2);
        for field in ["url", "host", "artifact_id"] {
            assert_eq!(second.string(field), first.string(field));
        }
        // There is no wait: after the API's response, no edge serves the old state.
        assert_serves(&front_page(&visitor, &first).await, &page_saying("two"));
    }

    async fn a_publish_without_a_slug_gets_one(world: World) {
        let agent = world.agent().await;
        let one = agent.post("/v1/publish").field("html", PAGE).await.expect(201);
        let other = agent.post("/v1/publish").field("html", PAGE).await.expect(201);
        assert_ne!(one.string("artifact_id"), other.string("artifact_id"));
        for artifact in agent.artifacts().await.expect(200).json().as_array().unwrap() {
            let slug = artifact["slug"].as_str().unwrap();
            let is_slug = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            assert!((3..=40).contains(&slug.len()) && slug.bytes().all(is_slug), "{slug}");
        }
    }

    async fn equal_slugs_of_two_accounts_are_separate_sites(world: World) {
        let (one, other) = (world.agent().await, world.agent().await);
        let mine = one.publish("index", page_saying("mine")).await.expect(201);
        let theirs = other.publish("index", page_saying("theirs")).await.expect(201);
        assert_ne!(mine.string("host"), theirs.string("host"));
        assert_serves(&front_page(&world.visitor(), &mine).await, &page_saying("mine"));
    }

    async fn publish_needs_exactly_one_of_html_and_files(world: World) {
        let agent = world.agent().await;
        let both = agent.publish("my-page", PAGE).file("index.html", PAGE).await;
        both.refused(400, "invalid_request").naming("html");
        let neither = agent.post("/v1/publish").field("slug", "my-page").await;
        neither.refused(400, "invalid_request").naming("html");
        let twice = agent.publish("my-page", PAGE).field("html", PAGE).await;
        twice.refused(400, "invalid_request").naming("html");
        assert_untouched(&agent).await;
    }

    async fn a_malformed_slug_is_refused_by_name(world: World) {
        let agent = world.agent().await;
        let too_long = "a".repeat(41);
        for slug in ["ab", too_long.as_str(), "My-Page", "my_page", "my page", "m\u{fc}ll", "../etc", ""] {
            agent.publish(slug, PAGE).await.refused(400, "invalid_request").naming("slug");
        }
        assert_untouched(&agent).await;
    }

    async fn a_malformed_path_is_refused_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        let too_long = format!("{}.html", "a".repeat(600));
        let bad = [
            "../up.html",
            "a/../b.html",
            "/etc/passwd",
            "a//b.html",
            "./a.html",
            "a/",
            "a\\b.html",
            "..",
            "",
            too_long.as_str(),
        ];
        for path in bad {
            let call = agent.publish_files("my-site", &[("index.html", PAGE.as_bytes()), (path, b"x")]);
            call.await.refused(400, "invalid_request").naming("path");
        }
        // A header cannot contain this path, so that the error names none.
        let call = agent.publish_files("my-site", &[("a/\u{1}.html", b"x")]);
        call.await.refused(400, "invalid_request");
        assert_untouched(&agent).await;
    }

    async fn paths_that_collide_are_refused_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        let twice: [(&str, &[u8]); 2] = [("a.html", b"1"), ("a.html", b"2")];
        agent.publish_files("my-site", &twice).await.refused(400, "invalid_request").naming("a.html");
        let file_and_folder: [(&str, &[u8]); 2] = [("a", b"1"), ("a/b", b"2")];
        agent.publish_files("my-site", &file_and_folder).await.refused(400, "invalid_request").naming("a");
        let folder_and_file: [(&str, &[u8]); 2] = [("c/d/e", b"1"), ("c/d", b"2")];
        agent.publish_files("my-site", &folder_and_file).await.refused(400, "invalid_request").naming("c/d");
        assert_untouched(&agent).await;
    }

    async fn incomplete_form_is_refused_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        let publish = || agent.post("/v1/publish");
        publish().form(&[("html", PAGE)]).await.refused(415, "unsupported_media_type");
        publish().await.refused(415, "unsupported_media_type");
        let head = "--b\r\nContent-Disposition: form-data; name=\"html\"\r\n\r\n<p>half a pa";
        publish().raw("multipart/form-data; boundary=b", head).await.refused(400, "invalid_request");
        publish()
            .raw("multipart/form-data; boundary=b", "no form at all")
            .await
            .refused(400, "invalid_request");
        publish().raw("multipart/form-data", head).await.refused(400, "invalid_request");
        assert_untouched(&agent).await;
    }

    async fn ten_megabytes_are_taken_and_one_byte_more_is_refused(world: World) {
        let agent = world.agent().await;
        let whole = vec![b'x'; 10 * MB];
        let (half, rest) = whole.split_at(4 * MB);
        let published = agent.publish_files("my-site", &[("a.txt", half), ("b.txt", rest)]).await.expect(201);
        assert_eq!(world.visitor().open_site(&published, "b.txt").await.expect(200).body, rest);
        let more = [("a.txt", half), ("b.txt", rest), ("c.txt", b"x" as &[u8])];
        agent.publish_files("my-site", &more).await.refused(413, "too_large");
        let usage = agent.usage().await.expect(200);
        assert_eq!(usage.integer("publishes.used"), 1);
    }

    async fn a_body_far_too_large_is_refused_before_it_is_read(world: World) {
        let agent = world.agent().await;
        let refused = agent.publish("my-page", "x".repeat(64 * MB)).await.refused(413, "too_large");
        assert!(refused.string("hint").contains("fewer or smaller files"), "{refused:?}");
        assert_untouched(&agent).await;
    }

    async fn fifty_files_are_taken_and_fifty_one_are_refused(world: World) {
        let agent = world.agent().await;
        let names: Vec<_> = (0..51).map(|number| format!("{number}.txt")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), name.as_bytes())).collect();
        let refused = agent.publish_files("too-many", &files).await.refused(413, "too_large");
        assert!(refused.string("hint").contains("under another slug"), "{refused:?}");
        assert_untouched(&agent).await;
        agent.publish_files("just-so", &files[..50]).await.expect(201);
        let detail = agent.artifact("just-so").await.expect(200);
        assert_eq!(detail.integer("versions.0.file_count"), 50);
    }

    async fn a_provisional_account_stores_twenty_megabytes_and_no_more(world: World) {
        let agent = world.agent().await;
        let content = |byte: u8| vec![byte; 9 * MB];
        for byte in [b'a', b'b'] {
            agent.publish_files("my-site", &[("a.txt", &content(byte))]).await.expect(201);
        }
        let refused = agent.publish_files("my-site", &[("a.txt", &content(b'c'))]).await.refused(413, "too_large");
        assert!(refused.string("hint").contains("claim_url from GET /v1/account"), "{refused:?}");
        // Content that is stored already takes no more storage.
        agent.publish_files("my-site", &[("again.txt", &content(b'a'))]).await.expect(201);
    }

    async fn an_unchanged_file_adds_no_storage(world: World) {
        let agent = world.agent().await;
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("app.css", b"body{}")];
        agent.publish_files("my-site", &files).await.expect(201);
        let once = agent.usage().await.expect(200).integer("storage.bytes");
        assert_eq!(once, i64::try_from(PAGE.len() + 6).unwrap());
        agent.publish_files("my-site", &files).await.expect(201);
        agent.publish_files("other-site", &[("copy.css", b"body{}")]).await.expect(201);
        assert_eq!(agent.usage().await.expect(200).integer("storage.bytes"), once);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "40")]
    async fn every_slug_gets_a_host_of_its_own(world: World) {
        let agent = world.agent().await;
        let mut hosts = HashSet::new();
        for number in 0..20 {
            let published = agent.publish(&format!("page-{number}"), PAGE).await.expect(201);
            assert!(hosts.insert(published.string("host")), "{published:?}");
        }
    }
}
