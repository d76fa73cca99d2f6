//! An object store behind a socket that closes connections or stays silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::BlobHash;
use futures::TryStreamExt;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::*;
use crate::blobs::StorageKey;
use crate::objects::is_missing;
use crate::{Blobs, Layout, S3Settings, is_outage};

const SIZE_BYTES: u64 = 100_000;

fn content() -> Vec<u8> {
    (0..SIZE_BYTES).map(|number| (number % 251) as u8).collect()
}

/// A store that sends this much of each requested range and closes the connection.
struct ShortReads {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl ShortReads {
    async fn start(answer_bytes_max: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (url, requests) =
            (format!("http://{}", listener.local_addr().unwrap()), Arc::<AtomicUsize>::default());
        let counted = requests.clone();
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(socket, answer_bytes_max));
            }
        });
        Self { url, requests }
    }
}

/// Reads one request. Returns the first and the last byte of its range.
async fn asked_range(socket: &mut TcpStream) -> (usize, usize) {
    let mut lines = BufReader::new(socket).lines();
    let mut range = None;
    while let Some(line) = lines.next_line().await.unwrap().filter(|line| !line.is_empty()) {
        if let Some(asked) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
            let (first, last) = asked.split_once('-').unwrap();
            range = Some((first.parse().unwrap(), last.parse().unwrap()));
        }
    }
    range.expect("a range is asked for")
}

async fn answer(mut socket: TcpStream, answer_bytes_max: usize) {
    let (first, last) = asked_range(&mut socket).await;
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{SIZE_BYTES}\r\nContent-Length: {}\r\n\r\n",
        last + 1 - first
    );
    let end = (last + 1).min(first + answer_bytes_max);
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(&content()[first..end]).await.unwrap();
}

pub(crate) fn blobs_at(url: &str) -> Blobs {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = S3Settings {
        bucket: "bucket".into(),
        prefix: "blobs".into(),
        endpoint: Some(url.to_owned()),
        region: "us-east-1".into(),
        access_key_id: "id".into(),
        secret_access_key: "key".into(),
    };
    Blobs::s3(&settings).unwrap()
}

#[tokio::test]
async fn read_resumes_after_a_dropped_connection() {
    let store = ShortReads::start(30_000).await;
    let range = 10..SIZE_BYTES - 10;
    let chunks = blobs_at(&store.url).stream_range(StorageKey::Blob(BlobHash::of(b"")), range).await.unwrap();
    let read: Vec<Bytes> = chunks.try_collect().await.unwrap();
    assert!(read.concat() == content()[10..content().len() - 10], "each byte once");
    assert_eq!(store.requests.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn read_without_progress_is_aborted() {
    let store = ShortReads::start(0).await;
    let begun_at = Instant::now();
    let chunks =
        blobs_at(&store.url).stream_range(StorageKey::Blob(BlobHash::of(b"")), 0..SIZE_BYTES).await.unwrap();
    assert!(chunks.try_collect::<Vec<Bytes>>().await.is_err());
    assert_eq!(store.requests.load(Ordering::SeqCst), FRUITLESS_MAX as usize);
    assert!(begun_at.elapsed() >= FRUITLESS_PAUSE * (FRUITLESS_MAX - 1), "not all at once");
}

#[tokio::test]
async fn a_small_content_is_read_with_one_request() {
    let store = ShortReads::start(SIZE_BYTES as usize).await;
    let read = blobs_at(&store.url).read(BlobHash::of(b""), 10..5_000).await.unwrap();
    assert!(read == content()[10..5_000]);
    assert_eq!(store.requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_file_that_is_too_short_is_no_outage_and_a_missing_one_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(folder.path()).unwrap();
    let (hash, bytes) = (BlobHash::of(b"content"), Bytes::from_static(b"content"));
    assert!(is_missing(&blobs.read(hash, 0..7).await.unwrap_err()));
    blobs.put(hash, bytes.clone(), Layout::default()).await.unwrap();
    assert_eq!(blobs.read(hash, 3..7).await.unwrap(), bytes.slice(3..7));
    assert_eq!(blobs.read(hash, 3..3).await.unwrap(), "");
    for too_long in [0..1_000, 1_000..1_001] {
        let error = blobs.read(hash, too_long).await.unwrap_err();
        assert!(!is_outage(&error) && !is_missing(&error), "{error:#}");
        assert!(error.to_string().contains("shorter"), "{error:#}");
    }
}

#[tokio::test]
async fn unresponsive_store_is_an_outage() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let blobs = blobs_at(&format!("http://{}", listener.local_addr().unwrap()));
    let (hash, content) = (BlobHash::of(b"x"), Bytes::from_static(b"x"));
    let layout = Layout::of(&content, "text/plain").unwrap();
    let (read, put, streamed) = tokio::join!(
        blobs.read(hash, 0..1),
        blobs.put(hash, content, layout),
        blobs.stream_range(StorageKey::Blob(hash), 0..1)
    );
    for error in [read.err(), put.err(), streamed.err()] {
        assert!(is_outage(&error.unwrap()));
    }
}
