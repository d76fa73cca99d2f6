//! The documents for agents, tested literally: links are followed, endpoints are compared with the API,
//! commands run in a real shell with real curl, and third-party validators read the machine-readable ones.

mod guides;
mod shell;

use std::collections::BTreeSet;
use std::path::Path;

use handbill_tests::{Method, Mode, Setup, Value, World, json, program};
use tokio::process::Command;

use self::shell::{Commands, Ran, Shell};
use crate::expectations::PASSWORD;

const FOR_AGENTS: [&str; 6] = [
    "/skill",
    "/skill/reference.md",
    "/skill/reference/contents.md",
    "/skill/reference/artifacts.md",
    "/skill/reference/errors.md",
    "/llms.txt",
];
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const PAGE: &str = "<!doctype html><title>A page</title><h1>It's \"live\"</h1>";

fn world() -> Setup {
    World::with(Mode::Embedded, program!())
}

async fn read(world: &World, path: &str) -> String {
    world.stranger().get(path).await.expect(200).text()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_link_of_the_documents_answers() {
    let world = world().start().await;
    let base_url = world.base_url();
    for document in FOR_AGENTS {
        let text = read(&world, document).await;
        let reported = without_examples(&text);
        let addresses: BTreeSet<_> = reported.split(&base_url).skip(1).map(path_at).collect();
        let links = addresses.iter().filter(|path| !path.is_empty()).count();
        assert!(links > 1 || document.starts_with("/skill/reference/"), "{document} links to nothing");
        for path in addresses {
            let status = world.stranger().get(path).await.status;
            // A bare address names the service and not a page. An endpoint that only takes POST responds with
            // 405.
            let is_fine = path.is_empty() || status < 400 || (path == "/mcp" && status == 405);
            assert!(is_fine, "{path} of {document} answers {status}");
        }
        for link in reported.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(link.starts_with('#') || link.starts_with(&base_url), "{link} of {document}");
        }
    }
    for page in ["/docs", "/docs/quickstart", "/docs/reference", "/docs/reference/artifacts", "/docs/errors"]
    {
        for rest in read(&world, page).await.split("href=\"/").skip(1) {
            let path = format!("/{}", rest.split('"').next().unwrap());
            let status = world.stranger().get(&path).await.status;
            assert!(status < 400, "{path} of {page} answers {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_endpoint_that_a_document_names_is_there() {
    let world = world().start().await;
    let openapi = world.stranger().get("/openapi.json").await.expect(200).json();
    for document in FOR_AGENTS.into_iter().chain(["/docs/errors"]) {
        let text = read(&world, document).await;
        let named = endpoints_named_in(&text);
        assert!(!named.is_empty(), "{document} names no endpoint");
        for (method, path) in named {
            let is_listed = openapi["paths"][path][method.to_lowercase()].is_object();
            let answers = async {
                let call = world.stranger().call(Method::from_bytes(method.as_bytes()).unwrap(), path);
                !matches!(call.await.status, 404 | 405)
            };
            assert!(is_listed || answers.await, "{document} names {method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skill_commands_work_from_sign_up_to_a_claimed_and_shared_account() {
    let world = world().start().await;
    let skill = read(&world, "/skill").await;
    let mut commands = Commands::of(&skill);
    let shell = Shell::in_folder(&world.folder().join("ada"));
    write_site(shell.folder());

    sign_up(&mut commands, &shell);
    publish(&mut commands, &shell, &world).await;
    let claim_url = hand_over(&mut commands, &shell);
    change(&mut commands, &shell);
    pay(&mut commands, &shell, &world, &skill).await;

    let human = world.human();
    human.register("ada", PASSWORD).await.expect(201);
    human.claim(&claim_url).await.expect(200);
    let invite = commands.run("/v1/account/invites", &shell).succeeds().json();
    let other = Shell::in_folder(&world.folder().join("bob"));
    write_site(other.folder());
    let code = invite["code"].as_str().unwrap();
    commands.run_with("/v1/account/join", &[("INVITE_CODE", code)], &other).succeeds();
    keep_token(&mut commands, &other);
    let published = commands.run("-F slug=my-page", &other).succeeds().json();
    assert_eq!((&published["version"], &published["account"]["expires_at"]), (&json!(4), &Value::Null));

    assert_eq!(commands.left(), Vec::<&str>::new(), "never run");
}

fn write_site(folder: &Path) {
    std::fs::write(folder.join("page.html"), PAGE).unwrap();
    let site = folder.join("site");
    let files = ["index.html", "css/app.css", "notes; one, two.txt", ".git/config"];
    for file in files {
        std::fs::create_dir_all(site.join(file).parent().unwrap()).unwrap();
        std::fs::write(site.join(file), PAGE).unwrap();
    }
}

fn sign_up(commands: &mut Commands<'_>, shell: &Shell) {
    commands.run("/v1/signup", shell).succeeds();
    let reported = keep_token(commands, shell);
    assert_eq!(reported.json()["status"], "provisional", "{reported:?}");
}

fn keep_token(commands: &mut Commands<'_>, shell: &Shell) -> Ran {
    let reported = commands.run("token=${HANDBILL_TOKEN", shell).succeeds();
    assert!(!reported.stdout.contains("svc_sk_"), "the token was printed: {reported:?}");
    shell.assert_private(".handbill/account.json");
    shell.assert_private(".handbill/curl");
    reported
}

async fn publish(commands: &mut Commands<'_>, shell: &Shell, world: &World) {
    let page = commands.run("-F slug=my-page", shell).succeeds().json();
    assert!(world.visitor().open(page["url"].as_str().unwrap()).await.expect(200).text().contains("live"));

    let site = commands.run("application/gzip", shell).succeeds().json();
    let url = site["url"].as_str().unwrap();
    for (path, status) in
        [("", 200), ("css/app.css", 200), ("notes;%20one,%20two.txt", 200), (".git/config", 404)]
    {
        world.visitor().open(&format!("{url}{path}")).await.expect(status);
    }
    let again = commands.run("application/gzip", shell).succeeds().json();
    assert_eq!((&again["url"], &again["version"]), (&site["url"], &json!(2)));
}

/// Prints the link for claiming the account.
fn hand_over(commands: &mut Commands<'_>, shell: &Shell) -> String {
    let shown = commands.run("date -u", shell).succeeds();
    let (account, now) = shown.stdout.trim().rsplit_once('}').unwrap();
    let account: Value = serde_json::from_str(&format!("{account}}}")).unwrap();
    assert!(account["expires_at"].as_str().unwrap() > now, "{shown:?}");
    let rotated = commands.run("/v1/account/claim-link", shell).succeeds().json();
    assert_ne!(account["claim_url"], rotated["claim_url"]);
    rotated["claim_url"].as_str().unwrap().to_owned()
}

fn change(commands: &mut Commands<'_>, shell: &Shell) {
    // One of the responses is the published page.
    let answers = commands.run("/my-page/versions", shell).succeeds().without(PAGE).all_json();
    let [listed, shown, files, added, staged, rolled_back, deleted] = &answers[..] else {
        panic!("{answers:#?}");
    };
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(files[0]["path"], "index.html");
    assert_eq!(
        (&shown["slug"], &added["version"], &staged["version"]),
        (&json!("my-page"), &json!(2), &json!(3))
    );
    assert_eq!((&rolled_back["version"], &deleted["deleted"]), (&json!(1), &json!(true)));
}

async fn pay(commands: &mut Commands<'_>, shell: &Shell, world: &World, skill: &str) {
    let mut refused = commands.run("# Returns 402", shell).refused().json();
    // The skill leaves it out, because every error has it.
    assert!(refused.as_object_mut().unwrap().remove("doc_url").is_some());
    let promised = skill.lines().find(|line| line.contains(r#""code":"payment_required""#)).unwrap();
    assert_eq!(refused, serde_json::from_str::<Value>(promised).unwrap());
    let private = commands.run("X-PAYMENT: dev:0.5'", shell).succeeds().json();
    assert_eq!(private["receipt"]["amount_usd"], 0.5);
    world.visitor().open(private["url"].as_str().unwrap()).await.expect(403);
    world.visitor().open(private["signed_url"].as_str().unwrap()).await.expect(200);
    let bought = commands.run("/v1/credits", shell).succeeds().json();
    assert_eq!(bought["credits_usd"].as_f64(), Some(1.0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_in_the_reference_is_accepted_by_the_api() {
    let world = world().env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "1000").start().await;
    let (agent, human) = (world.agent().await, world.human());
    human.register("ada", PASSWORD).await.expect(201);
    let session = human.cookie("svc_sess").unwrap();
    let shell = Shell::in_folder(&world.folder().join("ada")).with("SESSION", &session);
    write_site(shell.folder());
    // According to the reference, the skill creates this file. Here a refusal must not end the command.
    let config = format!("header = \"Authorization: Bearer {}\"\n", agent.token());
    std::fs::create_dir_all(shell.folder().join(".handbill")).unwrap();
    std::fs::write(shell.folder().join(".handbill/curl"), config).unwrap();
    let reference = read(&world, "/skill/reference.md").await;
    assert!(!reference.contains("HANDBILL_TOKEN"), "the token is in a file and in no variable");
    assert!(!reference.contains("SIGNING_SECRET"), "it is for agents");
    let calls = Commands::of(&reference).left();
    assert!(calls.len() > 25, "{calls:#?}");
    for call in calls {
        let ran = shell.run(&call.replacen("curl ", "curl -sS -w '\n%{http_code}' ", 1)).succeeds();
        let (body, status) = ran.stdout.rsplit_once('\n').unwrap();
        // The signature and the ids of the examples are not valid.
        let is_example = call.contains("/webhooks/") || status == "404" && body.contains("\"not_found\"");
        let misunderstood = ["400", "404", "405", "413", "415", "500"].contains(&status);
        assert!(!misunderstood || is_example, "{call}\n{ran:?}");
        assert!(!body.contains("no such endpoint"), "{call}\n{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn external_validators_accept_the_skill_and_llms_txt() {
    let world = world().start().await;
    let folder = world.folder().join("documents");
    std::fs::create_dir_all(folder.join("handbill")).unwrap();
    std::fs::write(folder.join("handbill/SKILL.md"), read(&world, "/skill").await).unwrap();
    std::fs::write(folder.join("llms.txt"), read(&world, "/llms.txt").await).unwrap();
    let validated = validate(&folder).await;

    assert_eq!(validated["skill"]["faults"], json!([]));
    assert_eq!(validated["skill"]["properties"]["name"], "handbill");
    assert_eq!(validated["skill"]["properties"]["metadata"]["version"], env!("CARGO_PKG_VERSION"));

    let llms = &validated["llms"];
    assert_eq!(llms["title"], "Handbill");
    assert!(llms["summary"].as_str().unwrap().starts_with("Handbill publishes static HTML: "), "{llms:#}");
    assert!(llms["info"].as_str().unwrap().contains("POST /v1/signup"), "{llms:#}");
    let sections = llms["sections"].as_object().unwrap();
    assert_eq!(sections.keys().collect::<Vec<_>>(), ["Documents", "Optional"]);
    for link in sections.values().flat_map(|links| links.as_array().unwrap()) {
        assert!(
            link["url"].as_str().unwrap().starts_with(&world.base_url()) && link["desc"].is_string(),
            "{link}"
        );
    }
}

async fn validate(folder: &Path) -> Value {
    let python = std::env::var_os("HANDBILL_TEST_DOCUMENTS")
        .expect("HANDBILL_TEST_DOCUMENTS names no program: run the tests by scripts/test");
    let validated = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/documents/check.py"))
        .arg(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .expect("the judges run");
    assert!(validated.status.success(), "{}", String::from_utf8_lossy(&validated.stderr));
    serde_json::from_slice(&validated.stdout).expect("JSON from check.py")
}

/// A document without its fenced blocks, whose addresses are examples.
fn without_examples(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The path that a text begins with.
fn path_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && !"/_-.{}".contains(c)).unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

/// Every text like `POST /v1/publish`.
fn endpoints_named_in(text: &str) -> BTreeSet<(&str, &str)> {
    let words: Vec<_> = text.split_whitespace().collect();
    let named = words.windows(2).filter_map(|pair| {
        let method = pair[0].trim_start_matches(|c: char| !c.is_ascii_uppercase());
        let is_endpoint = METHODS.contains(&method) && pair[1].starts_with('/');
        is_endpoint.then(|| (method, path_at(pair[1])))
    });
    named.collect()
}
