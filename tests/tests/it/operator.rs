//! Spec 3.1 and 4.13: the operator's immediate actions, and that nobody else can reach them.

use std::time::Duration;

use futures::future::{join, join_all};
use handbill_tests::{
    Agent, Method, Mode, PATIENCE, Processor, Reply, WEBHOOK_SECRET, World, eventually, in_both_modes, json,
};

use crate::expectations::{PAGE, at_two_processes, front_page, page_saying};
use crate::teams::claimed_by;

const EXPIRY: Duration = Duration::from_secs(31 * 60);
const ROUTES: [&str; 3] = ["/internal/run-metering", "/internal/run-cleanup", "/internal/views"];

in_both_modes! {
    async fn operator_routes_are_not_found_without_the_secret(world: World) {
        let operator = world.operator();
        let unknown = operator.call_knowing("wrong", Method::POST, "/internal/nothing").await;
        let looks_unknown = |reply: Reply| {
            let reply = reply.refused(404, "not_found");
            assert_eq!(reply.json(), unknown.json(), "{reply:?}");
            let names = |reply: &Reply| {
                let mut names: Vec<_> = reply.headers.keys().map(ToString::to_string).collect();
                names.sort();
                names
            };
            assert_eq!(names(&reply), names(&unknown), "{reply:?}");
        };
        let secret = World::SIGNING_SECRET;
        let wrong = ["", "wrong", &secret[1..], &secret[..secret.len() - 1], &secret.to_uppercase()];
        for path in ROUTES {
            for offered in wrong {
                looks_unknown(operator.call_knowing(offered, Method::POST, path).await);
            }
            looks_unknown(world.stranger().post(path).await);
            looks_unknown(world.agent().await.post(path).json(&json!({ "host": "a-page-0000" })).await);
            for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
                looks_unknown(world.stranger().call(method, path).await);
            }
            for (content_type, body) in [("text/plain", "x"), ("application/json", "{"), ("", "\u{0}")] {
                looks_unknown(world.stranger().post(path).raw(content_type, body).await);
            }
            let twice = operator.call_knowing("wrong", Method::POST, path).header("X-Internal-Secret", secret);
            looks_unknown(twice.await);
        }
        looks_unknown(operator.post("/internal/nothing").await);
        let wrong_method = operator.call(Method::GET, "/internal/views").await.refused(405, "method_not_allowed");
        assert_eq!(wrong_method.header("Allow"), "POST");
    }

    #[settings("HANDBILL_CARD__WEBHOOK_SECRET" = WEBHOOK_SECRET)]
    async fn cleanup_purges_expired_accounts_and_keeps_the_rest(world: World) {
        let [expired, played, paid] = join_all((0..3).map(|_| world.agent())).await.try_into().unwrap();
        let (claimed, _) = claimed_by(&world, "owner").await;
        let shared = page_saying("shared by all");
        let mut sites = Vec::new();
        for agent in [&expired, &played, &paid, &claimed] {
            agent.publish("shared", shared.clone()).await.expect(201);
            sites.push(agent.publish("own", page_saying(&agent.handle())).await.expect(201));
        }
        played.buy_credit(5.0).paying("dev:5").await.expect(200);
        let payment = Processor::paid("cs_1", &paid.handle(), 500);
        world.processor().send_event(&payment).await.expect(200);

        let nothing = world.operator().run_cleanup().await.expect(200);
        assert_eq!(nothing.json(), json!({ "purged": 0, "blobs_deleted": 0, "bytes_freed": 0 }));
        world.advance(EXPIRY);
        let young = world.agent().await;
        let cleaned = world.operator().run_cleanup().await.expect(200);
        assert_eq!(cleaned.integer("purged"), 2);
        // Contents of only these accounts are deleted from the store. Shared contents stay.
        let own_bytes = [&expired, &played].map(|agent| page_saying(&agent.handle()).len());
        assert_eq!(cleaned.integer("blobs_deleted"), 2);
        assert_eq!(cleaned.integer("bytes_freed"), i64::try_from(own_bytes.iter().sum::<usize>()).unwrap());

        let visitor = world.visitor();
        for (agent, site, status) in
            [(&expired, &sites[0], 404), (&played, &sites[1], 404), (&paid, &sites[2], 410), (&claimed, &sites[3], 200)]
        {
            front_page(&visitor, site).await.expect(status);
            if status == 404 {
                agent.account().await.refused(401, "unauthorized");
            } else {
                agent.account().await.expect(200);
            }
        }
        let shown = claimed.artifact("shared").await.expect(200);
        assert_eq!(front_page(&visitor, &shown).await.expect(200).text(), shared);
        young.account().await.expect(200);
        let nothing = world.operator().run_cleanup().await.expect(200);
        assert_eq!(nothing.json(), json!({ "purged": 0, "blobs_deleted": 0, "bytes_freed": 0 }));
    }

    async fn content_removed_by_cleanup_can_be_published_again(world: World) {
        let leaver = world.agent().await;
        leaver.publish("my-page", page_saying("once more")).await.expect(201);
        world.advance(EXPIRY);
        assert_eq!(world.operator().run_cleanup().await.expect(200).integer("blobs_deleted"), 1);
        let agent = world.agent().await;
        let published = agent.publish("my-page", page_saying("once more")).await.expect(201);
        assert!(front_page(&world.visitor(), &published).await.expect(200).text().contains("once more"));
    }

    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "1000")]
    async fn a_page_that_is_published_during_a_cleanup_is_served(world: World) {
        let (keeper, _) = claimed_by(&world, "owner").await;
        let callers = at_two_processes(&world, &keeper, Agent::at).await;
        let operators = match world.mode() {
            Mode::Embedded => vec![world.operator(), world.operator()],
            Mode::Production => vec![world.operator(), world.operator().at(&world.start_api().await)],
        };
        for round in 0..6 {
            let page = page_saying(&format!("round {round}"));
            world.agent().await.publish("my-page", page.clone()).await.expect(201);
            world.advance(EXPIRY);
            let publishes = callers.iter().enumerate().map(|(caller, agent)| {
                agent.publish(&format!("page-{round}-{caller}"), page.clone()).into_future()
            });
            let cleanups = operators.iter().map(|operator| operator.run_cleanup().into_future());
            let (published, cleaned) = join(join_all(publishes), join_all(cleanups)).await;
            assert_eq!(cleaned.into_iter().map(|reply| reply.expect(200).integer("purged")).sum::<i64>(), 1);
            for reply in published {
                let served = front_page(&world.visitor(), &reply.expect(201)).await.expect(200);
                assert_eq!(served.text(), page, "round {round}");
            }
        }
    }

    async fn view_recorded_by_the_operator_is_counted_at_once(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let host = published.string("host");
        for views in 1..=3 {
            let counted = world.operator().count_view(&host).await.expect(200);
            assert_eq!(counted.json(), json!({ "host": host, "counted": 1 }));
            assert_eq!(agent.usage().await.expect(200).integer("traffic.views"), views);
        }
        let at_once = join_all((0..20).map(|_| world.operator().count_view(&host).into_future())).await;
        at_once.into_iter().for_each(|reply| drop(reply.expect(200)));
        assert_eq!(agent.usage().await.expect(200).integer("traffic.views"), 23);
        // The edge keeps counting.
        front_page(&world.visitor(), &published).await.expect(200);
        eventually(PATIENCE, "the visitor's view", async || {
            (agent.usage().await.expect(200).integer("traffic.views") == 24).then_some(())
        })
        .await;
        agent.delete("my-page").await.expect(200);
        world.operator().count_view(&host).await.refused(404, "not_found").naming("host");
    }

    async fn view_of_an_unknown_host_is_not_counted(world: World) {
        let operator = world.operator();
        operator.count_view("no-such-page-0000").await.refused(404, "not_found").naming("host");
        for host in ["", "A-Page-0000", "short", "a/b-0000", "my page-0000", "../../x-0000", &"a".repeat(46), "ä-page-0000"] {
            operator.count_view(host).await.refused(400, "invalid_request").naming("host");
        }
        for body in ["", "{", "{}", "[]", r#"{"host":7}"#, r#"{"host":null}"#, r#"{"host":"a-page-0000","count":5}"#] {
            operator.post("/internal/views").raw("application/json", body).await.refused(400, "invalid_body");
        }
    }
}
