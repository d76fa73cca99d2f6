//! Tests over a socket, for what only a real connection shows.

use poem::Server;
use poem::listener::TcpAcceptor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::harness::EdgeHarness;

async fn say(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn head_response_has_content_length_and_no_body() {
    let harness = EdgeHarness::build().await;
    let route = harness.site(&[("index.html", "<p>0123456789</p>")]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TcpAcceptor::from_tokio(listener).unwrap();
    let server = tokio::spawn(Server::new_with_acceptor(acceptor).run(harness.edge.endpoint()));
    let target = "/site/my-page-a1b2/";
    for (request, status, length, has_body) in [
        (format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "200 OK", Some(17), true),
        (
            format!("HEAD {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            "200 OK",
            Some(17),
            false,
        ),
        (
            "GET http://my-page-a1b2.localhost/ HTTP/1.1\r\nHost: other-c3d4.localhost\r\nConnection: close\r\n\r\n"
                .to_owned(),
            "200 OK",
            Some(17),
            true,
        ),
        (
            format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIf-None-Match: *\r\n\r\n"),
            "304 Not Modified",
            None,
            false,
        ),
        (format!("GET {target} HTTP/1.0\r\n\r\n"), "200 OK", Some(17), true),
        (format!("GET {target} HTTP/1.1\r\nConnection: close\r\n\r\n"), "400 Bad Request", None, true),
        (
            "GET http://my-page-a1b2.localhost/ HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(),
            "400 Bad Request",
            None,
            true,
        ),
        (
            format!("GET {target} HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n"),
            "400 Bad Request",
            None,
            true,
        ),
    ] {
        harness.know(&route).await;
        let answer = say(address, &request).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.lines().next().unwrap().ends_with(status), "{request}{head}");
        assert!(head.contains("\r\ndate: "), "{head}");
        assert_eq!(!body.is_empty(), has_body, "{request}{body}");
        if let Some(length) = length {
            assert!(head.contains(&format!("\r\ncontent-length: {length}")), "{request}{head}");
        }
    }
    server.abort();
}
