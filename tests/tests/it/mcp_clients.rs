//! Spec 4.11 with third-party clients: the Python and TypeScript SDKs each run a whole scenario of an agent
//! over MCP, and the protocol's own conformance suite runs its tests.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handbill_tests::{Agent, Mode, World, in_both_modes, program};
use tokio::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mcp");

in_both_modes! {
    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "3")]
    async fn python_sdk_runs_the_whole_agent_scenario(world: World) {
        // Older clients do a handshake, newer ones discover the server.
        for handshake in ["legacy", "auto"] {
            let mut story = command("HANDBILL_TEST_MCP", &world, &claimed_agent(&world, handshake).await);
            story.arg(format!("{SOURCES}/story.py")).env("HANDBILL_TEST_HANDSHAKE", handshake);
            assert_says(story, "deleted").await;
        }
    }

    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "3")]
    async fn typescript_sdk_runs_the_whole_agent_scenario(world: World) {
        let mut story = command("HANDBILL_TEST_NODE", &world, &claimed_agent(&world, "ada").await);
        story.arg(beside_packages(&world, "story.mjs"));
        assert_says(story, "deleted").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conformance_suite_finds_only_expected_faults() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let mut suite = command("HANDBILL_TEST_NODE", &world, &world.agent().await);
    suite
        .arg("--import")
        .arg(beside_packages(&world, "bearer.mjs"))
        .arg(packages().join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--suite", "all", "--url", &format!("{}/mcp", world.base_url())])
        .args(["--expected-failures", &format!("{SOURCES}/conformance-expected-failures.yml")]);
    // An expected failure that does not occur fails the suite as well.
    assert_says(suite, "Baseline check passed").await;
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

fn installed(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable);
    path.unwrap_or_else(|| panic!("{variable} is not set: run the tests by scripts/test")).into()
}

async fn assert_says(mut command: Command, last: &str) {
    let ended = command.output().await.expect("a program that runs");
    let reported = String::from_utf8_lossy(&ended.stdout);
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && reported.contains(last), "{}\n{reported}\n{complaint}", ended.status);
}
