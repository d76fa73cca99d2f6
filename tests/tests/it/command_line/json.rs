//! `--json` for every command that the program has: one JSON document for its result, or one for its error.

use std::collections::BTreeSet;
use std::fs;

use handbill_tests::{Mode, PATIENCE, Value, World, json, program};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

use super::scripts::with_a_browser;
use super::shell::{Ran, Shell, world};
use crate::expectations::PAGE;

/// Runs commands with `--json` and the world's settings, and notes which ones were run.
struct Commands<'a> {
    world: &'a World,
    shell: Shell,
    /// Every command by the name of its man page, such as `admin-jobs`.
    known: BTreeSet<String>,
    run: BTreeSet<String>,
}

impl<'a> Commands<'a> {
    async fn of(world: &'a World) -> Self {
        let data = world.folder().join("data");
        let shell = with_a_browser(Shell::new(world))
            .env("HANDBILL_DATA_DIR", data.to_str().unwrap())
            .env("HANDBILL_API__BASE_URL", &world.base_url())
            .env("HANDBILL_EDGE__SERVE_URL", &world.serve_url())
            .env("HANDBILL_SECRETS__SIGNING", World::SIGNING_SECRET);
        let folder = shell.run(&["man", "--folder", "pages", "--json"]).await.ok().json()["folder"].clone();
        let pages = fs::read_dir(shell.path(folder.as_str().unwrap())).unwrap();
        let known = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
        let known =
            known.filter_map(|name| Some(name.strip_prefix("handbill-")?.strip_suffix(".1")?.to_owned()));
        Self { world, shell, known: known.collect(), run: BTreeSet::new() }
    }

    fn note(&mut self, line: &str) {
        let words: Vec<_> = line.split(' ').collect();
        let names = (1..=words.len()).rev().map(|count| words[..count].join("-"));
        let name = names.into_iter().find(|name| self.known.contains(name));
        self.run.insert(name.unwrap_or_else(|| panic!("{line} is not a command")));
    }

    /// The result of a command.
    async fn result(&mut self, line: &str) -> Value {
        let ended = self.reading(line, "").await;
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        ended.json()
    }

    async fn reading(&mut self, line: &str, input: &str) -> Ran {
        self.note(line);
        let arguments: Vec<_> = line.split(' ').chain(["--json"]).collect();
        self.shell.run_reading(&arguments, input).await
    }

    /// The code of a command that fails.
    async fn fault(&mut self, line: &str, exit_code: i32) -> Value {
        let ended = self.reading(line, "").await;
        assert_eq!(ended.code, Some(exit_code), "{line}: {ended:?}");
        ended.failed(exit_code).error()["code"].clone()
    }
}

#[tokio::test]
async fn every_command_has_a_result_in_json() {
    let world = world().await;
    let mut commands = Commands::of(&world).await;
    let handle = run_client_commands(&mut commands).await;
    run_operator_commands(&mut commands, &handle).await;
    run_maintenance_commands(&mut commands).await;
    for group in ["admin", "admin operator", "ledger"] {
        assert_eq!(commands.reading(group, "").await.failed(2).error()["code"], "invalid_request");
    }
    let forgotten: Vec<_> = commands.known.difference(&commands.run).collect();
    assert!(forgotten.is_empty(), "no test of --json: {forgotten:?}");
}

/// Returns the handle of the account.
async fn run_client_commands(commands: &mut Commands<'_>) -> String {
    commands.shell.write("page.html", PAGE);
    let signed_up = commands.result("signup").await;
    let handle = &signed_up["account"]["handle"];
    let owner = commands.world.human();
    owner.dev_login("ada").await.expect(200);
    assert_eq!(&commands.result("whoami").await["account"]["handle"], handle);
    assert!(commands.result("publish page.html --slug my-page").await["url"].is_string());
    assert_eq!(commands.result("publish page.html --slug my-page --stage").await["version"], 2);
    assert!(commands.result("check page.html").await.is_object());
    assert_eq!(commands.result("list").await[0]["slug"], "my-page");
    assert_eq!(commands.result("show my-page").await["versions"][1]["live"], true);
    assert_eq!(commands.result("versions my-page").await[0]["seq"], 2);
    assert_eq!(commands.result("diff my-page 1 2").await["files"].as_array().unwrap().len(), 0);
    assert!(commands.result("download my-page").await.is_object());
    assert_eq!(commands.result("activate my-page 2").await["version"], 2);
    assert_eq!(commands.result("rollback my-page").await["version"], 1);
    assert!(commands.result("visibility my-page private --yes").await["signed_url"].is_string());
    assert!(commands.result("private-link my-page --yes").await["signed_url"].is_string());
    assert_eq!(commands.result("open my-page").await["slug"], "my-page");
    assert_eq!(&commands.result("account").await["handle"], handle);
    assert_eq!(commands.result("usage").await["publishes"]["used"], 2);
    assert!(commands.result("credits buy 5 --yes").await["receipt"]["id"].is_string());
    assert_eq!(commands.result("credits").await["credits_usd"], 5.0);
    assert_eq!(commands.result("credits show").await["credits_usd"], 5.0);
    let minted = commands.result("tokens mint --name bot").await;
    assert_eq!(commands.result("tokens").await.as_array().unwrap().len(), 2);
    assert_eq!(commands.result("tokens list").await.as_array().unwrap().len(), 2);
    let revoked = commands.result(&format!("tokens revoke {}", minted["id"].as_str().unwrap())).await;
    assert_eq!(revoked["revoked"], true);
    let claim_url = commands.result("claim-link").await["claim_url"].as_str().unwrap().to_owned();
    owner.claim(&claim_url).await.expect(200);
    run_team_commands(commands).await;
    assert!(commands.result("export").await.is_object());
    assert_eq!(commands.result("delete my-page --yes").await["deleted"], true);
    assert_eq!(commands.result("undelete my-page").await["slug"], "my-page");
    let token = format!("{}\n", signed_up["token"].as_str().unwrap());
    assert_eq!(&commands.reading("login --profile again", &token).await.ok().json()["handle"], handle);
    assert_eq!(commands.reading("show no-page", "").await.failed(4).error()["code"], "not_found");
    handle.as_str().unwrap().to_owned()
}

async fn run_team_commands(commands: &mut Commands<'_>) {
    let invite = commands.result("invites create").await;
    let code = invite["code"].as_str().unwrap();
    assert_eq!(commands.result("invites").await[0]["code"], code);
    assert_eq!(commands.result("invites list").await[0]["code"], code);
    assert!(commands.result(&format!("join {code} --profile joined")).await["token"].is_string());
    assert_eq!(commands.result(&format!("invites revoke {code}")).await["revoked"], true);
    assert_eq!(commands.result("members").await["members"][0]["username"], "ada");
    assert_eq!(commands.result("members list").await["members"][0]["username"], "ada");
    let guest = commands.world.human();
    guest.dev_login("bob").await.expect(200);
    let second = commands.result("invites create").await;
    assert_eq!(guest.join(second["invite_url"].as_str().unwrap()).await.status, 302);
    assert_eq!(commands.result("members remove bob --yes").await["removed"], true);
}

async fn run_operator_commands(commands: &mut Commands<'_>, handle: &str) {
    let queues = commands.result("admin queues").await;
    assert_eq!(queues["queues"][0]["name"], "publish", "{queues}");
    assert!(commands.result("admin jobs scan").await["items"].is_array());
    assert!(commands.result("admin schedules").await.is_array());
    let ran = commands.result("admin run sweep-records").await;
    let id = ran["job_id"].as_str().unwrap_or_else(|| panic!("{ran}"));
    assert_eq!(commands.result(&format!("admin job upkeep {id}")).await["id"], id);
    let missing = "scan 01KC4GZJ2Q8W5T7RXN3VB6M9DE";
    for order in ["retry", "cancel", "discard"] {
        assert_eq!(commands.fault(&format!("admin {order} {missing}"), 1).await, "not_found");
    }
    assert_eq!(commands.result("admin requeue-dead scan").await["requeued"], 0);
    assert_eq!(commands.result("admin discard-dead scan").await["discarded"], 0);
    assert_eq!(commands.result("admin pause rescan").await["paused"], true);
    assert_eq!(commands.result("admin resume rescan").await["paused"], false);
    assert!(commands.result("admin rescan --all").await["queued"].is_u64());
    assert_eq!(commands.fault("admin rescan --host no-page-a1b2", 1).await, "not_found");
    assert!(commands.result("admin scans").await["unscanned"]["versions"].is_u64());
    let granted = commands.result(&format!("admin credit {handle} 5 --reason Test")).await;
    assert_eq!(granted["handle"], handle);
    assert_eq!(commands.fault("admin credit acct_none 5 --reason Test", 1).await, "not_found");
    let suspended = commands.result(&format!("admin suspend {handle} --reason Test")).await;
    assert_eq!(suspended["handle"], handle);
    assert_eq!(commands.result(&format!("admin lift {handle}")).await["handle"], handle);
    assert_eq!(commands.fault("admin lift acct_none", 1).await, "not_found");
    let added = commands.reading("admin operator add ada", "a rather long sentence\n").await.ok().json();
    assert!(added["entry"].as_str().unwrap().starts_with("ada="), "{added}");
    let weak = commands.reading("admin operator add ada", "password\n").await.failed(1);
    assert_eq!(weak.error()["code"], "weak_password");
    assert_eq!(commands.result("ledger check").await["fault_count"], 0);
    let entries = commands.result(&format!("ledger show {handle}")).await;
    let granted = |entry: &Value| entry["reason"].as_str().unwrap().starts_with("operator-credit:");
    assert!(entries.as_array().unwrap().iter().any(granted), "{entries}");
    assert_eq!(commands.fault("ledger show acct_none", 1).await, "not_found");
}

async fn run_maintenance_commands(commands: &mut Commands<'_>) {
    assert_eq!(commands.result("migrate").await["migrated"], true);
    let settings = commands.result("config").await;
    assert!(settings.as_array().unwrap().iter().any(|line| line["key"] == "api.listen"), "{settings}");
    let examined = commands.reading("doctor", "").await.json();
    assert!(examined["findings"].as_array().unwrap().iter().any(|one| one["state"] == "ok"), "{examined}");
    assert_eq!(commands.result("scrub").await["damage_count"], 0);
    let folder = commands.world.folder();
    let (backup, restored) = (folder.join("saved"), folder.join("restored"));
    let saved = commands.result(&format!("backup {}", backup.display())).await;
    assert!(saved["contents"].as_u64() > Some(0), "{saved}");
    let restore = format!("restore {}", backup.display());
    commands.note(&restore);
    let line = format!("HANDBILL_DATA_DIR={} \"$handbill\" {restore} --json", restored.display());
    assert_eq!(commands.shell.run_line(&line).await.ok().json()["contents"], saved["contents"]);
    assert_eq!(commands.fault(&restore, 1).await, "local_error");
    assert_eq!(commands.fault("migrate-data --from none-a --to none-b", 1).await, "local_error");
    let plan = commands.result("size --publishes 50/s --views 5000/s").await;
    assert_eq!(plan["load"]["publishes_per_second"], 50.0);
    assert!(commands.result("completions bash").await["script"].is_string());
    assert!(commands.result("man").await["page"].is_string());
    // The data directory is in use.
    assert_eq!(commands.fault("serve", 1).await, "local_error");
    // They need Redis.
    for role in ["api", "edge", "worker"] {
        assert_eq!(commands.fault(role, 2).await, "invalid_settings");
    }
}

#[tokio::test]
async fn every_fault_before_a_command_starts_is_an_error_in_json() {
    for (line, (name, value), named) in [
        (&["config"][..], ("HANDBILL_API__LISSTEN", "127.0.0.1:1"), "HANDBILL_API__LISSTEN"),
        (&["admin", "queues"], ("HANDBILL_API__LISTEN", "nowhere"), "HANDBILL_API__LISTEN"),
        (&["serve"], ("HANDBILL_CONFIG", "missing.toml"), "missing.toml"),
        (&["scrub"], ("HANDBILL_CONFIG", "broken.toml"), "broken.toml"),
    ] {
        let shell = Shell::at("http://127.0.0.1:9").env(name, value);
        shell.write("broken.toml", "api = [");
        let error = shell.run(&[line, &["--json"]].concat()).await.failed(2).error();
        assert_eq!(error["code"], "invalid_settings");
        assert!(error["faults"][0]["source"].as_str().unwrap().contains(named), "{error}");
    }
    let shell =
        Shell::at("http://127.0.0.1:9").env("HANDBILL_TOKEN", "svc_sk_0123456789abcdef0123456789abcdef");
    assert_eq!(shell.run(&["list", "--json"]).await.failed(7).error()["code"], "unreachable");
    let shell = Shell::at("nowhere");
    assert_eq!(shell.run(&["list", "--json"]).await.failed(2).error()["code"], "invalid_request");
}

#[tokio::test]
async fn first_run_at_a_terminal_shows_the_banner_and_no_log() {
    let shell = Shell::at("http://127.0.0.1:9")
        .env("HANDBILL_API__LISTEN", "127.0.0.1:0")
        .env("HANDBILL_EDGE__LISTEN", "127.0.0.1:0");
    let shown = shell.serve_at_terminal().await.ok().out;
    assert!(shown.starts_with("Handbill is running. Open http://127.0.0.1:"), "{shown}");
    assert!(
        shown.contains("handbill publish page.html") && shown.contains("curl -s -X POST http"),
        "{shown}"
    );
    assert_eq!(shown.matches("DEV MODE").count(), 1, "{shown}");
    assert!(!shown.contains("INFO") && !shown.contains("WARN"), "{shown}");
    assert!(shown.contains("only warnings are logged"), "{shown}");
    let shell = shell.env("HANDBILL_LOG", "info");
    let shown = shell.serve_at_terminal().await.ok().out;
    assert!(shown.contains("INFO") && !shown.contains("only warnings are logged"), "{shown}");
}

#[tokio::test]
async fn log_in_json_is_complete_at_a_terminal_too() {
    let shell = Shell::at("http://127.0.0.1:9")
        .env("HANDBILL_API__LISTEN", "127.0.0.1:0")
        .env("HANDBILL_EDGE__LISTEN", "127.0.0.1:0")
        .env("HANDBILL_LOG_FORMAT", "json");
    let shown = shell.serve_at_terminal().await.ok().out;
    assert!(shown.contains("\"level\":\"INFO\"") && !shown.contains("only warnings are logged"), "{shown}");
}

#[tokio::test]
async fn server_reports_in_json_that_it_is_ready() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    let shell = Shell::at("http://127.0.0.1:9")
        .env("HANDBILL_API__LISTEN", "127.0.0.1:0")
        .env("HANDBILL_EDGE__LISTEN", "127.0.0.1:0")
        .env("HANDBILL_DATA_DIR", world.folder().join("data").to_str().unwrap());
    let mut server =
        shell.command(std::path::Path::new(program!())).args(["serve", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
    let ready: Value = line.unwrap().expect("a line").parse().expect("JSON");
    assert_eq!((&ready["role"], &ready["dev_mode"]), (&json!("serve"), &json!(true)), "{ready}");
    assert!(ready["api_url"].is_string() && ready["pages_url"].is_string(), "{ready}");
}
