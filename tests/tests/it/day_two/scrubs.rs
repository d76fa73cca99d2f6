//! A scrub finds every kind of damaged object, and deletes nothing that is in use.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use handbill_tests::{Agent, Health, Mode, PATIENCE, Reply, World, eventually, in_both_modes, json, program};

use super::{failed, host_of, keeper, object_of, objects_of, succeeded, tamper};
use crate::expectations::{front_page, page_saying};

const OVER_THE_GRACE: Duration = Duration::from_secs(25 * 3600);

async fn published(agent: &Agent, slug: &str, html: &str) -> Reply {
    agent.publish(slug, html).await.expect(201)
}

in_both_modes! {
    async fn scrub_names_the_affected_pages_and_exits_with_1(world: World) {
        let (agent, _) = keeper(&world).await;
        let objects = objects_of(&world);
        let html = |words: &str| page_saying(&words.repeat(200));
        let [sound, removed, truncated, flipped, recoded] =
            ["sound", "removed", "truncated", "flipped", "recoded"].map(|words| (words, html(words)));
        let mut hosts = Vec::new();
        for (slug, html) in [&sound, &removed, &truncated, &flipped, &recoded] {
            hosts.push(host_of(&published(&agent, slug, html).await));
        }
        succeeded(world.command(&["scrub"], &[]).await);

        fs::remove_file(object_of(&objects, &removed.1)).unwrap();
        let cut = object_of(&objects, &truncated.1);
        let length = fs::metadata(&cut).unwrap().len();
        File::options().write(true).open(&cut).unwrap().set_len(length - 9).unwrap();
        // One bit of a content, and one of an encoding, which only some visitors get.
        for (html, index) in [(&flipped.1, 40), (&recoded.1, recoded.1.len() + 30)] {
            let path = object_of(&objects, html);
            let mut bytes = fs::read(&path).unwrap();
            bytes[index] ^= 0x10;
            fs::write(&path, bytes).unwrap();
        }
        let output = failed(world.command(&["scrub"], &[]).await);
        assert!(output.contains("4 damages found"), "{output}");
        for (host, words) in [
            (&hosts[1], "it is not in the blob store"),
            (&hosts[2], "bytes instead of"),
            (&hosts[3], "its bytes do not match its hash"),
            (&hosts[4], "encoding does not decode to it"),
        ] {
            let lines: Vec<_> = output.lines().collect();
            let harm = lines.iter().position(|line| line.contains(&format!("affects {host} (version 1, live)")));
            let harm = harm.unwrap_or_else(|| panic!("{host} is not named: {output}"));
            assert!(lines[harm - 1].contains(words), "{output}");
        }
        assert!(!output.contains(&hosts[0]), "{output}");
        // An unreadable object is reported like other damage, and the rest is checked nevertheless.
        let unreadable = object_of(&objects, &removed.1);
        std::os::unix::fs::symlink(&unreadable, &unreadable).unwrap();
        let output = failed(world.command(&["scrub"], &[]).await);
        assert!(output.contains("4 damages found") && output.contains("5 contents checked"), "{output}");
        // A local directory cannot be listed past it.
        let is_folder = world.mode() == handbill_tests::Mode::Embedded;
        assert_eq!(output.contains("could not all be listed"), is_folder, "{output}");
        fs::remove_file(&unreadable).unwrap();
        // An empty store has no faults, but indicates wrong settings.
        let elsewhere = [("HANDBILL_DATA_DIR", "/nowhere"), ("HANDBILL_DATABASE__URL", "sqlite:///nowhere/handbill.db")];
        let output = failed(world.command(&["scrub"], &elsewhere).await);
        assert!(output.contains("/nowhere/handbill.db does not exist"), "{output}");
        let sampled = failed(world.command(&["scrub", "--sample", "5"], &[]).await);
        assert!(sampled.contains("5 contents checked") && sampled.contains("0 objects"), "{sampled}");
    }

    async fn operator_commands_without_an_installation_create_nothing(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let database = format!("sqlite://{}/handbill.db", data.display());
        let folder_of_data = data.to_str().unwrap();
        let elsewhere = [("HANDBILL_DATA_DIR", folder_of_data), ("HANDBILL_DATABASE__URL", &database)];
        let expected = format!("no installation found in {}", data.display());
        let commands: [&[&str]; 4] =
            [&["admin", "queues"], &["admin", "schedules"], &["ledger", "check"], &["scrub"]];
        for command in commands {
            let output = failed(world.command(command, &elsewhere).await);
            assert!(output.contains(&expected) && output.contains("--config"), "{command:?}: {output}");
            assert!(!data.exists(), "{command:?} created a directory");
        }
    }

    async fn missing_blob_is_restored_by_a_new_publish_of_its_content(world: World) {
        let (agent, _) = keeper(&world).await;
        let html = page_saying(&"words ".repeat(200));
        let first = published(&agent, "first", &html).await;
        let object = object_of(&objects_of(&world), &html);
        let whole = fs::read(&object).unwrap();
        fs::remove_file(&object).unwrap();
        // The edge must not serve it from its cache.
        world.edge().restart().await;
        let visitor = world.visitor();
        assert!(front_page(&visitor, &first).await.status >= 500);
        let output = failed(world.command(&["scrub"], &[]).await);
        assert!(output.contains("it is not in the blob store") && output.contains("handbill scrub --fix"), "{output}");
        published(&agent, "still-lost", &html).await;
        assert!(!object.exists(), "a publish looks at the database alone");

        let output = failed(world.command(&["scrub", "--fix"], &[]).await);
        assert!(output.contains("1 more missing content is recorded"), "{output}");
        // It must be sent again, even if it is named.
        let hash = domain::BlobHash::of(html.as_bytes()).to_string();
        let named = json!({ "slug": "named", "files": [{ "path": "index.html", "sha256": hash }] });
        let missing = agent.post("/v1/publish").json(&named).await.refused(409, "content_missing");
        assert_eq!(missing.at("missing"), json!([hash]));
        let based = agent.post("/v1/publish").json(&json!({ "slug": "first", "base": "live" })).await;
        assert_eq!(based.refused(409, "content_missing").at("missing"), json!([hash]));
        // The name has another content type, for which no encodings are made.
        let files: [(&str, &[u8]); 2] = [("index.html", b"<p>a site"), ("picture.png", html.as_bytes())];
        let second = agent.publish_files("second", &files).await.expect(201);
        assert_eq!(fs::read(&object).unwrap(), whole, "older manifests contain the positions of the encodings");
        assert_eq!(front_page(&visitor, &first).await.expect(200).text(), html);
        let picture = visitor.open(&format!("{}picture.png", second.string("url"))).await.expect(200);
        assert_eq!(picture.text(), html);
        agent.post("/v1/publish").json(&named).await.expect(201);
        succeeded(world.command(&["scrub"], &[]).await);
    }

    async fn lost_blob_with_a_different_layout_is_refused_at_once_with_a_hint(world: World) {
        let (agent, _) = keeper(&world).await;
        let html = page_saying(&"words ".repeat(200));
        published(&agent, "first", &html).await;
        let object = object_of(&objects_of(&world), &html);
        let whole = fs::read(&object).unwrap();
        fs::remove_file(&object).unwrap();
        let output = failed(world.command(&["scrub", "--fix"], &[]).await);
        assert!(output.contains("1 more missing content is recorded"), "{output}");
        // As if another release had made the encodings.
        let size = "\"size_bytes\":";
        tamper(&world, &format!("UPDATE blobs SET variants = replace(variants, '{size}', '{size}1')")).await;
        let began = Instant::now();
        let publish = async || agent.publish("second", &html).idempotency_key("again").await;
        let refused = publish().await.refused(400, "invalid_request");
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        let message = refused.string("message");
        assert!(message.starts_with("index.html: ") && message.contains("change the file"), "{message}");
        assert!(refused.string("hint").contains("send the request again"), "{refused:?}");
        assert!(!object.exists(), "the stored encodings must match the older manifests");
        agent.artifact("second").await.refused(404, "not_found");
        // The message's advice helps, and so does the operator's backup, even under the same key.
        published(&agent, "second", &format!("{html}\n")).await;
        fs::write(&object, whole).unwrap();
        tamper(&world, &format!("UPDATE blobs SET variants = replace(variants, '{size}1', '{size}')")).await;
        publish().await.expect(201);
    }

    async fn unreadable_manifest_is_reported_and_does_not_stop_the_scrub(world: World) {
        let (agent, _) = keeper(&world).await;
        let garbled = host_of(&published(&agent, "garbled", &page_saying("garbled")).await);
        published(&agent, "sound", &page_saying("sound")).await;
        tamper(&world, "UPDATE versions SET manifest = '{' WHERE id IN (SELECT live_version_id FROM artifacts
            WHERE slug = 'garbled')").await;
        let output = failed(world.command(&["scrub"], &[]).await);
        assert!(output.contains(&format!("affects {garbled} (version 1, live)")), "{output}");
        assert!(output.contains("its manifest in the database cannot be read"), "{output}");
        assert!(output.contains("1 damage found") && output.contains("2 manifests, 2 objects"), "{output}");
    }

    async fn only_an_orphan_past_its_grace_is_removed(world: World) {
        let (agent, _) = keeper(&world).await;
        let html = page_saying("somebody's");
        let page = published(&agent, "my-page", &html).await;
        let orphan = object_of(&objects_of(&world), "nobody's");
        fs::create_dir_all(orphan.parent().unwrap()).unwrap();
        fs::write(&orphan, "nobody's").unwrap();
        let young = succeeded(world.command(&["scrub", "--fix"], &[]).await);
        assert!(!young.contains("ORPHAN") && orphan.exists(), "{young}");
        world.advance(OVER_THE_GRACE);
        let old = succeeded(world.command(&["scrub"], &[]).await);
        assert!(old.contains("ORPHAN") && old.contains("handbill scrub --fix") && orphan.exists(), "{old}");
        let fixed = succeeded(world.command(&["scrub", "--fix"], &[]).await);
        assert!(fixed.contains("removed") && !orphan.exists(), "{fixed}");
        assert_eq!(front_page(&world.visitor(), &page).await.expect(200).text(), html);
        let clean = succeeded(world.command(&["scrub", "--fix"], &[]).await);
        assert!(!clean.contains("ORPHAN"), "{clean}");
        // The same content can be published again after it was deleted.
        let again = published(&agent, "again", "nobody's").await;
        assert_eq!(front_page(&world.visitor(), &again).await.expect(200).text(), "nobody's");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrub_reads_a_bucket_with_the_configured_concurrency() {
    let world = World::with(Mode::Production, program!()).start().await;
    let (agent, _) = keeper(&world).await;
    for number in 0..14 {
        published(&agent, &format!("page-{number}"), &page_saying(&format!("number {number}"))).await;
    }
    // Their requests would count as well.
    for process in [world.api(), world.worker(), world.edge()] {
        process.terminate().await;
    }
    let nothing_is_asked = async || (world.s3().in_flight() == 0).then_some(());
    eventually(PATIENCE, "no requests to the bucket", nothing_is_asked).await;
    world.s3().be(Health::Stalls);
    let scrub = world.command(&["scrub"], &[("HANDBILL_STORAGE__SCRUB_CONCURRENCY", "11")]);
    let watch = async {
        let all_are_asked = async || (world.s3().in_flight() == 11).then_some(());
        eventually(PATIENCE, "eleven objects are requested at the same time", all_are_asked).await;
        world.s3().be(Health::Well);
    };
    let (scrubbed, ()) = tokio::join!(scrub, watch);
    assert!(succeeded(scrubbed).contains("14 contents checked"));
}
