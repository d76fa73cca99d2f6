//! Tokens and profiles: where a token is stored, who may read it, and where it is never shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use handbill_tests::{Mode, World, in_both_modes, program};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::shell::{Shell, world};
use crate::expectations::PAGE;

fn mode_of(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn signup_stores_the_token_privately_and_does_not_print_it() {
    let world = world().await;
    let shell = Shell::new(&world);
    let signed_up = shell.run(&["signup"]).await.ok();
    let profile = shell.profile();
    assert!(!format!("{signed_up:?}").contains("svc_sk_"), "{signed_up:?}");
    assert!(signed_up.out.contains("/claim/") && signed_up.err.contains("default.toml"), "{signed_up:?}");
    assert_eq!((mode_of(&profile), mode_of(profile.parent().unwrap())), (0o600, 0o700));

    // Another signup would overwrite the token, so that it is refused before an account is created.
    let token = shell.token();
    shell.run(&["signup"]).await.failed(2);
    assert_eq!(shell.token(), token);
    let other = shell.run(&["signup", "--profile", "other", "--json"]).await.ok().json();
    assert!(other["token"].as_str().unwrap().starts_with("svc_sk_"), "{other}");
    shell.run(&["signup", "--yes"]).await.ok();
    assert_ne!(shell.token(), token);

    fs::set_permissions(&profile, fs::Permissions::from_mode(0o644)).unwrap();
    let warned = shell.run(&["whoami"]).await.ok();
    assert!(warned.err.contains("was readable by other users"), "{warned:?}");
    assert_eq!(mode_of(&profile), 0o600);
}

#[tokio::test]
async fn environment_token_precedes_the_profile_and_tokens_go_only_to_their_api() {
    let world = world().await;
    let (one, other) = (Shell::signed_up(&world).await, Shell::signed_up(&world).await);
    let handle = |ran: &super::shell::Ran| ran.json()["account"]["handle"].as_str().unwrap().to_owned();
    let own = one.run(&["whoami", "--json"]).await.ok();
    assert_eq!(own.json()["token_from"], "profile default");
    let one = one.env("HANDBILL_TOKEN", &other.token());
    let given = one.run(&["whoami", "--json"]).await.ok();
    assert_eq!(given.json()["token_from"], "HANDBILL_TOKEN");
    assert_eq!(handle(&given), handle(&other.run(&["whoami", "--json"]).await.ok()));
    assert_ne!(handle(&given), handle(&own));
    // The same machine under another name is another address, and the profile's token must not be sent there.
    let elsewhere = world.base_url().replace("127.0.0.1", "localhost");
    let kept = other.run(&["whoami", "--url", &elsewhere, "--json"]).await.failed(3);
    assert_eq!(kept.error()["code"], "unauthorized");
    // Without the variable the profile provides the address.
    let other = other.env("HANDBILL_URL", &world.base_url());
    let no_url = other.at_terminal("unset HANDBILL_URL; \"$handbill\" whoami", &[]).await;
    assert!(no_url.out.contains(&world.base_url()), "{no_url:?}");
}

#[tokio::test]
async fn a_token_is_minted_used_pinned_and_revoked() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
    let minted = shell
        .run(&[
            "tokens",
            "mint",
            "--name",
            "reader",
            "--scopes",
            "artifacts:read",
            "--slug",
            "my-page",
            "--expires-in",
            "7d",
        ])
        .await
        .ok();
    let token = minted.line();
    let listed = shell.run(&["tokens"]).await.ok();
    assert!(listed.out.contains("reader") && listed.out.contains("in 7 days"), "{listed:?}");
    assert!(!listed.out.contains("svc_sk_"), "{listed:?}");
    let reader = Shell::new(&world).env("HANDBILL_TOKEN", &token);
    reader.run(&["show", "my-page"]).await.ok();
    let refused = reader.run(&["delete", "my-page", "--yes", "--json"]).await.failed(3);
    assert_eq!(refused.error()["code"], "insufficient_scope");
    let tokens = shell.run(&["tokens", "list", "--json"]).await.ok().json();
    let id = tokens.as_array().unwrap().iter().find(|token| token["name"] == "reader").unwrap()["id"].clone();
    shell.run(&["tokens", "revoke", id.as_str().unwrap()]).await.ok();
    reader.run(&["show", "my-page"]).await.failed(3);
    shell.run(&["tokens", "revoke", "../account"]).await.failed(2);
    shell.run(&["tokens", "revoke", "01K0000000000000000000000A"]).await.failed(4);
}

#[tokio::test]
async fn login_reads_a_token_without_echo_and_stores_it_only_if_valid() {
    let world = world().await;
    let token = Shell::signed_up(&world).await.token();
    let shell = Shell::new(&world);
    shell.run_reading(&["login"], "svc_sk_nonsense\n").await.failed(3);
    shell.run_reading(&["login"], &format!("svc_sk_{}\n", "x".repeat(32))).await.failed(3);
    assert!(!shell.profile().exists());
    let logged_in = shell.run_reading(&["login"], &format!("{token}\n")).await.ok();
    assert!(!format!("{logged_in:?}").contains("svc_sk_"), "{logged_in:?}");
    assert_eq!((shell.token(), mode_of(&shell.profile())), (token.clone(), 0o600));

    let typed = Shell::new(&world);
    let keys = format!("{token}\n");
    let at_terminal =
        typed.at_terminal("\"$handbill\" login --with-token; stty -a", &[("Token for", &keys)]).await;
    assert_eq!(typed.token(), token);
    assert!(!at_terminal.out.contains("svc_sk_"), "{at_terminal:?}");
    assert!(at_terminal.out.contains(" echo "), "the echo is back: {at_terminal:?}");
}

#[tokio::test]
async fn command_without_a_token_says_how_to_sign_up_before_reading_files() {
    let shell = Shell::at("http://127.0.0.1:9");
    for command in [&["publish", "nowhere.html"][..], &["list"], &["usage"], &["delete", "my-page", "--yes"]]
    {
        let refused = shell.run(command).await.failed(3);
        assert!(refused.err.contains("handbill signup"), "{refused:?}");
    }
    let malformed = Shell::at("http://127.0.0.1:9").env("HANDBILL_TOKEN", "svc_sk_secret-but-short");
    let refused = malformed.run(&["list"]).await.failed(3);
    assert!(!refused.err.contains("secret-but-short"), "{refused:?}");
}

#[tokio::test]
async fn too_many_calls_end_with_their_own_exit_code() {
    let setup = World::with(Mode::Embedded, program!());
    let world = setup.env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "1").start().await;
    Shell::signed_up(&world).await;
    let limited = Shell::new(&world);
    assert_eq!(limited.run(&["signup", "--json"]).await.failed(6).error()["code"], "rate_limited");
    assert!(!limited.profile().exists());
}

#[tokio::test]
async fn a_token_is_revoked_with_what_it_minted() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    let mint =
        async |shell: &Shell, name: &str| shell.run(&["tokens", "mint", "--name", name]).await.ok().line();
    let root = mint(&shell, "root").await;
    let child = mint(&Shell::new(&world).env("HANDBILL_TOKEN", &root), "child").await;
    let listed = shell.run(&["tokens", "--json"]).await.ok().json();
    let id = listed.as_array().unwrap().iter().find(|token| token["name"] == "root").unwrap()["id"].clone();
    let revoked = shell.run(&["tokens", "revoke", id.as_str().unwrap(), "--with-minted"]).await.ok();
    assert!(revoked.out.contains("and with it 1 token and 0 invites"), "{revoked:?}");
    let ended = Shell::new(&world).env("HANDBILL_TOKEN", &child);
    assert_eq!(ended.run(&["usage", "--json"]).await.failed(3).error()["code"], "unauthorized");
}

#[tokio::test]
async fn keys_in_files_give_warnings_and_active_tokens_are_not_published() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    shell.write("site/app.js", format!("//\nlet key = 'AK{}';", "IAQ7RTWXK4ZB2MNV6A"));
    let published = shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
    assert!(published.err.contains("app.js:2: this looks like an access key ID of AWS"), "{published:?}");
    assert!(!published.out.contains("AWS"), "{published:?}");
    shell.write("site/app.js", shell.token());
    let refused = shell.run(&["publish", "site", "--slug", "my-site"]).await.failed(2);
    assert!(
        refused.err.contains("app.js") && !format!("{refused:?}").contains(&shell.token()),
        "{refused:?}"
    );
}

in_both_modes! {
    async fn login_with_a_browser_is_renewed_until_it_is_revoked(world: World) {
        let owner = Shell::signed_up(&world).await;
        let (agent, human) = (world.stranger().with_token(&owner.token()), world.human());
        human.dev_login("ada").await.expect(200);
        human.claim(&agent.account().await.expect(200).string("claim_url")).await.expect(200);
        let handle = agent.account().await.expect(200).string("account.handle");

        let shell = Shell::new(&world);
        let mut command = shell.command(std::path::Path::new(program!()));
        let mut child = command.args(["login", "--no-browser"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let told = lines.next_line().await.unwrap().unwrap();
        let (address, code) = told.strip_prefix("Open ").unwrap().split_once(" and enter the code ").unwrap();
        assert_eq!(address, format!("{}/device", world.base_url()));
        let page = format!("/device?user_code={code}");
        assert!(human.get(&page).await.expect(200).text().contains("Handbill command line"));
        human.post(&page).form(&[("decision", "allow"), ("account", handle.as_str())]).await.expect(200);
        let ended = child.wait_with_output().await.unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let out = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(out.contains(&handle) && !out.contains("svc_"), "{out}");
        assert_eq!(mode_of(&shell.profile()), 0o600);

        // The token has all rights of the owner.
        assert!(shell.run(&["tokens"]).await.ok().out.contains("oauth:Handbill command line"));
        let first = shell.token();
        // Several commands at once renew it once.
        let_token_expire(&shell);
        let arguments = ["whoami"];
        let (one, other, third) =
            tokio::join!(shell.run(&arguments), shell.run(&arguments), shell.run(&arguments));
        for ran in [one, other, third] {
            assert!(ran.ok().out.contains(&handle));
        }
        assert_ne!(shell.token(), first);
        shell.run(&["whoami"]).await.ok();

        let listed = agent.tokens().await.expect(200).json();
        let own = |token: &&handbill_tests::Value| token["name"] == "oauth:Handbill command line";
        let own = listed.as_array().unwrap().iter().find(own).unwrap();
        agent.revoke_token(own["id"].as_str().unwrap()).await.expect(200);
        shell.run(&["whoami"]).await.failed(3);
        let_token_expire(&shell);
        let refused = shell.run(&["whoami"]).await.failed(3);
        assert!(refused.err.contains("the sign-in of this profile has ended"), "{refused:?}");
    }
}

/// Makes the profile say that its token has expired.
fn let_token_expire(shell: &Shell) {
    let saved = fs::read_to_string(shell.profile()).unwrap();
    let begin = saved.find("expires_at = \"").unwrap();
    let expired = format!("{}expires_at = \"2026-01-01T00:00:00Z\"\n", &saved[..begin]);
    fs::write(shell.profile(), expired).unwrap();
}
