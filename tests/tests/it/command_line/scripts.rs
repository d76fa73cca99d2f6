//! The command line in scripts: quiet mode, tables, and opening the page in a browser.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use handbill_tests::{PATIENCE, eventually};

use super::shell::{Shell, world};
use crate::expectations::PAGE;

#[tokio::test]
async fn quiet_prints_only_the_result_and_pipes_get_no_colour() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let quiet = shell.run(&["publish", "page.html", "--slug", "my-page", "--quiet"]).await.ok();
    assert!(quiet.err.is_empty() && quiet.line().starts_with("http://"), "{quiet:?}");
    let piped = shell.run(&["list"]).await.ok();
    assert!(!format!("{}{}", piped.out, piped.err).contains('\u{1b}'), "{piped:?}");
    let line = "\"$handbill\" list";
    assert!(shell.at_terminal(line, &[]).await.out.contains('\u{1b}'));
    assert!(!shell.at_terminal(&format!("NO_COLOR=1 {line}"), &[]).await.out.contains('\u{1b}'));
}

#[tokio::test]
async fn a_wrong_command_line_is_an_error_in_json_with_the_json_option() {
    let shell = Shell::at("http://127.0.0.1:9");
    for line in
        [&["show"][..], &["shwo", "my-page"], &["list", "--no-such-option"], &["credits", "buy", "much"], &[]]
    {
        let refused = shell.run(&[line, &["--json"]].concat()).await.failed(2);
        assert_eq!(refused.error()["code"], "invalid_request", "{refused:?}");
        let refused = shell.run(line).await.failed(2);
        assert!(!refused.err.is_empty() && !refused.err.starts_with('{'), "{refused:?}");
    }
}

#[tokio::test]
async fn a_table_fits_the_terminal_and_is_complete_in_a_pipe() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let url = shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok().line();
    let piped = shell.run(&["list"]).await.ok().out;
    let names = ["SLUG", "TITLE", "UPDATED", "VIEWS", "LIVE", "VISIBILITY", "MODERATION", "URL"];
    assert_eq!(piped.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(), names, "{piped}");
    let narrow = shell.at_terminal("stty cols 60; NO_COLOR=1 \"$handbill\" list", &[]).await;
    assert_eq!(narrow.code, Some(0), "{narrow:?}");
    let rows: Vec<_> = narrow.out.lines().take_while(|line| !line.starts_with("Not shown: ")).collect();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.trim_end().chars().count() <= 60), "{narrow:?}");
    // A URL is shown whole or not at all.
    assert!(piped.contains(&url) && !rows[1].contains("http"), "{piped}\n{narrow:?}");
    assert!(rows[0].contains("UPDATED") && narrow.out.contains("Not shown: "), "{narrow:?}");
}

/// The commands that print tables, as a user and as an operator.
const TABLES: &str = "list|versions my-page|tokens|members|invites|admin queues|admin schedules|\
    admin jobs publish --state done|ledger show $account|size --publishes 50/s --views 5000/s";

#[tokio::test]
async fn every_table_fits_a_narrow_terminal_without_broken_words() {
    let world = world().await;
    let data = world.folder().join("data");
    let shell = Shell::new(&world).env("HANDBILL_DATA_DIR", data.to_str().unwrap());
    shell.run(&["signup"]).await.ok();
    shell.write("page.html", PAGE);
    shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
    shell.run(&["credits", "buy", "5", "--yes"]).await.ok();
    let account = shell.run(&["account", "--json"]).await.ok().json()["handle"].as_str().unwrap().to_owned();
    let shell = shell.env("account", &account).env("NO_COLOR", "1");
    for width in [80, 60, 40] {
        for command in TABLES.split('|') {
            let (shown, piped) = shown_and_piped(&shell, command, width).await;
            let widest = shown.lines().map(|line| line.trim_end().chars().count()).max();
            assert!(widest.expect("output") <= width, "{command} at {width}: {shown}");
            let (words, complete) = (words_of(&shown), words_of(&piped));
            let broken: Vec<_> = words.difference(&complete).filter(|word| !word.contains('…')).collect();
            assert!(broken.is_empty(), "{command} at {width}: {broken:?} of {shown}{piped}");
        }
    }
}

/// What a command prints at a terminal and into a pipe while the server has the same state. A scan or a
/// scheduled job that ends in between changes the words.
async fn shown_and_piped(shell: &Shell, command: &str, width: usize) -> (String, String) {
    let line = format!("\"$handbill\" {command}");
    loop {
        let before = shell.run_line(&line).await.ok().out;
        let shown = shell.at_terminal(&format!("stty cols {width}; {line}"), &[]).await;
        assert_eq!(shown.code, Some(0), "{command}: {shown:?}");
        let after = shell.run_line(&line).await.ok().out;
        if words_of(&before) == words_of(&after) {
            return (shown.out, after);
        }
    }
}

/// Words of ages, which change while the test runs, and of the note about columns that are left out.
const NOT_COMPARED: [&str; 12] =
    ["never", "just", "now", "in", "ago", "s", "min", "h", "day", "days", "Not", "shown:"];

/// The words of a table, without numbers and ages.
fn words_of(table: &str) -> BTreeSet<&str> {
    let words = table.split_whitespace().map(|word| word.trim_matches([',', '(', ')']));
    words.filter(|word| word.contains(char::is_alphabetic) && !NOT_COMPARED.contains(word)).collect()
}

#[tokio::test]
async fn result_that_cannot_be_written_is_a_failure() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    for command in ["config", "size --publishes 50/s --views 5000/s", "completions bash", "man", "account"] {
        let line = format!("\"$handbill\" {command}");
        let ended = shell.run_line(&format!("{line} > /dev/full")).await.failed(1);
        assert!(ended.err.contains("write to standard output: No space left"), "{command}: {ended:?}");
        let ended = shell.run_line(&format!("{line} --json > /dev/full")).await.failed(1);
        assert_eq!(ended.error()["code"], "local_error", "{command}: {ended:?}");
        // A closed pipe is not an error.
        let ended = shell.run_line(&format!("{{ {line}; echo $? >&2; }} | true")).await.ok();
        assert!(ended.err.ends_with("0\n"), "{command}: {ended:?}");
    }
}

#[tokio::test]
async fn a_page_that_does_not_exist_is_not_asked_about() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
    for line in ["delete nope-page", "delete my-page --version 7"] {
        let ended = shell.at_terminal(&format!("\"$handbill\" {line}"), &[]).await;
        assert!(ended.code == Some(4) && !ended.out.contains("[y/N]"), "{ended:?}");
    }
    let declined = shell.at_terminal("\"$handbill\" delete my-page", &[("[y/N]", "n\n")]).await;
    assert_eq!(declined.code, Some(2), "{declined:?}");
}

#[tokio::test]
async fn open_uses_the_signed_link_of_a_private_page() {
    let world = world().await;
    let shell = with_a_browser(Shell::new(&world));
    shell.run(&["signup"]).await.ok();
    shell.write("page.html", PAGE);
    let url = shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok().line();
    assert_eq!(shell.run(&["open", "my-page"]).await.ok().line(), url);
    let opened = async || fs::read_to_string(shell.path("opened")).ok().filter(|text| text.ends_with('\n'));
    assert_eq!(eventually(PATIENCE, "the browser opens", opened).await.trim(), url);
    let signed = shell.run(&["visibility", "my-page", "private", "--yes"]).await.ok().line();
    fs::remove_file(shell.path("opened")).unwrap();
    assert_eq!(shell.run(&["open", "my-page"]).await.ok().line(), signed);
    assert_eq!(eventually(PATIENCE, "the browser opens", opened).await.trim(), signed);
    shell.run(&["open", "no-such-page"]).await.failed(4);
    fs::remove_file(shell.path("opened")).unwrap();
    let again = shell.run(&["publish", "page.html", "--slug", "my-page", "--open"]).await.ok().line();
    assert_eq!(eventually(PATIENCE, "the browser opens", opened).await.trim(), again);
}

/// A shell whose browser command writes the address to a file.
pub fn with_a_browser(shell: Shell) -> Shell {
    shell.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > \"$HOME/opened\"\n");
    fs::set_permissions(shell.path("bin/xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", shell.path("bin").display(), std::env::var("PATH").unwrap());
    shell.env("PATH", &path)
}
