//! The names under which sites are served in either address style, and what guessing hosts reveals.

use std::time::Duration;

use handbill_tests::{Method, in_both_modes};

use crate::expectations::{PAGE, assert_serves, front_page};

const FOREIGN: &str = "login.bank.example";

in_both_modes! {
    #[settings("HANDBILL_EDGE__URL_STYLE" = "host")]
    async fn host_style_redirects_paths_to_the_sites_own_name_and_refuses_other_names(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        let port = world.serve_url().rsplit_once(':').unwrap().1.to_owned();
        let own_name = format!("{host}.localhost:{port}");
        for path in ["/", "/docs/a%20b?x=1", "/?sig=0123456789abcdef"] {
            let redirect = visitor.open(&format!("/site/{host}{path}")).await.expect(301);
            assert_eq!(redirect.header("Location"), format!("http://{own_name}{path}"));
        }
        assert_serves(&visitor.open_by_name(&own_name, "/").await, PAGE);
        for (name, path, status) in [
            (FOREIGN, format!("/site/{host}/"), 421),
            (FOREIGN, "/".into(), 421),
            (FOREIGN, "/healthz".into(), 200),
            ("localhost.", format!("/site/{host}/"), 301),
            ("127.0.0.1", "/".into(), 404),
        ] {
            visitor.open_by_name(name, &path).await.expect(status);
        }
        let refused = visitor.open_by_name(FOREIGN, "/").await;
        assert!(refused.header("Content-Type").starts_with("text/html"), "{refused:?}");
        agent.delete("my-page").await.expect(200);
        visitor.open(&format!("/site/{host}/")).await.expect(404);
        visitor.open_by_name(&own_name, "/").await.expect(404);
    }

    #[settings("HANDBILL_EDGE__URL_STYLE" = "host")]
    async fn host_style_keeps_path_urls_for_hosts_that_are_not_dns_labels(world: World) {
        let published = world.agent().await.publish("-my-page-", PAGE).await.expect(201);
        let path = format!("/site/{}/", published.string("host"));
        assert_eq!(published.string("url"), format!("{}{path}", world.serve_url()));
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
        world.visitor().open_by_name(FOREIGN, &path).await.expect(421);
    }

    async fn path_style_serves_sites_by_path_under_any_host_name(world: World) {
        let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
        let path = format!("/site/{}/", published.string("host"));
        assert_serves(&world.visitor().open_by_name(FOREIGN, &path).await, PAGE);
    }

    #[settings("HANDBILL_LIMITS__EDGE_MISSES_PER_MINUTE" = "20")]
    async fn network_that_guesses_hosts_is_refused_further_unknown_sites(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let known = agent.publish("known-page", PAGE).await.expect(201);
        let unlisted = agent.publish("my-page", PAGE).await.expect(201);
        assert_serves(&front_page(&visitor, &known).await, PAGE);
        for number in 0..20 {
            visitor.open(&format!("/site/my-page-{number:04}/")).await.expect(404);
        }
        let refused = visitor.open("/site/my-page-0020/").await.expect(429);
        let wait: u64 = refused.header("Retry-After").parse().expect("seconds");
        assert!((1..=60).contains(&wait), "{refused:?}");
        let existing = front_page(&visitor, &unlisted).await.expect(429);
        assert_eq!(existing.body, refused.body);
        let by_name = format!("{}.localhost", unlisted.string("host"));
        visitor.open_by_name(&by_name, "/").await.expect(429);
        assert_serves(&front_page(&visitor, &known).await, PAGE);
        visitor.open_site(&known, "nowhere").await.expect(404);
        world.advance(Duration::from_secs(61));
        assert_serves(&front_page(&visitor, &unlisted).await, PAGE);
    }

    async fn edge_address_has_a_favicon_and_sites_have_their_own(world: World) {
        let icon = world.visitor().open("/favicon.ico").await.expect(200);
        assert_eq!(icon.header("Content-Type"), "image/x-icon");
        let head = world.visitor().call(Method::HEAD, "/favicon.ico").await.expect(200);
        assert_eq!(head.header("Content-Length"), icon.body.len().to_string());
        let agent = world.agent().await;
        let without = agent.publish("my-page", PAGE).await.expect(201);
        world.visitor().open_site(&without, "favicon.ico").await.expect(404);
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("favicon.ico", b"own")];
        let with = agent.publish_files("my-site", &files).await.expect(201);
        assert_eq!(world.visitor().open_site(&with, "favicon.ico").await.expect(200).text(), "own");
        let name = format!("{}.localhost", with.string("host"));
        assert_eq!(world.visitor().open_by_name(&name, "/favicon.ico").await.expect(200).text(), "own");
    }
}
