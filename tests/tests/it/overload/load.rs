//! More than a process accepts: ten times the publishes, and large files that nobody reads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{Agent, PATIENCE, Reply, World, eventually, in_both_modes};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::wire::{connect, metric};
use crate::expectations::{PAGE, assert_serves, front_page, page_saying};

/// The test's limits: publishes in progress, and waiting ones.
const TAKEN_ON_MAX: usize = 16;
const CLIENTS: usize = 10 * TAKEN_ON_MAX;
const ACCOUNTS: usize = 8;
const LASTS: Duration = Duration::from_secs(6);
/// Two waits of half a second, and the processing of sixteen publishes in a debug build, on a machine that
/// also runs a hundred and sixty clients.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(10);

/// The responses to one client.
#[derive(Default)]
struct ResponseCounts {
    /// Acknowledged publishes: the response, and the page.
    published: Vec<(Reply, String)>,
    slowest: Duration,
    shed: usize,
}

in_both_modes! {
    #[given(with_ops)]
    #[settings(
        "HANDBILL_API__PUBLISHES_MAX" = "8",
        "HANDBILL_API__WAITING_MAX" = "8",
        "HANDBILL_API__REQUESTS_MAX" = "512",
        "HANDBILL_API__WAIT_MAX" = "500ms",
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "1000000",
        "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "100",
    )]
    async fn tenfold_overload_completes_accepted_publishes_and_sheds_the_rest(world: World) {
        let agents = join_all((0..ACCOUNTS).map(|_| world.agent())).await;
        let is_over = AtomicBool::new(false);
        let clients = join_all((0..CLIENTS).map(|number| {
            publish_again_and_again(&agents[number % ACCOUNTS], format!("page-{number}"), &is_over)
        }));
        let watching = watch(&world, &agents[0], &is_over);
        let (counts, ()) = futures::join!(clients, watching);

        let published: usize = counts.iter().map(|counts| counts.published.len()).sum();
        let shed: usize = counts.iter().map(|counts| counts.shed).sum();
        let slowest = counts.iter().map(|counts| counts.slowest).max().unwrap();
        assert!(published > CLIENTS / 10 && shed > CLIENTS, "{published} published, {shed} shed");
        assert!(slowest < ACCEPTED_WITHIN, "{slowest:?}");
        assert!(metric(&world, &world.api(), "handbill_shed_total", "line=\"publishes\"").await > 0.0);

        // After the load everything works at once.
        for agent in &agents {
            let started = Instant::now();
            agent.publish("afterwards", page_saying("afterwards")).await.expect(201);
            assert!(started.elapsed() < ACCEPTED_WITHIN, "{:?}", started.elapsed());
        }
        for (number, counts) in counts.iter().enumerate() {
            let agent = &agents[number % ACCOUNTS];
            assert_all_is_there(&world, agent, &format!("page-{number}"), counts).await;
        }
    }
}

async fn publish_again_and_again(agent: &Agent, slug: String, is_over: &AtomicBool) -> ResponseCounts {
    let mut counts = ResponseCounts::default();
    let mut number = 0;
    while !is_over.load(Ordering::Relaxed) {
        number += 1;
        let page = page_saying(&format!("{slug}, number {number}"));
        let started = Instant::now();
        let reply = agent.publish(&slug, page.clone()).await;
        if reply.status == 201 {
            counts.slowest = counts.slowest.max(started.elapsed());
            counts.published.push((reply, page));
            continue;
        }
        let refused = reply.refused(503, "overloaded");
        assert!(refused.header("retry-after").parse::<u64>().is_ok(), "{refused:?}");
        assert!(
            ["nothing was done", "not processed"]
                .iter()
                .any(|words| refused.string("message").contains(words)),
            "{refused:?}"
        );
        counts.shed += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    counts
}

/// During the load other requests get responses, and the process reports that it is well.
async fn watch(world: &World, agent: &Agent, is_over: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < LASTS {
        agent.account().await.expect(200);
        world.stranger().get("/v1/status").await.expect(200);
        for path in ["/healthz", "/readyz"] {
            world.stranger().get(path).await.expect(200);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    is_over.store(true, Ordering::Relaxed);
}

/// Every acknowledged version exists, and no other. Visitors see the last one.
async fn assert_all_is_there(world: &World, agent: &Agent, slug: &str, counts: &ResponseCounts) {
    let Some((last, page)) = counts.published.last() else {
        agent.artifact(slug).await.refused(404, "not_found");
        return;
    };
    let detail = agent.artifact(slug).await.expect(200);
    let versions = detail.at("versions").as_array().unwrap().len();
    assert_eq!(versions, counts.published.len(), "{slug}");
    let numbers: Vec<_> = counts.published.iter().map(|(reply, _)| reply.integer("version")).collect();
    let counted: Vec<_> = (1..=i64::try_from(versions).unwrap()).collect();
    assert_eq!(numbers, counted, "{slug}");
    let served = eventually(PATIENCE, "the page", async || {
        let served = front_page(&world.visitor(), last).await;
        (served.status == 200).then_some(served)
    })
    .await;
    assert_serves(&served, page);
}

in_both_modes! {
    #[given(with_ops)]
    #[settings(
        "HANDBILL_EDGE__STREAMED_ANSWERS_MAX" = "2",
        "HANDBILL_EDGE__WAIT_MAX" = "500ms",
        "HANDBILL_EDGE__IDLE_TIMEOUT" = "6s",
    )]
    async fn stalled_readers_of_large_files_hold_permits_only_for_a_limited_time(world: World) {
        let film: Vec<u8> = (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("film.bin", &film)];
        let published = world.agent().await.publish_files("my-site", &files).await.expect(201);
        let page = published.string("url");
        let film_url = format!("{page}film.bin");
        let visitor = world.visitor();
        let began = Instant::now();
        let readers = join_all((0..2).map(|_| take_nothing_of(&world, &film_url, &page))).await;
        let response = visitor.open(&film_url).await;
        assert!(began.elapsed() < Duration::from_secs(6), "the readers lost their permits: {:?}", began.elapsed());
        assert_eq!((response.status, response.header("retry-after")), (503, "2"), "{response:?}");
        // A small file needs no permit.
        assert_serves(&front_page(&visitor, &published).await, PAGE);
        assert!(metric(&world, &world.edge(), "handbill_shed_total", "line=\"streamed_answers\"").await > 0.0);

        let served = eventually(PATIENCE, "a permit", async || {
            let served = visitor.open(&film_url).await;
            (served.status == 200).then_some(served)
        })
        .await;
        assert!(served.body == film, "the film came otherwise than it was published");
        assert_eq!(readers.len(), 2, "they are still there");
        for _ in 0..4 {
            visitor.open(&film_url).await.expect(200);
        }
    }
}

in_both_modes! {
    #[settings(
        "HANDBILL_EDGE__STREAMED_ANSWERS_MAX" = "4",
        "HANDBILL_EDGE__WAIT_MAX" = "500ms",
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_EDGE__TRUSTED_PROXIES" = "127.0.0.0/8",
    )]
    async fn stalled_readers_of_one_address_leave_permits_to_others(world: World) {
        let film = vec![7; 3_000_000];
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("film.png", &film)];
        let published = world.agent().await.publish_files("my-site", &files).await.expect(201);
        let film_url = format!("{}film.png", published.string("url"));
        let mut resting = Vec::new();
        for (from, status) in [
            ("192.0.2.1", 200),
            ("192.0.2.1", 200),
            // It has half of all permits.
            ("192.0.2.1", 503),
            ("192.0.2.1, 192.0.2.2", 200),
            // One permit is left, and this address has one already.
            ("192.0.2.1, 192.0.2.2", 503),
            ("192.0.2.3", 200),
            ("192.0.2.4", 503),
        ] {
            let mut asking = without_window(&world).await;
            let request = Request::get(&film_url).header("x-forwarded-for", from).body(String::new()).unwrap();
            let answer = asking.send_request(request).await.unwrap();
            assert_eq!(answer.status(), status, "{from}, after {}", resting.len());
            resting.push((asking, answer));
        }
    }
}

/// Requests a file over HTTP/2 and reads nothing of it, while the same connection serves other requests. The
/// caller keeps the response.
async fn take_nothing_of(world: &World, url: &str, page: &str) -> Response<Incoming> {
    let mut asking = without_window(world).await;
    let answer = ask(&mut asking, "GET", url).await.unwrap();
    assert_eq!(answer.status(), 200);
    let page = page.to_owned();
    tokio::spawn(async move {
        while ask(&mut asking, "HEAD", &page).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    answer
}

/// An HTTP/2 connection with a window of zero.
async fn without_window(world: &World) -> SendRequest<String> {
    let connection = TokioIo::new(connect(&world.serve_url()).await);
    let mut http = Builder::new(TokioExecutor::new());
    let (asking, connection) = http.initial_stream_window_size(0).handshake(connection).await.unwrap();
    tokio::spawn(connection);
    asking
}

async fn ask(asking: &mut SendRequest<String>, method: &str, url: &str) -> hyper::Result<Response<Incoming>> {
    let request = Request::builder().method(method).uri(url).body(String::new()).unwrap();
    asking.send_request(request).await
}
