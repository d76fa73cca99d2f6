//! Clients that describe themselves by a document at an address of theirs. A server of the test has the
//! documents; which addresses are fetched from is tested in `metadata` and in the service.

use handbill_tests::{Setup, in_both_modes, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::app::{App, Owner, REDIRECT, parameter};

const CLIENT: &str = "https://client.example/app.json";

/// Starts the server of the documents, which all processes use for every host.
trait ClientDocuments {
    fn with_client_documents(self) -> Self;
}

impl ClientDocuments for Setup {
    fn with_client_documents(self) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(respond(stream));
            }
        });
        self.env("HANDBILL_TEST_CLIENT_DOCUMENTS", format!("http://{address}"))
    }
}

async fn respond(mut stream: TcpStream) {
    let mut request = [0; 4096];
    let read = stream.read(&mut request).await.unwrap_or_default();
    let request = String::from_utf8_lossy(&request[..read]);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let document = json!({
        "client_id": CLIENT,
        "client_name": "Described App",
        "redirect_uris": [REDIRECT, "https://client.example/callback"],
    });
    let response = match path {
        "/app.json" | "/other.json" => found(&document.to_string()),
        "/long.json" => found(&format!("{document}{}", " ".repeat(11 * 1024))),
        "/moved.json" => format!("HTTP/1.1 302 Found\r\nLocation: {CLIENT}\r\nContent-Length: 0\r\n\r\n"),
        // The rest never arrives.
        "/slow.json" => found(&document.to_string())[..100].to_owned(),
        _ => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    let _ = stream.write_all(response.as_bytes()).await;
    // The connection stays open until the client closes it.
    let _ = stream.read(&mut [0; 1]).await;
}

fn found(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
}

in_both_modes! {
    #[given(with_client_documents)]
    async fn an_app_that_describes_itself_is_named_and_connected(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let shown = owner.human.get(&app.request(&[("client_id", CLIENT)])).await.expect(200);
        for text in ["Described App wants access", "client.example"] {
            assert!(shown.text().contains(text), "{text}: {}", shown.text());
        }
        let code = app.code_with(&owner.human, &owner.handle, &[("client_id", CLIENT)]).await;
        let tokens = app.exchange(&code, &[("client_id", CLIENT)]).await.expect(200);
        assert!(app.works(&tokens).await);

        let own = [("client_id", CLIENT), ("redirect_uri", "https://client.example/callback")];
        let allowed = app.pressed(&owner.human, "allow", &owner.handle, &own).await.expect(302);
        assert!(parameter(allowed.header("Location"), "code").is_some(), "{allowed:?}");
        for foreign in ["https://client.example/other", "https://evil.example/callback", ""] {
            let request = app.request(&[("client_id", CLIENT), ("redirect_uri", foreign)]);
            let refused = owner.human.get(&request).await.expect(400);
            assert_eq!(refused.header("Location"), "", "{foreign}");
        }
    }

    #[given(with_client_documents)]
    async fn a_faulty_document_is_refused_with_its_fault(world: World) {
        let app = App::register(&world).await;
        for (path, fault) in [
            ("other.json", "has another client_id"),
            ("long.json", "is longer than 10 KiB"),
            ("moved.json", "could not be fetched with status 200"),
            ("missing.json", "could not be fetched with status 200"),
            ("slow.json", "within 5 seconds"),
        ] {
            let client = format!("https://client.example/{path}");
            let refused = world.human().get(&app.request(&[("client_id", &client)])).await.expect(400);
            assert!(refused.text().contains(fault), "{path}: {}", refused.text());
            assert_eq!(refused.header("Location"), "", "{path}");
        }
    }
}
