//! The rules of sites, compared case by case with Cloudflare's own development server, `wrangler pages dev`.

use std::fmt::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use handbill_tests::{Mode, World, eventually, installed, program};
use reqwest::Client;
use reqwest::redirect::Policy;
use tokio::process::{Child, Command};

use crate::teams::claimed_by;

const REDIRECTS: &str = "\
# statuses
/old /about 301
/old-302 /about 302
/old-303 /about 303 # comment
/old-307\t/about   307
/old-308 /about 308
/default /about
/frag /about#team 301
/query /about?x=1 302
/out https://example.com/away 302
/out-root https://example.com 302
/out-query https://example.com/?a=1 302
/out-frag https://example.com/x#y 302
/show /about 200
/show-folder /docs/ 200
/show-missing /none 200
/real.txt /about 301
/café /about 302
/encoded /a%20b 302
/twice /about 302
/twice /docs/ 302
/bad-status /about 299
/too many parts here
/only-one
/proxy https://example.com/ 200
/no-scheme example.com/x 302
/literal /wiki/Help:Contents 302
/posts/:slug /blog/:slug 302
/y/:year/:month /archive/:month-:year 301
/v:version /versions/:version 302
/pair/:a-:b /pairs/:a/:b 302
/moved/* /blog/:splat 301
/ext/* https://example.com/:splat 302
/search/:id /find?id=:id 302
/alias/* /posts/:splat 200
/unknown/:x /:y/:x 302
/late /about 302
";

const HEADERS: &str = "\
/*
  X-Frame-Options: DENY
  X-All: 1
# comment
/about
  X-All: 2
  ! X-Frame-Options
/posts/:slug
  X-Slug: s-:slug
  X-Colon: a:b:c
/docs/*
  X-Splat: :splat
  Link: </docs/a.css>; rel=preload; as=style
/*.js
  X-Script: yes
/real.txt
  X-All: a
  X-All: b
  no header
  Bad Name: x
  X-Empty:
https://other.example/*
  X-Other: 1
";

const FILES: [(&str, &str); 9] = [
    ("index.html", "front"),
    ("about.html", "about"),
    ("docs/index.html", "docs"),
    ("posts/hello.html", "hello"),
    ("404.html", "unknown"),
    ("real.txt", "real"),
    ("app.js", "1"),
    ("_redirects", REDIRECTS),
    ("_headers", HEADERS),
];

/// Paths for which both give the same response.
const SAME: [&str; 52] = [
    "/",
    "/about",
    "/docs/",
    "/posts/none",
    "/app.js",
    "/none",
    "/none/deep/er",
    "/old",
    "/old?x=1&y=2",
    "/old/",
    "/OLD",
    "/old-302",
    "/old-303",
    "/old-307",
    "/old-308",
    "/frag",
    "/frag?x=1",
    "/query",
    "/out",
    "/out?x=1",
    "/out-root",
    "/out-query",
    "/out-frag",
    "/ext//evil.example",
    "/show",
    "/show?x=1",
    "/show-folder",
    "/show-missing",
    "/caf%C3%A9",
    "/caf%c3%a9x",
    "/encoded",
    "/twice",
    "/bad-status",
    "/too",
    "/only-one",
    "/proxy",
    "/no-scheme",
    "/literal",
    "/posts/a%20b",
    "/posts/a/b",
    "/posts/",
    "/y/2026/11",
    "/y/2026/11?q=%20",
    "/y/2026",
    "/v12",
    "/pair/1-2-3",
    "/moved/a/b?c=d",
    "/ext/a/b",
    "/search/a%20b",
    "/alias/hello",
    "/unknown/1",
    "/late",
];

/// Paths for which the responses differ, with ours and the reason.
const DIFFERENT: [(&str, &str, &str); 5] = [
    ("/default", "301 /about", "the default status is that of the IPFS specification"),
    ("/real.txt", "200 real", "a file takes precedence over a redirect"),
    ("/posts/hello", "200 hello", "a clean address of a file does, too"),
    ("/query?y=2", "302 /about?x=1&y=2", "parameters are merged, as in the IPFS specification"),
    ("/posts/%5Fb", "302 /blog/_b", "an encoded letter means the letter"),
];

const COMPARED: [&str; 8] =
    ["x-frame-options", "x-all", "x-slug", "x-colon", "x-splat", "link", "x-script", "x-other"];
/// Installed packages start in seconds, on a busy machine in a minute.
const START_DEADLINE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_work_as_on_cloudflare_pages_except_for_documented_differences() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (wrangler, theirs) = start_wrangler(world.folder()).await;
    let files = FILES.map(|(path, text)| (path, text.as_bytes()));
    // Pages of a claimed account have no badge.
    let (agent, _) = claimed_by(&world, "olga").await;
    let published = agent.publish_files("my-site", &files).await.expect(201);
    let root = format!("/site/{}", published.string("host"));
    let ours = format!("{}{root}", world.serve_url());
    let client = client();
    let mut faults = String::new();
    for path in SAME {
        let (ours, theirs) =
            (seen(&client, &ours, path, &root).await, seen(&client, &theirs, path, "").await);
        if ours != theirs {
            writeln!(faults, "{path}:\n  ours:   {ours}\n  theirs: {theirs}").unwrap();
        }
    }
    for (path, expected, reason) in DIFFERENT {
        let (ours, theirs) =
            (seen(&client, &ours, path, &root).await, seen(&client, &theirs, path, "").await);
        if !ours.starts_with(expected) || theirs.starts_with(expected) {
            writeln!(faults, "{path} ({reason}):\n  ours:   {ours}\n  theirs: {theirs}").unwrap();
        }
    }
    drop(wrangler);
    assert!(faults.is_empty(), "{faults}");
}

/// The status, the target or the text, and the compared headers.
async fn seen(client: &Client, base: &str, path: &str, root: &str) -> String {
    let reply = client.get(format!("{base}{path}")).send().await.expect("a response");
    let header = |name: &str| reply.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let headers: Vec<_> =
        COMPARED.iter().filter_map(|name| Some(format!("{name}={}", header(name)?))).collect();
    let (status, location) = (reply.status().as_u16(), header("location"));
    let location = location.map(|location| location.strip_prefix(root).unwrap_or(&location).to_owned());
    let shown = match location {
        Some(location) => location,
        None => reply.text().await.expect("a text").trim().to_owned(),
    };
    format!("{status} {shown} {}", headers.join(" | "))
}

/// Wrangler with the processes that it has started. They end with this value.
struct Wrangler(Child);

impl Drop for Wrangler {
    fn drop(&mut self) {
        let Some(group) = self.0.id() else { return };
        let _ = std::process::Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
    }
}

async fn start_wrangler(folder: &Path) -> (Wrangler, String) {
    let site = folder.join("wrangler-site");
    for (path, text) in FILES {
        let file = site.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).expect("a folder");
        std::fs::write(file, text).expect("a file of the site");
    }
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let script = installed("HANDBILL_TEST_WRANGLER_PACKAGES").join("wrangler/bin/wrangler.js");
    let child = Command::new(installed("HANDBILL_TEST_NODE"))
        .arg(script)
        .args(["pages", "dev", "--ip", "127.0.0.1", "--show-interactive-dev-session=false"])
        .args(["--port", &port.to_string()])
        .arg(&site)
        .env("HOME", folder)
        .env("CI", "1")
        .env("WRANGLER_SEND_METRICS", "false")
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("a start of wrangler");
    let wrangler = Wrangler(child);
    let url = format!("http://127.0.0.1:{port}");
    let client = client();
    eventually(START_DEADLINE, "wrangler responds", async || client.get(&url).send().await.ok()).await;
    (wrangler, url)
}

fn client() -> Client {
    let client = Client::builder().redirect(Policy::none()).no_proxy().timeout(START_DEADLINE);
    client.build().expect("an HTTP client")
}
