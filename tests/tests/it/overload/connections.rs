//! Hostile connections: slow, silent, too many, with endless heads.

use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{PATIENCE, Reply, Visitor, World, eventually, in_both_modes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::wire::{answer_to, connect, connections_sending, has_ended, metric, publish_head, rest_of};
use crate::expectations::PAGE;

/// A well-behaved client gets its response within this time. A debug build has to reach it.
const SERVED_WITHIN: Duration = Duration::from_secs(5);
/// The same among thousands of connections, which a slow machine must accept first, and with retries between.
const SERVED_AMID_THOUSANDS_WITHIN: Duration = Duration::from_secs(60);
/// Added to the time of a setting, for a busy machine.
const SLACK: Duration = Duration::from_secs(8);

const HALF_A_HEAD: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-More: ";
const WHOLE_HEAD: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

async fn assert_is_served(world: &World, published: &Reply) {
    // Each over a connection of its own.
    for visitor in [world.visitor(), world.visitor()] {
        assert_is_served_to(&visitor, published).await;
    }
    let began = Instant::now();
    let answer =
        answer_to(&world.base_url(), b"GET /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            .await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(began.elapsed() < SERVED_WITHIN, "{:?}", began.elapsed());
}

async fn assert_is_served_to(visitor: &Visitor, published: &Reply) {
    let began = Instant::now();
    visitor.open(&published.string("url")).await.expect(200);
    assert!(began.elapsed() < SERVED_WITHIN, "{:?}", began.elapsed());
}

/// Retries as a client does. A new connection among thousands may be evicted before its first request. While
/// the requests of the thousands are still being processed, no connection is idle.
async fn assert_is_served_amid_thousands(world: &World, published: &Reply) {
    let url = published.string("url");
    for visitor in [world.visitor(), world.visitor()] {
        until_taken("the page", async || visitor.open(&url).try_send().await.ok()).await.expect(200);
    }
    let stranger = world.stranger();
    until_taken("the status", async || stranger.get("/v1/status").try_send().await.ok()).await.expect(200);
}

/// The first response that is not a hint to retry.
async fn until_taken(what: &str, mut ask: impl AsyncFnMut() -> Option<Reply>) -> Reply {
    eventually(SERVED_AMID_THOUSANDS_WITHIN, what, async || ask().await.filter(|reply| reply.status != 503))
        .await
}

in_both_modes! {
    #[given(with_ops)]
    #[settings(
        "HANDBILL_API__CONNECTIONS_MAX" = "500",
        "HANDBILL_EDGE__CONNECTIONS_MAX" = "500",
    )]
    async fn thousands_that_are_idle_or_silent_do_not_block_new_connections(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let mut hoarded = Vec::new();
        for url in [&world.base_url(), &world.serve_url()] {
            hoarded.extend(connections_sending(url, 500, WHOLE_HEAD).await);
            assert_is_served_amid_thousands(&world, &published).await;
            hoarded.extend(connections_sending(url, 500, b"").await);
            hoarded.extend(connections_sending(url, 500, HALF_A_HEAD).await);
        }
        assert_eq!(hoarded.len(), 3_000);
        for _ in 0..20 {
            assert_is_served_amid_thousands(&world, &published).await;
        }
        until_taken("a publish", async || agent.publish("my-page", PAGE).try_send().await.ok()).await.expect(201);
        for (process, url) in [(world.api(), world.base_url()), (world.edge(), world.serve_url())] {
            // All of the thousands may have come while every slot was busy, and been refused.
            eventually(PATIENCE, "an idle connection is evicted", async || {
                hoarded.extend(connections_sending(&url, 10, b"").await);
                let cut = metric(&world, &process, "handbill_connections_cut_total", "reason=\"idle\"").await;
                (cut > 0.0).then_some(())
            })
            .await;
            for role in ["role=\"api\"", "role=\"edge\""] {
                let open = metric(&world, &process, "handbill_connections{", role).await;
                assert!(open <= 500.0, "{role}: {open}");
            }
        }
    }

    #[settings("HANDBILL_API__HEAD_TIMEOUT" = "2s", "HANDBILL_EDGE__HEAD_TIMEOUT" = "2s")]
    async fn connections_with_slow_heads_are_closed(world: World) {
        let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
        for url in [world.base_url(), world.serve_url()] {
            let mut slow = connections_sending(&url, 200, HALF_A_HEAD).await;
            let began = Instant::now();
            let trickling = join_all(slow.iter_mut().map(async |connection| {
                while connection.write_all(b"x").await.is_ok() && began.elapsed() < Duration::from_secs(2) + SLACK {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                began.elapsed()
            }));
            let (ended, ()) = futures::join!(trickling, assert_is_served(&world, &published));
            for after in ended {
                assert!(after < Duration::from_secs(2) + SLACK, "{after:?}");
            }
        }
    }

    #[settings("HANDBILL_API__BODY_TIMEOUT" = "3s", "HANDBILL_API__REQUESTS_MAX" = "4")]
    async fn slow_bodies_block_nobody_and_are_aborted(world: World) {
        let agent = world.agent().await;
        let head = publish_head(agent.token(), 1_000_000);
        let began = Instant::now();
        // Fifty times as many as are processed at a time.
        let mut slow = connections_sending(&world.base_url(), 200, format!("{head}--XX\r\n").as_bytes()).await;
        let published = eventually(PATIENCE, "a publish", async || {
            let reply = agent.publish("my-page", PAGE).await;
            (reply.status == 201).then_some(reply)
        })
        .await;
        assert_is_served(&world, &published).await;
        let answers = join_all(slow.iter_mut().map(async |connection| {
            let mut answer = [0; 4096];
            let read = connection.read(&mut answer).await.unwrap_or(0);
            String::from_utf8_lossy(&answer[..read]).into_owned()
        }))
        .await;
        assert!(began.elapsed() < Duration::from_secs(3) + 2 * SLACK, "{:?}", began.elapsed());
        let given_up = answers.iter().filter(|answer| answer.contains("did not arrive within 3 s")).count();
        assert!(given_up > 0, "{answers:?}");
        for answer in answers {
            assert!(["HTTP/1.1 400 ", "HTTP/1.1 503 "].iter().any(|status| answer.starts_with(status)), "{answer}");
        }
    }

    async fn huge_heads_are_refused(world: World) {
        let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
        let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(1_000_000));
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-A: b\r\n".repeat(1_000));
        for url in [world.base_url(), world.serve_url()] {
            for head in [&long, &many] {
                let answers = join_all((0..20).map(|_| answer_to(&url, head.as_bytes()))).await;
                // A client that is still sending may lose the response with the connection.
                for answer in answers.iter().filter(|answer| !answer.is_empty()) {
                    assert!(answer.starts_with("HTTP/1.1 431 ") || answer.starts_with("HTTP/1.1 400 "), "{answer}");
                }
            }
            let answer = answer_to(&url, many.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        }
        assert_is_served(&world, &published).await;
    }

    #[given(with_ops)]
    #[settings("HANDBILL_EDGE__IDLE_TIMEOUT" = "4s", "HANDBILL_EDGE__ANSWER_BYTES_PER_SECOND_MIN" = "100000")]
    async fn slow_response_readers_are_disconnected(world: World) {
        let film = film(9_000_000);
        let agent = world.agent().await;
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("film.bin", &film)];
        let published = agent.publish_files("my-site", &files).await.expect(201);
        let path = published.string("url").replace(&world.serve_url(), "");
        let request = format!("GET {path}film.bin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        let mut slow = connections_sending(&world.serve_url(), 40, request.as_bytes()).await;
        assert_is_served(&world, &published).await;
        // All of them, because a remaining connection would read fast from now on and get the whole file.
        eventually(PATIENCE * 6, "the connections are closed", async || {
            let open = metric(&world, &world.edge(), "handbill_connections{", "role=\"edge\"").await;
            (open < 1.0).then_some(())
        })
        .await;
        for connection in &mut slow {
            let rest = rest_or_reset(connection).await;
            assert!(rest < film.len(), "{rest} bytes came");
        }
        // A client that reads fast enough gets the whole response, however long it takes.
        let mut patient = connect(&world.serve_url()).await;
        patient.write_all(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
        let (mut came, mut some) = (0, vec![0; 150_000]);
        while came < 1_000_000 {
            came += patient.read(&mut some).await.unwrap();
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        assert!(came + rest_of(&mut patient).await.len() > 1_000_000);
    }
}

in_both_modes! {
    #[given(with_ops)]
    #[settings("HANDBILL_EDGE__CONNECTIONS_MAX" = "100")]
    async fn new_connections_evict_idle_ones_and_no_download_is_cut(world: World) {
        let film = film(4_000_000);
        let agent = world.agent().await;
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("film.bin", &film)];
        let path = agent.publish_files("my-site", &files).await.expect(201).string("url").replace(&world.serve_url(), "");
        let asking = |name: &str| format!("GET {path}{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        let mut downloads = connections_sending(&world.serve_url(), 40, asking("film.bin").as_bytes()).await;
        for download in &mut downloads {
            assert!(download.read(&mut [0; 1_000]).await.unwrap() > 0, "it has begun");
        }
        let mut idle = connections_sending(&world.serve_url(), 30, WHOLE_HEAD).await;
        idle.extend(connections_sending(&world.serve_url(), 15, b"").await);
        idle.extend(connections_sending(&world.serve_url(), 15, HALF_A_HEAD).await);

        let began = Instant::now();
        let newcomers = join_all((0..50).map(|_| async { answer_to(&world.serve_url(), asking("").as_bytes()).await }));
        for answer in newcomers.await {
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        }
        assert!(began.elapsed() < SERVED_WITHIN, "{:?}", began.elapsed());
        let cut = metric(&world, &world.edge(), "handbill_connections_cut_total", "reason=\"idle\"").await;
        assert!((1.0..=60.0).contains(&cut), "each is counted once, and the busy are not: {cut}");
        let rests = join_all(downloads.iter_mut().map(rest_or_reset)).await;
        assert!(rests.iter().all(|rest| rest + 1_000 >= film.len()), "a download was cut: {rests:?}");
    }

    #[given(with_ops)]
    #[settings("HANDBILL_EDGE__CONNECTIONS_MAX" = "20")]
    async fn new_connections_get_503_at_once_when_all_slots_are_active(world: World) {
        let film = film(4_000_000);
        let agent = world.agent().await;
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("film.bin", &film)];
        let path = agent.publish_files("my-site", &files).await.expect(201).string("url").replace(&world.serve_url(), "");
        let request = format!("GET {path}film.bin HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        let mut downloads = connections_sending(&world.serve_url(), 20, request.as_bytes()).await;
        for download in &mut downloads {
            assert!(download.read(&mut [0; 1_000]).await.unwrap() > 0, "it has begun");
        }
        let began = Instant::now();
        let answers = join_all((0..100).map(|_| async { answer_to(&world.serve_url(), WHOLE_HEAD).await })).await;
        assert!(began.elapsed() < SERVED_WITHIN, "{:?}", began.elapsed());
        for answer in answers {
            assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\r\nRetry-After: "), "{answer}");
        }
        let cut = metric(&world, &world.edge(), "handbill_connections_cut_total", "reason=\"full\"").await;
        assert!(cut >= 100.0, "{cut}");
        let rests = join_all(downloads.iter_mut().map(rest_or_reset)).await;
        assert!(rests.iter().all(|rest| rest + 1_000 >= film.len()), "a download was cut: {rests:?}");
    }
}

/// Incompressible bytes.
fn film(length_bytes: u32) -> Vec<u8> {
    (0..length_bytes).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// The number of bytes until the connection ends, which may be by a reset.
async fn rest_or_reset(connection: &mut tokio::net::TcpStream) -> usize {
    let (mut came, mut some) = (0, vec![0; 100_000]);
    while let Ok(read) = connection.read(&mut some).await {
        if read == 0 {
            break;
        }
        came += read;
    }
    came
}

in_both_modes! {
    #[settings("HANDBILL_API__IDLE_TIMEOUT" = "2s", "HANDBILL_EDGE__IDLE_TIMEOUT" = "2s")]
    async fn idle_connections_are_closed(world: World) {
        for url in [world.base_url(), world.serve_url()] {
            let mut idle = connections_sending(&url, 50, WHOLE_HEAD).await;
            let began = Instant::now();
            let ended = join_all(idle.iter_mut().map(|connection| has_ended(connection, Duration::from_secs(35)))).await;
            assert!(ended.into_iter().all(|ended| ended), "some are still there after {:?}", began.elapsed());
        }
    }
}
