//! Spec 2.3, 4.9 and 9: many simultaneous calls, one consistent state.

use futures::future::join_all;
use handbill_tests::{Agent, Mode, World, in_both_modes, json, program};

use crate::expectations::{PAGE, assert_serves, at_two_processes, front_page, page_saying};

const CALLERS: i64 = 32;

in_both_modes! {
    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100")]
    async fn concurrent_versions_are_numbered_without_gaps_or_duplicates(world: World) {
        let agent = world.agent().await;
        let calls = (0..CALLERS)
            .map(|number| agent.publish("my-page", page_saying(&number.to_string())).into_future());
        let published: Vec<_> = join_all(calls).await.into_iter().map(|reply| reply.expect(201)).collect();
        let mut numbers: Vec<_> = published.iter().map(|reply| reply.integer("version")).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=CALLERS).collect::<Vec<_>>());
        assert!(published.iter().all(|reply| reply.string("url") == published[0].string("url")));
        let detail = agent.artifact("my-page").await.expect(200);
        let listed: Vec<_> = detail
            .at("versions")
            .as_array()
            .unwrap()
            .iter()
            .map(|version| version["seq"].as_i64().unwrap())
            .collect();
        assert_eq!(listed, (1..=CALLERS).rev().collect::<Vec<_>>());
        // The live content is that of the version's caller.
        let live = detail.integer("version");
        let sent = published.iter().position(|reply| reply.integer("version") == live).unwrap();
        assert_serves(&front_page(&world.visitor(), &published[0]).await, &page_saying(&sent.to_string()));
    }

    async fn concurrent_publishes_of_a_new_slug_create_one_artifact_with_two_versions(world: World) {
        let agent = world.agent().await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        if world.mode() == Mode::Production {
            world.start_worker(&["--queues", "publish"]).await;
        }
        for slug in ["page-one", "page-two"] {
            let calls = callers.iter().map(|caller| caller.publish(slug, PAGE).into_future());
            let published: Vec<_> = join_all(calls).await.into_iter().map(|reply| reply.expect(201)).collect();
            let mut numbers: Vec<_> = published.iter().map(|reply| reply.integer("version")).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, [1, 2]);
            assert_eq!(published[0].string("artifact_id"), published[1].string("artifact_id"));
            assert_eq!(published[0].string("url"), published[1].string("url"));
        }
    }

    async fn the_allowance_is_never_used_twice(world: World) {
        let agent = world.agent().await;
        let calls = (0..CALLERS).map(|number| agent.publish(&format!("page-{number}"), PAGE).into_future());
        let mut statuses: Vec<_> = join_all(calls).await.into_iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        let refused = usize::try_from(CALLERS).unwrap() - 5;
        assert_eq!(statuses, [vec![201; 5], vec![402; refused]].concat());
        assert_eq!(agent.artifacts().await.expect(200).json().as_array().unwrap().len(), 5);
        assert_eq!(agent.account().await.expect(200).integer("free_publishes_left"), 0);
    }

    async fn concurrent_requests_with_one_idempotency_key_publish_once(world: World) {
        let agent = world.agent().await;
        let calls = (0..8).map(|_| agent.publish("my-page", PAGE).idempotency_key("key").into_future());
        let replies = join_all(calls).await;
        let first = replies[0].json();
        assert!(replies.into_iter().all(|reply| reply.expect(201).json() == first));
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
    }

    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "100")]
    async fn concurrent_accounts_neither_block_nor_mix(world: World) {
        let agents = join_all((0..16).map(|_| world.agent())).await;
        let calls =
            agents.iter().map(|agent| agent.publish("my-page", page_saying(&agent.handle())).into_future());
        for (agent, published) in agents.iter().zip(join_all(calls).await) {
            let published = published.expect(201);
            assert_eq!(published.integer("version"), 1);
            assert_serves(&front_page(&world.visitor(), &published).await, &page_saying(&agent.handle()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_edge_serves_publishes_of_every_api() {
    let world = World::with(Mode::Production, program!()).start().await;
    let (api, edge) = (world.start_api().await, world.start_edge().await);
    world.start_worker(&["--queues", "publish"]).await;
    let agent = world.agent().await;
    let visitors = [world.visitor(), world.visitor().at(&edge)];
    for (number, agent) in [agent.clone(), agent.at(&api), agent.clone(), agent.at(&api)].iter().enumerate() {
        let page = page_saying(&format!("number {number}"));
        let published = agent.publish("my-page", page.clone()).await.expect(201);
        for visitor in &visitors {
            assert_serves(&front_page(visitor, &published).await, &page);
        }
    }
    let rolled_back = agent.at(&api).activate("my-page", 1).await.expect(200);
    for visitor in &visitors {
        assert_serves(&front_page(visitor, &rolled_back).await, &page_saying("number 0"));
    }
    for (agent, visibility, status) in [(agent.at(&api), "private", 403), (agent.clone(), "public", 200)] {
        agent.set_visibility("my-page", visibility).paying("dev:0.5").await.expect(200);
        for visitor in &visitors {
            front_page(visitor, &rolled_back).await.expect(status);
        }
    }
    assert_eq!(
        agent.delete("my-page").await.expect(200).json(),
        json!({ "slug": "my-page", "deleted": true })
    );
    for visitor in &visitors {
        front_page(visitor, &rolled_back).await.expect(404);
    }
}
