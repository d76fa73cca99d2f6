//! The link of a private page can be replaced, so that one that has reached the wrong people stops working.

use handbill_tests::{Agent, Mode, Reply, Visitor, World, in_both_modes};

use crate::expectations::{PAGE, assert_serves, page_saying};

in_both_modes! {
    async fn replaced_link_is_refused_at_once_and_the_new_one_opens_the_page(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let (published, hidden) = private_page(&agent).await;
        let mut old = hidden.string("signed_url");
        for _ in 0..3 {
            for visitor in &visitors {
                assert_serves(&visitor.open(&old).await, PAGE);
            }
            let replaced = agent.rotate_private_link("my-page").await.expect(200);
            assert_eq!(replaced.field_names(), hidden_fields());
            let new = replaced.string("signed_url");
            assert_ne!(new, old);
            assert_eq!(new.split_once("?sig=").unwrap().0, published.string("url"));
            for visitor in &visitors {
                visitor.open(&old).await.expect(403);
                assert_serves(&visitor.open(&new).await, PAGE);
            }
            assert_eq!(agent.artifact("my-page").await.expect(200).string("signed_url"), new);
            old = new;
        }
        let shown = agent.set_visibility("my-page", "private").await.expect(200);
        assert_eq!(shown.string("signed_url"), old);
        let log = agent.get("/v1/account/audit").await.expect(200);
        assert_eq!(log.string("0.action"), "artifact.private_link_rotated");
        assert_eq!(log.string("0.subject"), published.string("host"));
    }

    async fn versions_assets_and_later_publishes_have_the_new_link(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let files: [(&str, &[u8]); 2] = [("index.html", b"<a href=\"b.html\">b</a>"), ("a.css", b"p{}")];
        let published = agent.publish_files("my-page", &files).await.expect(201);
        let hidden = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let old = signature(&hidden.string("signed_url"));
        let version = published.string("version_url");
        for visitor in &visitors {
            visitor.open(&format!("{version}?sig={old}")).await.expect(200);
        }
        let replaced = agent.rotate_private_link("my-page").await.expect(200);
        let new = signature(&replaced.string("signed_url"));
        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(detail.string("versions.0.signed_url"), format!("{version}?sig={new}"));
        for visitor in &visitors {
            visitor.open(&format!("{version}?sig={old}")).await.expect(403);
            let seen = visitor.open(&format!("{version}?sig={new}")).await.expect(200);
            assert!(seen.text().contains(&format!("b.html?sig={new}")), "{seen:?}");
            let page = replaced.string("url");
            let seen = visitor.open(&format!("{page}?sig={new}")).await.expect(200);
            assert!(seen.text().contains(&format!("b.html?sig={new}")), "{seen:?}");
            for (sig, status) in [(&old, 403), (&new, 302)] {
                let host = replaced.string("host");
                let referer = format!("{}/site/{host}/?sig={sig}", visitor.serve_url());
                visitor.open(&format!("{page}a.css")).header("Referer", referer).await.expect(status);
            }
        }
        let next = agent.publish("my-page", page_saying("next")).await.expect(201);
        assert_eq!(signature(&next.string("signed_url")), new);
        assert_eq!(signature(&next.string("signed_version_url")), new);
        assert_serves(&visitors[0].open(&next.string("signed_url")).await, &page_saying("next"));
        // The link stays, whatever the page was in the meantime.
        agent.set_visibility("my-page", "public").await.expect(200);
        let again = agent.set_visibility("my-page", "private").await.expect(200);
        assert_eq!(signature(&again.string("signed_url")), new);
        agent.delete("my-page").await.expect(200);
        agent.post("/v1/artifacts/my-page/restore").await.expect(200);
        for visitor in &visitors {
            visitor.open(&hidden.string("signed_url")).await.expect(403);
            visitor.open(&again.string("signed_url")).await.expect(200);
        }
    }

    async fn only_a_private_page_has_a_link_to_replace(world: World) {
        let agent = world.agent().await;
        agent.rotate_private_link("no-page").await.refused(404, "not_found");
        agent.publish("my-page", PAGE).await.expect(201);
        agent.rotate_private_link("my-page").await.refused(409, "not_private");
        agent.set_visibility("my-page", "unlisted").paying("dev:0.5").await.expect(200);
        agent.rotate_private_link("my-page").await.refused(409, "not_private");
        let hidden = agent.set_visibility("my-page", "private").await.expect(200);
        world.visitor().open(&hidden.string("signed_url")).await.expect(200);
        world.agent().await.rotate_private_link("my-page").await.refused(404, "not_found");
    }
}

async fn private_page(agent: &Agent) -> (Reply, Reply) {
    let published = agent.publish("my-page", PAGE).await.expect(201);
    (published, agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200))
}

fn hidden_fields() -> Vec<&'static str> {
    vec!["host", "id", "moderation_status", "signed_url", "slug", "title", "url", "version", "visibility"]
}

fn signature(signed_url: &str) -> String {
    signed_url.split_once("?sig=").unwrap().1.to_owned()
}

/// A visitor at each edge of the world.
async fn visitors_of(world: &World) -> Vec<Visitor> {
    let mut visitors = vec![world.visitor()];
    if world.mode() == Mode::Production {
        visitors.push(world.visitor().at(&world.start_edge().await));
    }
    visitors
}
