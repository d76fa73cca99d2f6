//! A short torture run in each mode, as part of the tests.

use std::time::Duration;

use handbill_tests::Mode;
use torture::{Length, RunPlan, torture};

const ROUND: Duration = Duration::from_secs(12);
const ROUNDS: u64 = 2;
/// Far fewer than on a quiet machine.
const OPERATIONS_MIN: u64 = 100;
const FAULTS_MIN: u64 = 6;

async fn short(mode: Mode, seed: u64) {
    let program = env!("CARGO_BIN_EXE_handbill-under-torture");
    let report = torture(RunPlan { mode, program, seed, length: Length::Rounds(ROUNDS), round: ROUND }).await;
    assert!(report.is_clean(), "{report}");
    let is_enough = report.operations() >= OPERATIONS_MIN && report.faults() >= FAULTS_MIN;
    assert!(
        is_enough && ["publish", "visit", "visit version"].iter().all(|kind| report.done(kind) > 0),
        "too little to prove anything: {report}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_process_keeps_its_guarantees_under_repeated_faults() {
    short(Mode::Embedded, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_keep_their_guarantees_under_repeated_faults() {
    short(Mode::Production, 2).await;
}
