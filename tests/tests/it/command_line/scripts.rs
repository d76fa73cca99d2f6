//! The command line in scripts: JSON for every command, quiet mode, and opening the page in a browser.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use handbill_tests::{PATIENCE, eventually};

use super::shell::{Shell, world};
use crate::expectations::PAGE;

#[tokio::test]
async fn every_command_prints_only_json_with_the_json_option() {
    let world = world().await;
    let shell = with_a_browser(Shell::new(&world));
    shell.write("page.html", PAGE);
    let json = async |line: &str| {
        let arguments: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        shell.run(&arguments).await.ok().json()
    };
    let signed_up = json("signup").await;
    let owner = world.human();
    owner.dev_login("ada").await.expect(200);
    assert_eq!(json("whoami").await["account"]["handle"], signed_up["account"]["handle"]);
    assert!(json("publish page.html --slug my-page").await["url"].is_string());
    assert_eq!(json("publish page.html --slug my-page --stage").await["version"], 2);
    assert_eq!(json("list").await[0]["slug"], "my-page");
    assert_eq!(json("show my-page").await["versions"][1]["live"], true);
    assert_eq!(json("versions my-page").await[0]["seq"], 2);
    assert_eq!(json("diff my-page 1 2").await["files"].as_array().unwrap().len(), 0);
    assert_eq!(json("activate my-page 2").await["version"], 2);
    assert_eq!(json("rollback my-page").await["version"], 1);
    assert!(json("visibility my-page private --yes").await["signed_url"].is_string());
    assert_eq!(json("open my-page").await["slug"], "my-page");
    assert_eq!(json("account").await["handle"], signed_up["account"]["handle"]);
    assert_eq!(json("usage").await["publishes"]["used"], 2);
    assert!(json("credits buy 5 --yes").await["receipt"]["id"].is_string());
    assert_eq!(json("credits").await["credits_usd"], 5.0);
    let minted = json("tokens mint --name bot").await;
    assert_eq!(json("tokens list").await.as_array().unwrap().len(), 2);
    assert_eq!(json(&format!("tokens revoke {}", minted["id"].as_str().unwrap())).await["revoked"], true);
    let claim_url = json("claim-link").await["claim_url"].as_str().unwrap().to_owned();
    owner.claim(&claim_url).await.expect(200);
    let invite = json("invites create").await;
    let code = invite["code"].as_str().unwrap();
    assert_eq!(json("invites list").await[0]["code"], code);
    assert!(json(&format!("join {code} --profile joined")).await["token"].is_string());
    assert_eq!(json(&format!("invites revoke {code}")).await["revoked"], true);
    assert_eq!(json("members list").await["members"][0]["username"], "ada");
    let guest = world.human();
    guest.dev_login("bob").await.expect(200);
    let second = json("invites create").await;
    assert_eq!(guest.join(second["invite_url"].as_str().unwrap()).await.status, 302);
    assert_eq!(json("members remove bob --yes").await["removed"], true);
    assert_eq!(json("delete my-page --yes").await["deleted"], true);
    let token = signed_up["token"].as_str().unwrap();
    let logged_in =
        shell.run_reading(&["login", "--profile", "again", "--json"], &format!("{token}\n")).await.ok();
    assert_eq!(logged_in.json()["handle"], signed_up["account"]["handle"]);
    assert_eq!(shell.run(&["show", "my-page", "--json"]).await.failed(4).error()["code"], "not_found");
}

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
fn with_a_browser(shell: Shell) -> Shell {
    shell.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > \"$HOME/opened\"\n");
    fs::set_permissions(shell.path("bin/xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", shell.path("bin").display(), std::env::var("PATH").unwrap());
    shell.env("PATH", &path)
}
