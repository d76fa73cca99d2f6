//! The contents of `deploy/` as users get them: validated by the programs that they are for, and with
//! settings that the program accepts. Files for containers and clusters are checked against schemas, and no
//! container is started.

mod edge_login;
mod images;
mod proxies;
mod redis_tls;
mod redis_users;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use handbill_tests::{Mode, Value, World, program};
use tokio::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Variables of ours that are not settings: the client's, the path of the settings file, and those of our
/// scripts.
const NOT_SETTINGS: [&str; 4] = ["HANDBILL_ADVISORIES", "HANDBILL_CONFIG", "HANDBILL_TOKEN", "HANDBILL_URL"];
const NOT_SETTINGS_PREFIXES: [&str; 2] = ["HANDBILL_TEST_", "HANDBILL_BENCH_"];
/// The highest exposure that `systemd-analyze security` may report, in tenths. Hardened units of
/// distributions have 10 to 30.
const EXPOSURE_MAX_TENTHS: &str = "15";

/// A file of `deploy/`.
fn page(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join("deploy").join(path)).unwrap()
}

async fn bare_world() -> World {
    World::with(Mode::Embedded, program!()).prepare().await
}

#[tokio::test]
async fn settings_named_in_deploy_files_and_docs_exist() {
    let shown = bare_world().await.command(&["config"], &[]).await;
    let known: BTreeSet<String> = shown
        .output
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, _)| variable(key))
        .collect();
    assert!(known.contains("HANDBILL_API__LISTEN"), "{shown:?}");
    let mut seen = 0;
    for file in files_of(&["deploy", "docs", "README.md", "config/default.toml"]) {
        // An image is not UTF-8.
        if file.extension().is_some_and(|extension| extension == "png") {
            continue;
        }
        for name in variables_named_in(&fs::read_to_string(&file).unwrap()) {
            let is_other = NOT_SETTINGS.contains(&name.as_str())
                || NOT_SETTINGS_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            assert!(is_other || known.contains(&name), "{} names {name}", file.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} settings were found");
}

fn variable(key: &str) -> String {
    format!("HANDBILL_{}", key.trim().replace('.', "__").to_uppercase())
}

/// `HANDBILL_API__LISTEN`, but not placeholders such as `HANDBILL_<SECTION>__<KEY>` and `HANDBILL_LIMITS__*`.
fn variables_named_in(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let words = text.split("HANDBILL_").skip(1).map(|rest| rest.split(|letter| !is_part(letter)).next());
    words
        .flatten()
        .filter(|word| !word.is_empty() && !word.ends_with('_'))
        .map(|word| format!("HANDBILL_{word}"))
        .collect()
}

fn files_of(starts: &[&str]) -> Vec<PathBuf> {
    let mut left: Vec<PathBuf> = starts.iter().map(|start| Path::new(ROOT).join(start)).collect();
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files
}

#[tokio::test]
async fn deploy_files_are_valid_and_the_program_accepts_their_settings() {
    let found = check_files().await;
    assert_eq!(found["faults"], Value::Array(vec![]), "{found:#}");
    let world = bare_world().await;
    let environments: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_value(found["environments"].clone()).unwrap();
    assert!(environments.len() >= 10, "{environments:?}");
    for (name, environment) in environments {
        let environment: Vec<_> =
            environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let taken = world.command(&["config"], &environment).await;
        assert!(taken.status.success(), "{name}: {taken:?}");
        // Dev mode must not be on because a file forgot to turn it off.
        assert!(taken.output.contains("dev_mode = false"), "{name}: {taken:?}");
    }
}

async fn check_files() -> Value {
    let python = std::env::var_os("HANDBILL_TEST_DEPLOY")
        .expect("HANDBILL_TEST_DEPLOY names no program: run the tests by scripts/test");
    let checked = Command::new(python)
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/check.py"), ROOT])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .expect("check.py runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    serde_json::from_slice(&checked.stdout).expect("JSON from check.py")
}

#[tokio::test]
async fn systemd_accepts_every_unit_and_rates_its_sandbox_as_safe() {
    let folder = tempfile::tempdir().unwrap();
    let of_kind = |kind: &'static str| {
        files_of(&["deploy/systemd"]).into_iter().filter(move |file| file.extension() == Some(kind.as_ref()))
    };
    let mut count = 0;
    for unit in of_kind("service") {
        // Replaces the path of the program, which is not installed here, by an existing one.
        let text = fs::read_to_string(&unit).unwrap();
        assert!(text.contains("/usr/local/bin/handbill "), "{}", unit.display());
        // A service runs the program directly, so that its signals and exit code reach the unit. A timer's
        // service may use a shell.
        let bare = text.contains("\nExecStart=/usr/local/bin/handbill ");
        assert!(bare || unit.with_extension("timer").exists(), "{}", unit.display());
        let copy = folder.path().join(unit.file_name().unwrap());
        fs::write(&copy, text.replace("/usr/local/bin/handbill", program!())).unwrap();
        systemd_analyze(&["verify", "--man=no"], &copy).await;
        let threshold = format!("--threshold={EXPOSURE_MAX_TENTHS}");
        systemd_analyze(&["security", "--offline=true", "--no-pager", &threshold], &copy).await;
        count += 1;
    }
    assert_eq!(count, 6);
    for timer in of_kind("timer") {
        // The service of a timer has the same name.
        let copy = folder.path().join(timer.file_name().unwrap());
        fs::copy(&timer, &copy).unwrap();
        systemd_analyze(&["verify", "--man=no"], &copy).await;
        count += 1;
    }
    assert_eq!(count, 8);
}

/// Fails the test on any warning, because systemd only warns about an unknown key and ignores it.
async fn systemd_analyze(args: &[&str], unit: &Path) {
    let mut command = Command::new("systemd-analyze");
    let done = command.args(args).arg(unit.file_name().unwrap()).current_dir(unit.parent().unwrap());
    let done = done.output().await.expect("systemd-analyze runs");
    let (reported, warned) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && warned.is_empty(), "{args:?} {}: {warned}\n{reported}", unit.display());
}
