//! The command line of Netlify, unmodified. Only the address of the API and the token are set.

use std::fs;
use std::process::Output;
use std::time::Duration;

use handbill_tests::{Agent, Mode, Value, World, in_both_modes, installed, program};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

use crate::expectations::{PAGE, assert_serves, page_saying};

const STYLE: &str = "h1 { color: teal }";
/// It waits between repeated calls.
const PATIENCE: Duration = Duration::from_secs(120);

in_both_modes! {
    async fn netlify_deploy_publishes_and_sends_only_what_changed(world: World) {
        let (agent, folder) = (world.agent().await, Folder::new());
        folder.write("index.html", PAGE);
        folder.write("css/app.css", STYLE);
        folder.write("blog/my first post (ü).html", &page_saying("post"));
        let deployed = deploy(&world, &agent, &folder, &["--prod", "--site", "my-site"]).await;
        let url = deployed.json()["url"].as_str().unwrap().to_owned();
        assert_serves(&world.visitor().open(&url).await, PAGE);
        assert_eq!(world.visitor().open(&format!("{url}css/app.css")).await.expect(200).text(), STYLE);
        let post = world.visitor().open(&format!("{url}blog/my%20first%20post%20(%C3%BC).html")).await;
        assert_serves(&post, &page_saying("post"));
        world.visitor().open(&format!("{url}netlify.toml")).await.expect(404);

        folder.write("index.html", &page_saying("next"));
        let again = deploy(&world, &agent, &folder, &["--prod", "--site", "my-site"]).await;
        assert_eq!(again.json()["url"], url);
        assert_serves(&world.visitor().open(&url).await, &page_saying("next"));
        assert_eq!(agent.artifact("my-site").await.expect(200).integer("version"), 2);

        folder.write("index.html", &page_saying("draft"));
        let draft = deploy(&world, &agent, &folder, &["--site", "my-site"]).await.json();
        let address = draft["deploy_url"].as_str().unwrap();
        assert!(draft.get("url").is_none(), "{draft}");
        assert_serves(&world.visitor().open(&url).await, &page_saying("next"));
        assert_serves(&world.visitor().open(address).await, &page_saying("draft"));
        let shown = agent.artifact("my-site").await.expect(200);
        assert_eq!(shown.string("versions.0.url"), address);
        assert_eq!((shown.integer("version"), shown.integer("versions.0.seq")), (2, 3));
        agent.activate("my-site", 3).await.expect(200);
        assert_serves(&world.visitor().open(&url).await, &page_saying("draft"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn netlify_shows_how_many_files_it_sends() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (agent, folder) = (world.agent().await, Folder::new());
    for number in 0..20 {
        folder.write(&format!("{number}.html"), &page_saying(&format!("page {number}")));
    }
    deploy(&world, &agent, &folder, &["--prod", "--site", "my-site"]).await;
    folder.write("7.html", PAGE);
    let ran = run(&world, agent.token(), &folder, &["--prod", "--site", "my-site"]).await;
    let said = text(&ran.stdout) + &text(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("CDN requesting 1 files"), "{said}");
    let url = agent.artifact("my-site").await.expect(200).string("url");
    assert!(said.contains(&format!("Production URL: <{url}>")), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn netlify_prints_why_a_deploy_was_refused() {
    let world = World::with(Mode::Embedded, program!());
    let world = world.env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "1").start().await;
    let (agent, folder) = (world.agent().await, Folder::new());
    folder.write("index.html", PAGE);
    let site = ["--prod", "--site", "my-site"];
    let wrong_token = format!("svc_sk_{}", "a".repeat(32));
    refused(&run(&world, &wrong_token, &folder, &site).await, "Unauthorized");
    for number in 0..51 {
        folder.write(&format!("{number}.txt"), "x");
    }
    refused(&run(&world, agent.token(), &folder, &site).await, "at most 50 files");
    let small = Folder::new();
    small.write("index.html", PAGE);
    deploy(&world, &agent, &small, &site).await;
    refused(&run(&world, agent.token(), &small, &site).await, "0.005");
}

/// A folder of a person, with the site in `dist`.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, path: &str, content: &str) {
        let file = self.0.path().join("dist").join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder is made");
        fs::write(file, content).expect("a file is written");
    }
}

/// The JSON that a deploy printed.
struct Deployed(Output);

impl Deployed {
    fn json(&self) -> Value {
        let text = text(&self.0.stdout);
        serde_json::from_str(&text[text.find('{').expect("JSON")..])
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

async fn deploy(world: &World, agent: &Agent, folder: &Folder, arguments: &[&str]) -> Deployed {
    let arguments = [arguments, &["--json"]].concat();
    let ran = run(world, agent.token(), folder, &arguments).await;
    assert!(ran.status.success(), "{}{}\n{}", text(&ran.stdout), text(&ran.stderr), world.logs());
    Deployed(ran)
}

async fn run(world: &World, token: &str, folder: &Folder, arguments: &[&str]) -> Output {
    let home = folder.0.path();
    let mut command = Command::new(installed("HANDBILL_TEST_NODE"));
    command
        .arg(installed("HANDBILL_TEST_NETLIFY").join("netlify-cli/bin/run.js"))
        .args(["deploy", "--dir", "dist", "--no-build"])
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("CI", "true")
        .env("NETLIFY_API_URL", format!("{}/netlify/api/v1", world.base_url()))
        .env("NETLIFY_AUTH_TOKEN", token)
        .current_dir(home)
        .kill_on_drop(true);
    timeout(PATIENCE, command.output()).await.expect("it ends").expect("it starts")
}

fn refused(ran: &Output, why: &str) {
    let said = text(&ran.stdout) + &text(&ran.stderr);
    assert!(!ran.status.success() && said.contains(why), "{why} is missing: {said}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
