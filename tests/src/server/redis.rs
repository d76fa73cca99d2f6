//! A Redis database for each world, so that worlds do not share messages or limits.

/// The number of databases that `scripts/servers` configures, without the one for the counter.
const NUMBERS: i64 = 4_095;

/// The address of an empty Redis database that no other running test uses.
pub async fn own_number() -> String {
    let server = test_servers::redis().unwrap_or_else(|| super::skip_test());
    let server = server.trim_end_matches('/');
    let mut counter = connect(&format!("{server}/0")).await;
    let drawn: i64 = redis::cmd("INCR")
        .arg("handbill:test:next")
        .query_async(&mut counter)
        .await
        .expect("a number of Redis");
    let url = format!("{server}/{}", 1 + drawn % NUMBERS);
    let () = redis::cmd("FLUSHDB").query_async(&mut connect(&url).await).await.expect("an empty Redis");
    url
}

async fn connect(url: &str) -> redis::aio::MultiplexedConnection {
    let client = redis::Client::open(url).expect("the address of Redis");
    client.get_multiplexed_async_connection().await.expect("Redis answers; scripts/test starts one")
}
