//! Publishes under a condition on the live version (`If-Match`, `If-None-Match`, `expected_version`): nobody
//! overwrites a version without having seen it.

use futures::future::join_all;
use handbill_tests::{
    Agent, Call, Mode, PATIENCE, Reply, Value, World, eventually, fields_of, in_both_modes, json, program,
};
use sqlx::{Connection, PgConnection};

use crate::expectations::{PAGE, assert_serves, assert_untouched, at_two_processes, front_page, page_saying};

const RACERS: usize = 20;
const ROUNDS: i64 = 3;
/// As an API of the release before writes it: without the format that it reads. It does not stop.
const OLDER_PROCESS: &str = "INSERT INTO handbill_processes
    (instance, role, host, process_id, version, takes, rates, started_at_ms, bus, seen_at_ms)
    SELECT 'older', 'api', 'a-host', 1, '0.1.0', '{}', '[]', 1, max(bus), max(seen_at_ms) + 3600000
    FROM handbill_processes";

in_both_modes! {
    async fn a_publish_is_accepted_only_on_the_live_version_that_it_names(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let first = agent.publish("my-page", PAGE).await.expect(201);
        for body in bodies("my-page", &page_saying("refused")) {
            let calls = [agent.post(body.publish), agent.post(body.versions)];
            for call in calls {
                let refused = (body.fill)(call).header("If-Match", "\"v7\"").await;
                assert_conflict(refused, Some(1));
            }
        }
        assert_serves(&front_page(&visitor, &first).await, PAGE);
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
        let mut live = 1;
        for body in bodies("my-page", &page_saying("next")).into_iter().take(2) {
            for path in [body.publish, body.versions] {
                let next = (body.fill)(agent.post(path)).header("If-Match", format!("\"v{live}\""));
                live = next.await.expect(201).integer("version");
            }
        }
        assert_eq!(live, 5);
        assert_serves(&front_page(&visitor, &first).await, &page_saying("next"));
    }

    async fn expected_version_in_json_and_over_mcp_is_the_same_condition(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let json = |path: &str, expected: Value| {
            agent.post(path).json(&json!({ "slug": "my-page", "html": PAGE, "expected_version": expected }))
        };
        for path in ["/v1/publish", "/v1/artifacts/my-page/versions"] {
            assert_conflict(json(path, json!(2)).await, Some(1));
            assert_conflict(json(path, json!(u32::MAX)).await, Some(1));
            json(path, json!(0)).await.refused(400, "invalid_request").naming("expected_version");
            for malformed in [json!("1"), json!(-1), json!(1.5), json!([1])] {
                json(path, malformed).await.refused(400, "invalid_body").naming("expected_version");
            }
            for other in ["\"v2\"", "*"] {
                let refused = json(path, json!(1)).header("If-Match", other).await;
                refused.refused(400, "invalid_request").naming("expected_version");
            }
            let refused = json(path, json!(1)).header("If-None-Match", "*").await;
            refused.refused(400, "invalid_request").naming("expected_version");
        }
        json("/v1/publish", json!(1)).await.expect(201);
        json("/v1/publish", json!(2)).header("If-Match", "\"v2\"").await.expect(201);
        let without = json("/v1/publish", Value::Null).await.expect(201);
        assert_eq!(without.integer("version"), 4);

        let files = json!([{ "path": "index.html", "content": PAGE }]);
        let tool = |slug: &str, expected: Value| {
            let arguments = json!({ "slug": slug, "files": files, "expected_version": expected });
            agent.call_tool("publish_artifact", &arguments)
        };
        let refused = tool("my-page", json!(3)).await.expect(200).at("result.structuredContent");
        assert_eq!((&refused["code"], &refused["live_version"]), (&json!("version_conflict"), &json!(4)));
        let unknown = tool("other", json!(1)).await.expect(200).at("result.structuredContent");
        assert_eq!((&unknown["code"], &unknown["live_version"]), (&json!("version_conflict"), &Value::Null));
        let malformed = tool("my-page", json!(0)).await.expect(200).at("result.structuredContent");
        assert_eq!(malformed["code"], "invalid_request");
        let published = tool("my-page", json!(4)).await.expect(200).at("result.structuredContent");
        assert_eq!(published["version"], 5);
    }

    async fn a_condition_on_an_unknown_slug_is_not_met(world: World) {
        let agent = world.agent().await;
        for condition in ["\"v1\"", "*"] {
            for body in bodies("nowhere", PAGE) {
                for path in [body.publish, body.versions] {
                    assert_conflict((body.fill)(agent.post(path)).header("If-Match", condition).await, None);
                }
            }
        }
        // A slug that is generated is unknown, too.
        let unnamed = agent.post("/v1/publish").field("html", PAGE).header("If-Match", "*").await;
        assert_conflict(unnamed, None);
        let json = json!({ "html": PAGE, "expected_version": 1 });
        assert_conflict(agent.post("/v1/artifacts/nowhere/versions").json(&json).await, None);
        let json = agent.post("/v1/artifacts/nowhere/versions").json(&json!({ "html": PAGE }));
        json.await.refused(404, "not_found");
        let absent = agent.add_version("nowhere", PAGE).header("If-None-Match", "*");
        absent.await.refused(404, "not_found");
        assert_untouched(&agent).await;
    }

    async fn if_none_match_publishes_only_a_new_slug(world: World) {
        let agent = world.agent().await;
        let new = |slug: &str| agent.publish(slug, PAGE).header("If-None-Match", "*");
        assert_eq!(new("my-page").await.expect(201).integer("version"), 1);
        assert_conflict(new("my-page").await, Some(1));
        assert_conflict(agent.add_version("my-page", PAGE).header("If-None-Match", "*").await, Some(1));
        agent.publish("my-page", PAGE).header("If-Match", "*").await.expect(201);
        agent.delete("my-page").await.expect(200);
        assert_eq!(new("my-page").await.expect(201).integer("version"), 1);
    }

    async fn only_the_live_version_counts(world: World) {
        let agent = world.agent().await;
        let staged = || agent.post("/v1/artifacts/my-page/versions?activate=false").field("html", PAGE);
        agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(staged().header("If-Match", "\"v1\"").await.expect(201).integer("version"), 2);
        assert_eq!(staged().header("If-Match", "\"v1\"").await.expect(201).integer("version"), 3);
        assert_conflict(staged().header("If-Match", "\"v3\"").await, Some(1));
        agent.activate("my-page", 2).await.expect(200);
        assert_conflict(agent.publish("my-page", PAGE).header("If-Match", "\"v3\"").await, Some(2));
        agent.publish("my-page", PAGE).header("If-Match", "\"v2\"").await.expect(201);
    }

    async fn malformed_and_contradictory_conditions_are_refused(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let calls = || [agent.publish("my-page", PAGE), agent.add_version("my-page", PAGE)];
        for value in ["v1", "1", "\"1\"", "W/\"v1\"", "\"v1\", \"v2\"", "\"v0\"", "\"v01\"", "\"v1", "**"] {
            for call in calls() {
                call.header("If-Match", value).await.refused(400, "invalid_request").naming("If-Match");
            }
        }
        for call in calls() {
            let refused = call.header("If-None-Match", "\"v1\"").await.refused(400, "invalid_request");
            refused.naming("If-None-Match");
        }
        for call in calls() {
            let both = call.header("If-Match", "\"v1\"").header("If-None-Match", "*");
            both.await.refused(400, "invalid_request").naming("If-None-Match");
        }
        for call in calls() {
            let twice = call.header("If-Match", "\"v1\"").header("If-Match", "\"v1\"");
            twice.await.refused(400, "invalid_request").naming("If-Match");
        }
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
    }

    async fn a_conflict_names_the_token_that_published_the_live_version(world: World) {
        let agent = world.agent().await;
        let other = agent.minted(&json!({ "name": "other" })).await;
        other.publish("my-page", PAGE).await.expect(201);
        let refused = agent.publish("my-page", PAGE).header("If-Match", "\"v2\"").await;
        let tokens = agent.tokens().await.expect(200).json();
        let named = |token: &&Value| token["name"] == "other";
        let id = tokens.as_array().unwrap().iter().find(named).unwrap()["id"].clone();
        assert_eq!(refused.at("created_by"), id);
        let created_at = agent.artifact("my-page").await.expect(200).at("versions.0.created_at");
        assert_eq!(refused.at("created_at"), created_at);
        // A pinned token does not learn which other slugs exist.
        let own = agent.artifact("my-page").await.expect(200).string("id");
        let pinned = agent.minted(&json!({ "artifact_id": own })).await;
        agent.publish("another", PAGE).await.expect(201);
        for slug in ["another", "nowhere"] {
            let refused = pinned.publish(slug, PAGE).header("If-Match", "\"v9\"").await;
            refused.refused(403, "insufficient_scope");
        }
    }

    async fn retry_with_the_same_key_gets_the_first_result(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let send = |key: &str, condition: &str| {
            agent.publish("my-page", PAGE).idempotency_key(key).header("If-Match", condition)
        };
        let first = send("one", "\"v1\"").await.expect(201);
        assert_eq!(send("one", "\"v1\"").await.expect(201).json(), first.json());
        send("one", "\"v2\"").await.refused(409, "idempotency_conflict");
        agent.publish("my-page", PAGE).idempotency_key("one").await.refused(409, "idempotency_conflict");
        let json = json!({ "slug": "my-page", "html": PAGE, "expected_version": 1 });
        let by_json = agent.post("/v1/publish").json(&json).idempotency_key("one").await.expect(201);
        assert_eq!(by_json.json(), first.json());
        // A refusal is not kept, so the key is free for the right condition.
        assert_conflict(send("two", "\"v1\"").await, Some(2));
        assert_conflict(send("two", "\"v1\"").await, Some(2));
        assert_eq!(send("two", "\"v2\"").await.expect(201).integer("version"), 3);
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 3);
    }

    async fn a_conflict_charges_nothing(world: World) {
        let agent = world.agent().await;
        for _ in 0..5 {
            agent.publish("my-page", PAGE).await.expect(201);
        }
        let paying = |condition: &str| {
            agent.publish("my-page", page_saying("paid")).paying("dev:0.005").header("If-Match", condition)
        };
        assert_conflict(paying("\"v4\"").await, Some(5));
        assert!(world.ledger().await.is_empty(), "{:?}", world.ledger().await);
        let stored = agent.usage().await.expect(200);
        let page_bytes = i64::try_from(PAGE.len()).unwrap();
        assert_eq!((stored.integer("publishes.used"), stored.integer("storage.bytes")), (5, page_bytes));
        // The price comes first: a condition applies only to a request that would otherwise succeed.
        agent.publish("my-page", PAGE).header("If-Match", "\"v4\"").await.refused(402, "payment_required");
        assert_eq!(paying("\"v5\"").await.expect(201).integer("version"), 6);
        assert_eq!(world.ledger().await.len(), 2);
    }

    #[settings(
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "100",
        "HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "1000"
    )]
    async fn of_clients_that_race_with_one_condition_exactly_one_wins(world: World) {
        let agent = world.agent().await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        if world.mode() == Mode::Production {
            world.start_worker(&["--queues", "publish"]).await;
        }
        let racers = || callers.iter().cycle().take(RACERS).enumerate();
        let new = racers().map(|(number, agent)| {
            let call = agent.publish("my-page", page_saying(&number.to_string()));
            call.header("If-None-Match", "*").into_future()
        });
        assert_one_wins(join_all(new).await, 1);
        for live in 1..=ROUNDS {
            let condition = format!("\"v{live}\"");
            let calls = racers().map(|(number, agent)| {
                let call = agent.publish("my-page", page_saying(&format!("{live} {number}")));
                call.header("If-Match", &condition).into_future()
            });
            assert_one_wins(join_all(calls).await, live + 1);
        }
        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(detail.integer("versions.0.seq"), ROUNDS + 1);
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), ROUNDS + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_is_refused_while_a_process_of_the_release_before_runs() {
    let world = World::with(Mode::Production, program!());
    let world = world.env("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE", "100000").start().await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    let mut connection = PgConnection::connect(world.setting("HANDBILL_DATABASE__URL")).await.unwrap();
    sqlx::query(OLDER_PROCESS).execute(&mut connection).await.unwrap();
    let stale = || agent.publish("my-page", PAGE).header("If-Match", "\"v7\"");
    let answers = async |status: u16| (stale().await.status == status).then_some(());
    eventually(PATIENCE, "the API learns of the older process", async || answers(503).await).await;
    stale().await.refused(503, "overloaded");
    agent.publish("my-page", PAGE).await.expect(201);
    sqlx::query("DELETE FROM handbill_processes WHERE instance = 'older'")
        .execute(&mut connection)
        .await
        .unwrap();
    eventually(PATIENCE, "the API learns that it has stopped", async || answers(412).await).await;
}

/// A publish in one of the forms of its body.
struct Form {
    publish: &'static str,
    versions: &'static str,
    fill: Box<dyn Fn(Call) -> Call>,
}

/// The three forms of a publish of one page. The form fields name no slug in the path of versions.
fn bodies(slug: &'static str, html: &str) -> Vec<Form> {
    let (publish, versions) = match slug {
        "nowhere" => ("/v1/publish?slug=nowhere", "/v1/artifacts/nowhere/versions"),
        _ => ("/v1/publish?slug=my-page", "/v1/artifacts/my-page/versions"),
    };
    let (form, body, archive) = (html.to_owned(), json!({ "slug": slug, "html": html }), tar_of(html));
    let fills: [Box<dyn Fn(Call) -> Call>; 3] = [
        Box::new(move |call| call.field("slug", slug).field("html", form.clone())),
        Box::new(move |call| call.json(&body)),
        Box::new(move |call| call.raw("application/x-tar", archive.clone())),
    ];
    fills.into_iter().map(|fill| Form { publish, versions, fill }).collect()
}

fn tar_of(html: &str) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(html.len() as u64);
    header.set_mode(0o644);
    builder.append_data(&mut header, "index.html", html.as_bytes()).unwrap();
    builder.into_inner().unwrap()
}

#[track_caller]
fn assert_conflict(reply: Reply, live: Option<i64>) {
    let refused = reply.refused(412, "version_conflict");
    assert_eq!(
        fields_of(&refused.json()),
        ["code", "created_at", "created_by", "doc_url", "hint", "live_version", "message"]
    );
    assert_eq!(refused.at("live_version"), live.map_or(Value::Null, Value::from), "{refused:?}");
    assert_eq!(refused.at("created_at").is_string(), live.is_some(), "{refused:?}");
    assert_eq!(refused.at("created_by").is_string(), live.is_some(), "{refused:?}");
}

/// All the others learn which version won.
#[track_caller]
fn assert_one_wins(replies: Vec<Reply>, seq: i64) {
    let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 201);
    assert_eq!((won.len(), lost.len()), (1, RACERS - 1), "{won:?}");
    assert_eq!(won[0].integer("version"), seq);
    lost.into_iter().for_each(|reply| assert_conflict(reply, Some(seq)));
}
