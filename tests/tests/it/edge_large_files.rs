//! Large files stream from the store at the visitor's pace, however slow.

use std::time::Duration;

use handbill_tests::{Reply, World, in_both_modes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

/// More than all buffers on the way, and less than the maximum of a publish.
const LARGE_BYTES: usize = 9 << 20;
/// Longer than any wait for the store.
const PAUSE: Duration = Duration::from_secs(12);
/// The visitor's receive buffer.
const RECEIVED_AHEAD_BYTES: u32 = 16 << 10;
const PATH: &str = "large.bin";

in_both_modes! {
    async fn visitor_who_pauses_longer_than_any_timeout_gets_the_whole_file(world: World) {
        let (content, published) = publish_large(&world).await;
        let mut visit = begin_visit(&world, &published).await;
        sleep(PAUSE).await;
        assert!(rest_of(&mut visit).await == content, "the file came otherwise than it was published");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edge_resumes_a_blob_read_that_the_store_closed_on_a_slow_visitor() {
    let world = World::with(handbill_tests::Mode::Production, handbill_tests::program!()).start().await;
    let (content, published) = publish_large(&world).await;
    let mut visit = begin_visit(&world, &published).await;
    world.s3().stop().await;
    world.s3().start().await;
    assert!(rest_of(&mut visit).await == content, "the file came otherwise than it was published");
}

async fn publish_large(world: &World) -> (Vec<u8>, Reply) {
    let content = noise();
    let files: [(&str, &[u8]); 2] = [("index.html", b"<p>x</p>"), (PATH, &content)];
    let published = world.agent().await.publish_files("my-site", &files).await.expect(201);
    (content, published)
}

/// Incompressible bytes.
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..LARGE_BYTES / 8).flat_map(|_| next()).collect()
}

/// Requests the large file, and reads nothing yet.
async fn begin_visit(world: &World, published: &Reply) -> TcpStream {
    let address = world.serve_url().trim_start_matches("http://").to_owned();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(RECEIVED_AHEAD_BYTES).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let target = format!("/site/{}/{PATH}", published.string("host"));
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    // The response has begun.
    stream.readable().await.unwrap();
    stream
}

async fn rest_of(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::with_capacity(LARGE_BYTES);
    // A broken connection shows as a file that is too short.
    let _ = stream.read_to_end(&mut answer).await;
    let head_bytes = answer.windows(4).position(|end| end == b"\r\n\r\n").expect("a head") + 4;
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&answer[..head_bytes]));
    answer.split_off(head_bytes)
}
