//! `handbill publish --watch`, from the first publish to Ctrl-C.

use std::path::Path;
use std::time::Duration;

use handbill_tests::program;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::shell::{Shell, world};
use crate::expectations::{PAGE, assert_serves, page_saying};

const PATIENCE: Duration = Duration::from_secs(30);

fn watch(shell: &Shell, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = shell.command(Path::new(program!()));
    let mut watching = command.args(arguments).spawn().expect("the program under test starts");
    let lines = BufReader::new(watching.stdout.take().expect("standard output")).lines();
    (watching, lines)
}

async fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
    line.expect("standard output can be read").expect("another line")
}

/// Presses Ctrl-C.
async fn interrupt(watching: &mut Child) -> Option<i32> {
    let id = watching.id().expect("a running process").to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().await.expect("kill runs").success());
    let ended = tokio::time::timeout(PATIENCE, watching.wait()).await.expect("it ends in time");
    ended.expect("its end").code()
}

#[tokio::test]
async fn each_change_is_published_once_until_it_is_interrupted() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/index.html", PAGE);
    let (mut watching, mut lines) = watch(&shell, &["publish", "site", "--slug", "my-site", "--watch"]);
    let url = next(&mut lines).await;
    assert_serves(&world.visitor().open(&url).await, PAGE);
    shell.write("site/index.html", page_saying("second"));
    shell.write("site/app.css", "h1 {}");
    assert_eq!(next(&mut lines).await, format!("{url} (version 2)"));
    assert_serves(&world.visitor().open(&url).await, &page_saying("second"));
    world.visitor().open(&format!("{url}app.css")).await.expect(200);
    // Neither the same content nor a file that is left out is a change.
    shell.write("site/index.html", page_saying("second"));
    shell.write("site/node_modules/a.js", "1");
    tokio::time::sleep(Duration::from_secs(2)).await;
    shell.write("site/index.html", page_saying("third"));
    assert_eq!(next(&mut lines).await, format!("{url} (version 3)"));
    assert_eq!(interrupt(&mut watching).await, Some(0));
    assert_eq!(shell.versions_of("my-site").await, 3);
}

#[tokio::test]
async fn a_watch_goes_on_after_a_refused_change() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let arguments = ["publish", "page.html", "--slug", "my-page", "--watch", "--json"];
    let (mut watching, mut lines) = watch(&shell, &arguments);
    assert!(next(&mut lines).await.contains("\"version\":1"));
    shell.write("page.html", "");
    tokio::time::sleep(Duration::from_secs(2)).await;
    shell.write("page.html", page_saying("again"));
    assert!(next(&mut lines).await.contains("\"version\":2"));
    assert_eq!(interrupt(&mut watching).await, Some(0));
    shell.run_reading(&["publish", "-", "--watch"], PAGE).await.failed(2);
}
