//! `handbill download`, `diff`, `export`, `delete` and `undelete`.

use handbill_tests::in_both_modes;

use super::shell::Shell;
use crate::expectations::{PAGE, page_saying};

in_both_modes! {
    async fn a_version_is_unpacked_and_compared_from_the_command_line(world: World) {
        let shell = Shell::signed_up(&world).await;
        shell.write("site/index.html", PAGE);
        shell.write("site/css/a.css", "a {}\n");
        // An export lists verdicts, and the two exports below must be equal.
        shell.run(&["publish", "site", "--slug", "my-site", "--wait"]).await.ok();
        shell.write("site/css/a.css", "b {}\n");
        shell.run(&["publish", "site", "--slug", "my-site", "--wait"]).await.ok();

        assert_eq!(shell.run(&["download", "my-site"]).await.ok().line(), "my-site");
        let read = |path: &str| std::fs::read_to_string(shell.path(path)).unwrap();
        assert_eq!((read("my-site/css/a.css"), read("my-site/index.html")), ("b {}\n".into(), PAGE.into()));
        shell.write("my-site/mine.txt", "mine");
        shell.write("my-site/index.html", page_saying("mine"));
        shell.run(&["download", "my-site"]).await.failed(2);
        assert_eq!(read("my-site/index.html"), page_saying("mine"));
        shell.run(&["download", "my-site", "my-site", "--version", "1", "--force"]).await.ok();
        assert_eq!((read("my-site/css/a.css"), read("my-site/mine.txt")), ("a {}\n".into(), "mine".into()));
        shell.run(&["download", "my-site", "old/site", "--version", "1"]).await.ok();
        assert_eq!(read("old/site/index.html"), PAGE);
        shell.run(&["download", "my-site", "never", "--version", "3"]).await.failed(4);
        assert!(!shell.path("never").exists());

        assert_eq!(shell.run(&["export"]).await.ok().line(), "handbill-export.tar.gz");
        shell.run(&["export"]).await.failed(2);
        shell.run(&["export", "all.tar.gz"]).await.ok();
        let names = ["all.tar.gz", "handbill-export.tar.gz"];
        let archives = names.map(|name| std::fs::read(shell.path(name)).unwrap());
        assert!(archives[0] == archives[1] && archives[0].starts_with(b"\x1f\x8b"));
        assert!(!shell.path("all.tar.gz.partial").exists());

        let diff = shell.run(&["diff", "my-site"]).await.ok();
        assert!(diff.out.ends_with("@@ -1 +1 @@\n-a {}\n+b {}\n"), "{}", diff.out);
        assert_eq!(shell.run(&["diff", "my-site", "1", "2"]).await.ok().out, diff.out);
        assert_eq!(shell.run(&["diff", "my-site", "2", "2"]).await.ok().out, "");
        let listed = shell.run(&["diff", "my-site", "--json"]).await.ok().json();
        assert_eq!(listed["files"][0]["change"], "changed");
    }

    async fn pages_and_versions_are_deleted_and_restored_from_the_command_line(world: World) {
        let shell = Shell::signed_up(&world).await;
        shell.write("page.html", PAGE);
        let url = shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok().line();
        shell.write("page.html", page_saying("second"));
        shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
        let gone = shell.run(&["delete", "my-page", "--version", "1", "--yes"]).await.ok();
        assert_eq!(gone.line(), "Deleted version 1 of my-page");
        shell.run(&["delete", "my-page", "--version", "1", "--yes"]).await.failed(4);
        shell.run(&["delete", "my-page", "--yes"]).await.ok();
        world.visitor().open(&url).await.expect(404);
        assert_eq!(shell.run(&["undelete", "my-page"]).await.ok().line(), url);
        world.visitor().open(&url).await.expect(200);
        shell.run(&["delete", "my-page", "--purge", "--yes"]).await.ok();
        world.visitor().open(&url).await.expect(404);
        shell.run(&["undelete", "my-page"]).await.failed(4);
    }
}
