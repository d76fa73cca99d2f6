//! Attacks that once succeeded and no longer do.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use handbill_tests::{Mode, World, in_both_modes, json, program};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::expectations::PAGE;

/// The maximum size of one publish with its form.
const LARGEST_BYTES: u64 = 11 * 1_048_576;
/// As many of those as fit into the memory for uploads, and one that announces the rest.
const LARGEST_AT_ONCE: usize = 23;
const REST_BYTES: u64 = 256 * 1_048_576 - LARGEST_AT_ONCE as u64 * LARGEST_BYTES;

in_both_modes! {
    #[settings(
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "3",
        "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8"
    )]
    async fn ipv6_addresses_of_one_network_share_the_signup_limit(world: World) {
        let sign_up = async |from: String| world.stranger().post("/v1/signup").header("X-Forwarded-For", from).await;
        for host in 1..=3 {
            sign_up(format!("2001:db8:1:2::{host}")).await.expect(201);
        }
        sign_up("2001:db8:1:2:ffff::4".into()).await.refused(429, "rate_limited");
        sign_up("2001:db8:1:3::1".into()).await.expect(201);
    }

    async fn pinned_token_gets_no_idempotent_response_of_another_artifact(world: World) {
        let agent = world.agent().await;
        let mine = agent.publish("my-page", PAGE).await.expect(201).string("artifact_id");
        let other = agent.publish("other-page", PAGE).idempotency_key("1").await.expect(201);
        let pinned = agent.minted(&json!({ "artifact_id": mine })).await;
        let refused = pinned.publish("other-page", PAGE).idempotency_key("1").await;
        let refused = refused.refused(409, "idempotency_conflict");
        assert!(!refused.text().contains(&other.string("artifact_id")), "{refused:?}");
        // With its own pin the idempotency key works.
        let first = pinned.publish("my-page", PAGE).idempotency_key("2").await.expect(201);
        let again = pinned.publish("my-page", PAGE).idempotency_key("2").await.expect(201);
        assert_eq!(first.json(), again.json());
    }

    async fn announced_uploads_without_a_body_block_nobody(world: World) {
        let (attacker, victim) = (world.agent().await, world.agent().await);
        let lengths = std::iter::repeat_n(LARGEST_BYTES, LARGEST_AT_ONCE).chain([REST_BYTES]);
        let mut announced = Vec::new();
        for length in lengths {
            announced.push(announce_upload(&world, attacker.token(), length).await);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        victim.publish("my-page", PAGE).await.expect(201);
        let tool = victim.call_tool("publish_artifact", &json!({ "files": [{ "path": "index.html", "content": PAGE }] }));
        assert_eq!(tool.await.expect(200).at("result.isError"), json!(false));
    }
}

/// Opens a connection, and sends only the beginning of a publish.
async fn announce_upload(world: &World, token: &str, length: u64) -> TcpStream {
    let address = world.base_url().trim_start_matches("http://").to_owned();
    let mut connection = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /v1/publish HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: {length}\r\n\r\n--XX\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    connection
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_directory_is_private_to_its_owner() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let data = std::fs::metadata(world.folder().join("data")).unwrap();
    assert_eq!(data.permissions().mode() & 0o777, 0o700);
}
