//! `handbill publish --dry-run` and `--wait`.

use handbill_tests::{in_both_modes, json};

use super::shell::Shell;
use crate::expectations::{PAGE, page_saying};

in_both_modes! {
    async fn the_command_line_rehearses_and_waits(world: World) {
        let shell = Shell::signed_up(&world).await;
        shell.write("site/index.html", PAGE);
        shell.write("site/a.css", "a {}");
        let new = shell.run(&["publish", "site", "--slug", "my-site", "--dry-run"]).await.ok();
        assert_eq!(new.out, "+ a.css\n+ index.html\n");
        assert!(new.err.contains("Nothing was published"), "{}", new.err);
        assert_eq!(shell.run(&["list", "--json"]).await.ok().json(), json!([]));
        let waited = shell.run(&["publish", "site", "--slug", "my-site", "--wait"]).await.ok();
        assert!(waited.err.contains("Scan: pass."), "{}", waited.err);
        shell.write("site/index.html", page_saying("next"));
        let staged = ["publish", "site", "--slug", "my-site", "--stage", "--dry-run", "--json"];
        let staged = shell.run(&staged).await.ok().json();
        assert_eq!((&staged["changed"], &staged["unchanged"]), (&json!(["index.html"]), &json!(1)));
        assert_eq!(shell.versions_of("my-site").await, 1);
    }
}
