//! Connections that no well-behaved client makes.

use std::net::SocketAddr;
use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Method, Process, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// The number of connections that are opened at a time, because the kernel's backlog is short.
const OPENED_AT_A_TIME: usize = 100;
/// A client that reads nothing must not buffer megabytes in its kernel.
const RECEIVE_BUFFER_BYTES: u32 = 16 * 1024;
/// Only a hanging server takes longer, even on a busy machine.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// A connection to the address of a URL.
pub async fn connect(url: &str) -> TcpStream {
    let address: SocketAddr = url.trim_start_matches("http://").parse().unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES).unwrap();
    socket.connect(address).await.unwrap()
}

/// Opens connections and sends this over each. The server may have closed some already.
pub async fn connections_sending(url: &str, count: usize, sent: &[u8]) -> Vec<TcpStream> {
    let mut opened = Vec::with_capacity(count);
    while opened.len() < count {
        let some = OPENED_AT_A_TIME.min(count - opened.len());
        let opening = (0..some).map(|_| async {
            let mut connection = connect(url).await;
            let _ = connection.write_all(sent).await;
            connection
        });
        opened.extend(join_all(opening).await);
    }
    opened
}

/// Everything that is received until the connection ends.
pub async fn answer_to(url: &str, sent: &[u8]) -> String {
    let mut connection = connect(url).await;
    // If the response comes early, sending the rest may fail.
    let _ = connection.write_all(sent).await;
    rest_of(&mut connection).await
}

/// Reads until the connection ends.
pub async fn rest_of(connection: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(ANSWER_WAIT, connection.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "not closed within {ANSWER_WAIT:?}");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Whether the other side has closed a connection without sending anything more.
pub async fn has_ended(connection: &mut TcpStream, within: Duration) -> bool {
    let mut some = [0; 4096];
    let ended = async { while connection.read(&mut some).await.is_ok_and(|read| read > 0) {} };
    timeout(within, ended).await.is_ok()
}

/// A metric of a process, added up over the samples whose labels contain this text.
pub async fn metric(world: &World, process: &Process, name: &str, label: &str) -> f64 {
    let response = world.ask_ops(process, "/metrics").await.expect(200).text();
    let samples = response.lines().filter(|line| line.starts_with(name) && line.contains(label));
    samples.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

pub async fn resident_bytes(world: &World, process: &Process) -> f64 {
    metric(world, process, "process_resident_memory_bytes", "").await
}

/// The head of a publish whose body is this long.
pub fn publish_head(token: &str, length_bytes: usize) -> String {
    format!(
        "{} /v1/publish HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: {length_bytes}\r\n\r\n",
        Method::POST
    )
}
