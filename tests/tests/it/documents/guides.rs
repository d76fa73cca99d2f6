//! The guides of the documentation: their commands run as written, in the order of the guides.

use std::fmt::Write as _;

use handbill_tests::{Mode, World, program};

use super::shell::Shell;

/// Guides of commands that need nothing but the server, in the order of reading.
const GUIDES: [&str; 6] = ["quickstart", "private-sharing", "teams", "payments", "mcp", "cli"];

/// Programs that a guide sets up are not part of this project.
const FOREIGN: &str = "claude ";

/// The commands of a page that have a button to copy them.
fn commands(page: &str) -> Vec<String> {
    let blocks = page
        .split("<div class=\"copy\">\n")
        .skip(1)
        .filter(|block| block.split("</div>").next().is_some_and(|block| block.contains("data-copy=")));
    let code = blocks.filter_map(|block| block.split("<code>").nth(1)?.split("</code>").next());
    let plain = |text: &str| {
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    };
    code.map(plain).filter(|command| !command.starts_with(FOREIGN)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_the_guides_work_in_the_order_of_the_guides() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let shell = Shell::in_folder(&world.folder().join("reader"));
    let program = world.folder().join("bin/handbill");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(program!(), &program).unwrap();
    let mut script = format!("PATH={}:$PATH\n", program.parent().unwrap().display());
    // A refusal ends the script, which plain curl would not do.
    script.push_str("curl() { command curl -sS --fail-with-body \"$@\"; }\n");
    let mut count = 0;
    for guide in GUIDES {
        let page = world.stranger().get(&format!("/docs/{guide}")).await.expect(200).text();
        let commands = commands(&page);
        assert!(!commands.is_empty(), "{guide} has no commands");
        if guide == "cli" {
            script.push_str("unset HANDBILL_TOKEN\n");
        }
        for command in commands {
            count += 1;
            let _ = writeln!(script, "{command}\necho");
        }
        if guide == "quickstart" {
            // The reader opens the claim link.
            let base_url = world.base_url();
            let _ = writeln!(
                script,
                "curl -o /dev/null -c cookies '{base_url}/auth/dev?user=ada'\ncurl -b cookies -H 'Accept: \
                 application/json' -X POST $(sed 's/.*\"claim_url\":\"\\([^\"]*\\)\".*/\\1/' account.json)"
            );
        }
    }
    assert!(count > 15, "{count} commands");
    let printed = shell.run(&script).succeeds().stdout;
    for shown in ["\"status\":\"claimed\"", "\"signed_url\":", "/invite/", "edit_artifact", "unlisted"] {
        assert!(printed.contains(shown), "no {shown} in {printed}");
    }
}
