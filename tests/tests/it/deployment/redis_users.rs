//! The users that `deploy/redis` creates: an edge does all its work with its own user, which can do nothing
//! else.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use handbill_tests::{Mode, PATIENCE, Port, Visitor, World, eventually, program};
use redis::aio::MultiplexedConnection;
use redis::{Client, Cmd, RedisResult, Value, cmd};
use tokio::process::{Child, Command};

use super::page;
use crate::expectations::{assert_serves, front_page, page_saying};

const LINKS: &str = "the-secret-of-private-links-in-this-test-0123456789";
/// Well below the two seconds after which an edge reads a route again.
const AT_ONCE: Duration = Duration::from_millis(1_500);

async fn start_redis(folder: &Path, port: &Port) -> Child {
    let users: String = page("redis/users.acl").lines().filter(|line| !line.starts_with('#')).fold(
        String::new(),
        |users, line| {
            users
                + &line.replace("EDGE_PASSWORD", "of-the-edge").replace("ROLE_PASSWORD", "of-the-roles")
                + "\n"
        },
    );
    let file = folder.join("users.acl");
    std::fs::write(&file, users).unwrap();
    let mut redis = Command::new("redis-server");
    redis
        .args(["--bind", "127.0.0.1", "--port", &port.number.to_string(), "--save", "", "--aclfile"])
        .arg(&file)
        .stdout(Stdio::null())
        .kill_on_drop(true);
    let redis = redis.spawn().expect("redis-server runs");
    eventually(PATIENCE, "a Redis that listens", async || std::net::TcpStream::connect(port.address()).ok())
        .await;
    redis
}

async fn connection(url: &str) -> MultiplexedConnection {
    Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edge_works_with_its_redis_user_which_has_no_other_privileges() {
    let (port, folder) = (Port::take(), tempfile::tempdir().unwrap());
    let _redis = start_redis(folder.path(), &port).await;
    let of_roles = format!("redis://handbill:of-the-roles@{}/0", port.address());
    let of_edges = format!("redis://handbill-edge:of-the-edge@{}/0", port.address());
    let world = World::with(Mode::Production, program!())
        .env("HANDBILL_REDIS__URL", &of_roles)
        .env("HANDBILL_SECRETS__LINKS", LINKS)
        .start()
        .await;
    let edge_alone = [
        ("HANDBILL_REDIS__URL", of_edges.as_str()),
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", ""),
    ];
    world.edge().terminate().await;
    let edge = world.start_edge_with(&edge_alone).await;
    let doctor = world.command(&["doctor"], &edge_alone).await;
    assert!(doctor.output.contains("ok    redis: it responds, and messages arrive"), "{doctor:?}");

    let agent = world.agent().await;
    let visitor: Visitor = world.visitor().at(&edge);
    let mut shortest = Duration::MAX;
    for number in 0..5 {
        let html = page_saying(&format!("number {number}"));
        let asked_at = Instant::now();
        let published = agent.publish("my-page", html.clone()).await.expect(201);
        shortest = shortest.min(asked_at.elapsed());
        assert_serves(&front_page(&visitor, &published).await, &html);
    }
    assert!(shortest < AT_ONCE, "the edge does not acknowledge: every publish took {shortest:?} or more");
    let views = async || agent.usage().await.expect(200).integer("traffic.views");
    eventually(PATIENCE, "its views are counted", async || (views().await == 5).then_some(())).await;
    assert!(!edge.log().contains("NOPERM"), "{}", edge.log());
    cannot_forge(&of_edges).await;
    assert!(
        Client::open(format!("redis://{}/0", port.address()))
            .unwrap()
            .get_multiplexed_async_connection()
            .await
            .is_err()
            || ask(&format!("redis://{}/0", port.address()), cmd("PING")).await.is_err(),
        "no login without a password"
    );
}

async fn ask(url: &str, command: Cmd) -> RedisResult<Value> {
    command.query_async(&mut connection(url).await).await
}

async fn cannot_forge(of_edges: &str) {
    let command = |words: &str| {
        let mut words = words.split(' ');
        let mut command = cmd(words.next().unwrap());
        words.for_each(|word| {
            command.arg(word);
        });
        command
    };
    for forbidden in [
        "PUBLISH handbill:0:to:01KC4GZJ2Q8W5T7RXN3VB6M9DE {}",
        "PUBLISH handbill:0:notices {}",
        "SUBSCRIBE handbill:0:to:01KC4GZJ2Q8W5T7RXN3VB6M9DE",
        "PSUBSCRIBE *",
        "SET handbill:0:bus another",
        "DEL handbill:0:bus",
        "GET handbill:0:limit:login:ada",
        "EVAL redis.call('publish','handbill:0:notices','{}') 0",
        "EVAL redis.call('del','handbill:0:bus') 0",
        "KEYS *",
        "FLUSHALL",
        "CONFIG GET *",
        "ACL LIST",
        "CLIENT LIST",
        "MONITOR",
    ] {
        let refused = ask(of_edges, command(forbidden)).await.unwrap_err().to_string();
        assert!(
            refused.to_uppercase().contains("NOPERM") || refused.contains("user executing the script can"),
            "{forbidden}: {refused}"
        );
    }
}
