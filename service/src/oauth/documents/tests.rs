//! Documents from a server of this machine, and the addresses that are refused. The rules for addresses are
//! tested in `domain`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// A server that gives the same response to every request, and counts the requests.
async fn server(response: impl Fn(&str) -> String + Send + 'static) -> (Url, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let url: Url = format!("{base}/client.json").parse().unwrap();
    let (requests, counted, own) = (Arc::new(AtomicUsize::new(0)), url.to_string(), url.clone());
    let count = requests.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(response(&counted).as_bytes()).await;
        }
    });
    (own, requests)
}

fn document(client_id: &str) -> String {
    json!({ "client_id": client_id, "client_name": "App", "redirect_uris": ["https://app.example/cb"] })
        .to_string()
}

fn ok(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

async fn fetched(response: impl Fn(&str) -> String + Send + 'static) -> Result<String, DocumentFault> {
    install_tls();
    let (url, _) = server(response).await;
    let client = careful(Duration::from_millis(500)).build().unwrap();
    fetch(&client, &url, url.as_str()).await.map(|metadata| metadata.name.to_string())
}

fn install_tls() {
    // Another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[tokio::test]
async fn a_document_names_its_client_and_its_own_address() {
    assert_eq!(fetched(|url| ok(&document(url))).await, Ok("App".into()));
    assert_eq!(fetched(|_| ok(&document("https://other.example/c"))).await, Err(DocumentFault::OtherClient));
    let secret =
        |url: &str| document(url).replacen('{', r#"{"token_endpoint_auth_method":"private_key_jwt","#, 1);
    assert_eq!(fetched(move |url| ok(&secret(url))).await, Err(DocumentFault::NotPublic));
    let bad = |url: &str| document(url).replace("https://app.example/cb", "http://app.example/cb");
    assert_eq!(fetched(move |url| ok(&bad(url))).await, Err(DocumentFault::BadRedirects));
    assert_eq!(fetched(|_| ok("[]")).await, Err(DocumentFault::NotJson));
    assert_eq!(
        fetched(|url| ok(&document(url)).replace("application/json", "text/html")).await,
        Err(DocumentFault::NotJson)
    );
}

#[tokio::test]
async fn a_long_or_slow_document_is_refused() {
    let padded = |url: &str| format!("{}{}", document(url), " ".repeat(DOCUMENT_BYTES_MAX));
    assert_eq!(fetched(move |url| ok(&padded(url))).await, Err(DocumentFault::TooLong));
    let chunked = |url: &str| {
        let chunk = format!("{}{}", document(url), " ".repeat(DOCUMENT_BYTES_MAX));
        let header =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        format!("{header}{:x}\r\n{chunk}\r\n0\r\n\r\n", chunk.len())
    };
    assert_eq!(fetched(chunked).await, Err(DocumentFault::TooLong));
    let endless = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
    assert_eq!(fetched(|_| endless.to_owned()).await, Err(DocumentFault::Unreachable));
}

#[tokio::test]
async fn redirects_of_a_document_are_not_followed() {
    install_tls();
    let (target, requests) = server(|url| ok(&document(url))).await;
    let moved = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(fetched(move |_| moved.clone()).await, Err(DocumentFault::Missing));
    assert_eq!(requests.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn names_of_this_machine_and_its_network_are_not_connected_to() {
    install_tls();
    let (target, requests) = server(|url| ok(&document(url))).await;
    let port = target.port().unwrap();
    // As in production, but without TLS, which would fail anyway.
    let client = careful(FETCH_MAX).dns_resolver(PublicResolver).build().unwrap();
    let url: Url = format!("http://localhost:{port}/client.json").parse().unwrap();
    assert_eq!(fetch(&client, &url, url.as_str()).await.unwrap_err(), DocumentFault::Unreachable);
    assert_eq!(requests.load(Ordering::SeqCst), 0);
    assert!(all_public(vec![]).is_err());
    let parse = |addresses: &[&str]| addresses.iter().map(|one| one.parse().unwrap()).collect();
    assert!(all_public(parse(&["1.1.1.1:0", "[2606:4700::1]:0"])).is_ok());
    for mixed in
        [["1.1.1.1:0", "127.0.0.1:0"], ["[fd00::1]:0", "1.1.1.1:0"], ["1.1.1.1:0", "[::ffff:10.0.0.1]:0"]]
    {
        assert!(all_public(parse(&mixed)).is_err(), "{mixed:?}");
    }
}

#[tokio::test]
async fn documents_without_https_are_refused_by_the_client() {
    install_tls();
    let documents = ClientDocuments::default();
    let (target, requests) = server(|url| ok(&document(url))).await;
    assert!(fetch(documents.client().unwrap(), &target, target.as_str()).await.is_err());
    assert_eq!(requests.load(Ordering::SeqCst), 0);
}
