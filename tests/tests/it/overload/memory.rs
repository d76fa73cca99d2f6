//! Under any load, a process's memory stays bounded, and a second attack takes no more than the first. The
//! memory of large contents is returned to the system.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Agent, PATIENCE, Process, World, eventually, in_both_modes};
use tokio::net::TcpStream;

use super::wire::{connections_sending, metric, publish_head, resident_bytes};
use crate::expectations::{PAGE, front_page};
use crate::teams::claimed_by;

const MIB: f64 = 1_048_576.0;
/// The base memory of a debug build, 96 MiB for the cache, 64 for uploads, and the limits of 1,600
/// connections.
const RESIDENT_BYTES_MAX: f64 = 450.0 * MIB;
/// Memory that an allocator may keep.
const GROWTH_BYTES_MAX: f64 = 60.0 * MIB;
const LARGE_BYTES: usize = 9_000_000;

in_both_modes! {
    #[given(with_ops)]
    #[settings(
        "HANDBILL_API__CONNECTIONS_MAX" = "800",
        "HANDBILL_EDGE__CONNECTIONS_MAX" = "800",
        "HANDBILL_API__UPLOAD_BYTES_MAX" = "67108864",
    )]
    async fn memory_stays_bounded_and_does_not_grow_with_each_attack(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let mut peaks = Vec::new();
        for _ in 0..2 {
            let attack = attack(&world, &agent).await;
            let peak = resident_bytes(&world, &world.api()).await.max(resident_bytes(&world, &world.edge()).await);
            assert!(peak < RESIDENT_BYTES_MAX, "{:.0} MiB", peak / MIB);
            peaks.push(peak);
            drop(attack);
            for process in [world.api(), world.edge()] {
                eventually(PATIENCE, "the connections are closed", async || is_left_alone(&world, &process).await).await;
            }
            front_page(&world.visitor(), &published).await.expect(200);
            agent.publish("my-page", PAGE).await.expect(201);
        }
        assert!(peaks[1] < peaks[0] + GROWTH_BYTES_MAX, "{peaks:?}");
    }

    #[given(with_ops)]
    // On a busy machine, eight large publishes take longer than a response may.
    #[settings("HANDBILL_TEST_FAULTS" = "answer.wait_ms:instead=60000")]
    async fn the_memory_of_large_contents_is_returned(world: World) {
        let (agent, _owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        let before = resident_bytes(&world, &world.worker()).await;
        join_all((0..8).map(|number| large_publish(&agent, number))).await;
        eventually(PATIENCE, "the memory is returned", async || {
            let now = resident_bytes(&world, &world.worker()).await;
            (now < before + GROWTH_BYTES_MAX).then_some(())
        })
        .await;
    }
}

/// Publishes a file that is nearly as large as a publish may be.
async fn large_publish(agent: &Agent, number: u8) {
    let data = vec![number; LARGE_BYTES];
    agent.publish_files(&format!("site-{number}"), &[("data.bin", &data)]).await.expect(201);
}

/// Idle, silent, with half a huge head, with half a body: all at the same time.
async fn attack(world: &World, agent: &Agent) -> Vec<TcpStream> {
    let half_a_head = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Long: {}", "x".repeat(60_000));
    let half_a_body = format!(
        "{}--XX\r\nContent-Disposition: form-data; name=\"html\"\r\n\r\n{}",
        publish_head(agent.token(), 2_000_000),
        "x".repeat(500_000)
    );
    let mut attack = Vec::new();
    for url in [world.base_url(), world.serve_url()] {
        attack.extend(connections_sending(&url, 300, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await);
        attack.extend(connections_sending(&url, 200, b"").await);
        attack.extend(connections_sending(&url, 200, half_a_head.as_bytes()).await);
    }
    attack.extend(connections_sending(&world.base_url(), 100, half_a_body.as_bytes()).await);
    // By then everything sent was read, and nothing has timed out yet.
    tokio::time::sleep(Duration::from_secs(1)).await;
    attack
}

/// Only the clients of the test and the probes stay connected.
async fn is_left_alone(world: &World, process: &Process) -> Option<()> {
    (metric(world, process, "handbill_connections{", "").await < 50.0).then_some(())
}
