//! A folder remembers its page, and leaves out what nobody publishes on purpose.

use std::fs;

use handbill_tests::Value;

use super::shell::{Shell, world};
use crate::expectations::{PAGE, assert_serves, page_saying};

const STATE: &str = "site/.handbill.json";

#[tokio::test]
async fn a_folder_is_published_again_to_the_same_page() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    let first = shell.run(&["publish", "site", "--dry-run"]).await.ok();
    assert!(!shell.path(STATE).exists(), "{first:?}");
    let first = shell.run(&["publish", "site"]).await.ok();
    assert!(first.err.contains("site/.handbill.json remembers the page"), "{first:?}");
    let state: Value = serde_json::from_str(&fs::read_to_string(shell.path(STATE)).unwrap()).unwrap();
    assert_eq!(state["server"], world.base_url());
    assert_eq!(world.visitor().open(&format!("{}.handbill.json", first.line())).await.status, 404);

    shell.write("site/index.html", page_saying("second"));
    let second = shell.run(&["publish", "site"]).await.ok();
    assert_eq!(second.line(), first.line());
    assert!(second.err.contains("version 2"), "{second:?}");
    assert_serves(&world.visitor().open(&first.line()).await, &page_saying("second"));
    // In the folder, the path can be left out.
    let here = shell.at_terminal("cd site && \"$handbill\" publish", &[]).await;
    assert!(here.code == Some(0) && here.out.contains(&first.line()), "{here:?}");

    let another = shell.run(&["publish", "site", "--new"]).await.ok();
    assert_ne!(another.line(), first.line());
    assert_eq!(shell.run(&["publish", "site"]).await.ok().line(), another.line());
}

#[tokio::test]
async fn the_slug_option_chooses_another_page_and_the_folder_keeps_its_own() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    shell.run(&["publish", "site", "--slug", "first-page"]).await.ok();
    shell.run(&["publish", "site", "--slug", "other-page"]).await.ok();
    let staged = shell.run(&["publish", "site", "--stage"]).await.ok();
    assert!(staged.err.contains("handbill activate first-page 2"), "{staged:?}");
    let keyed = shell.run(&["publish", "site", "--idempotency-key", "one"]).await.ok();
    assert_eq!(shell.run(&["publish", "site", "--idempotency-key", "one"]).await.ok().line(), keyed.line());
    let listed = shell.run(&["list", "--json"]).await.ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 3, "{listed}");
}

#[tokio::test]
async fn a_folder_of_another_server_or_account_is_not_published() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
    let other = shell.run(&["signup", "--profile", "other"]).await.ok();
    assert!(other.out.contains("claim link"), "{other:?}");
    let refused = shell.run(&["publish", "site", "--profile", "other"]).await.failed(2);
    assert!(refused.err.contains("my-site") && refused.err.contains("--new"), "{refused:?}");
    // The same slug in the other account is another page.
    shell.write("page.html", PAGE);
    shell.run(&["publish", "page.html", "--slug", "my-site", "--profile", "other"]).await.ok();
    let refused = shell.run(&["publish", "site", "--profile", "other", "--json"]).await.failed(2);
    assert!(
        refused.error()["message"].as_str().unwrap().contains("this account does not have"),
        "{refused:?}"
    );

    // A token that may not read pages cannot tell whose page it is.
    let state = fs::read_to_string(shell.path(STATE)).unwrap();
    let minted =
        shell.run(&["tokens", "mint", "--name", "publisher", "--scopes", "artifacts:write"]).await.ok();
    let publisher = Shell::at(&world.base_url()).env("HANDBILL_TOKEN", &minted.line());
    publisher.write("site/index.html", PAGE);
    publisher.write(STATE, &state);
    let refused = publisher.run(&["publish", "site"]).await.failed(2);
    assert!(refused.err.contains("may not read"), "{refused:?}");
    assert_eq!(shell.versions_of("my-site").await, 1);
    publisher.run(&["publish", "site", "--slug", "my-site"]).await.ok();
    assert_eq!(shell.versions_of("my-site").await, 2);

    shell.write(STATE, state.replace(&world.base_url(), "https://handbill.example"));
    let refused = shell.run(&["publish", "site"]).await.failed(2);
    assert!(refused.err.contains("on https://handbill.example"), "{refused:?}");
    let refused = shell.run(&["publish", "site", "--json"]).await.failed(2);
    assert!(!refused.error()["hint"].as_str().unwrap().contains("://"), "{refused:?}");
    assert_eq!(shell.versions_of("my-site").await, 2);
    shell.write(STATE, "{");
    shell.run(&["publish", "site"]).await.failed(2);
    shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
}

#[tokio::test]
async fn node_modules_and_hidden_files_are_published_only_on_demand() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    for (path, content) in [
        ("site/index.html", PAGE),
        ("site/.git/config", "git"),
        ("site/.nojekyll", "yes"),
        ("site/node_modules/a/a.js", "1"),
    ] {
        shell.write(path, content);
    }
    let usual = shell.run(&["publish", "site"]).await.ok();
    assert!(usual.err.contains("Left out: .nojekyll, node_modules/."), "{usual:?}");
    let url = usual.line();
    let statuses = async || {
        let mut statuses = Vec::new();
        for path in [".nojekyll", "node_modules/a/a.js", ".git/config", ".handbill.json"] {
            statuses.push(world.visitor().open(&format!("{url}{path}")).await.status);
        }
        statuses
    };
    assert_eq!(statuses().await, [404, 404, 404, 404]);
    shell.run(&["publish", "site", "--all-files"]).await.ok();
    assert_eq!(statuses().await, [200, 200, 404, 404]);
    shell.write("site/.handbillignore", "!.nojekyll\n");
    let chosen = shell.run(&["publish", "site"]).await.ok();
    assert!(chosen.err.contains("Left out: node_modules/."), "{chosen:?}");
    assert_eq!(statuses().await, [200, 404, 404, 404]);
}
