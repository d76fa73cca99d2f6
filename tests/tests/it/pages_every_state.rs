//! Every page for people in every state of the `api` crate's snapshots: in a browser it fits the smallest
//! screen and has no accessibility violations in either scheme. With `HANDBILL_TEST_SCREENSHOTS=1` there are
//! pictures of all of them in `target/screenshots`.

use std::path::Path;

use handbill_tests::Browser;
use poem::endpoint::make_sync;
use poem::http::StatusCode;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{Request, Response, Server};

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../api/src/pages/snapshots");
/// The edge of the snapshots, which does not exist.
const EDGE: &str = "src=\"http://127.0.0.1:8081/site/";
const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../api/templates");

/// The names of the snapshots, in order.
fn states() -> Vec<String> {
    let files = std::fs::read_dir(SNAPSHOTS).expect("the snapshots");
    let name = |file: std::fs::DirEntry| file.file_name().to_str()?.strip_suffix(".html").map(str::to_owned);
    let mut names: Vec<_> = files.filter_map(|file| name(file.expect("a snapshot"))).collect();
    names.sort();
    names
}

/// Serves the snapshots, the files that they load, and a page in every preview.
fn answer(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let (file, content_type) = match path.split_once('/') {
        Some(("assets", asset)) => (Path::new(TEMPLATES).join(asset), type_of(asset)),
        Some(_) => (Path::new(TEMPLATES).join("sample.html"), HTML),
        None => (Path::new(SNAPSHOTS).join(format!("{path}.html")), HTML),
    };
    match std::fs::read(file) {
        Ok(page) if content_type == HTML => {
            let page = String::from_utf8_lossy(&page).replace(EDGE, "src=\"/site/");
            Response::builder().content_type(content_type).body(page)
        }
        Ok(content) => Response::builder().content_type(content_type).body(content),
        Err(_) => StatusCode::NOT_FOUND.into(),
    }
}

fn type_of(asset: &str) -> &'static str {
    match asset.rsplit('.').next() {
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

const HTML: &str = "text/html; charset=utf-8";

pub(crate) async fn serve() -> String {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port");
    let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("an address");
    tokio::spawn(Server::new_with_acceptor(acceptor).run(make_sync(answer)));
    format!("http://{address}")
}

async fn glance_at(is_wanted: fn(&str) -> bool) {
    let (server, browser) = (serve().await, Browser::start().await);
    let wanted: Vec<_> = states().into_iter().filter(|name| is_wanted(name)).collect();
    assert!(wanted.len() > 15, "only {} states", wanted.len());
    for name in wanted {
        browser.open(&format!("{server}/{name}")).await;
        assert!(!browser.text("h1").await.is_empty(), "{name} shows nothing");
        browser.glance(&name).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn public_pages_are_accessible_in_every_state() {
    glance_at(|name| !name.starts_with("dashboard") && !name.starts_with("admin")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admin_pages_are_accessible_in_every_state() {
    glance_at(|name| name.starts_with("admin")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dashboard_is_accessible_in_every_state() {
    glance_at(|name| name.starts_with("dashboard")).await;
}
