//! A clock that is off by a minute, for one process.

use handbill_tests::Process;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::scene::Scene;

const OFF_MS: i64 = 60_000;

/// Restarts a process with a clock that is ahead of the others or behind them.
pub fn begin_again(scene: &Scene, process: &Process, rng: &mut StdRng) {
    let off_ms = if rng.random_bool(0.5) { OFF_MS } else { -OFF_MS };
    let shared = std::fs::read_to_string(scene.world.setting("HANDBILL_TEST_CLOCK")).unwrap_or_default();
    let ahead_ms: i64 = shared.trim().parse().unwrap_or(0);
    let path = scene.world.folder().join(format!("clock-of-{}", process.name()));
    std::fs::write(&path, (ahead_ms + off_ms).to_string()).expect("a clock's file");
    scene.journal.fault("clock", &format!("{} is {off_ms} ms off", process.name()));
    process.begin_again(&[("HANDBILL_TEST_CLOCK", &path.display().to_string())]);
}
