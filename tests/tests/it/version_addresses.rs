//! Every version has an address of its own, which shows it whether or not it is live and closes with its
//! page.

use std::time::Duration;

use handbill_tests::{Agent, Method, Mode, PATIENCE, Reply, Visitor, World, eventually, in_both_modes, json};

use crate::day_two::tamper;
use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes, moderate, moderator};
use crate::suspension::{lift, suspend};

const LIFETIME: Duration = Duration::from_secs(31 * 60);
/// Makes all pages look as if their versions had only been staged.
const ONLY_STAGED: &str = "DELETE FROM routes; UPDATE artifacts SET live_version_id = NULL";

in_both_modes! {
    async fn a_staged_version_is_visible_only_at_its_own_address(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let first = agent.publish("my-page", PAGE).await.expect(201);
        let next = page_saying("next");
        let staged = stage(&agent, "my-page", &next).await;
        let label = label_of(&staged.string("version_url"));
        let tag = label.strip_prefix(&format!("{}-", first.string("host"))).unwrap();
        let is_base36 = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        assert!(tag.len() == 8 && tag.bytes().all(is_base36), "{tag}");
        assert_serves(&front_page(&visitor, &first).await, PAGE);
        let seen = visitor.open(&staged.string("version_url")).await.expect(200);
        assert_serves(&seen, &next);
        assert_eq!(seen.header("X-Robots-Tag"), "noindex");
        assert_eq!(seen.header("Link"), format!("<{}>; rel=\"canonical\"", first.string("url")));
        assert_eq!(seen.header("Cache-Control"), "public, max-age=60");
        assert_serves(&visitor.open(&first.string("version_url")).await, PAGE);
        assert_eq!(front_page(&visitor, &first).await.header("Link"), "");

        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(detail.string("versions.0.url"), staged.string("version_url"));
        assert_eq!(detail.string("versions.1.url"), first.string("version_url"));
        agent.activate("my-page", 2).await.expect(200);
        assert_serves(&front_page(&visitor, &first).await, &next);
        assert_serves(&visitor.open(&first.string("version_url")).await, PAGE);
    }

    async fn versions_of_a_page_that_is_not_live_yet_can_be_opened(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let staged = agent.publish("my-page", PAGE).await.expect(201);
        tamper(&world, ONLY_STAGED).await;
        front_page(&visitor, &staged).await.expect(404);
        assert_serves(&visitor.open(&staged.string("version_url")).await, PAGE);
        let next = stage(&agent, "my-page", &page_saying("next")).await;
        assert_serves(&visitor.open(&next.string("version_url")).await, &page_saying("next"));
        agent.activate("my-page", 2).await.expect(200);
        assert_serves(&visitor.open(&staged.string("version_url")).await, PAGE);
        tamper(&world, ONLY_STAGED).await;
        agent.delete("my-page").await.expect(200);
        for version in [&staged, &next] {
            visitor.open(&version.string("version_url")).await.expect(404);
        }
    }

    async fn tags_of_other_pages_and_wrong_tags_are_not_found(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let (one, other) = (
            agent.publish("my-page", PAGE).await.expect(201),
            agent.publish("other-page", PAGE).await.expect(201),
        );
        let tag = label_of(&other.string("version_url")).rsplit_once('-').unwrap().1.to_owned();
        for label in [
            format!("{}-{tag}", one.string("host")),
            format!("{}-00000000", one.string("host")),
            "nobody-here-a1b2-00000000".to_owned(),
        ] {
            visitor.open(&format!("/site/{label}/")).await.expect(404);
            visitor.open_by_name(&format!("{label}.localhost"), "/").await.expect(404);
        }
    }

    #[settings("HANDBILL_LIMITS__EDGE_MISSES_PER_MINUTE" = "20")]
    async fn network_that_guesses_versions_is_refused_further_addresses(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let staged = stage(&agent, "my-page", &page_saying("secret")).await;
        assert_serves(&front_page(&visitor, &page).await, PAGE);
        for number in 0..20 {
            visitor.open(&format!("/site/{}-{number:08}/", page.string("host"))).await.expect(404);
        }
        visitor.open(&staged.string("version_url")).await.expect(429);
        assert_serves(&front_page(&visitor, &page).await, PAGE);
    }

    async fn versions_close_with_their_page_at_once(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let staged = stage(&agent, "my-page", &page_saying("next")).await;
        let all = async |status: u16| {
            for visitor in &visitors {
                for version in [&page, &staged] {
                    visitor.open(&version.string("version_url")).await.expect(status);
                }
            }
        };
        all(200).await;
        suspend(&world, &agent.handle()).await.expect(200);
        all(451).await;
        lift(&world, &agent.handle()).await.expect(200);
        all(200).await;
        let moderator = moderator(&world, "ada").await;
        moderate(&moderator, &page.string("host"), "block").await.expect(200);
        all(451).await;
        moderate(&moderator, &page.string("host"), "pass").await.expect(200);
        all(200).await;
        agent.delete("my-page").await.expect(200);
        all(404).await;
    }

    async fn versions_of_an_expired_account_are_gone(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", PAGE).await.expect(201);
        visitor.open(&page.string("version_url")).await.expect(200);
        world.advance(LIFETIME);
        visitor.open(&page.string("version_url")).await.expect(410);
    }

    async fn scan_closes_only_the_version_that_it_blocks(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let harmful = stage(&agent, "my-page", SEED_PHRASE_FORM).await;
        let has_status = async |version: &str, status: &str| {
            eventually(PATIENCE, "a verdict", async || {
                let detail = agent.artifact("my-page").await.expect(200);
                (detail.string(&format!("versions.{version}.moderation_status")) == status).then_some(())
            })
            .await;
        };
        has_status("0", "blocked").await;
        for visitor in &visitors {
            eventually(PATIENCE, "a 451", async || {
                (visitor.open(&harmful.string("version_url")).await.status == 451).then_some(())
            })
            .await;
            assert_serves(&visitor.open(&page.string("version_url")).await, PAGE);
            assert_serves(&front_page(visitor, &page).await, PAGE);
        }
        // A scan has blocked the live version, and not a moderator.
        agent.activate("my-page", 2).await.expect(200);
        for visitor in &visitors {
            front_page(visitor, &page).await.expect(451);
            visitor.open(&harmful.string("version_url")).await.expect(451);
            assert_serves(&visitor.open(&page.string("version_url")).await, PAGE);
        }
    }

    async fn moderators_decision_on_the_live_version_reaches_other_versions_with_its_content(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let other = agent.publish("my-page", page_saying("other")).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        for visitor in &visitors {
            assert_serves(&visitor.open(&page.string("version_url")).await, PAGE);
        }
        let moderator = moderator(&world, "ada").await;
        moderate(&moderator, &page.string("host"), "block").await.expect(200);
        agent.activate("my-page", 1).await.expect(200);
        for visitor in &visitors {
            visitor.open(&other.string("version_url")).await.expect(451);
            assert_serves(&visitor.open(&page.string("version_url")).await, PAGE);
        }
    }

    async fn versions_of_a_private_page_need_its_signature(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let files: [(&str, &[u8]); 3] = [
            ("index.html", b"<html><body><a href=\"b.html\">b</a></body></html>"),
            ("b.html", PAGE.as_bytes()),
            ("a.css", b"p{}"),
        ];
        let page = agent.publish_files("my-page", &files).await.expect(201);
        let staged = stage(&agent, "my-page", &page_saying("next")).await;
        let url = page.string("version_url");
        for visitor in &visitors {
            visitor.open(&url).await.expect(200);
        }
        let shown = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let sig = shown.string("signed_url").split_once("?sig=").unwrap().1.to_owned();
        for visitor in &visitors {
            for version in [&page, &staged] {
                visitor.open(&version.string("version_url")).await.expect(403);
            }
            // A stranger does not learn which addresses exist.
            visitor.open(&format!("/site/{}-00000000/", page.string("host"))).await.expect(403);
            let seen = visitor.open(&format!("{url}?sig={sig}")).await.expect(200);
            assert!(seen.text().contains(&format!("b.html?sig={sig}")), "{seen:?}");
            assert_eq!(seen.header("Cache-Control"), "private, max-age=60");
            let from = seen_at(&url, &sig, visitor);
            visitor.open(&format!("{url}a.css?sig={sig}")).await.expect(200);
            visitor.open(&format!("{url}a.css")).header("Referer", from).await.expect(302);
        }
        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(detail.string("versions.1.url"), url);
        assert_eq!(detail.string("versions.1.signed_url"), format!("{url}?sig={sig}"));
        let again = stage(&agent, "my-page", PAGE).await;
        let signed = again.string("signed_version_url");
        assert_eq!(signed, format!("{}?sig={sig}", again.string("version_url")));
        visitors[0].open(&signed).await.expect(200);
    }

    async fn views_of_versions_are_not_counted(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", PAGE).await.expect(201);
        for _ in 0..3 {
            visitor.open(&page.string("version_url")).await.expect(200);
        }
        front_page(&visitor, &page).await.expect(200);
        let views = async || agent.usage().await.expect(200).integer("traffic.views");
        eventually(PATIENCE, "a view", async || (views().await > 0).then_some(())).await;
        assert_eq!(views().await, 1);
    }

    async fn files_folders_and_the_own_404_page_work_within_a_version(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let files: [(&str, &[u8]); 4] = [
            ("index.html", PAGE.as_bytes()),
            ("docs/index.html", b"<p>docs</p>"),
            ("app.js", b"1"),
            ("404.html", b"<p>lost</p>"),
        ];
        let old = agent.publish_files("my-site", &files).await.expect(201);
        agent.publish("my-site", page_saying("new")).await.expect(201);
        let url = old.string("version_url");
        let label = label_of(&url);
        let script = visitor.open(&format!("{url}app.js")).await.expect(200);
        assert_eq!(script.text(), "1");
        let etag = script.header("ETag").to_owned();
        visitor.open(&format!("{url}app.js")).header("If-None-Match", etag).await.expect(304);
        visitor.open(&format!("{url}app.js")).header("Range", "bytes=0-0").await.expect(206);
        let folder = visitor.open(&format!("{url}docs")).await.expect(301);
        assert_eq!(folder.header("Location"), format!("/site/{label}/docs/"));
        let docs = visitor.open(&format!("{url}docs/")).await.expect(200);
        assert_eq!(docs.header("Link"), format!("<{}docs/>; rel=\"canonical\"", old.string("url")));
        let lost = visitor.open(&format!("{url}nowhere")).await.expect(404);
        assert!(lost.text().contains("lost"), "{lost:?}");
        visitor.open_site(&old, "app.js").await.expect(404);
        let root = visitor.open(&format!("/site/{label}")).await.expect(301);
        assert_eq!(root.header("Location"), format!("/site/{label}/"));
    }

    #[settings("HANDBILL_EDGE__URL_STYLE" = "host")]
    async fn versions_have_names_of_their_own_in_host_style(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let url = page.string("version_url");
        let name = url.split('/').nth(2).unwrap().to_owned();
        let label = name.split('.').next().unwrap().to_owned();
        assert_serves(&visitor.open_by_name(&name, "/").await, PAGE);
        let seen = visitor.open_by_name(&name.to_uppercase(), "/").await.expect(200);
        assert_eq!(seen.header("Link"), format!("<{}>; rel=\"canonical\"", page.string("url")));
        let by_path = visitor.open(&format!("/site/{label}/")).await.expect(301);
        assert_eq!(by_path.header("Location"), url);
    }

    async fn report_of_a_versions_address_reports_its_page_and_names_the_version(world: World) {
        let agent = world.agent().await;
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let staged = stage(&agent, "my-page", &page_saying("staged")).await;
        for host in [label_of(&page.string("version_url")), staged.string("version_url")] {
            let call = world.stranger().post("/v1/reports").json(&json!({ "host": host }));
            assert_eq!(call.await.expect(201).string("host"), page.string("host"));
        }
        let case = format!("/internal/moderation/{}", page.string("host"));
        let item = world.operator().call(Method::GET, &case).await.expect(200);
        assert_eq!((item.integer("live.version"), item.at("live.staged")), (1, json!(false)));
        assert_eq!((item.integer("reports.0.version"), item.integer("reports.1.version")), (2, 1));
    }

    async fn page_that_is_not_live_yet_can_be_reported_and_blocked(world: World) {
        let (agent, visitors) = (world.agent().await, visitors_of(&world).await);
        let older = agent.publish("my-page", PAGE).await.expect(201);
        let newest = stage(&agent, "my-page", &page_saying("next")).await;
        tamper(&world, ONLY_STAGED).await;
        for visitor in &visitors {
            assert_serves(&visitor.open(&older.string("version_url")).await, PAGE);
        }
        let report = json!({ "host": newest.string("version_url") });
        world.stranger().post("/v1/reports").json(&report).await.expect(201);
        let queue = world.operator().call(Method::GET, "/internal/moderation").await.expect(200);
        assert_eq!(queue.string("items.0.host"), older.string("host"));
        let case = format!("/internal/moderation/{}", older.string("host"));
        let item = world.operator().call(Method::GET, &case).await.expect(200);
        assert_eq!((item.integer("live.version"), item.at("live.staged")), (2, json!(true)));
        let decision = json!({ "action": "block", "version": 2 });
        world.operator().post(&case).header("X-Operator", "Ada").json(&decision).await.expect(200);
        for visitor in &visitors {
            visitor.open(&older.string("version_url")).await.expect(451);
            visitor.open(&newest.string("version_url")).await.expect(451);
        }
        let queue = world.operator().call(Method::GET, "/internal/moderation").await.expect(200);
        assert_eq!(queue.at("items"), json!([]));
    }

    async fn content_that_is_blocked_elsewhere_closes_versions_that_are_not_live(world: World) {
        let (agent, other, visitors) = (world.agent().await, world.agent().await, visitors_of(&world).await);
        let page = agent.publish("my-page", PAGE).await.expect(201);
        let staged = stage(&agent, "my-page", &page_saying("bad")).await;
        let elsewhere = other.publish("elsewhere", page_saying("bad")).await.expect(201);
        for visitor in &visitors {
            assert_serves(&visitor.open(&staged.string("version_url")).await, &page_saying("bad"));
        }
        let case = format!("/internal/moderation/{}", elsewhere.string("host"));
        let decide = async |action: &str| {
            let decision = json!({ "action": action, "version": 1 });
            world.operator().post(&case).header("X-Operator", "Ada").json(&decision).await.expect(200);
        };
        let becomes = async |status: u16| {
            for visitor in &visitors {
                visitor.open(&staged.string("version_url")).await.expect(status);
                assert_serves(&visitor.open(&page.string("version_url")).await, PAGE);
            }
        };
        decide("block").await;
        becomes(451).await;
        decide("pass").await;
        becomes(200).await;
    }
}

/// A visitor at each edge of the world.
async fn visitors_of(world: &World) -> Vec<Visitor> {
    let mut visitors = vec![world.visitor()];
    if world.mode() == Mode::Production {
        visitors.push(world.visitor().at(&world.start_edge().await));
    }
    visitors
}

async fn stage(agent: &Agent, slug: &str, html: &str) -> Reply {
    let call = agent.post(&format!("/v1/artifacts/{slug}/versions?activate=false"));
    call.field("html", html.to_owned()).await.expect(201)
}

fn label_of(version_url: &str) -> String {
    version_url.trim_end_matches('/').rsplit('/').next().unwrap().to_owned()
}

/// The address of a page as this visitor's browser sends it.
fn seen_at(url: &str, sig: &str, visitor: &Visitor) -> String {
    let label = label_of(url);
    format!("{}/site/{label}/?sig={sig}", visitor.serve_url())
}
