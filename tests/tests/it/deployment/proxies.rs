//! The reverse proxies of `deploy/`, unchanged except for ports and certificates, in front of a running
//! service. curl is the client: it supports HTTP/2 as browsers do, and can override DNS.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use handbill_tests::{Mode, PATIENCE, Port, Value, World, eventually, program};
use tokio::process::{Child, Command};

use super::page;

/// One byte more than a publish with its form may have.
const TOO_LARGE_BYTES: usize = 11 * 1024 * 1024;
const SIGNUPS_PER_MINUTE: usize = 3;
/// Larger than what the edge, the proxy and the kernels buffer.
const FILM_BYTES: usize = 9 * 1024 * 1024;
/// A secret code, which no log may contain.
const CODE: &str = "a-code-that-opens";

/// A running proxy, and how to reach it.
struct Proxy {
    /// The names for the API and for the pages in its configuration.
    api: &'static str,
    pages: &'static str,
    plain: Port,
    secure: Port,
    log: PathBuf,
    _process: Child,
}

struct ProxyResponse {
    status: String,
    version: String,
    encoding: String,
    location: String,
    transport: String,
    body: String,
}

impl Proxy {
    fn api(&self, path: &str) -> String {
        format!("https://{}{path}", self.api)
    }

    /// Runs curl, with every name resolved to the proxy.
    async fn curl(&self, args: &[&str], url: &str) -> ProxyResponse {
        let done = self.curl_command(args, url).output().await.expect("curl runs");
        let reported = String::from_utf8_lossy(&done.stderr).into_owned();
        let mut reported = reported.lines().map(str::to_owned);
        let mut next = || reported.next().unwrap_or_default();
        ProxyResponse {
            status: next(),
            version: next(),
            encoding: next(),
            location: next(),
            transport: next(),
            body: String::from_utf8_lossy(&done.stdout).into_owned(),
        }
    }

    fn curl_command(&self, args: &[&str], url: &str) -> Command {
        let port = if url.starts_with("https") { &self.secure } else { &self.plain };
        let reported = "%{stderr}%{http_code}\n%{http_version}\n%header{content-encoding}\n%header{location}\n\
                    %header{strict-transport-security}\n";
        let mut command = Command::new("curl");
        command.args(["--silent", "--insecure", "--max-time", "60", "--write-out", reported]);
        command.arg("--connect-to").arg(format!("::127.0.0.1:{}", port.number));
        command.args(args).arg(url).kill_on_drop(true);
        command
    }
}

impl ProxyResponse {
    #[track_caller]
    fn expect(self, status: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// A service under the names in a proxy's configuration.
async fn world_named(api: &str, pages: &str) -> World {
    World::with(Mode::Embedded, program!())
        .env("HANDBILL_DEV_MODE", "false")
        .env("HANDBILL_API__BASE_URL", format!("https://{api}"))
        .env("HANDBILL_API__TRUSTED_PROXIES", "127.0.0.1/32")
        .env("HANDBILL_EDGE__SERVE_URL", format!("https://{pages}"))
        .env("HANDBILL_EDGE__DOMAIN", pages)
        .env("HANDBILL_EDGE__URL_STYLE", "host")
        .env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", SIGNUPS_PER_MINUTE.to_string())
        // One for each address: one address may use half of them.
        .env("HANDBILL_EDGE__STREAMED_ANSWERS_MAX", "2")
        .env("HANDBILL_EDGE__WAIT_MAX", "500ms")
        .start()
        .await
}

/// Replaces lines of a configuration. A missing line fails the test.
fn with(page: &str, changes: &[(&str, String)]) -> String {
    changes.iter().fold(page.to_owned(), |page, (from, to)| {
        assert!(page.contains(from), "the page has no {from:?}");
        page.replace(from, to)
    })
}

async fn run(
    mut command: Command,
    log: PathBuf,
    plain: Port,
    secure: Port,
    names: [&'static str; 2],
) -> Proxy {
    let output = fs::File::create(&log).unwrap();
    let process = command
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .kill_on_drop(true)
        .spawn()
        .expect("the proxy starts");
    let [api, pages] = names;
    let proxy = Proxy { api, pages, plain, secure, log, _process: process };
    let status = proxy.api("/v1/status");
    eventually(PATIENCE, "a proxy that answers", async || {
        (proxy.curl(&[], &status).await.status == "200").then_some(())
    })
    .await;
    proxy
}

async fn start_nginx(world: &World) -> Proxy {
    let (folder, plain, secure) = (world.folder(), Port::take(), Port::take());
    let certificate = folder.join("certificate");
    let mut openssl = Command::new("openssl");
    openssl
        .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test".split(' '));
    let made = openssl.arg("-keyout").arg(&certificate).arg("-out").arg(folder.join("public")).output().await;
    assert!(made.expect("openssl runs").status.success());
    let both = [fs::read(&certificate).unwrap(), fs::read(folder.join("public")).unwrap()].concat();
    fs::write(&certificate, both).unwrap();

    let [api, edge] = [world.base_url(), world.serve_url()].map(|url| url.replace("http://", ""));
    let (certificate, log) = (format!("{};", certificate.display()), folder.join("nginx-access.log"));
    let page = with(
        &page("nginx/handbill.conf"),
        &[
            ("server 127.0.0.1:8080;", format!("server {api};")),
            ("server 127.0.0.1:8081;", format!("server {edge};")),
            ("    listen [::]:80 default_server;\n", String::new()),
            ("    listen [::]:80;\n", String::new()),
            ("    listen [::]:443 ssl http2 default_server;\n", String::new()),
            ("    listen [::]:443 ssl http2;\n", String::new()),
            ("listen 80", format!("listen {}", plain.address())),
            ("listen 443", format!("listen {}", secure.address())),
            ("/var/log/nginx/handbill.log", log.display().to_string()),
            ("/etc/ssl/handbill/api.pem;", certificate.clone()),
            ("/etc/ssl/handbill/api.key;", certificate.clone()),
            ("/etc/ssl/handbill/pages.pem;", certificate.clone()),
            ("/etc/ssl/handbill/pages.key;", certificate),
        ],
    );
    let around = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {}/nginx-{kind};\n", folder.display()))
        .concat();
    // One process, which ends with the test. The compression that Debian turns on must not apply to the
    // pages.
    let whole = format!(
        "daemon off; master_process off; pid {folder}/nginx.pid; events {{}}\n\
         http {{ access_log off; gzip on; gzip_types *; gzip_proxied any;\n{around}{page}}}\n",
        folder = folder.display()
    );
    let settings = folder.join("nginx.conf");
    fs::write(&settings, whole).unwrap();
    let mut nginx = Command::new("nginx");
    nginx.arg("-e").arg("stderr").arg("-p").arg(folder).arg("-c").arg(settings);
    let names = ["api.example.com", "pages.example.net"];
    let mut proxy = run(nginx, folder.join("nginx.log"), plain, secure, names).await;
    proxy.log = log;
    proxy
}

async fn start_caddy(world: &World) -> Proxy {
    let (folder, plain, secure) = (world.folder(), Port::take(), Port::take());
    let ports = format!(
        "admin off\n\tdefault_bind 127.0.0.1\n\thttp_port {}\n\thttps_port {}",
        plain.number, secure.number
    );
    let settings = folder.join("Caddyfile");
    fs::write(&settings, with(&page("caddy/Caddyfile"), &[("admin off", ports)])).unwrap();
    let mut caddy = Command::new("caddy");
    caddy.args(["run", "--adapter", "caddyfile", "--config"]).arg(settings);
    caddy.env("XDG_DATA_HOME", folder.join("caddy-data")).env("XDG_CONFIG_HOME", folder.join("caddy-config"));
    for (name, url) in [("API_UPSTREAMS", world.base_url()), ("PAGES_UPSTREAMS", world.serve_url())] {
        caddy.env(name, url.replace("http://", ""));
    }
    let names = ["api.localhost", "pages.localhost"];
    run(caddy, folder.join("caddy.log"), plain, secure, names).await
}

async fn assert_publishes_and_serves(proxy: &Proxy) -> String {
    let signed_up = proxy.curl(&["--request", "POST"], &proxy.api("/v1/signup")).await.expect("201");
    assert_eq!((signed_up.version.as_str(), signed_up.transport.as_str()), ("2", "max-age=31536000"));
    let bearer = format!("Authorization: Bearer {}", signed_up.json()["token"].as_str().unwrap());
    // Long enough to be compressed.
    let html = format!("<!doctype html><title>A page</title><p>{}</p>", "Hello, reader. ".repeat(200));
    let form = format!("html={html}");
    let publish = ["--header", &bearer, "--form", "slug=my-page", "--form-string", &form];
    let published = proxy.curl(&publish, &proxy.api("/v1/publish")).await.expect("201").json();
    let url = published["url"].as_str().unwrap();
    assert!(url.ends_with(&format!(".{}/", proxy.pages)), "{url}");

    let plain = proxy.curl(&[], url).await.expect("200");
    assert!(plain.body.starts_with(html.trim_end_matches("</p>")), "{}", plain.body);
    assert_eq!((plain.version.as_str(), plain.encoding.as_str()), ("2", ""));
    assert_eq!(plain.transport, "max-age=31536000");
    let packed = proxy.curl(&["--header", "Accept-Encoding: br, gzip"], url).await.expect("200");
    assert_eq!(packed.encoding, "br", "the edge's own compression comes through");
    let missing =
        proxy.curl(&["--header", "Accept-Encoding: gzip"], &format!("{url}nothing")).await.expect("404");
    assert_eq!(missing.encoding, "", "what the edge sends plain stays plain");
    let elsewhere = proxy.curl(&[], &url.replace("https:", "http:")).await;
    assert!(
        ["301", "308"].contains(&elsewhere.status.as_str()) && elsewhere.location == url,
        "{}",
        elsewhere.location
    );
    bearer
}

/// The API refuses a body that is too large with its own error, however the proxy passes it on.
async fn assert_too_large_is_refused(proxy: &Proxy, folder: &Path, bearer: &str) {
    let file = folder.join("large.bin");
    fs::write(&file, vec![b'x'; TOO_LARGE_BYTES]).unwrap();
    let form = format!("files=@{};filename=large.bin", file.display());
    for version in ["--http2", "--http1.1"] {
        let publish = [version, "--header", bearer, "--form", &form];
        // A proxy may close the connection while curl still sends, and curl may then lose the
        // response or its body.
        let refused = eventually(PATIENCE, "a response", async || {
            let response = proxy.curl(&publish, &proxy.api("/v1/publish")).await;
            (response.status != "100" && !response.body.is_empty()).then_some(response)
        });
        let refused = refused.await.expect("413").json();
        assert_eq!(refused["code"], "too_large", "{version}");
    }
}

async fn assert_nobody_outside_is_an_operator(proxy: &Proxy, world: &World) {
    let secret = format!("X-Internal-Secret: {}", World::SIGNING_SECRET);
    let path = "/internal/moderation";
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--header", &secret]).arg(format!("{}{path}", world.base_url()));
    let direct = curl.output().await.expect("curl runs").stdout;
    assert!(
        serde_json::from_slice::<Value>(&direct).unwrap()["code"].is_null(),
        "the secret opens the API itself"
    );
    proxy.curl(&["--header", &secret], &proxy.api(path)).await.expect("404");
}

/// The limit counts the address that the proxy saw, whatever header a client sends.
async fn assert_a_client_cannot_choose_its_address(proxy: &Proxy) {
    let mut statuses = Vec::new();
    for number in 0..=SIGNUPS_PER_MINUTE {
        let lie = format!("X-Forwarded-For: 203.0.113.{number}");
        let answer = proxy.curl(&["--request", "POST", "--header", &lie], &proxy.api("/v1/signup")).await;
        statuses.push(answer.status);
    }
    assert_eq!(statuses.last(), Some(&"429".to_owned()), "{statuses:?}");
}

/// Permits for large files are counted by address. A client that claims another address still counts as this
/// machine, and cannot get more permits.
async fn assert_a_reader_cannot_choose_its_address(proxy: &Proxy, folder: &Path, bearer: &str) {
    let film = folder.join("film.bin");
    fs::write(&film, vec![b'x'; FILM_BYTES]).unwrap();
    let film = format!("files=@{};filename=film.bin", film.display());
    let page = "files=Look;filename=index.html";
    let publish = ["--header", bearer, "--form", "slug=my-film", "--form", page, "--form", &film];
    let published = proxy.curl(&publish, &proxy.api("/v1/publish")).await.expect("201").json();
    let url = format!("{}film.bin", published["url"].as_str().unwrap());
    let lie = ["--header", "X-Forwarded-For: 203.0.113.9", "--output", "/dev/null"];
    let slowly = [&lie[..], &["--limit-rate", "100k"]].concat();
    let mut slow = proxy.curl_command(&slowly, &url).stderr(Stdio::null()).spawn().expect("curl runs");
    // Until it has its permit.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(slow.try_wait().unwrap().is_none(), "the slow reader is through already");
    proxy.curl(&lie, &url).await.expect("200");
    slow.kill().await.unwrap();
}

/// Only the proxy's log contains addresses, and no log contains secret codes.
async fn assert_logs_addresses_and_no_codes(proxy: &Proxy) {
    let urls = [
        proxy.api(&format!("/claim/{CODE}")),
        proxy.api(&format!("/v1/uploads/{CODE}?x=1")),
        format!("https://my-page.{}/asked-for?x=1&sig={CODE}", proxy.pages),
    ];
    for url in &urls {
        let bearer = format!("Authorization: Bearer {CODE}");
        let reported = proxy.curl(&["--header", &bearer], url).await;
        assert!(["404", "405"].contains(&reported.status.as_str()), "{url}: {}", reported.status);
    }
    let reported = eventually(PATIENCE, "the log", async || {
        let reported = fs::read_to_string(&proxy.log).unwrap();
        reported.contains("/asked-for").then_some(reported)
    })
    .await;
    for place in ["/claim/-", "/v1/uploads/-", "sig=-", "127.0.0.1"] {
        assert!(reported.contains(place), "{place} is not in {reported}");
    }
    assert!(!reported.contains(CODE), "{reported}");
}

async fn assert_carries_the_service(proxy: &Proxy, world: &World) {
    let bearer = assert_publishes_and_serves(proxy).await;
    assert_a_reader_cannot_choose_its_address(proxy, world.folder(), &bearer).await;
    assert_logs_addresses_and_no_codes(proxy).await;
    assert_too_large_is_refused(proxy, world.folder(), &bearer).await;
    assert_nobody_outside_is_an_operator(proxy, world).await;
    assert_a_client_cannot_choose_its_address(proxy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documented_nginx_setup_proxies_the_service_and_blocks_operator_access() {
    let world = world_named("api.example.com", "pages.example.net").await;
    let proxy = start_nginx(&world).await;
    assert_carries_the_service(&proxy, &world).await;
    for url in ["http://elsewhere.example/", "https://elsewhere.example/"] {
        proxy.curl(&[], url).await.expect("000");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documented_caddy_setup_proxies_the_service_and_blocks_operator_access() {
    let world = world_named("api.localhost", "pages.localhost").await;
    let proxy = start_caddy(&world).await;
    assert_carries_the_service(&proxy, &world).await;
}
