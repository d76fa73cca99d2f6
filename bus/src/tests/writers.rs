//! Edges that lose the database trust their caches while every writer is connected.

use super::*;

/// Longer than any trust that ends by itself.
const LONG: Duration = Duration::from_secs(3);

async fn writer(url: &str, instance: &str) -> Bus {
    let bus = Bus::redis(url, instance).await.unwrap();
    bus.join_as_writer().await.unwrap();
    bus
}

impl Edge {
    /// Whether a route that was confirmed at this time is served until this long after it.
    async fn trusts_for(&self, confirmed_at: Instant, how_long: Duration) -> bool {
        while confirmed_at.elapsed() < how_long {
            if !self.lease.covers(confirmed_at) {
                return false;
            }
            sleep(Duration::from_millis(20)).await;
        }
        true
    }

    /// A time since which all writers are connected.
    async fn hears_all(&self) -> Instant {
        let deadline = Instant::now() + SOON;
        while Instant::now() < deadline {
            let confirmed_at = Instant::now();
            if self.trusts_for(confirmed_at, LONG).await {
                return confirmed_at;
            }
        }
        panic!("the edge never trusts its cache for longer than two seconds");
    }
}

async fn remove(url: &str, instance: &str) {
    let key = format!("handbill:{}:writers", url.rsplit('/').next().unwrap());
    assert_eq!(query::<u64>(url, redis::cmd("ZREM").arg(key).arg(instance)).await, 1);
}

#[tokio::test]
async fn an_edge_without_the_database_trusts_its_cache_while_it_hears_every_writer() {
    let Some(url) = database().await else { return };
    let edge = Edge::join(&url, "edge").await;
    assert!(!edge.trusts_for(Instant::now(), LONG).await, "no writer is known");
    let (api, worker) = (writer(&url, "api").await, writer(&url, "worker").await);
    let confirmed_at = edge.hears_all().await;
    api.notify_edges(&[host("page-abcd")]).await;
    assert_eq!(edge.dropped(), [host("page-abcd")]);
    worker.leave_as_writer().await;
    drop(worker);
    assert!(edge.trusts_for(confirmed_at, confirmed_at.elapsed() + LONG).await, "a writer may leave");

    // Its registration stays, as after a crash or a loss of its connection.
    drop(api);
    eventually("the writer is missed", || !edge.lease.covers(confirmed_at)).await;
    let _third = writer(&url, "third").await;
    assert!(!edge.trusts_for(Instant::now(), LONG).await, "another writer does not make up for it");
    remove(&url, "api").await;
    let later = edge.hears_all().await;
    assert!(edge.lease.covers(later) && !edge.lease.covers(confirmed_at), "it may have missed a change");
}

#[tokio::test]
async fn an_edge_trusts_nothing_that_it_knew_before_redis_lost_the_list_of_writers() {
    let Some(url) = database().await else { return };
    let edge = Edge::join(&url, "edge").await;
    let _api = writer(&url, "api").await;
    let confirmed_at = edge.hears_all().await;
    let _: String = query(&url, &redis::cmd("FLUSHDB")).await;
    eventually("the loss is noticed", || !edge.lease.covers(confirmed_at)).await;
    let later = edge.hears_all().await;
    assert!(edge.lease.covers(later) && !edge.lease.covers(confirmed_at));
}

#[tokio::test]
async fn a_writer_that_loses_redis_waits_until_no_edge_believes_that_it_is_connected() {
    let Some(mut server) = Server::start() else { return };
    let api = loop {
        if let Ok(bus) = Bus::redis(&server.url(), "api").await {
            break bus;
        }
    };
    api.join_as_writer().await.unwrap();
    let before = Instant::now();
    server.kill();
    eventually("the loss is noticed", || !api.is_connected()).await;
    api.notify_edges(&[host("page-abcd")]).await;
    let took = before.elapsed();
    // The last response was at most half a second before, and there may have been one more.
    assert!(took > Duration::from_millis(4400) && took < Duration::from_millis(5000) + AT_ONCE, "{took:?}");
    let began = Instant::now();
    api.notify_edges(&[host("page-abcd")]).await;
    let took = began.elapsed();
    assert!(took >= Bus::EDGE_TRUST && took < Bus::EDGE_TRUST + AT_ONCE, "{took:?}");
}

#[tokio::test]
async fn every_batch_of_a_notice_is_sent_though_an_edge_is_silent() {
    let Some(url) = database().await else { return };
    let edge = Edge::join(&url, "edge").await;
    let api = Bus::redis(&url, "api").await.unwrap();
    let key = format!("handbill:{}:edges", url.rsplit('/').next().unwrap());
    let _: u64 = query(&url, redis::cmd("ZADD").arg(key).arg(9e15).arg("silent")).await;
    let hosts: Vec<Host> = (0..1001).map(|number| host(&format!("page-{number:04}"))).collect();
    api.notify_edges(&hosts).await;
    assert_eq!(edge.dropped(), hosts);
}
