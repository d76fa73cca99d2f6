//! The bus with a real Redis. Several buses play several processes.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;

use domain::{Chance, Micro, Moved};
use tokio::time::{Instant, sleep};

use super::*;

mod lost_list;
mod writers;

const SOON: Duration = Duration::from_secs(10);
/// Well below [`Bus::EDGE_TRUST`] even on a busy machine, so the trust was not waited for.
const AT_ONCE: Duration = Duration::from_millis(500);

/// The URL of an unused database on the shared server. `None` without Redis, which skips the test.
async fn database() -> Option<String> {
    let server = test_servers::redis()?;
    let server = server.trim_end_matches('/').to_owned();
    let count: i64 = query(&format!("{server}/0"), redis::cmd("INCR").arg("handbill:test:next")).await;
    let url = format!("{server}/{}", 1 + count % 4095);
    let _: String = query(&url, &redis::cmd("FLUSHDB")).await;
    Some(url)
}

async fn query<T: redis::FromRedisValue>(url: &str, command: &redis::Cmd) -> T {
    let client = redis::Client::open(url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    command.query_async(&mut connection).await.unwrap()
}

/// Polls until the condition holds.
async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

async fn is_listed(url: &str, instance: &str) -> bool {
    let key = format!("handbill:{}:edges", url.rsplit('/').next().unwrap());
    query::<Option<f64>>(url, redis::cmd("ZSCORE").arg(key).arg(instance)).await.is_some()
}

/// An edge in its own process, and the hosts that it dropped.
struct Edge {
    bus: Bus,
    lease: EdgeLease,
    dropped: Arc<Mutex<Vec<Host>>>,
}

impl Edge {
    async fn join(url: &str, instance: &str) -> Edge {
        let bus = Bus::redis(url, instance).await.unwrap();
        let dropped = Arc::new(Mutex::new(Vec::new()));
        let received = dropped.clone();
        let lease = bus.join_as_edge(move |host| received.lock().unwrap().push(host.clone()));
        eventually("the lease is held", || lease.covers(Instant::now())).await;
        Edge { bus, lease, dropped }
    }

    fn dropped(&self) -> Vec<Host> {
        self.dropped.lock().unwrap().clone()
    }
}

/// A server that a test may kill.
struct Server {
    port: u16,
    child: Child,
}

impl Server {
    fn start() -> Option<Server> {
        if !test_servers::has_program("redis-server") {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Some(Server { port, child: Self::launch(port) })
    }

    fn launch(port: u16) -> Child {
        Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed")
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/3", self.port)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn restart(&mut self) {
        self.child = Self::launch(self.port);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn host(name: &str) -> Host {
    name.parse().unwrap()
}

fn job() -> JobId {
    JobId::new(Time::from_millis(0), &Chance::seeded(1))
}

fn outcome() -> Outcome {
    Outcome::Moved(Moved { balance: Micro::default(), is_new: true })
}

fn ten_a_minute() -> RateLimit {
    RateLimit { name: "signup", key: "192.0.2.1".to_owned(), budget: Budget::per_minute(10) }
}

#[tokio::test]
async fn local_bus_delivers_replies_and_notices_directly() {
    let bus = Bus::local("all");
    let mut waiter = bus.expect_reply(job());
    bus.reply("all", job(), &outcome()).await;
    assert_eq!(waiter.wait(SOON).await, Some(outcome()));

    let (send, received) = mpsc::channel();
    let lease = bus.join_as_edge(move |host| send.send(host.clone()).unwrap());
    let began = Instant::now();
    bus.notify_edges(&[host("page-abcd")]).await;
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!(received.try_recv(), Ok(host("page-abcd")));
    assert!(bus.is_connected() && lease.covers(Instant::now()));

    drop(lease);
    bus.notify_edges(&[host("page-abcd")]).await;
    assert!(received.try_recv().is_err(), "a lease that was given up gets no notice");
}

#[tokio::test]
async fn edge_lease_covers_no_route_older_than_the_trust_period() {
    let bus = Bus::local("all");
    let lease = bus.join_as_edge(|_| ());
    let read_at = Instant::now() - Bus::EDGE_TRUST + Duration::from_millis(50);
    assert!(lease.covers(read_at));
    assert!(!lease.covers(read_at - Duration::from_millis(50)));
}

#[tokio::test]
async fn an_announcement_wakes_the_other_process_and_not_its_own() {
    let Some(url) = database().await else { return };
    let (here, there) = (Bus::redis(&url, "here").await.unwrap(), Bus::redis(&url, "there").await.unwrap());
    let (send, received_here) = mpsc::channel();
    here.on_wake(move |queue| send.send(queue).unwrap());
    let (send, received_there) = mpsc::channel();
    there.on_wake(move |queue| send.send(queue).unwrap());

    here.announce(Queue::Scan);
    let mut received = None;
    eventually("the other process hears", || {
        received = received.or(received_there.try_recv().ok());
        received.is_some()
    })
    .await;
    assert_eq!(received, Some(Queue::Scan));

    // A reply over the same subscription comes after its own announcement.
    there.announce(Queue::Views);
    eventually("the answer is received", || {
        received_here.try_recv().is_ok_and(|queue| {
            assert_eq!(queue, Queue::Views, "its own announcement is not for itself");
            true
        })
    })
    .await;
}

#[tokio::test]
async fn redis_databases_on_one_server_are_isolated() {
    let (Some(one), Some(other)) = (database().await, database().await) else { return };
    let stranger = Edge::join(&other, "stranger").await;
    let bus = Bus::redis(&one, "api").await.unwrap();
    bus.notify_edges(&[host("page-abcd")]).await;
    stranger.bus.notify_edges(&[host("page-efgh")]).await;
    assert_eq!(stranger.dropped(), [host("page-efgh")]);
}

#[tokio::test]
async fn reply_reaches_the_waiting_process() {
    let Some(url) = database().await else { return };
    let (api, worker) = (Bus::redis(&url, "api").await.unwrap(), Bus::redis(&url, "worker").await.unwrap());
    let mut waiter = api.expect_reply(job());
    worker.reply("api", job(), &outcome()).await;
    assert_eq!(waiter.wait(SOON).await, Some(outcome()));

    let mut waiter = worker.expect_reply(job());
    worker.reply("worker", job(), &outcome()).await;
    assert_eq!(waiter.wait(SOON).await, Some(outcome()), "and one to itself stays");
}

#[tokio::test]
async fn a_notice_returns_once_every_live_edge_has_dropped_the_host() {
    let Some(url) = database().await else { return };
    let (one, two) = (Edge::join(&url, "edge-1").await, Edge::join(&url, "edge-2").await);
    let api = Bus::redis(&url, "api").await.unwrap();
    api.notify_edges(&[host("warm-abcd")]).await;

    let began = Instant::now();
    api.notify_edges(&[host("page-abcd"), host("page-efgh")]).await;
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    for edge in [&one, &two] {
        assert_eq!(edge.dropped(), [host("warm-abcd"), host("page-abcd"), host("page-efgh")]);
    }
    one.bus.notify_edges(&[host("last-abcd")]).await;
    assert_eq!(one.dropped().last(), Some(&host("last-abcd")), "its own edge is called directly");
    assert_eq!(one.dropped().len(), 4, "and only once");
    assert_eq!(two.dropped().last(), Some(&host("last-abcd")));
}

#[tokio::test]
async fn many_notices_run_at_the_same_time() {
    let Some(url) = database().await else { return };
    let edge = Edge::join(&url, "edge").await;
    let api = Bus::redis(&url, "api").await.unwrap();
    let hosts: Vec<_> = (0..200).map(|n| [host(&format!("page-{n:04}"))]).collect();
    let began = Instant::now();
    futures::future::join_all(hosts.iter().map(|host| api.notify_edges(host))).await;
    assert!(began.elapsed() < Bus::EDGE_TRUST, "{:?}", began.elapsed());
    let mut dropped = edge.dropped();
    dropped.sort();
    assert_eq!(dropped, hosts.concat());
}

#[tokio::test]
async fn without_edges_a_notice_returns_at_once() {
    let Some(url) = database().await else { return };
    let api = Bus::redis(&url, "api").await.unwrap();
    let began = Instant::now();
    api.notify_edges(&[host("page-abcd")]).await;
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
}

#[tokio::test]
async fn notice_waits_for_a_silent_edge_until_its_trust_period_ends() {
    let Some(url) = database().await else { return };
    let edge = Edge::join(&url, "edge").await;
    let key = format!("handbill:{}:edges", url.rsplit('/').next().unwrap());
    let _: u64 = query(&url, redis::cmd("ZADD").arg(key).arg(9e15).arg("silent")).await;

    let began = Instant::now();
    edge.bus.notify_edges(&[host("page-abcd")]).await;
    let took = began.elapsed();
    assert!(took >= Bus::EDGE_TRUST && took < Bus::EDGE_TRUST + AT_ONCE, "{took:?}");
}

#[tokio::test]
async fn an_edge_that_leaves_is_no_longer_waited_for() {
    let Some(url) = database().await else { return };
    let (leaving, dropping) = (Edge::join(&url, "leaving").await, Edge::join(&url, "dropping").await);
    assert!(is_listed(&url, "leaving").await && is_listed(&url, "dropping").await);
    leaving.lease.leave().await;
    assert!(!is_listed(&url, "leaving").await);

    drop(dropping.lease);
    let deadline = Instant::now() + Duration::from_secs(1);
    while is_listed(&url, "dropping").await {
        assert!(Instant::now() < deadline, "a dropped lease leaves the list before it expires");
    }
}

#[tokio::test]
async fn limits_are_shared_by_processes_and_end_with_their_window() {
    let Some(url) = database().await else { return };
    let (one, two) = (Bus::redis(&url, "api-1").await.unwrap(), Bus::redis(&url, "api-2").await.unwrap());
    let start = Time::from_millis(1_700_000_000_000);
    for number in 0..10 {
        let bus = if number % 2 == 0 { &one } else { &two };
        assert!(bus.take(&ten_a_minute(), start).await.is_ok());
    }
    let later = start.plus(Duration::from_millis(15_001));
    for bus in [&one, &two] {
        assert_eq!(bus.take(&ten_a_minute(), later).await, Err(RetryAfter { seconds: 45 }));
    }
    let other = RateLimit { key: "192.0.2.2".to_owned(), ..ten_a_minute() };
    assert!(one.take(&other, later).await.is_ok());
    assert!(two.take(&ten_a_minute(), start.plus(Duration::from_secs(60))).await.is_ok());
}

#[tokio::test]
async fn buckets_and_returned_units_are_shared_by_processes() {
    let Some(url) = database().await else { return };
    let (one, two) = (Bus::redis(&url, "api-1").await.unwrap(), Bus::redis(&url, "api-2").await.unwrap());
    let start = Time::from_millis(1_700_000_000_123);
    let budget = Budget::minute_bucket(7.try_into().unwrap());
    let bucket = RateLimit { name: "publish", key: "account".to_owned(), budget };
    let take = async |number: usize, now| {
        if number.is_multiple_of(2) { &one } else { &two }.take(&bucket, now).await
    };
    for number in 0..7 {
        assert!(take(number, start).await.is_ok());
    }
    // A token takes 8.57 s.
    for number in 0..10 {
        assert_eq!(take(number, start).await, Err(RetryAfter { seconds: 9 }));
    }
    let later = start.plus(Duration::from_millis(17_143));
    assert!(take(0, later).await.is_ok() && take(1, later).await.is_ok());
    assert_eq!(take(0, later).await, Err(RetryAfter { seconds: 9 }));

    for _ in 0..20 {
        assert!(one.take(&ten_a_minute(), start).await.is_ok());
        two.give_back_each(&[ten_a_minute()]).await;
    }
    for _ in 0..10 {
        assert!(two.take(&ten_a_minute(), start).await.is_ok());
    }
    for _ in 0..5 {
        assert_eq!(one.take(&ten_a_minute(), start).await, Err(RetryAfter { seconds: 60 }));
    }
    one.give_back_each(&[ten_a_minute()]).await;
    assert!(two.take(&ten_a_minute(), start).await.is_ok(), "refused takes do not count");
}

#[tokio::test]
async fn refusal_by_a_wider_network_does_not_charge_the_narrower_one() {
    let Some(url) = database().await else { return };
    for bus in [Bus::local("all"), Bus::redis(&url, "api").await.unwrap()] {
        let budget = Budget::Window { takes: 1, length: Duration::from_secs(600) };
        let take = async |of_64: u8, now| {
            let address = format!("2001:db8:1:{of_64:04x}::1").parse().unwrap();
            let taken = bus.take_each(&RateLimit::of_address("claim", address, budget), now).await;
            taken.map_err(|exceeded| exceeded.retry_after)
        };
        let start = Time::from_millis(1_700_000_000_123);
        for of_64 in 0..8 {
            assert!(take(of_64, start).await.is_ok());
        }
        assert_eq!(take(0, start).await, Err(RetryAfter { seconds: 600 }));
        // The window of the ninth starts only with its first take.
        assert_eq!(take(8, start.plus(Duration::from_secs(599))).await, Err(RetryAfter { seconds: 1 }));
        assert!(take(8, start.plus(Duration::from_secs(600))).await.is_ok());
    }
}

#[tokio::test]
async fn concurrent_takes_stay_within_the_budget() {
    let Some(url) = database().await else { return };
    let (one, two) = (Bus::redis(&url, "api-1").await.unwrap(), Bus::redis(&url, "api-2").await.unwrap());
    let budget = Budget::minute_bucket(20.try_into().unwrap());
    let bucket = RateLimit { name: "publish", key: "account".to_owned(), budget };
    let now = Time::from_millis(1_700_000_000_123);
    let takes = (0..100).map(|number| if number % 2 == 0 { &one } else { &two }.take(&bucket, now));
    let taken = futures::future::join_all(takes).await;
    assert_eq!(taken.iter().filter(|verdict| verdict.is_ok()).count(), 20);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_clear_error_without_secrets() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let began = Instant::now();
    let url = format!("redis://user:hunter2@127.0.0.1:{port}/0");
    let error = format!("{:#}", Bus::redis(&url, "api").await.err().unwrap());
    assert!(began.elapsed() < Duration::from_secs(7));
    assert!(error.contains(&format!("Redis at 127.0.0.1:{port}")), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn outage_only_delays_calls_and_the_bus_recovers() {
    let Some(mut server) = Server::start() else { return };
    let url = server.url();
    let edge = Edge::join(&url, "edge").await;
    let api = Bus::redis(&url, "api").await.unwrap();
    let (send, received) = mpsc::channel();
    api.on_wake(move |queue| send.send(queue).unwrap());
    let read_before = Instant::now();

    server.kill();
    eventually("the loss is noticed", || !api.is_connected() && !edge.bus.is_connected()).await;
    assert!(!edge.lease.covers(Instant::now()), "an edge that is cut off trusts no cached route");
    outage_is_bounded(&api).await;

    server.restart();
    eventually("both are back", || api.is_connected() && edge.bus.is_connected()).await;
    let mut woken = Vec::new();
    eventually("every queue is woken", || {
        woken.extend(received.try_iter());
        woken == Queue::ALL
    })
    .await;
    eventually("the lease is held again", || edge.lease.covers(Instant::now())).await;
    assert!(!edge.lease.covers(read_before), "what was read before the gap may be old");
    signals_cross_again(&edge, &api).await;
}

async fn outage_is_bounded(api: &Bus) {
    let began = Instant::now();
    for _ in 0..10 {
        assert!(api.take(&ten_a_minute(), Time::from_millis(0)).await.is_ok());
    }
    assert_eq!(api.take(&ten_a_minute(), Time::from_millis(0)).await, Err(RetryAfter { seconds: 60 }));
    let mut waiter = api.expect_reply(job());
    api.reply("api", job(), &outcome()).await;
    assert_eq!(waiter.wait(SOON).await, Some(outcome()), "a reply to itself needs no Redis");
    api.reply("edge", job(), &outcome()).await;
    api.announce(Queue::Publish);
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "nobody waits for a dead server: {:?}",
        began.elapsed()
    );

    let began = Instant::now();
    api.notify_edges(&[host("gone-abcd")]).await;
    let took = began.elapsed();
    assert!(took >= Bus::EDGE_TRUST && took < Bus::EDGE_TRUST + AT_ONCE, "{took:?}");
}

async fn signals_cross_again(edge: &Edge, api: &Bus) {
    let mut waiter = api.expect_reply(job());
    edge.bus.reply("api", job(), &outcome()).await;
    assert_eq!(waiter.wait(SOON).await, Some(outcome()));

    // The server restarted empty, so the first notices wait until no earlier lease is trusted.
    let mut took = Bus::EDGE_TRUST;
    let deadline = Instant::now() + SOON;
    while took >= AT_ONCE {
        assert!(Instant::now() < deadline, "notices stay slow: {took:?}");
        let began = Instant::now();
        api.notify_edges(&[host("back-abcd")]).await;
        took = began.elapsed();
        assert!(took < Bus::EDGE_TRUST + AT_ONCE, "{took:?}");
    }
    assert_eq!(edge.dropped().last(), Some(&host("back-abcd")));
}

#[tokio::test]
async fn hanging_server_is_treated_as_disconnected() {
    let Some(mut server) = Server::start() else { return };
    let api = Bus::redis(&server.url(), "api").await.unwrap();
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-STOP", &pid]).status().unwrap().success());

    let began = Instant::now();
    assert!(api.take(&ten_a_minute(), Time::from_millis(0)).await.is_ok());
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
    eventually("the loss is noticed", || !api.is_connected()).await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());

    server.kill();
    server.restart();
    eventually("it is back", || api.is_connected()).await;
}

#[tokio::test]
async fn processes_share_one_bus_identity_even_after_redis_loses_its_data() {
    let (Some(url), Some(elsewhere)) = (database().await, database().await) else { return };
    let (one, two) = (Bus::redis(&url, "one").await.unwrap(), Bus::redis(&url, "two").await.unwrap());
    let other = Bus::redis(&elsewhere, "other").await.unwrap();
    assert_eq!(one.identity(), two.identity());
    assert_ne!(one.identity(), other.identity());
    assert_ne!(Bus::local("three").identity(), Bus::local("four").identity());

    let _: String = query(&url, &redis::cmd("FLUSHDB")).await;
    let late = Bus::redis(&url, "late").await.unwrap();
    // After the loss, every process adopts the identity that was written first.
    eventually("all have one identity again", || {
        late.identity() == one.identity() && late.identity() == two.identity()
    })
    .await;
}
