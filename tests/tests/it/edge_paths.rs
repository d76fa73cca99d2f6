//! Spec 4.12: a request gets the file that it names or none, whatever it contains and however it is spelled.
//! Uses a bare socket, because every client library corrects such requests.

use std::time::Duration;

use handbill_tests::{Mode, PATIENCE, Visitor, World, eventually, program};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::expectations::{assert_serves, front_page, page_saying};

const MINE: &str = "this is my page";
const OTHER: &str = "this is somebody else's page";
/// The beginning of a file on this machine that must never be served.
const PASSWD: &str = "root:";
/// A response that takes longer hangs.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// The expected response.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// My front page.
    Mine,
    /// One of these statuses, and no page.
    Refused(&'static [u16]),
}
use Expected::{Mine, Refused};

const MISSING: Expected = Refused(&[404]);
const MALFORMED: Expected = Refused(&[400]);

struct EdgeResponse {
    status: u16,
    text: String,
}

/// Two sites of two accounts: `{a}` is mine, `{b}` is the other's.
struct Scene {
    world: World,
    address: String,
    mine: String,
    other: String,
}

impl Scene {
    async fn set() -> Self {
        let world = World::with(Mode::Embedded, program!()).start().await;
        let mut hosts = vec![];
        for text in [MINE, OTHER] {
            let page = page_saying(text);
            let deep = format!("{page}deep");
            let files: [(&str, &[u8]); 2] =
                [("index.html", page.as_bytes()), ("docs/index.html", deep.as_bytes())];
            hosts.push(world.agent().await.publish_files("my-site", &files).await.expect(201).string("host"));
        }
        let address = world.serve_url().trim_start_matches("http://").to_owned();
        let [mine, other] = <[String; 2]>::try_from(hosts).unwrap();
        Self { world, address, mine, other }
    }

    fn fill_in(&self, text: &str) -> String {
        let upper = self.mine.to_uppercase();
        text.replace("{a}", &self.mine).replace("{A}", &upper).replace("{b}", &self.other)
    }

    /// Sends bytes unchanged, and reads until the edge closes the connection.
    async fn send(&self, request: &[u8]) -> EdgeResponse {
        let shown = String::from_utf8_lossy(&request[..request.len().min(200)]).into_owned();
        let exchange = async {
            let mut stream = TcpStream::connect(&self.address).await.unwrap();
            let (mut read, mut write) = stream.split();
            let mut answer = Vec::new();
            // The edge may refuse a request and close the connection before all of it was sent.
            let (_, _) = tokio::join!(write.write_all(request), read.read_to_end(&mut answer));
            String::from_utf8_lossy(&answer).into_owned()
        };
        let Ok(text) = timeout(ANSWERED_WITHIN, exchange).await else { panic!("no answer to {shown:?}") };
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        EdgeResponse { status: status.unwrap_or_else(|| panic!("no status for {shown:?}: {text:?}")), text }
    }

    async fn ask(&self, request: &str, expected: Expected) {
        let request = self.fill_in(request);
        let answer = self.send(request.as_bytes()).await;
        let shown: String = request.chars().take(300).collect();
        assert!(!answer.text.contains(OTHER), "{shown:?} opened another site:\n{}", answer.text);
        assert!(!answer.text.contains(PASSWD), "{shown:?} opened a file of the machine");
        match expected {
            Mine => {
                assert_eq!(answer.status, 200, "{shown:?}\n{}", answer.text);
                assert!(answer.text.contains(MINE), "{shown:?}\n{}", answer.text);
            }
            Refused(statuses) => {
                assert!(statuses.contains(&answer.status), "{shown:?}: {statuses:?}\n{}", answer.text);
                assert!(!answer.text.contains(MINE), "{shown:?}\n{}", answer.text);
            }
        }
    }

    async fn get(&self, target: &str, host: &str, expected: Expected) {
        self.ask(&get(target, host), expected).await;
    }

    /// Afterwards the edge serves as before.
    async fn end(self) {
        let page = self.world.visitor().open(&format!("/site/{}/", self.mine)).await;
        assert_serves(&page, &page_saying(MINE));
    }
}

fn get(target: &str, host: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_encoding_reaches_outside_a_site() {
    let scene = Scene::set().await;
    for target in [
        "/../{b}/",
        "/..",
        "/./",
        "/%2e%2e/{b}/",
        "/%2E%2e/{b}/index.html",
        "/..%2f{b}%2findex.html",
        "/%2e%2e%2f{b}%2f",
        "/%252e%252e/{b}/",
        "/%252e%252e%252f{b}%252findex.html",
        "/..\\{b}\\index.html",
        "/..%5c{b}%5cindex.html",
        "/%5c..%5c{b}/",
        "/..;/{b}/",
        "/..;a=b/{b}/index.html",
        "/docs/..;/..;/{b}/",
        "/docs/../../{b}/",
        "/docs/../index.html",
        "/docs/%2e%2e/index.html",
        "/.%2e/{b}/",
        "/%c0%ae%c0%ae/{b}/",
        "/%e0%80%ae%e0%80%ae/{b}/",
        "/%uff0e%uff0e/{b}/",
        "/%00",
        "/index.html%00",
        "/index.html%00.png",
        "/%00/../{b}/",
        "/%ff%fe",
        "/%",
        "/%2",
        "//",
        "//{b}/",
        "///etc/passwd",
        "/%2fetc%2fpasswd",
        "/../../../../../../../../etc/passwd",
        "/%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/file:///etc/passwd",
        "/index.html/",
        "/index.html/../../{b}/",
        "/INDEX.HTML",
        "/{b}",
        "/site/{b}/",
    ] {
        scene.get(&format!("/site/{{a}}{target}"), "127.0.0.1", MISSING).await;
        scene.get(target, "{a}.localhost", MISSING).await;
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_encoding_of_a_host_in_the_path_matches_another_host() {
    let scene = Scene::set().await;
    for (target, expected) in [
        ("/site/{a}/", Mine),
        ("/site/{a}/?x=/../{b}/", Mine),
        ("/site/{a}/?/site/{b}/", Mine),
        ("/site/{a}/..", MISSING),
        ("/site/{A}/", MISSING),
        ("/Site/{a}/", MISSING),
        ("//site/{b}/", MISSING),
        ("/./site/{b}/", MISSING),
        ("/site/./{b}/", MISSING),
        ("/site//{b}/", MISSING),
        ("/site/../site/{b}/", MISSING),
        ("/%73ite/{b}/", MISSING),
        ("/site%2f{b}/", MISSING),
        ("/site/{a}%2f..%2f{b}/", MISSING),
        ("/site/{a}%2f", MISSING),
        ("/site/{a}%00/", MISSING),
        ("/site/{b}%00{a}/", MISSING),
        ("/site/{a};{b}/", MISSING),
        ("/site/{a}:80/", MISSING),
        ("/site/{a}.localhost/", MISSING),
        ("/site/{a}\\..\\{b}/", MISSING),
        ("/site/%2e%2e/{b}/", MISSING),
        ("/site/..;/{b}/", MISSING),
        ("/site/*/", MISSING),
        ("/site/", MISSING),
        ("/site", MISSING),
        ("/", MISSING),
        // Without its slash, the root redirects to the root of the same site.
        ("/site/{a}", Refused(&[301])),
        ("/site/{a}?next=/site/{b}/", Refused(&[301])),
        ("/site/{a}/docs", Refused(&[301])),
    ] {
        scene.get(target, "127.0.0.1", expected).await;
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_variant_of_a_host_name_matches_another_site() {
    let scene = Scene::set().await;
    for (host, expected) in [
        ("{a}.localhost", Mine),
        ("{A}.LocalHost", Mine),
        ("{a}.localhost:8081", Mine),
        ("{a}.localhost:1", Mine),
        ("{a}.localhost:", Mine),
        ("{a}.localhost.", Mine),
        ("{a}.localhost.:8081", Mine),
        ("  {a}.localhost  ", Mine),
        ("{a}.localhost..", MISSING),
        ("{a}..localhost", MISSING),
        (".{a}.localhost", MISSING),
        ("{b}.{a}.localhost", MISSING),
        ("{a}.localhost.evil.example", MISSING),
        ("{a}.evil-localhost", MISSING),
        ("{a}.example.com", MISSING),
        ("{a}", MISSING),
        ("localhost", MISSING),
        (".localhost", MISSING),
        ("*.localhost", MISSING),
        ("", MISSING),
        (":", MISSING),
        (":8081", MISSING),
        ("[::1]:8081", MISSING),
        ("{a}.localhost:80:81", MISSING),
        ("{a}.localhost:http", MISSING),
        ("{a}.localhost:-1", MISSING),
        ("{a}.localhost, {b}.localhost", MISSING),
        ("{a}.localhost {b}.localhost", MISSING),
        ("{b}.localhost@{a}.localhost", MISSING),
        ("{b}@{a}.localhost", MISSING),
        ("{a}%2elocalhost", MISSING),
        ("{a}%00.localhost", MISSING),
        ("{a}.localhost/", MISSING),
        ("{a}.localhost#", MISSING),
        ("http://{a}.localhost", MISSING),
        ("../{b}.localhost", MISSING),
        ("..localhost", MISSING),
    ] {
        scene.get("/", host, expected).await;
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_exactly_one_host_are_refused_and_an_absolute_target_wins() {
    let scene = Scene::set().await;
    let close = "Connection: close\r\n\r\n";
    for (request, expected) in [
        ("GET / HTTP/1.1\r\n", MALFORMED),
        ("GET /site/{a}/ HTTP/1.1\r\n", MALFORMED),
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\nHost: {b}.localhost\r\n", MALFORMED),
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\nhost: {a}.localhost\r\n", MALFORMED),
        ("GET http://{a}.localhost/ HTTP/1.1\r\nHost: {a}.localhost\r\nHost: {b}.localhost\r\n", MALFORMED),
        ("GET / HTTP/1.0\r\n", MISSING),
        ("GET /site/{a}/ HTTP/1.0\r\n", Mine),
        ("GET / HTTP/1.0\r\nHost: {a}.localhost\r\n", Mine),
        ("GET http://{a}.localhost/ HTTP/1.1\r\nHost: {b}.localhost\r\n", Mine),
        ("GET http://{A}.LOCALHOST:1/ HTTP/1.1\r\nHost: {b}.localhost\r\n", Mine),
        ("GET https://{a}.localhost./ HTTP/1.1\r\nHost: {b}.localhost\r\n", Mine),
        ("GET http://127.0.0.1/site/{a}/ HTTP/1.1\r\nHost: {b}.localhost\r\n", Mine),
        ("GET http://{b}@{a}.localhost/ HTTP/1.1\r\nHost: {b}.localhost\r\n", MISSING),
        ("GET http://other.example/ HTTP/1.1\r\nHost: {b}.localhost\r\n", MISSING),
        ("GET http://{a}.localhost/../{b}/ HTTP/1.1\r\nHost: {b}.localhost\r\n", MISSING),
        ("GET //{b}.localhost/ HTTP/1.1\r\nHost: {a}.localhost\r\n", MISSING),
        ("GET * HTTP/1.1\r\nHost: {a}.localhost\r\n", Refused(&[400, 404])),
        ("OPTIONS * HTTP/1.1\r\nHost: {a}.localhost\r\n", Refused(&[405])),
        ("CONNECT {b}.localhost:80 HTTP/1.1\r\nHost: {a}.localhost\r\n", Refused(&[400, 405])),
        ("TRACE / HTTP/1.1\r\nHost: {a}.localhost\r\n", Refused(&[405])),
        ("POST /../{b}/ HTTP/1.1\r\nHost: {a}.localhost\r\nContent-Length: 0\r\n", Refused(&[405])),
        // An edge ignores headers between proxies.
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\nX-Forwarded-Host: {b}.localhost\r\n", Mine),
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\nForwarded: host={b}.localhost\r\n", Mine),
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\nX-Original-URL: /site/{b}/\r\n", Mine),
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\nX-Rewrite-URL: /site/{b}/\r\n", Mine),
        ("GET / HTTP/1.1\r\nHost : {b}.localhost\r\nHost: {a}.localhost\r\n", MALFORMED),
        ("GET / HTTP/1.1\r\n Host: {b}.localhost\r\n", MALFORMED),
        ("GET / HTTP/1.1\r\nHost: {a}.localhost\r\n\tfolded: {b}\r\n", MALFORMED),
        ("GET /a b HTTP/1.1\r\nHost: {a}.localhost\r\n", MALFORMED),
        ("GET /\0 HTTP/1.1\r\nHost: {a}.localhost\r\n", MALFORMED),
        ("GET / HTTP/1.1\r\nHost: {a}\0.localhost\r\n", MALFORMED),
    ] {
        scene.ask(&format!("{request}{close}"), expected).await;
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn very_long_requests_are_answered_or_refused_quickly() {
    let scene = Scene::set().await;
    let deep = "a/".repeat(20_000);
    let dots = "%2e%2e%2f".repeat(5_000);
    for (target, expected) in [
        (format!("/site/{{a}}/{deep}"), MISSING),
        (format!("/site/{{a}}/{dots}"), MISSING),
        (format!("/site/{}/", "a".repeat(40_000)), MISSING),
        (format!("/{}", "/".repeat(40_000)), MISSING),
        (format!("/site/{{a}}/?{}", "x".repeat(40_000)), Mine),
        (format!("/site/{{a}}/{}", "a/".repeat(40_000)), Refused(&[400, 414, 431])),
        (format!("/site/{{a}}/{}", "a".repeat(2_000_000)), Refused(&[400, 414, 431])),
    ] {
        scene.get(&target, "127.0.0.1", expected).await;
    }
    for (host, expected) in [
        (format!("{}.localhost", "a".repeat(300)), MISSING),
        (format!("{}.localhost", "a.".repeat(20_000)), MISSING),
        (format!("{{a}}.localhost:{}", "8".repeat(10_000)), Mine),
        ("a".repeat(2_000_000), Refused(&[400, 431])),
    ] {
        scene.get("/", &host, expected).await;
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_on_one_connection_are_routed_by_their_own_host() {
    let scene = Scene::set().await;
    let request = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}.localhost\r\n\r\n");
    let all =
        [request("{a}"), request("{b}"), request("nobody-here-0000"), get("/", "{a}.localhost")].concat();
    let answer = scene.send(scene.fill_in(&all).as_bytes()).await;
    let bodies: Vec<_> = answer.text.split("HTTP/1.1 ").skip(1).collect();
    assert_eq!(bodies.len(), 4, "{}", answer.text);
    for (body, (status, text)) in
        bodies.iter().zip([("200", MINE), ("200", OTHER), ("404", "There is no page here"), ("200", MINE)])
    {
        assert!(body.starts_with(status) && body.contains(text), "{body}");
        assert_eq!(
            [MINE, OTHER].iter().filter(|page| body.contains(**page)).count(),
            usize::from(status == "200")
        );
    }
    scene.end().await;
}

/// A login that may only read the tables of the world's database.
async fn reading_login(world: &World) -> (String, String) {
    let owner = world.setting("HANDBILL_DATABASE__URL").to_owned();
    let (server, database) = owner.rsplit_once('/').unwrap();
    let (_, address) = server.rsplit_once('@').unwrap();
    let role = format!("reader_of_{database}");
    let mut connection = PgConnection::connect(&owner).await.unwrap();
    let grants = format!(
        "CREATE ROLE {role} LOGIN;
         GRANT USAGE ON SCHEMA public TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role};"
    );
    connection.execute(sqlx::raw_sql(AssertSqlSafe(grants))).await.unwrap();
    (format!("postgres://{role}@{address}/{database}"), role)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edge_works_with_read_only_access_and_only_the_link_secret() {
    let links = ("HANDBILL_SECRETS__LINKS", "the-secret-of-the-links-of-a-test-world-0123456789");
    let world = World::with(Mode::Production, program!()).env(links.0, links.1).start().await;
    let (reader, role) = reading_login(&world).await;
    let owner = world.setting("HANDBILL_DATABASE__URL").to_owned();
    let settings = [
        ("HANDBILL_DATABASE__URL", reader.as_str()),
        ("HANDBILL_QUEUE__URL", owner.as_str()),
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", ""),
        links,
    ];
    let edge = world.start_edge_with(&settings).await;
    let visitor: Visitor = world.visitor().at(&edge);

    let agent = world.agent().await;
    for number in 1..=3 {
        let page = page_saying(&format!("number {number}"));
        let published = agent.publish("my-page", page.clone()).await.expect(201);
        assert_serves(&front_page(&visitor, &published).await, &page);
    }
    let rolled_back = agent.activate("my-page", 1).await.expect(200);
    assert_serves(&front_page(&visitor, &rolled_back).await, &page_saying("number 1"));
    let views = async || agent.usage().await.expect(200).integer("traffic.views");
    eventually(PATIENCE, "four views", async || (views().await == 4).then_some(())).await;
    agent.buy_credit(5.0).paying("dev:5").await.expect(200);
    let hidden = agent.set_visibility("my-page", "private").await.expect(200);
    front_page(&visitor, &rolled_back).await.expect(403);
    visitor.open(&hidden.string("signed_url")).await.expect(200);
    agent.delete("my-page").await.expect(200);
    front_page(&visitor, &rolled_back).await.expect(404);

    // The login cannot write.
    let mut connection = PgConnection::connect(&reader).await.unwrap();
    for change in ["DELETE FROM routes", "UPDATE accounts SET balance_micro = 1", "CREATE TABLE x (y int)"] {
        assert!(connection.execute(sqlx::raw_sql(change)).await.is_err(), "{change}");
    }
    connection.close().await.unwrap();
    assert!(edge.terminate().await.status.success());
    let mut connection = PgConnection::connect(&owner).await.unwrap();
    let end = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    connection.execute(sqlx::raw_sql(AssertSqlSafe(end))).await.unwrap();
}
