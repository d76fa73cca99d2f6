//! The command line as users run it: each command from the start of its process to its exit code, with a
//! running server.

mod checks;
mod downloads;
mod folders;
mod json;
mod manual;
mod outages;
mod paying;
mod private;
mod rehearsals;
mod scripts;
mod shell;
mod sites;
mod team;
mod tokens;
mod watching;

use handbill_tests::{in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, page_saying};
use shell::Shell;

in_both_modes! {
    async fn a_page_is_published_changed_rolled_back_and_deleted_from_the_command_line(world: World) {
        let shell = Shell::signed_up(&world).await;
        shell.write("page.html", PAGE);
        let published = shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
        let url = published.line();
        assert_serves(&world.visitor().open(&url).await, PAGE);
        for reported in ["4 free publishes left", "/claim/", "expires in 30 min", "index.html", "version 1 of my-page"] {
            assert!(published.err.contains(reported), "{reported}: {published:?}");
        }

        shell.write("page.html", page_saying("second"));
        let again =
            shell.run(&["publish", "page.html", "--slug", "my-page", "--message", "A second try"]).await.ok();
        assert_eq!(again.line(), url);
        let versions = shell.run(&["versions", "my-page"]).await.ok();
        assert!(versions.out.contains("A second try") && versions.out.lines().count() == 3, "{versions:?}");
        let addresses = versions.out.matches(url.trim_end_matches('/')).count();
        assert!(versions.out.contains("URL") && addresses == 2, "{versions:?}");
        let shown = shell.run(&["show", "my-page"]).await.ok();
        assert!(shown.out.contains(&url) && shown.out.contains("A second try"), "{shown:?}");
        let listed = shell.run(&["list"]).await.ok();
        assert!(listed.out.contains(&url) && listed.out.contains("my-page"), "{listed:?}");

        shell.run(&["rollback", "my-page"]).await.ok();
        assert_serves(&world.visitor().open(&url).await, PAGE);
        shell.run(&["rollback", "my-page"]).await.failed(2);
        shell.run(&["activate", "my-page", "2"]).await.ok();
        assert_serves(&world.visitor().open(&url).await, &page_saying("second"));

        shell.write("page.html", page_saying("third"));
        let staged = shell.run(&["publish", "page.html", "--slug", "my-page", "--stage"]).await.ok();
        assert!(staged.err.contains("handbill activate my-page 3"), "{staged:?}");
        let link = staged.err.lines().find_map(|line| line.split_once("Preview: ")).unwrap().1;
        assert_serves(&world.visitor().open(link).await, &page_saying("third"));
        let versions = shell.run(&["versions", "my-page"]).await.ok();
        assert!(versions.out.contains("URL") && versions.out.contains(link), "{versions:?}");
        assert_serves(&world.visitor().open(&url).await, &page_saying("second"));
        shell.run(&["activate", "my-page", "3"]).await.ok();
        assert_serves(&world.visitor().open(&url).await, &page_saying("third"));

        shell.run(&["delete", "my-page"]).await.failed(2);
        shell.run(&["delete", "my-page", "--yes"]).await.ok();
        assert_eq!(world.visitor().open(&url).await.status, 404);
    }

    async fn a_publish_can_require_a_live_version_or_a_new_name(world: World) {
        let shell = Shell::signed_up(&world).await;
        shell.write("page.html", PAGE);
        let publish = async |options: &[&str]| {
            shell.run(&[&["publish", "page.html", "--slug", "my-page", "--json"], options].concat()).await
        };
        assert_eq!(publish(&["--new"]).await.ok().json()["version"], 1);
        let refused = publish(&["--new"]).await.failed(1);
        let error = refused.error();
        assert_eq!((&error["code"], &error["live_version"]), (&json!("version_conflict"), &json!(1)));
        assert_eq!(publish(&["--if-version", "1"]).await.ok().json()["version"], 2);
        assert_eq!(publish(&["--if-version", "1"]).await.failed(1).error()["live_version"], 2);
        assert_eq!(publish(&["--stage", "--if-version", "2"]).await.ok().json()["version"], 3);
        publish(&["--new", "--if-version", "2"]).await.failed(2);
        publish(&["--if-version", "0"]).await.failed(2);
        shell.run(&["publish", "page.html", "--if-version", "1"]).await.failed(2);
        let stale = ["publish", "page.html", "--slug", "my-page", "--if-version", "1"];
        let stale = shell.run(&stale).await.failed(1);
        assert!(stale.err.contains("version 2 is live") && stale.err.contains("--if-version"), "{stale:?}");
    }

    async fn repeated_idempotency_key_creates_one_version(world: World) {
        let shell = Shell::signed_up(&world).await;
        shell.write("page.html", PAGE);
        let arguments = ["publish", "page.html", "--slug", "my-page", "--idempotency-key", "one", "--json"];
        let (first, second) = (shell.run(&arguments).await.ok().json(), shell.run(&arguments).await.ok().json());
        assert_eq!(first, second);
        assert_eq!(shell.versions_of("my-page").await, 1);
        shell.write("page.html", page_saying("another"));
        assert_eq!(shell.run(&arguments).await.failed(1).error()["code"], "idempotency_conflict");
    }
}
