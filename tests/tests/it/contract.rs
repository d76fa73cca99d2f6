//! The API against its own description: schemathesis generates valid and invalid requests from
//! `/openapi.json`, and checks every response against it.

use std::path::PathBuf;
use std::process::Output;

use handbill_tests::{Agent, Human, Mode, World, json, program};
use tokio::process::Command;

use crate::expectations::PAGE;

/// The username of the description's examples, so that they can sign in.
const USERNAME: &str = "ada";
const PASSWORD: &str = "correct horse battery";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn api_conforms_to_its_openapi_description() {
    let world = generous_world().await;
    let (agent, human) = (world.agent().await, world.human());
    human.register(USERNAME, PASSWORD).await.expect(201);
    human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let tried = try_description(&world, &agent, &human).await;
    let reported = String::from_utf8_lossy(&tried.stdout).into_owned();
    assert!(tried.status.success(), "{reported}\n{}", String::from_utf8_lossy(&tried.stderr));
    // Every operation was tried, and none returned an internal error.
    let description = world.stranger().get("/openapi.json").await.expect(200).json();
    // schemathesis skips the operation that it reads the description from.
    let tried_paths =
        description["paths"].as_object().unwrap().iter().filter(|(path, _)| *path != "/openapi.json");
    let operations: usize = tried_paths.map(|(_, item)| item.as_object().unwrap().len()).sum();
    assert!(reported.contains(&format!("Tested: {operations}")), "{operations} operations:\n{reported}");
    let failed: Vec<_> =
        world.logs().lines().filter(|line| line.contains("http.status=5")).map(str::to_owned).collect();
    assert!(failed.is_empty(), "answered with 5xx: {failed:#?}");
}

/// A world with limits so high that none applies. Other tests cover the limits.
async fn generous_world() -> World {
    let limits = [
        "SIGNUPS_PER_MINUTE",
        "LOGINS_PER_MINUTE",
        "REGISTRATIONS_PER_MINUTE",
        "REPORTS_PER_MINUTE",
        "CLAIMED_FREE_PUBLISHES",
        "CLAIMED_ARTIFACTS",
    ];
    let setup = World::with(Mode::Embedded, program!()).with_card_processor();
    let setup =
        limits.iter().fold(setup, |setup, name| setup.env(&format!("HANDBILL_LIMITS__{name}"), "1000000"));
    setup.start().await
}

async fn try_description(world: &World, agent: &Agent, human: &Human) -> Output {
    let schemathesis = std::env::var_os("HANDBILL_TEST_SCHEMATHESIS")
        .expect("HANDBILL_TEST_SCHEMATHESIS names no program: run the tests by scripts/test");
    let settings = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis"));
    let own_ids = json!([agent.tokens().await.expect(200).string("0.id"), human.user_id().await]);
    let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
    let invite = agent.invite(&json!({ "max_uses": 100 })).await.expect(201).string("code");
    let (posted, put) = (ticket(agent).await, ticket(agent).await);
    let run = world.operator().post("/internal/schedules/sweep-records/run").header("X-Operator", "Ada");
    let job = run.await.expect(200).string("job_id");
    let there_is = json!({
        "POST /v1/reports": { "host": host },
        "POST /internal/views": { "host": host },
        "POST /internal/credit": { "account": agent.handle() },
        "GET /internal/moderation/{host}": { "host": host },
        "POST /internal/moderation/{host}": { "host": host },
        "POST /v1/moderation/{slug}": { "slug": host },
        "GET /internal/queues/{queue}/jobs/{id}": { "queue": "upkeep", "id": job },
        "POST /internal/queues/{queue}/jobs/{id}/retry": { "queue": "upkeep", "id": job },
        "POST /internal/queues/{queue}/jobs/{id}/cancel": { "queue": "upkeep", "id": job },
        "POST /internal/queues/{queue}/jobs/{id}/discard": { "queue": "upkeep", "id": job },
        "POST /internal/schedules/{schedule}/run": { "schedule": "sweep-records" },
        "POST /v1/account/join": { "code": invite },
        "POST /v1/uploads/{ticket}": { "ticket": posted },
        "PUT /v1/uploads/{ticket}": { "ticket": put },
    });
    Command::new(schemathesis)
        .arg("--config-file")
        .arg(settings.join("schemathesis.toml"))
        .args(["--no-color", "run", &format!("{}/openapi.json", world.base_url())])
        .env("HANDBILL_TEST_HOOKS", settings.join("hooks.py"))
        .env("HANDBILL_TEST_TOKEN", agent.token())
        .env("HANDBILL_TEST_SESSION", human.cookie("svc_sess").expect("a session"))
        .env("HANDBILL_TEST_OPERATOR", World::SIGNING_SECRET)
        .env("HANDBILL_TEST_OWN_IDS", own_ids.to_string())
        .env("HANDBILL_TEST_THERE_IS", there_is.to_string())
        // Python must not write next to the checked-out hooks, or anywhere else outside of the world.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(world.folder())
        .kill_on_drop(true)
        .output()
        .await
        .expect("schemathesis runs")
}

/// The last part of an upload address.
async fn ticket(agent: &Agent) -> String {
    let staged = agent.call_tool("stage_upload", &json!({})).await.expect(200);
    let url = staged.string("result.structuredContent.url");
    url.rsplit('/').next().expect("an address").to_owned()
}
