//! Which files of a folder are sent, and which never are.

use std::os::unix::fs::symlink;

use super::shell::{Shell, world};
use crate::expectations::{PAGE, assert_serves, page_saying};
use crate::publish_bodies::tar;

#[tokio::test]
async fn fifty_files_are_published_and_fifty_one_are_not_sent() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    for number in 1..50 {
        shell.write(&format!("site/part-{}/{number}.txt", number % 7), format!("file {number}"));
    }
    let published = shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
    let url = published.line();
    assert!(published.err.contains("in 50 files"), "{published:?}");
    assert_serves(&world.visitor().open(&url).await, PAGE);
    for number in 1..50 {
        let file = world.visitor().open(&format!("{url}part-{}/{number}.txt", number % 7)).await.expect(200);
        assert_eq!(file.text(), format!("file {number}"));
    }
    shell.write("site/one-more.txt", "51");
    let refused = shell.run(&["publish", "site", "--slug", "my-site"]).await.failed(2);
    assert!(refused.err.contains("50 files") && refused.err.contains(".handbillignore"), "{refused:?}");
    assert_eq!(shell.versions_of("my-site").await, 1);
    shell.write("site/.handbillignore", "one-more.*\n");
    shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
}

#[tokio::test]
async fn more_than_ten_megabytes_are_refused_before_they_are_sent() {
    // Nothing listens there, so that any request would fail with another error.
    let shell = Shell::at("http://127.0.0.1:9").env("HANDBILL_TOKEN", &format!("svc_sk_{}", "a".repeat(32)));
    shell.write("site/index.html", PAGE);
    shell.write("site/big.bin", vec![0; 10 * 1_048_576]);
    let refused = shell.run(&["publish", "site", "--json"]).await.failed(2);
    assert_eq!(refused.error()["code"], "too_large");
    shell.write("site/big.bin", vec![0; 10 * 1_048_576 + 1]);
    assert_eq!(
        shell.run(&["publish", "site/big.bin", "--json"]).await.failed(2).error()["code"],
        "too_large"
    );
}

#[tokio::test]
async fn hidden_and_ignored_and_outside_files_are_not_uploaded() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    for (path, content) in [
        ("outside.txt", "outside"),
        ("site/index.html", PAGE),
        ("site/.git/config", "git"),
        ("site/.env", "secret"),
        ("site/.well-known/security.txt", "contact"),
        ("site/.handbillignore", "*.map\n/drafts/\n"),
        ("site/app.js", "1"),
        ("site/app.js.map", "map"),
        ("site/drafts/a.txt", "draft"),
        ("site/more/drafts/a.txt", "no draft"),
    ] {
        shell.write(path, content);
    }
    symlink(shell.path("outside.txt"), shell.path("site/leak.txt")).unwrap();
    symlink("app.js", shell.path("site/again.js")).unwrap();
    let published = shell.run(&["publish", "site"]).await.ok();
    let url = published.line();
    assert!(published.err.contains("skipped: leak.txt"), "{published:?}");
    for (path, status) in [
        ("", 200),
        (".well-known/security.txt", 200),
        ("app.js", 200),
        ("again.js", 200),
        ("more/drafts/a.txt", 200),
        (".git/config", 404),
        (".env", 404),
        (".handbillignore", 404),
        ("app.js.map", 404),
        ("drafts/a.txt", 404),
        ("leak.txt", 404),
    ] {
        assert_eq!(world.visitor().open(&format!("{url}{path}")).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_folder_is_published_by_a_link_to_it() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("releases/7/index.html", PAGE);
    symlink("releases/7", shell.path("current")).unwrap();
    let url = shell.run(&["publish", "current"]).await.ok().line();
    assert_serves(&world.visitor().open(&url).await, PAGE);
}

#[tokio::test]
async fn standard_input_is_published_as_a_page_and_a_single_file_has_its_own_url() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    let url = shell.run_reading(&["publish", "-"], PAGE).await.ok().line();
    assert_serves(&world.visitor().open(&url).await, PAGE);
    shell.write("my notes.txt", "some notes");
    let url = shell.run(&["publish", "my notes.txt"]).await.ok().line();
    assert!(url.ends_with("/my%20notes.txt"), "{url}");
    assert_eq!(world.visitor().open(&url).await.expect(200).text(), "some notes");
    shell.run_reading(&["publish", "-"], "").await.failed(2);
    shell.run(&["publish", "nowhere.html"]).await.failed(2);
}

#[tokio::test]
async fn an_archive_is_unpacked_by_the_server() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site.tar", tar(&[("site/index.html", PAGE), ("site/app.css", "h1 {}")]));
    let published =
        shell.run(&["publish", "site.tar", "--slug", "my-site", "-m", "By tar & more"]).await.ok();
    let url = published.line();
    assert!(published.err.contains("in an archive"), "{published:?}");
    assert_serves(&world.visitor().open(&url).await, PAGE);
    world.visitor().open(&format!("{url}app.css")).await.expect(200);
    let versions = shell.run(&["versions", "my-site", "--json"]).await.ok().json();
    assert_eq!(versions[0]["message"], "By tar & more");
    shell.write("next.tar", tar(&[("index.html", &page_saying("next"))]));
    shell.run(&["publish", "next.tar", "--slug", "my-site", "--stage"]).await.ok();
    assert_serves(&world.visitor().open(&url).await, PAGE);
    shell.write("broken.tar", "no tar");
    shell.run(&["publish", "broken.tar"]).await.failed(2);
    shell.run(&["check", "site.tar"]).await.failed(2);
}

#[tokio::test]
async fn an_archive_is_read_from_standard_input() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    let archive = String::from_utf8(tar(&[("index.html", PAGE)])).unwrap();
    let url = shell.run_reading(&["publish", "-"], &archive).await.ok().line();
    assert_serves(&world.visitor().open(&url).await, PAGE);
}

#[tokio::test]
async fn an_update_sends_only_files_that_changed() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    for number in 1..50 {
        shell.write(&format!("site/{number}.txt"), format!("file {number}"));
    }
    let first = shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
    assert!(first.err.contains("50 of 50 files sent"), "{first:?}");
    let url = first.line();
    shell.write("site/7.txt", "changed");
    let second = shell.run(&["publish", "site", "--slug", "my-site"]).await.ok();
    assert!(second.err.contains("1 of 50 files sent"), "{second:?}");
    assert_eq!(second.line(), url);
    for (path, content) in [("7.txt", "changed"), ("8.txt", "file 8")] {
        let file = world.visitor().open(&format!("{url}{path}")).await.expect(200);
        assert_eq!(file.text(), content);
    }
    let third = shell.run(&["publish", "site", "--slug", "my-site", "--idempotency-key", "again"]).await.ok();
    assert!(third.err.contains("0 of 50 files sent"), "{third:?}");
    shell.write("site/8.txt", "changed too");
    shell.write("site/9.txt", "changed too");
    let staged = shell.run(&["publish", "site", "--slug", "my-site", "--stage"]).await.ok();
    assert!(staged.err.contains("2 of 50 files sent"), "{staged:?}");
    assert_eq!(shell.versions_of("my-site").await, 4);
    // A new page sends everything at once.
    let new = shell.run(&["publish", "site", "--slug", "new-site", "--new"]).await.ok();
    assert!(new.err.contains("50 of 50 files sent"), "{new:?}");
}
