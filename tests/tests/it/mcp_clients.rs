//! Spec 4.11 with third-party clients: the Python and TypeScript SDKs of several years each run a whole
//! scenario of an agent over MCP, the inspector calls from its command line, and the protocol's own
//! conformance suite runs its tests.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handbill_tests::{Agent, Mode, World, in_both_modes, installed, program};
use tokio::process::Command;

use crate::expectations::PAGE;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mcp");

in_both_modes! {
    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "3")]
    async fn python_sdk_runs_the_whole_agent_scenario(world: World) {
        // Older clients do a handshake, newer ones discover the server.
        for handshake in ["legacy", "auto", "2026-07-28"] {
            let mut story = command("HANDBILL_TEST_MCP", &world, &claimed_agent(&world, handshake).await);
            story.arg(format!("{SOURCES}/story.py")).env("HANDBILL_TEST_HANDSHAKE", handshake);
            assert_says(story, "deleted").await;
        }
    }

    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "3")]
    async fn typescript_sdks_run_the_whole_agent_scenario(world: World) {
        let script = beside_packages(&world, "story.mjs");
        for sdk in ["2025-03", "today", "newest"] {
            let mut story = command("HANDBILL_TEST_NODE", &world, &claimed_agent(&world, sdk).await);
            story.arg(&script).env("HANDBILL_TEST_SDK", sdk);
            assert_says(story, "deleted").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inspector_calls_a_tool_and_reads_a_resource() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    for (arguments, says) in [
        (&["--method", "tools/list"][..], "publish_artifact"),
        (&["--method", "tools/call", "--tool-name", "get_artifact", "--tool-arg", "slug=my-page"], "my-page"),
        (&["--method", "resources/read", "--uri", "handbill://pages/my-page/"], "doctype"),
        (&["--method", "prompts/get", "--prompt-name", "hand_over"], "claim_url"),
    ] {
        let mut inspector = command("HANDBILL_TEST_NODE", &world, &agent);
        inspector
            .arg(packages().join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
            .args(["--cli", &format!("{}/mcp", world.base_url()), "--transport", "http"])
            .args(["--header", &format!("Authorization: Bearer {}", agent.token())])
            .args(arguments)
            .env("HOME", world.folder());
        assert_says(inspector, says).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conformance_suite_finds_only_expected_faults() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let preload = beside_packages(&world, "bearer.mjs");
    for version in ["2025-11-25", "2026-07-28"] {
        let mut suite = command("HANDBILL_TEST_NODE", &world, &agent);
        suite
            .arg("--import")
            .arg(&preload)
            .arg(packages().join("@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--suite", "all", "--spec-version", version])
            .args(["--url", &format!("{}/mcp", world.base_url())])
            .args(["--expected-failures", &format!("{SOURCES}/conformance-{version}.yml")]);
        // An expected failure that does not occur fails the suite as well.
        assert_says(suite, "Baseline check passed").await;
    }
}

/// An agent with a claimed account, so that it may invite others.
async fn claimed_agent(world: &World, username: &str) -> Agent {
    let (agent, human) = (world.agent().await, world.human());
    human.register(username, "correct horse battery").await.expect(201);
    human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    agent
}

/// A program that gets the server's address and the agent's token.
fn command(variable: &str, world: &World, agent: &Agent) -> Command {
    let mut command = Command::new(installed(variable));
    command
        .env("HANDBILL_TEST_BASE_URL", world.base_url())
        .env("HANDBILL_TEST_TOKEN", agent.token())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(world.folder())
        .kill_on_drop(true);
    command
}

/// Copies a script to the world's directory next to the packages, because Node searches for packages from the
/// script's location.
fn beside_packages(world: &World, script: &str) -> PathBuf {
    let copy = world.folder().join(script);
    std::fs::copy(Path::new(SOURCES).join(script), &copy).expect("a copy of the script");
    symlink(packages(), world.folder().join("node_modules")).expect("a link to the packages");
    copy
}

fn packages() -> PathBuf {
    installed("HANDBILL_TEST_MCP_PACKAGES")
}

async fn assert_says(mut command: Command, last: &str) {
    let ended = command.output().await.expect("a program that runs");
    let reported = String::from_utf8_lossy(&ended.stdout);
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && reported.contains(last), "{}\n{reported}\n{complaint}", ended.status);
}
