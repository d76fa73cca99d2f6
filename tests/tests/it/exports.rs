//! Everything of an account as one archive: imported again, it gives the same account of pages.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use handbill_tests::{Agent, PATIENCE, Reply, Value, eventually, in_both_modes, json};

use crate::day_two::{object_of, objects_of};
use crate::expectations::{PAGE, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::teams::claimed_by;

/// The entries of an archive: path and content, in order.
type Entries = Vec<(String, Vec<u8>)>;

in_both_modes! {
    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "20")]
    async fn an_export_is_imported_again_with_the_same_manifests(world: World) {
        let agent = world.agent().await;
        for (slug, files) in [
            ("my-site", vec![
                ("index.html", PAGE.as_bytes()),
                ("css/app.css", b"a {}"),
                ("ü b/dot.bin", b"\0\xff"),
            ]),
            ("my-site", vec![("index.html", page_saying("next").as_bytes()), ("empty", b"")]),
            ("gone", vec![("index.html", b"deleted")]),
            ("again", vec![("index.html", b"of the first page")]),
        ] {
            agent.publish_files(slug, &files).await.expect(201);
        }
        agent.delete("gone").await.expect(200);
        agent.delete("again").await.expect(200);
        agent.publish("again", page_saying("of the second page")).await.expect(201);
        agent.publish("bad-page", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "bad-page", "blocked").await;
        for slug in ["my-site", "again"] {
            all_scanned(&agent, slug).await;
        }

        let exported = export(&agent).await.expect(200);
        assert_eq!(exported.header("Content-Type"), "application/gzip");
        assert_eq!(exported.header("Cache-Control"), "no-store");
        assert!(exported.header("Content-Disposition").contains(&format!("{}.tar.gz", agent.handle())));
        let entries = unpacked(&exported.body);
        let paths: Vec<&str> = entries.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, [
            "account.json", "ledger.csv",
            "pages/bad-page/1/index.html", "pages/again/1/index.html", "pages/my-site/1/css/app.css",
            "pages/my-site/1/index.html", "pages/my-site/1/ü b/dot.bin", "pages/my-site/2/empty",
            "pages/my-site/2/index.html",
        ]);
        assert_eq!(export(&agent).await.expect(200).body, exported.body, "the same state, the same bytes");

        let account: Value = serde_json::from_slice(&entries[0].1).unwrap();
        let fresh = world.agent().await;
        import(&fresh, &entries, &account).await;
        let copy = export(&fresh).await.expect(200);
        let copied: Value = serde_json::from_slice(&unpacked(&copy.body)[0].1).unwrap();
        assert_eq!(manifests(&copied), manifests(&account));
        assert_eq!(manifests(&account).len(), 4);
        let listed = agent.get("/v1/artifacts/my-site/files?version=1").await.expect(200);
        assert_eq!(manifests(&account)[&("my-site".to_owned(), 1)], listed.json());
    }

    async fn an_export_has_the_account_without_secrets(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        let minted = agent.mint(&json!({ "name": "helper" })).await.expect(201);
        let code = agent.invite(&json!({})).await.expect(201).string("code");
        let joined = world.stranger().joined(&code).await;
        let entries = unpacked(&export(&agent).await.expect(200).body);
        let text = String::from_utf8(entries[0].1.clone()).unwrap();
        for secret in [agent.token(), joined.token(), &minted.string("token"), &code] {
            assert!(!text.contains(secret));
        }
        let account: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(account["account"]["handle"], agent.handle());
        assert_eq!(account["members"][0]["username"], "olga");
        assert_eq!(account["tokens"].as_array().unwrap().len(), 3);
        assert_eq!(account["artifacts"][0]["visibility"], "public");
        let audit = account["audit"].as_array().unwrap().iter();
        let actions: Vec<_> = audit.map(|entry| entry["action"].as_str().unwrap()).collect();
        assert!(actions.contains(&"artifact.published") && actions.contains(&"invite.made"), "{actions:?}");
        let ledger = String::from_utf8(entries[1].1.clone()).unwrap();
        assert!(ledger.starts_with("id,created_at,delta_micro,reason,balance_micro\r\n"), "{ledger}");
        let of_owner = owner.get("/v1/account/export").await.expect(200);
        assert_eq!(unpacked(&of_owner.body)[2].0, "pages/my-page/1/index.html");
    }

    async fn a_failure_in_the_middle_does_not_look_like_a_complete_archive(world: World) {
        let agent = world.agent().await;
        let lost = page_saying(&"words ".repeat(200));
        agent.publish("first", &lost).await.expect(201);
        agent.publish("second", PAGE).await.expect(201);
        std::fs::remove_file(object_of(&objects_of(&world), &lost)).unwrap();
        let cut_off = export(&agent).try_send().await;
        assert!(cut_off.is_err(), "{cut_off:?}");
    }

    async fn an_export_needs_every_scope_that_its_data_needs(world: World) {
        let agent = world.agent().await;
        let id = agent.publish("my-page", PAGE).await.expect(201).string("artifact_id");
        let needed = ["artifacts:read", "tokens:manage", "account:manage"];
        for lacking in needed {
            let rest: Vec<_> = needed.into_iter().filter(|scope| *scope != lacking).collect();
            let lesser = agent.minted(&json!({ "scopes": rest.join(",") })).await;
            export(&lesser).await.refused(403, "insufficient_scope").naming(lacking);
        }
        let pinned = agent.minted(&json!({ "artifact_id": id })).await;
        export(&pinned).await.refused(403, "insufficient_scope").naming("pinned");
        export(&world.stranger()).await.refused(401, "unauthorized");
        let just_enough = agent.minted(&json!({ "scopes": needed.join(",") })).await;
        for _ in 0..10 {
            export(&just_enough).await.expect(200);
        }
        export(&agent).await.refused(429, "rate_limited");
        export(&world.agent().await).await.expect(200);
    }
}

fn export(agent: &Agent) -> handbill_tests::Call {
    agent.get("/v1/account/export")
}

/// Waits until no scan will change the export any more.
async fn all_scanned(agent: &Agent, slug: &str) {
    eventually(PATIENCE, "all versions are scanned", async || {
        let versions = agent.artifact(slug).await.expect(200).at("versions").clone();
        let is_pending = |version: &Value| version["moderation_status"] == "pending";
        (!versions.as_array().unwrap().iter().any(is_pending)).then_some(())
    })
    .await;
}

fn unpacked(archive: &[u8]) -> Entries {
    let mut archive = tar::Archive::new(GzDecoder::new(archive));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry: tar::Entry<'_, GzDecoder<&[u8]>> = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_owned(), content)
    };
    archive.entries().unwrap().map(read).collect()
}

/// Publishes every version, oldest first.
async fn import(agent: &Agent, entries: &Entries, account: &Value) {
    for artifact in account["artifacts"].as_array().unwrap() {
        let slug = artifact["slug"].as_str().unwrap();
        for version in artifact["versions"].as_array().unwrap().iter().rev() {
            let folder = format!("pages/{slug}/{}/", version["seq"]);
            let files: Vec<(&str, &[u8])> = entries
                .iter()
                .filter_map(|(path, content)| Some((path.strip_prefix(&folder)?, &content[..])))
                .collect();
            let published: Reply = agent.publish_files(slug, &files).await.expect(201);
            assert_eq!(json!(published.integer("version")), version["seq"]);
        }
    }
}

/// The files of each version, by slug and number.
fn manifests(account: &Value) -> BTreeMap<(String, u64), Value> {
    let mut found = BTreeMap::new();
    for artifact in account["artifacts"].as_array().unwrap() {
        for version in artifact["versions"].as_array().unwrap() {
            let slug = artifact["slug"].as_str().unwrap().to_owned();
            found.insert((slug, version["seq"].as_u64().unwrap()), version["files"].clone());
        }
    }
    found
}
