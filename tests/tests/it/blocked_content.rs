//! Spec 3.3: content that a moderator has blocked cannot be published again, by any account or version.

use handbill_tests::{Call, Method, Value, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::becomes;
use crate::moderation::scans_are_done;
use crate::moderation_queue::{audit, decide, hosts, list, review_item};

const SCRIPT: &[u8] = b"document.title = 'stolen';";
const LIBRARY: &[u8] = b"function library() { return 1 }";

in_both_modes! {
    #[settings("HANDBILL_TEST_FAULTS" = "scan.early:fail")]
    async fn blocked_content_is_blocked_under_any_account_and_never_served(world: World) {
        let (one, other, visitor) = (world.agent().await, world.agent().await, world.visitor());
        let files: [(&str, &[u8]); 3] =
            [("index.html", b"<h1>Bad</h1>"), ("app.js", SCRIPT), ("style.css", b"h1 { color: red }")];
        let bad = one.publish_files("bad", &files).await.expect(201);
        becomes(&one, "bad", "pass").await;
        decide(&world, &bad.string("host"), &json!({ "action": "block" })).await.expect(200);

        // The same page, and another page with the same script under another name.
        let copy = other.publish_files("copy", &files).await.expect(201);
        let html = page_saying("harmless");
        let parts: [(&str, &[u8]); 2] = [("index.html", html.as_bytes()), ("lib/other.js", SCRIPT)];
        let part = other.publish_files("part", &parts).await.expect(201);
        for page in [&copy, &part] {
            front_page(&visitor, page).await.expect(451);
        }
        let detail = other.artifact("part").await.expect(200);
        assert_eq!(detail.string("moderation.status"), "blocked");
        assert_eq!(detail.string("moderation.rule"), "blocked_content");
        assert_eq!(detail.string("moderation.file"), "lib/other.js");
        let item = review_item(&world, &part.string("host")).await.expect(200);
        assert_eq!(item.string("live.evidence.0.rule"), "blocked_content");
        // Its scan does not release it.
        scans_are_done(&world, 3).await;
        front_page(&visitor, &part).await.expect(451);
        // A style sheet is neither a page nor a script.
        let styled: [(&str, &[u8]); 2] = [("index.html", html.as_bytes()), ("style.css", b"h1 { color: red }")];
        let styled = other.publish_files("styled", &styled).await.expect(201);
        front_page(&visitor, &styled).await.expect(200);
        // Blocked content is compared with every file, whatever its name.
        let parts: [(&str, &[u8]); 2] = [("index.html", html.as_bytes()), ("notes.txt", b"<h1>Bad</h1>")];
        let renamed = other.publish_files("renamed", &parts).await.expect(201);
        front_page(&visitor, &renamed).await.expect(451);

        // The owner removes the content, and the next version is decided like any other.
        other.publish("part", page_saying("harmless")).await.expect(201);
        front_page(&visitor, &part).await.expect(200);
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.early:fail")]
    async fn content_unblocked_by_a_moderator_is_served_again(world: World) {
        let (one, other, visitor) = (world.agent().await, world.agent().await, world.visitor());
        let bad = one.publish("bad", page_saying("bad")).await.expect(201);
        let host = bad.string("host");
        decide(&world, &host, &json!({ "action": "block" })).await.expect(200);
        let copy = other.publish("copy", page_saying("bad")).await.expect(201);
        front_page(&visitor, &copy).await.expect(451);
        scans_are_done(&world, 2).await;

        let listed = blocked_contents(&world).await.expect(200);
        assert_eq!(listed.field_names(), ["items", "next"]);
        assert_eq!(listed.at("items").as_array().map(Vec::len), Some(1));
        assert_eq!((listed.string("items.0.host"), listed.string("items.0.file")), (host.clone(), "index.html".into()));
        assert_eq!((listed.string("items.0.blocked_by"), listed.integer("items.0.live_versions")), ("Ada".into(), 2));
        let hash = listed.string("items.0.sha256");
        unblock(&world, &hash).await.expect(200);
        unblock(&world, &hash).await.refused(404, "not_found").naming("blocked content");
        unblock(&world, "x").await.refused(400, "invalid_request").naming("sha256");
        assert_eq!(blocked_contents(&world).await.expect(200).at("items"), json!([]));
        becomes(&other, "copy", "pass").await;
        assert_serves(&front_page(&visitor, &copy).await, &page_saying("bad"));
        // The blocked page itself stays blocked.
        front_page(&visitor, &bad).await.expect(451);
    }

    async fn content_of_passed_pages_is_not_blocked_and_a_pass_unblocks_content(world: World) {
        let (one, other) = (world.agent().await, world.agent().await);
        let honest: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("library.js", LIBRARY)];
        let passed = other.publish_files("honest", &honest).await.expect(201);
        decide(&world, &passed.string("host"), &json!({ "action": "pass" })).await.expect(200);
        let html = page_saying("bad");
        let files: [(&str, &[u8]); 3] = [("index.html", html.as_bytes()), ("library.js", LIBRARY), ("empty.js", b"")];
        let bad = one.publish_files("bad", &files).await.expect(201);
        let host = bad.string("host");
        decide(&world, &host, &json!({ "action": "block" })).await.expect(200);
        let listed = blocked_contents(&world).await.expect(200).at("items");
        let files: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["file"].clone()).collect();
        assert_eq!(files, ["index.html"]);
        let item = review_item(&world, &host).await.expect(200).at("live.files");
        let marked = |path: &str| -> Value {
            let file = item.as_array().unwrap().iter().find(|file| file["path"] == path).unwrap();
            file["blocked_content"].clone()
        };
        assert_eq!((marked("index.html"), marked("library.js")), (json!(true), json!(false)));

        decide(&world, &host, &json!({ "action": "pass" })).await.expect(200);
        assert_eq!(blocked_contents(&world).await.expect(200).at("items"), json!([]));
        let copy = other.publish("copy", html.clone()).await.expect(201);
        assert_serves(&front_page(&world.visitor(), &copy).await, &html);
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.early:fail")]
    async fn the_next_versions_of_a_page_that_a_moderator_blocked_wait_for_a_moderator(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let first = agent.publish("my-page", page_saying("bad")).await.expect(201);
        let host = first.string("host");
        becomes(&agent, "my-page", "pass").await;
        decide(&world, &host, &json!({ "action": "block" })).await.expect(200);
        for text in ["second", "third"] {
            agent.publish("my-page", page_saying(text)).await.expect(201);
            front_page(&visitor, &first).await.expect(451);
        }
        scans_are_done(&world, 3).await;
        front_page(&visitor, &first).await.expect(451);
        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(detail.string("moderation_status"), "review");
        assert_eq!(detail.string("moderation.rule"), "moderator");
        assert!(detail.string("moderation.message").contains("not served until a moderator passes it"), "{detail:?}");
        // Activating another version does not circumvent the block.
        agent.activate("my-page", 2).await.expect(200);
        front_page(&visitor, &first).await.expect(451);
        agent.activate("my-page", 3).await.expect(200);
        let queue = list(&world, "").await.expect(200);
        assert_eq!((hosts(&queue), queue.string("items.0.moderation_status")), (vec![host.clone()], "review".into()));
        assert_eq!(hosts(&list(&world, "?status=blocked").await.expect(200)), [""; 0]);

        decide(&world, &host, &json!({ "action": "pass" })).await.expect(200);
        assert_serves(&front_page(&visitor, &first).await, &page_saying("third"));
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
        agent.publish("my-page", page_saying("fourth")).await.expect(201);
        assert_serves(&front_page(&visitor, &first).await, &page_saying("fourth"));
        // Activating the blocked version holds the page again.
        agent.activate("my-page", 1).await.expect(200);
        agent.publish("my-page", page_saying("fifth")).await.expect(201);
        front_page(&visitor, &first).await.expect(451);
    }

    async fn activating_an_old_version_does_not_restore_blocked_content(world: World) {
        let (one, other, visitor) = (world.agent().await, world.agent().await, world.visitor());
        let early = one.publish("my-page", page_saying("bad")).await.expect(201);
        becomes(&one, "my-page", "pass").await;
        one.publish("my-page", page_saying("good")).await.expect(201);
        let copy = other.publish("copy", page_saying("bad")).await.expect(201);
        decide(&world, &copy.string("host"), &json!({ "action": "block" })).await.expect(200);
        assert_serves(&front_page(&visitor, &early).await, &page_saying("good"));
        let activated = one.activate("my-page", 1).await.expect(200);
        assert_eq!(activated.string("moderation_status"), "blocked");
        front_page(&visitor, &early).await.expect(451);
    }

    #[settings("HANDBILL_SERVICE__CONTACT" = "abuse@example.com")]
    async fn error_page_of_a_blocked_site_shows_the_contact(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", page_saying("bad")).await.expect(201);
        decide(&world, &page.string("host"), &json!({ "action": "block" })).await.expect(200);
        let blocked = front_page(&visitor, &page).await.expect(451).text();
        assert!(blocked.contains("<a href=\"mailto:abuse@example.com\">abuse@example.com</a>"), "{blocked}");
    }

    async fn moderator_unblocks_content_on_its_page(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        let bad = agent.publish("bad", page_saying("bad")).await.expect(201);
        let host = bad.string("host");
        decide(&world, &host, &json!({ "action": "block" })).await.expect(200);
        let case = human.get(&format!("/admin/moderation/{host}")).await.expect(200).text();
        assert!(case.contains("href=\"/admin/contents\">blocked file</a>"), "{case}");
        let shown = human.get("/admin/contents").await.expect(200).text();
        assert!(shown.contains(&host) && shown.contains("index.html") && shown.contains("Ada"), "{shown}");
        let hash = blocked_contents(&world).await.expect(200).string("items.0.sha256");
        let form = [("hash", hash.as_str())];
        human.on_a_page_of("http://evil.example").post("/admin/contents").form(&form).await.refused(403, "forbidden");
        let done = human.post("/admin/contents").form(&form).await.expect(302);
        let shown = human.get(done.header("Location")).await.expect(200).text();
        assert!(shown.contains("removed from the list") && shown.contains("No blocked files"), "{shown}");
        human.post("/admin/contents").form(&form).await.refused(404, "not_found");
        human.post("/admin/contents").form(&[("hash", "x")]).await.refused(400, "invalid_request").naming("hash");
        assert_eq!(audit(&world, "?moderators=true").await.expect(200).at("items").as_array().map(Vec::len), Some(1));
    }
}

fn blocked_contents(world: &World) -> Call {
    world.operator().call(Method::GET, "/internal/blocked-contents")
}

fn unblock(world: &World, hash: &str) -> Call {
    let path = format!("/internal/blocked-contents/{hash}");
    world.operator().call(Method::DELETE, &path).header("X-Operator", "Ada")
}
