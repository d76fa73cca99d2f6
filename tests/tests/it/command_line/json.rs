//! `--json` for every command that the program has: one JSON document for its result, or one for its error.

use std::collections::BTreeSet;
use std::fs;

use handbill_tests::{Finished, Mode, Value, World, json, program};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::scripts::with_a_browser;
use super::shell::{Ran, Shell, world};
use crate::expectations::PAGE;

/// Runs commands with `--json`, and notes which ones were run.
struct Commands<'a> {
    world: &'a World,
    shell: Shell,
    /// Every command by the name of its man page, such as `admin-jobs`.
    known: BTreeSet<String>,
    run: BTreeSet<String>,
}

impl<'a> Commands<'a> {
    async fn of(world: &'a World) -> Self {
        let shell = with_a_browser(Shell::new(world));
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

    /// The result of a client command.
    async fn client(&mut self, line: &str) -> Value {
        self.reading(line, "").await.ok().json()
    }

    async fn reading(&mut self, line: &str, input: &str) -> Ran {
        self.note(line);
        let arguments: Vec<_> = line.split(' ').chain(["--json"]).collect();
        self.shell.run_reading(&arguments, input).await
    }

    /// The result of an operator's command.
    async fn operator(&mut self, line: &str) -> Value {
        let ended = self.operate(line, &[]).await;
        assert!(ended.status.success(), "{line}: {ended:?}");
        ended.output.parse().unwrap_or_else(|error| panic!("{line}: {error}: {ended:?}"))
    }

    /// The code of an operator's command that fails.
    async fn fault(&mut self, line: &str, exit_code: i32) -> Value {
        let ended = self.operate(line, &[]).await;
        assert_eq!(ended.status.code(), Some(exit_code), "{line}: {ended:?}");
        error_of(&ended)["code"].clone()
    }

    async fn operate(&mut self, line: &str, env: &[(&str, &str)]) -> Finished {
        self.note(line);
        let arguments: Vec<_> = line.split(' ').chain(["--json"]).collect();
        self.world.command(&arguments, env).await
    }
}

/// Everything that a command has printed, which must be one error.
#[track_caller]
fn error_of(ended: &Finished) -> Value {
    let error: Value = ended.output.parse().unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    for field in ["code", "message", "hint"] {
        assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {ended:?}");
    }
    error
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
    let signed_up = commands.client("signup").await;
    let handle = &signed_up["account"]["handle"];
    let owner = commands.world.human();
    owner.dev_login("ada").await.expect(200);
    assert_eq!(&commands.client("whoami").await["account"]["handle"], handle);
    assert!(commands.client("publish page.html --slug my-page").await["url"].is_string());
    assert_eq!(commands.client("publish page.html --slug my-page --stage").await["version"], 2);
    assert!(commands.client("check page.html").await.is_object());
    assert_eq!(commands.client("list").await[0]["slug"], "my-page");
    assert_eq!(commands.client("show my-page").await["versions"][1]["live"], true);
    assert_eq!(commands.client("versions my-page").await[0]["seq"], 2);
    assert_eq!(commands.client("diff my-page 1 2").await["files"].as_array().unwrap().len(), 0);
    assert!(commands.client("download my-page").await.is_object());
    assert_eq!(commands.client("activate my-page 2").await["version"], 2);
    assert_eq!(commands.client("rollback my-page").await["version"], 1);
    assert!(commands.client("visibility my-page private --yes").await["signed_url"].is_string());
    assert!(commands.client("private-link my-page --yes").await["signed_url"].is_string());
    assert_eq!(commands.client("open my-page").await["slug"], "my-page");
    assert_eq!(&commands.client("account").await["handle"], handle);
    assert_eq!(commands.client("usage").await["publishes"]["used"], 2);
    assert!(commands.client("credits buy 5 --yes").await["receipt"]["id"].is_string());
    assert_eq!(commands.client("credits").await["credits_usd"], 5.0);
    assert_eq!(commands.client("credits show").await["credits_usd"], 5.0);
    let minted = commands.client("tokens mint --name bot").await;
    assert_eq!(commands.client("tokens").await.as_array().unwrap().len(), 2);
    assert_eq!(commands.client("tokens list").await.as_array().unwrap().len(), 2);
    let revoked = commands.client(&format!("tokens revoke {}", minted["id"].as_str().unwrap())).await;
    assert_eq!(revoked["revoked"], true);
    let claim_url = commands.client("claim-link").await["claim_url"].as_str().unwrap().to_owned();
    owner.claim(&claim_url).await.expect(200);
    run_team_commands(commands).await;
    assert!(commands.client("export").await.is_object());
    assert_eq!(commands.client("delete my-page --yes").await["deleted"], true);
    assert_eq!(commands.client("undelete my-page").await["slug"], "my-page");
    let token = format!("{}\n", signed_up["token"].as_str().unwrap());
    assert_eq!(&commands.reading("login --profile again", &token).await.ok().json()["handle"], handle);
    assert_eq!(commands.reading("show no-page", "").await.failed(4).error()["code"], "not_found");
    handle.as_str().unwrap().to_owned()
}

async fn run_team_commands(commands: &mut Commands<'_>) {
    let invite = commands.client("invites create").await;
    let code = invite["code"].as_str().unwrap();
    assert_eq!(commands.client("invites").await[0]["code"], code);
    assert_eq!(commands.client("invites list").await[0]["code"], code);
    assert!(commands.client(&format!("join {code} --profile joined")).await["token"].is_string());
    assert_eq!(commands.client(&format!("invites revoke {code}")).await["revoked"], true);
    assert_eq!(commands.client("members").await["members"][0]["username"], "ada");
    assert_eq!(commands.client("members list").await["members"][0]["username"], "ada");
    let guest = commands.world.human();
    guest.dev_login("bob").await.expect(200);
    let second = commands.client("invites create").await;
    assert_eq!(guest.join(second["invite_url"].as_str().unwrap()).await.status, 302);
    assert_eq!(commands.client("members remove bob --yes").await["removed"], true);
}

async fn run_operator_commands(commands: &mut Commands<'_>, handle: &str) {
    let queues = commands.operator("admin queues").await;
    assert_eq!(queues["queues"][0]["name"], "publish", "{queues}");
    assert!(commands.operator("admin jobs scan").await["items"].is_array());
    assert!(commands.operator("admin schedules").await.is_array());
    let ran = commands.operator("admin run sweep-records").await;
    let id = ran["job_id"].as_str().unwrap_or_else(|| panic!("{ran}"));
    assert_eq!(commands.operator(&format!("admin job upkeep {id}")).await["id"], id);
    let missing = "scan 01KC4GZJ2Q8W5T7RXN3VB6M9DE";
    for order in ["retry", "cancel", "discard"] {
        assert_eq!(commands.fault(&format!("admin {order} {missing}"), 1).await, "not_found");
    }
    assert_eq!(commands.operator("admin requeue-dead scan").await["requeued"], 0);
    assert_eq!(commands.operator("admin discard-dead scan").await["discarded"], 0);
    assert_eq!(commands.operator("admin pause rescan").await["paused"], true);
    assert_eq!(commands.operator("admin resume rescan").await["paused"], false);
    assert!(commands.operator("admin rescan --all").await["queued"].is_u64());
    assert_eq!(commands.fault("admin rescan --host no-page-a1b2", 1).await, "not_found");
    assert!(commands.operator("admin scans").await["unscanned"]["versions"].is_u64());
    let granted = commands.operator(&format!("admin credit {handle} 5 --reason Test")).await;
    assert_eq!(granted["handle"], handle);
    assert_eq!(commands.fault("admin credit acct_none 5 --reason Test", 1).await, "not_found");
    let suspended = commands.operator(&format!("admin suspend {handle} --reason Test")).await;
    assert_eq!(suspended["handle"], handle);
    assert_eq!(commands.operator(&format!("admin lift {handle}")).await["handle"], handle);
    assert_eq!(commands.fault("admin lift acct_none", 1).await, "not_found");
    let added = commands.reading("admin operator add ada", "a rather long sentence\n").await.ok().json();
    assert!(added["entry"].as_str().unwrap().starts_with("ada="), "{added}");
    let weak = commands.reading("admin operator add ada", "password\n").await.failed(1);
    assert_eq!(weak.error()["code"], "weak_password");
    assert_eq!(commands.operator("ledger check").await["fault_count"], 0);
    let entries = commands.operator(&format!("ledger show {handle}")).await;
    let granted = |entry: &Value| entry["reason"].as_str().unwrap().starts_with("operator-credit:");
    assert!(entries.as_array().unwrap().iter().any(granted), "{entries}");
    assert_eq!(commands.fault("ledger show acct_none", 1).await, "not_found");
}

async fn run_maintenance_commands(commands: &mut Commands<'_>) {
    assert_eq!(commands.operator("migrate").await["migrated"], true);
    let settings = commands.operator("config").await;
    assert!(settings.as_array().unwrap().iter().any(|line| line["key"] == "api.listen"), "{settings}");
    let examined = commands.operate("doctor", &[]).await.output;
    let examined: Value = examined.parse().unwrap_or_else(|error| panic!("{error}: {examined}"));
    assert!(examined["findings"].as_array().unwrap().iter().any(|one| one["state"] == "ok"), "{examined}");
    assert_eq!(commands.operator("scrub").await["damage_count"], 0);
    let folder = commands.world.folder();
    let (backup, restored) = (folder.join("saved"), folder.join("restored"));
    let saved = commands.operator(&format!("backup {}", backup.display())).await;
    assert!(saved["contents"].as_u64() > Some(0), "{saved}");
    let restore = format!("restore {}", backup.display());
    let restored = commands.operate(&restore, &[("HANDBILL_DATA_DIR", restored.to_str().unwrap())]).await;
    let restored: Value = restored.output.parse().unwrap_or_else(|error| panic!("{error}: {restored:?}"));
    assert_eq!(restored["contents"], saved["contents"]);
    assert_eq!(commands.fault(&restore, 1).await, "local_error");
    assert_eq!(commands.fault("migrate-data --from none-a --to none-b", 1).await, "local_error");
    let plan = commands.client("size --publishes 50/s --views 5000/s").await;
    assert_eq!(plan["load"]["publishes_per_second"], 50.0);
    assert!(commands.client("completions bash").await["script"].is_string());
    assert!(commands.client("man").await["page"].is_string());
    // The data directory is in use.
    assert_eq!(commands.fault("serve", 1).await, "local_error");
    // They need Redis.
    for role in ["api", "edge", "worker"] {
        assert_eq!(commands.fault(role, 2).await, "invalid_settings");
    }
}

#[tokio::test]
async fn every_fault_before_a_command_starts_is_an_error_in_json() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    fs::write(world.folder().join("broken.toml"), "api = [").unwrap();
    for (line, env, named) in [
        (&["config"][..], ("HANDBILL_API__LISSTEN", "127.0.0.1:1"), "HANDBILL_API__LISSTEN"),
        (&["admin", "queues"], ("HANDBILL_API__LISTEN", "nowhere"), "HANDBILL_API__LISTEN"),
        (&["serve"], ("HANDBILL_CONFIG", "missing.toml"), "missing.toml"),
        (&["scrub"], ("HANDBILL_CONFIG", "broken.toml"), "broken.toml"),
    ] {
        let refused = world.command(&[line, &["--json"]].concat(), &[env]).await;
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let error = error_of(&refused);
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
    let shell = shell.env("HANDBILL_LOG", "info");
    assert!(shell.serve_at_terminal().await.ok().out.contains("INFO"));
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
    let ready: Value = lines.next_line().await.unwrap().expect("a line").parse().expect("JSON");
    assert_eq!((&ready["role"], &ready["dev_mode"]), (&json!("serve"), &json!(true)), "{ready}");
    assert!(ready["api_url"].is_string() && ready["pages_url"].is_string(), "{ready}");
}
