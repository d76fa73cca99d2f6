//! Uploads that pause, that come to a busy process, and whose store does not respond: each has a limit of its
//! own, and none delays other requests.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{
    Agent, Call, Health, Mode, PATIENCE, Reply, Value, World, eventually, in_both_modes, json, program,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::wire::{answer_to, connect, connections_sending, metric, publish_head};
use crate::expectations::{PAGE, page_saying};
use crate::mcp::{failed, tool_result};

/// A well-behaved client gets its response within this time. A debug build has to reach it.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
const LONG_BYTES: usize = 1_000_000;
/// The bytes sent of a body of at most 65,536 bytes.
const HALF_CAME_BYTES: usize = 60_000;
/// One address's share of the memory for small bodies.
const SHARE_BYTES: usize = 8_388_608;

in_both_modes! {
    #[settings(
        "HANDBILL_API__BODY_GRACE" = "2s",
        "HANDBILL_API__BODY_BYTES_PER_SECOND_MIN" = "1000",
    )]
    async fn short_pause_does_not_abort_an_upload_but_silence_does(world: World) {
        let agent = world.agent().await;
        let (first, rest) = halves_of_a_publish();
        let head = publish_head(agent.token(), first.len() + rest.len());

        let mut silent = connect(&world.base_url()).await;
        silent.write_all(head.as_bytes()).await.unwrap();
        let mut pausing = connect(&world.base_url()).await;
        pausing.write_all(format!("{head}{first}").as_bytes()).await.unwrap();

        let response = answer_of(&mut silent).await;
        assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("too slowly"), "{response}");
        // Longer than the grace period and any measuring window.
        sleep(Duration::from_secs(10)).await;
        pausing.write_all(rest.as_bytes()).await.unwrap();
        let response = answer_of(&mut pausing).await;
        assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    }

    #[given(with_ops)]
    async fn slow_bodies_use_only_the_budget_share_of_their_address(world: World) {
        let sign_in = |length_bytes: usize, body: &str| {
            format!(
                "POST /auth/login HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Content-Length: {length_bytes}\r\n\r\n{body}"
            )
        };
        let slow = sign_in(65_000, &" ".repeat(HALF_CAME_BYTES));
        // More than the half that one address may have.
        let mut waiting =
            connections_sending(&world.base_url(), SHARE_BYTES / HALF_CAME_BYTES, slow.as_bytes()).await;
        eventually(PATIENCE, "there is no room for another", async || {
            waiting.extend(connections_sending(&world.base_url(), 10, slow.as_bytes()).await);
            let shed = metric(&world, &world.api(), "handbill_shed_total", "line=\"small_bodies\"").await;
            (shed > 0.0).then_some(())
        })
        .await;
        // A complete body needs no budget.
        let nobody = json!({ "username": "nobody", "password": "no-password-of-theirs" }).to_string();
        let response = answer_to(&world.base_url(), sign_in(nobody.len(), &nobody).as_bytes()).await;
        assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
        // Uploads have a separate budget.
        world.agent().await.publish("beside", PAGE).await.expect(201);
    }

    #[settings(
        "HANDBILL_API__PUBLISHES_MAX" = "1",
        "HANDBILL_API__WAITING_MAX" = "1",
        "HANDBILL_API__WAIT_MAX" = "20s",
    )]
    async fn publish_is_refused_before_the_body_is_sent_when_the_queue_is_full(world: World) {
        let agent = world.agent().await;
        let slow = [("HANDBILL_TEST_FAULTS", "publish.before_blob_put:pause_ms=6000")];
        world.worker().restart_with(&slow).await;
        let waiting = [publish_later(&agent, "first"), publish_later(&agent, "second")];
        let publish = publish_head(agent.token(), LONG_BYTES);
        eventually(PATIENCE, "the line is full", async || {
            let shed = response_to_head(&world, &publish).await;
            shed.is_some_and(|answer| answer.starts_with("HTTP/1.1 503 ")).then_some(())
        })
        .await;

        let form = publish.replace("/v1/publish", "/").replace("Host: a", "Host: a\r\nAccept: text/html");
        for head in [&publish, &form] {
            let answer = response_to_head(&world, head).await.expect("an answer before the body");
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(answer.to_ascii_lowercase().contains("retry-after: "), "{answer}");
        }
        let files = json!({ "files": [{ "path": "index.html", "content": PAGE }] });
        let upload = json!({ "upload": "01KC4GZJ2Q8W5T7RXN3VB6M9DE" });
        let started = Instant::now();
        failed(&agent.call_tool("publish_artifact", &files).await, "overloaded");
        failed(&agent.call_tool("publish_upload", &upload).await, "overloaded");
        assert!(started.elapsed() < ANSWERED_WITHIN, "{:?}", started.elapsed());
        agent.account().await.expect(200);

        for published in join_all(waiting).await {
            published.unwrap().expect(201);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_waiting_for_a_stalled_store_block_nobody_else() {
    let setup = World::with(Mode::Production, program!());
    let world = setup.env("HANDBILL_API__REQUESTS_MAX", "4").start().await;
    let (agent, other) = (world.agent().await, world.agent().await);
    let kept = stage(&agent).await;
    put(&world, &kept).await.expect(201);

    let mut addresses = Vec::new();
    for _ in 0..4 {
        addresses.push(stage(&other).await);
    }
    world.s3().be(Health::Stalls);
    let putting = addresses.iter().map(|staged| tokio::spawn(put(&world, staged).into_future()));
    let putting: Vec<_> = putting.collect();
    let publishing: Vec<_> = (0..4)
        .map(|_| {
            let arguments = json!({ "slug": "my-page", "upload": kept["upload"] });
            tokio::spawn(agent.call_tool("publish_upload", &arguments).into_future())
        })
        .collect();
    sleep(Duration::from_millis(500)).await;
    for _ in 0..10 {
        let started = Instant::now();
        agent.account().await.expect(200);
        assert!(started.elapsed() < ANSWERED_WITHIN, "{:?}", started.elapsed());
    }
    assert!(putting.iter().chain(&publishing).all(|waiting| !waiting.is_finished()), "the store answered");

    world.s3().be(Health::Well);
    for kept in join_all(putting).await {
        kept.unwrap().expect(201);
    }
    let mut versions: Vec<_> =
        join_all(publishing).await.into_iter().map(|reply| tool_result(&reply.unwrap())).collect();
    versions.sort_by_key(|published| published["version"].as_u64());
    let versions: Vec<_> = versions.iter().map(|published| published["version"].clone()).collect();
    // An upload is published once, however often its publish is repeated.
    assert_eq!(versions, [1, 1, 1, 1]);
}

/// A publish of a page that is long enough for a pause, in two parts.
fn halves_of_a_publish() -> (String, String) {
    let page = page_saying(&"after a pause ".repeat(3_000));
    let (first, rest) = page.split_at(page.len() / 2);
    let head = "--XX\r\nContent-Disposition: form-data; name=\"html\"\r\n\r\n";
    (format!("{head}{first}"), format!("{rest}\r\n--XX--\r\n"))
}

/// The first response.
async fn answer_of(connection: &mut TcpStream) -> String {
    let mut answer = vec![0; 16_384];
    let read = timeout(PATIENCE, connection.read(&mut answer)).await.expect("an answer").unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

/// The response to a head whose body does not come. `None` while the server waits for the body.
async fn response_to_head(world: &World, head: &str) -> Option<String> {
    let mut connection = connect(&world.base_url()).await;
    connection.write_all(head.as_bytes()).await.unwrap();
    timeout(Duration::from_secs(1), answer_of(&mut connection)).await.ok()
}

fn publish_later(agent: &Agent, slug: &str) -> tokio::task::JoinHandle<Reply> {
    tokio::spawn(agent.publish(slug, PAGE).into_future())
}

async fn stage(agent: &Agent) -> Value {
    tool_result(&agent.call_tool("stage_upload", &json!({})).await)
}

/// A call to the staged address, without a token.
fn put(world: &World, staged: &Value) -> Call {
    let url = staged["url"].as_str().unwrap();
    world.stranger().post(&url[url.find("/v1/").unwrap()..]).field("html", PAGE)
}
