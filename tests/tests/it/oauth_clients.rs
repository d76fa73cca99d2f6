//! OAuth with third-party clients, unmodified: each gets the address of `/mcp` and no token. A program acts
//! as the browser of a person who continues without an account.

use std::path::Path;

use handbill_tests::{Port, World, in_both_modes, installed};
use tokio::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/oauth");

in_both_modes! {
    async fn python_sdk_gets_a_token_and_renews_it(world: World) {
        let mut story = command("HANDBILL_TEST_OAUTH", &world);
        story.arg(format!("{SOURCES}/sdk.py"));
        assert_publishes(story, &world).await;
    }

    async fn fastmcp_connects_with_oauth(world: World) {
        let mut story = command("HANDBILL_TEST_OAUTH", &world);
        story.arg(format!("{SOURCES}/fastmcp_client.py"));
        assert_publishes(story, &world).await;
    }

    async fn mcp_remote_connects_without_a_header(world: World) {
        let program = installed("HANDBILL_TEST_OAUTH_PACKAGES").join("mcp-remote/dist/proxy.js");
        let mut story = command("HANDBILL_TEST_NODE", &world);
        // Without a port, the client derives one from the address, which another program may have.
        let port = Port::take();
        story.arg(format!("{SOURCES}/remote.mjs")).arg(program).arg(format!("{}/mcp", world.base_url()));
        story.arg(port.number.to_string());
        assert_publishes(story, &world).await;
    }
}

/// A client with a home directory of its own, in which it keeps its tokens.
fn command(variable: &str, world: &World) -> Command {
    let browser = Path::new(SOURCES).join("browser.py");
    let mut command = Command::new(installed(variable));
    command
        .env("HANDBILL_TEST_BASE_URL", world.base_url())
        .env("HANDBILL_TEST_BROWSER", &browser)
        .env("BROWSER", &browser)
        .env("HOME", world.folder())
        .env("MCP_REMOTE_CONFIG_DIR", world.folder().join("mcp-remote"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .current_dir(world.folder())
        .kill_on_drop(true);
    command
}

/// The client publishes, for an account that was made for it.
async fn assert_publishes(mut command: Command, world: &World) {
    let ended = command.output().await.expect("a program that runs");
    let reported = String::from_utf8_lossy(&ended.stdout);
    let complaint = String::from_utf8_lossy(&ended.stderr);
    let has_published = ended.status.success() && reported.contains("published with OAuth");
    assert!(has_published, "{}\n{reported}\n{complaint}", ended.status);
    let logs = world.logs();
    assert!(logs.contains("account signed up for an OAuth client"), "{logs}");
    world.assert_no_secret_was_logged();
}
