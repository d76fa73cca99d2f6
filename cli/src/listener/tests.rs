//! The listeners, driven through real sockets.

use poem::endpoint::make;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::*;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

const SLOTS: usize = 2;
/// More than the kernels of both sides buffer.
const FILM_BYTES: usize = 24_000_000;

pub(crate) const LIMITS: ConnectionLimits = ConnectionLimits {
    max: SLOTS,
    per_address_max: 1_000,
    head_timeout: Duration::from_secs(30),
    idle_timeout: Duration::from_secs(75),
    head_bytes_max: 65_536,
    headers_max: 100,
    streams_max: 32,
    answer_bytes_per_second_min: 1_024,
};

struct Opened {
    address: SocketAddr,
    background_tasks: TaskTracker,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<anyhow::Result<()>>,
}

/// A listener that responds after a while.
async fn open(answers_after: Duration) -> Opened {
    open_within(LIMITS, answers_after).await
}

async fn open_within(limits: ConnectionLimits, answers_after: Duration) -> Opened {
    let endpoint = make(move |_| async move {
        sleep(answers_after).await;
        "done"
    });
    open_with(limits, endpoint).await
}

/// A listener whose every response is a film.
async fn open_with_films(limits: ConnectionLimits) -> Opened {
    let film = bytes::Bytes::from(vec![b'x'; FILM_BYTES]);
    open_with(limits, make(move |_| std::future::ready(film.clone()))).await
}

async fn open_with(limits: ConnectionLimits, endpoint: impl Endpoint + 'static) -> Opened {
    let overload_response = OverloadResponse::new("text/plain", "too many");
    let terms = ListenerLimits { key: "test", role: "test", limits, proxies: Vec::new(), overload_response };
    let listener = Listener::open("127.0.0.1:0".parse().unwrap(), terms).await.unwrap();
    let (address, stop, background_tasks) =
        (listener.state.local_address, CancellationToken::new(), TaskTracker::new());
    let serving = tokio::spawn(listener.serve(endpoint, background_tasks.clone(), stop.clone()));
    Opened { address, background_tasks, stop, serving }
}

async fn read_all(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn stop_waits_only_for_requests_in_progress() {
    let listener = open(Duration::from_millis(300)).await;
    let mut silent = TcpStream::connect(listener.address).await.unwrap();
    let mut asking = TcpStream::connect(listener.address).await.unwrap();
    asking.write_all(REQUEST).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    let stopped_at = Instant::now();
    listener.stop.cancel();
    assert!(read_all(&mut asking).await.ends_with("done"));
    assert_eq!(read_all(&mut silent).await, "");
    listener.serving.await.unwrap().unwrap();
    assert!(stopped_at.elapsed() < Duration::from_secs(5), "{:?}", stopped_at.elapsed());
    assert!(TcpStream::connect(listener.address).await.is_err());
}

#[tokio::test]
async fn a_connection_stays_open_for_the_next_request() {
    let listener = open(Duration::ZERO).await;
    let mut stream = TcpStream::connect(listener.address).await.unwrap();
    for _ in 0..3 {
        stream.write_all(REQUEST).await.unwrap();
        let mut answer = [0; 512];
        let read = stream.read(&mut answer).await.unwrap();
        assert!(answer[..read].ends_with(b"done"));
    }
    listener.stop.cancel();
    assert_eq!(read_all(&mut stream).await, "");
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn stop_waits_for_background_tasks() {
    let listener = open(Duration::ZERO).await;
    let task = listener.background_tasks.spawn(sleep(Duration::from_millis(300)));
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
    assert!(task.is_finished());
}

#[tokio::test]
async fn new_connection_gets_the_slot_of_the_longest_idle_one() {
    let listener = open(Duration::ZERO).await;
    let mut answer = [0; 512];
    let mut visitors = Vec::new();
    for _ in 0..SLOTS {
        let mut visitor = TcpStream::connect(listener.address).await.unwrap();
        visitor.write_all(REQUEST).await.unwrap();
        assert!(visitor.read(&mut answer).await.unwrap() > 0);
        visitors.push(visitor);
    }
    sleep(Duration::from_millis(1_200)).await;
    visitors[0].write_all(REQUEST).await.unwrap();
    assert!(visitors[0].read(&mut answer).await.unwrap() > 0);
    let mut next = TcpStream::connect(listener.address).await.unwrap();
    next.write_all(REQUEST).await.unwrap();
    let read = timeout(Duration::from_secs(5), next.read(&mut answer)).await.unwrap().unwrap();
    assert!(answer[..read].ends_with(b"done"));
    assert_eq!(visitors[1].read(&mut answer).await.unwrap(), 0, "it was idle for longest");
    visitors[0].write_all(REQUEST).await.unwrap();
    assert!(visitors[0].read(&mut answer).await.unwrap() > 0, "it was in use");
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn connection_with_an_unfinished_head_is_evicted_at_once() {
    let listener = open(Duration::ZERO).await;
    let mut slow = Vec::new();
    for _ in 0..SLOTS {
        let mut visitor = TcpStream::connect(listener.address).await.unwrap();
        visitor.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
        slow.push(visitor);
    }
    sleep(Duration::from_millis(1_200)).await;
    let mut next = TcpStream::connect(listener.address).await.unwrap();
    next.write_all(REQUEST).await.unwrap();
    let mut answer = [0; 512];
    let read = timeout(Duration::from_secs(5), next.read(&mut answer)).await.unwrap().unwrap();
    assert!(answer[..read].ends_with(b"done"));
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn connection_without_a_slot_gets_503_with_retry_after() {
    let listener = open(Duration::from_secs(2)).await;
    let mut busy = Vec::new();
    for _ in 0..SLOTS {
        let mut visitor = TcpStream::connect(listener.address).await.unwrap();
        visitor.write_all(REQUEST).await.unwrap();
        busy.push(visitor);
    }
    sleep(Duration::from_millis(200)).await;
    let mut next = TcpStream::connect(listener.address).await.unwrap();
    next.write_all(REQUEST).await.unwrap();
    let answer = timeout(Duration::from_secs(1), read_all(&mut next)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("too many"), "{answer}");
    assert!(answer.contains("\r\nRetry-After: 2\r\n"), "{answer}");
    listener.stop.cancel();
    for mut visitor in busy {
        assert!(read_all(&mut visitor).await.ends_with("done"));
    }
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn http2_connection_without_a_slot_gets_goaway() {
    let listener = open(Duration::from_secs(2)).await;
    let mut busy = Vec::new();
    for _ in 0..SLOTS {
        let mut visitor = TcpStream::connect(listener.address).await.unwrap();
        visitor.write_all(REQUEST).await.unwrap();
        busy.push(visitor);
    }
    sleep(Duration::from_millis(200)).await;
    let mut next = TcpStream::connect(listener.address).await.unwrap();
    next.write_all(HTTP2_REQUEST).await.unwrap();
    let mut received = Vec::new();
    next.read_to_end(&mut received).await.unwrap();
    let (settings, goaway) = received.split_at(9);
    assert_eq!((settings[3], goaway[3], goaway.len()), (4, 7, 9 + 8));
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn connection_with_an_unfinished_response_is_not_evicted() {
    let listener = open_with_films(LIMITS).await;
    let mut downloading = TcpStream::connect(listener.address).await.unwrap();
    downloading.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut begin = [0; 512];
    assert!(downloading.read(&mut begin).await.unwrap() > 0);
    let mut idle = TcpStream::connect(listener.address).await.unwrap();
    sleep(Duration::from_millis(1_200)).await;
    let mut next = TcpStream::connect(listener.address).await.unwrap();
    next.write_all(REQUEST).await.unwrap();
    assert!(next.read(&mut begin).await.unwrap() > 0);
    assert_eq!(idle.read(&mut begin).await.unwrap(), 0, "the idle one made room");
    // Now both are active.
    let mut last = TcpStream::connect(listener.address).await.unwrap();
    last.write_all(REQUEST).await.unwrap();
    assert!(read_all(&mut last).await.starts_with("HTTP/1.1 503 "));
    assert!(read_all(&mut downloading).await.len() > FILM_BYTES - 1_024);
    drop(next);
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}

/// A complete HTTP/2 request: the preface, empty settings, and the head of a GET.
const HTTP2_REQUEST: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\
    \0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a";

#[tokio::test]
async fn http2_client_that_never_opens_its_window_is_disconnected() {
    let idle_timeout = Duration::from_secs(2);
    let limits = ConnectionLimits { idle_timeout, answer_bytes_per_second_min: 100_000, ..LIMITS };
    let listener = open_with_films(limits).await;
    let mut visitor = TcpStream::connect(listener.address).await.unwrap();
    visitor.write_all(HTTP2_REQUEST).await.unwrap();
    let (began, mut came) = (Instant::now(), Vec::new());
    // What the initial window of 64 KiB allows arrives, and then the end, possibly a reset.
    let _ = timeout(5 * idle_timeout, visitor.read_to_end(&mut came)).await.expect("it is still there");
    assert!(came.len() >= 65_535 && came.len() < 100_000, "{}", came.len());
    assert!(began.elapsed() >= idle_timeout / 2, "{:?}", began.elapsed());
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn address_with_all_its_slots_active_gets_503() {
    let limits = ConnectionLimits { max: 100, per_address_max: 1, ..LIMITS };
    let listener = open_within(limits, Duration::from_secs(1)).await;
    let mut first = TcpStream::connect(listener.address).await.unwrap();
    first.write_all(REQUEST).await.unwrap();
    sleep(Duration::from_millis(200)).await;
    let mut second = TcpStream::connect(listener.address).await.unwrap();
    second.write_all(REQUEST).await.unwrap();
    assert!(read_all(&mut second).await.starts_with("HTTP/1.1 503 "));
    let mut answer = [0; 512];
    assert!(first.read(&mut answer).await.unwrap() > 0);
    // It is idle now, and is evicted.
    let mut third = TcpStream::connect(listener.address).await.unwrap();
    third.write_all(REQUEST).await.unwrap();
    let read = third.read(&mut answer).await.unwrap();
    assert!(answer[..read].ends_with(b"done"));
    assert_eq!(first.read(&mut answer).await.unwrap(), 0);
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn oversized_request_head_gets_431_and_is_closed() {
    let limits = ConnectionLimits { head_bytes_max: 8_192, headers_max: 10, ..LIMITS };
    let listener = open_within(limits, Duration::ZERO).await;
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(9_000));
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-A: b\r\n".repeat(10));
    for head in [long, many] {
        let mut visitor = TcpStream::connect(listener.address).await.unwrap();
        visitor.write_all(head.as_bytes()).await.unwrap();
        assert!(read_all(&mut visitor).await.starts_with("HTTP/1.1 431 "));
    }
    listener.stop.cancel();
    listener.serving.await.unwrap().unwrap();
}
