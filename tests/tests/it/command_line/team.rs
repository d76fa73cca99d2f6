//! Accounts with people and several agents.

use super::shell::{Shell, world};
use crate::expectations::PAGE;

/// The first address in the output that contains this.
fn address_with(text: &str, part: &str) -> String {
    text.split_whitespace().find(|word| word.contains(part)).expect(part).to_owned()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, a command after the other")]
async fn claim_invite_and_leave_work_from_the_command_line() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    let account = shell.run(&["account"]).await.ok();
    assert!(account.out.contains("provisional") && account.out.contains("in 30 min"), "{account:?}");
    let unclaimed = shell.run(&["invites", "create"]).await.failed(3);
    assert!(unclaimed.err.contains("claim the account first"), "{unclaimed:?}");
    let first = address_with(&account.out, "/claim/");
    let fresh = shell.run(&["claim-link"]).await.ok();
    let owner = world.human();
    owner.dev_login("ada").await.expect(200);
    assert_eq!(owner.claim(&first).await.status, 404);
    owner.claim(&fresh.line()).await.expect(200);
    let claimed = shell.run(&["account"]).await.ok();
    assert!(claimed.out.contains("claimed") && !claimed.out.contains("/claim/"), "{claimed:?}");
    assert_eq!(shell.run(&["claim-link", "--json"]).await.failed(1).error()["code"], "already_claimed");
    let usage = shell.run(&["usage"]).await.ok();
    assert!(usage.out.contains("100 of 100 free publishes left"), "{usage:?}");

    let invite = shell.run(&["invites", "create", "--max-uses", "3", "--ttl-hours", "24"]).await.ok();
    assert!(invite.out.contains("in 24 h"), "{invite:?}");
    let invited = world.human();
    invited.dev_login("bob").await.expect(200);
    assert_eq!(invited.join(&address_with(&invite.out, "/invite/")).await.status, 302);
    let listed = shell.run(&["invites", "--json"]).await.ok().json();
    let code = listed[0]["code"].as_str().unwrap().to_owned();

    // The code is read from input that no other user of the machine can see.
    assert!(invite.out.contains(&code) && invite.out.contains("for `handbill join`"), "{invite:?}");
    let typed = Shell::new(&world);
    let keys = format!("{code}\n");
    let at_terminal = typed.at_terminal("\"$handbill\" join", &[("Invite code", &keys)]).await;
    assert!(at_terminal.code == Some(0) && !at_terminal.out.contains(&code), "{at_terminal:?}");
    assert!(typed.token().starts_with("svc_sk_"));
    Shell::new(&world).run_reading(&["join"], "\n").await.failed(2);
    let agent = Shell::new(&world);
    let joined = agent.run_reading(&["join"], &format!("{code}\n")).await.ok();
    assert!(!format!("{joined:?}").contains("svc_sk_") && agent.token().starts_with("svc_sk_"), "{joined:?}");
    agent.write("page.html", PAGE);
    agent.run(&["publish", "page.html", "--slug", "from-the-agent"]).await.ok();
    assert!(shell.run(&["list"]).await.ok().out.contains("from-the-agent"));
    let late = Shell::new(&world);
    assert_eq!(late.run(&["join", &code, "--json"]).await.failed(1).error()["code"], "invite_used_up");
    let unknown = late.run(&["join", "nosuchcodenosuchcodenosu"]).await.failed(4);
    assert!(unknown.err.contains("handbill invites create"), "{unknown:?}");
    for (arguments, hint) in [
        (["invites", "revoke", "nosuchcodenosuchcodenosu"], "`handbill invites` lists"),
        (["tokens", "revoke", "01K0000000000000000000000A"], "`handbill tokens` lists"),
        (["activate", "from-the-agent", "9"], "`handbill versions from-the-agent`"),
    ] {
        let refused = shell.run(&arguments).await.failed(4);
        assert!(refused.err.contains(hint), "{refused:?}");
    }

    let second = shell.run(&["invites", "create", "--role", "admin", "--json"]).await.ok().json();
    let code = second["code"].as_str().unwrap();
    shell.run(&["invites", "revoke", code]).await.ok();
    assert!(shell.run(&["invites", "list"]).await.ok().out.contains("revoked just now"));

    let members = shell.run(&["members"]).await.ok();
    assert!(members.out.contains("ada") && members.out.contains("bob"), "{members:?}");
    shell.run(&["members", "remove", "bob"]).await.failed(2);
    let removed = shell.run(&["members", "remove", "bob", "--yes"]).await.ok();
    assert!(removed.out.contains("Removed bob"), "{removed:?}");
    let stays = shell.run(&["members", "remove", "ada", "--yes"]).await.failed(3);
    assert!(stays.err.contains("the owner cannot be removed"), "{stays:?}");
    let left = shell.run(&["members", "list", "--json"]).await.ok().json();
    assert_eq!(left["members"].as_array().unwrap().len(), 1, "{left}");
}
