//! Redis loses the list of edges while they keep running.

use super::*;

#[tokio::test]
async fn edge_missing_from_the_redis_list_is_still_notified_and_awaited() {
    let Some(url) = database().await else { return };
    let (one, two) = (Edge::join(&url, "edge-1").await, Edge::join(&url, "edge-2").await);
    let api = Bus::redis(&url, "api").await.unwrap();
    for number in 0..50 {
        let _: String = query(&url, &redis::cmd("FLUSHDB")).await;
        let (began, host) = (Instant::now(), host(&format!("page-{number:04}")));
        let from = if number % 2 == 0 { &api } else { &one.bus };
        from.notify_edges(std::slice::from_ref(&host)).await;
        assert_eq!(one.dropped().last(), Some(&host));
        assert_eq!(two.dropped().last(), Some(&host));
        assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    }
    assert_eq!(one.dropped().len(), 50, "no host is dropped twice");
}

#[tokio::test]
async fn unlisted_silent_subscriber_is_awaited() {
    let Some(url) = database().await else { return };
    let api = Bus::redis(&url, "api").await.unwrap();
    let client = redis::Client::open(url.as_str()).unwrap();
    let mut silent = client.get_async_pubsub().await.unwrap();
    silent.subscribe(format!("handbill:{}:notices", url.rsplit('/').next().unwrap())).await.unwrap();

    let began = Instant::now();
    api.notify_edges(&[host("page-abcd")]).await;
    let took = began.elapsed();
    assert!(took >= Bus::EDGE_TRUST && took < Bus::EDGE_TRUST + AT_ONCE, "{took:?}");

    // By now every edge that trusts its cache is in the list again.
    let began = Instant::now();
    api.notify_edges(&[host("page-abcd")]).await;
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
}
