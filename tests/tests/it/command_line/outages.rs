//! Servers that stop, stall and recover, and users who interrupt.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command as Kill;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use handbill_tests::{PATIENCE, eventually, program};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::shell::{Shell, world};
use crate::expectations::PAGE;

/// The key code of Ctrl-C.
const CTRL_C: &str = "\u{3}";

/// What happens to one connection on its way to the server.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It breaks after this many bytes of the upload.
    CutAfter(usize),
    /// The server processes the request, and its response is lost.
    AnswerLost,
    /// A proxy sends this response.
    Answered(&'static str),
}

/// Starts a proxy in front of the server that applies these fates to the first connections, and passes all
/// others.
async fn proxy_to(server: String, fates: Vec<Fate>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server: SocketAddr = server.trim_start_matches("http://").parse().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let fate = fates.get(seen.fetch_add(1, Ordering::SeqCst)).copied();
            tokio::spawn(pass(client, server, fate));
        }
    });
    (url, count)
}

async fn pass(mut client: TcpStream, server: SocketAddr, fate: Option<Fate>) {
    match fate {
        None => {
            let mut server = TcpStream::connect(server).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut server).await;
        }
        Some(Fate::CutAfter(bytes)) => {
            let mut start = vec![0; bytes];
            let _ = client.read_exact(&mut start).await;
        }
        Some(Fate::Answered(answer)) => {
            let mut some = [0; 1024];
            let _ = client.read(&mut some).await;
            let _ = client.write_all(answer.as_bytes()).await;
            // Otherwise the client's system would drop the response because of unread data.
            while client.read(&mut some).await.is_ok_and(|count| count > 0) {}
        }
        Some(Fate::AnswerLost) => {
            let mut server = TcpStream::connect(server).await.unwrap();
            let (mut from_client, _to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let mut first = [0; 1];
            tokio::select! {
                _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                _ = from_server.read_exact(&mut first) => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_upload_is_retried_and_creates_one_version() {
    let world = world().await;
    let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let fates = vec![Fate::CutAfter(100_000), Fate::AnswerLost, Fate::Answered(busy), Fate::AnswerLost];
    let (url, connections) = proxy_to(world.base_url(), fates).await;
    let token = Shell::signed_up(&world).await.token();
    let shell = Shell::at(&url).env("HANDBILL_TOKEN", &token);
    // A single file is sent with the first request. Several would be named by their hashes first.
    shell.write("site/big.bin", vec![7; 3_000_000]);
    let published = shell.run(&["publish", "site", "--slug", "my-site", "--new"]).await.ok();
    assert_eq!(published.err.matches("retrying in").count(), 4, "{published:?}");
    assert!(connections.load(Ordering::SeqCst) >= 5);
    assert_eq!(shell.versions_of("my-site").await, 1);
    let big = world.visitor().open(&published.line()).await.expect(200);
    assert_eq!(big.body.len(), 3_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn command_line_retries_while_the_server_is_down() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    world.api().kill();
    let log = std::fs::File::create(shell.path("err")).unwrap();
    let mut command = shell.command(Path::new(program!()));
    let child = command.args(["publish", "page.html", "--slug", "my-page"]).stderr(log).spawn().unwrap();
    let output = async || {
        std::fs::read_to_string(shell.path("err")).ok().filter(|output| output.contains("retrying in"))
    };
    eventually(PATIENCE, "the program says that it waits", output).await;
    world.api().restart().await;
    let output = child.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(shell.versions_of("my-page").await, 1);
}

#[tokio::test]
async fn server_errors_and_foreign_servers_have_their_own_exit_code() {
    let token = format!("svc_sk_{}", "a".repeat(32));
    let gone = Shell::at("http://127.0.0.1:9").env("HANDBILL_TOKEN", &token);
    assert_eq!(gone.run(&["list", "--json"]).await.failed(7).error()["code"], "unreachable");
    for (answer, code) in [
        ("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops", 7),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<ht>", 7),
        (
            "HTTP/1.1 301 Moved\r\nLocation: https://handbill.example/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            7,
        ),
        ("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 4),
    ] {
        let (url, _) = proxy_to("127.0.0.1:9".to_owned(), vec![Fate::Answered(answer); 3]).await;
        let shell = Shell::at(&url).env("HANDBILL_TOKEN", &token);
        shell.run(&["usage"]).await.failed(code);
    }
    // A signup that may have been processed is not repeated.
    let (url, connections) = proxy_to("127.0.0.1:9".to_owned(), vec![Fate::CutAfter(20); 3]).await;
    Shell::at(&url).run(&["signup"]).await.failed(7);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_ends_a_hanging_upload_cleanly() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let shell = Shell::at(&format!("http://{}", listener.local_addr().unwrap()))
        .env("HANDBILL_TOKEN", &format!("svc_sk_{}", "a".repeat(32)));
    shell.write("big.bin", vec![7; 9_000_000]);
    let child = shell.command(Path::new(program!())).args(["publish", "big.bin"]).spawn().unwrap();
    let (_hanging, _) = listener.accept().await.unwrap();
    let id = child.id().unwrap().to_string();
    assert!(Kill::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).trim_end().ends_with("interrupted"), "{output:?}");
    assert!(output.stdout.is_empty());

    // At a terminal the progress bar is removed and echo is restored. Not all of the 9 MB fit in the system's
    // buffers.
    let line = "trap : INT; \"$handbill\" publish big.bin; echo code $?; stty -a";
    let (at_terminal, _hanging) =
        tokio::join!(shell.at_terminal(line, &[(" of ", CTRL_C)]), listener.accept());
    assert!(at_terminal.out.contains("code 130") && at_terminal.out.contains(" echo "), "{at_terminal:?}");
    let end = at_terminal.out.split("code 130").next().unwrap().trim_end();
    let last = end.rsplit(['\n', '\r']).next().unwrap();
    assert!(last.contains("handbill:") && last.contains("interrupted"), "a half-drawn bar: {at_terminal:?}");
}

#[tokio::test]
async fn ctrl_c_at_a_prompt_gives_the_echo_back() {
    let shell = Shell::at("http://127.0.0.1:9");
    let line = "trap : INT; \"$handbill\" login --with-token; echo code $?; stty -a";
    let at_terminal = shell.at_terminal(line, &[("Token for", CTRL_C)]).await;
    assert!(at_terminal.out.contains("code 130") && at_terminal.out.contains(" echo "), "{at_terminal:?}");
}
