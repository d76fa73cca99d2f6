//! Processes that die, are stopped, hang for a while, or restart with another clock.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use handbill_tests::Process;
use rand::RngExt;
use rand::rngs::StdRng;

use super::{clocks, hold};
use crate::scene::Scene;

/// A role has 30 s to finish its work. The rest is for a busy machine.
const STOP_DEADLINE: Duration = Duration::from_secs(45);
const READY_DEADLINE: Duration = Duration::from_secs(60);
const AWAY_MS_MAX: u64 = 500;
/// A process usually gets this time to become ready before the next fault.
const FEET_DEADLINE: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub async fn strike(scene: &Scene, rng: &mut StdRng) {
    let processes = scene.processes();
    raise_the_dead(scene, &processes);
    let process = &processes[rng.random_range(0..processes.len())];
    match rng.random_range(0..10) {
        0..4 => {
            scene.journal.fault("kill -9", process.name());
            process.kill();
            be_away(rng).await;
            process.begin_again(&[]);
        }
        4..6 => {
            scene.journal.fault("SIGTERM", process.name());
            // A process that cannot record its abandoned work on a full disk reports that and ends with an
            // error.
            if let Some(status) = stop(scene, process).await {
                scene.journal.fault_goes_on(&format!("{} stopped: {status}", process.name()));
            }
            process.begin_again(&[]);
        }
        6..8 => {
            scene.journal.fault("SIGSTOP", process.name());
            process.signal("STOP");
            hold(rng).await;
            process.signal("CONT");
        }
        _ => {
            process.kill();
            clocks::begin_again(scene, process, rng);
            answers(process, READY_DEADLINE).await;
            hold(rng).await;
            hold(rng).await;
            process.kill();
            process.begin_again(&[]);
        }
    }
    if rng.random_bool(0.8) {
        answers(process, FEET_DEADLINE).await;
    }
}

/// The time that a supervisor needs to notice the end of a process.
async fn be_away(rng: &mut StdRng) {
    tokio::time::sleep(Duration::from_millis(rng.random_range(0..AWAY_MS_MAX))).await;
}

/// Restarts processes that ended by themselves, as systemd would. A start during a database outage ends like
/// this.
fn raise_the_dead(scene: &Scene, processes: &[Process]) {
    for process in processes.iter().filter(|process| !process.is_running()) {
        scene.journal.fault_goes_on(&format!("{} had ended by itself and is started again", process.name()));
        process.begin_again(&[]);
    }
}

/// Everything runs and responds. A process that does not is a violation.
pub async fn restore(scene: &Scene) {
    let processes = scene.processes();
    let started = Instant::now();
    for process in &processes {
        while !answers(process, Duration::from_secs(1)).await {
            if started.elapsed() > READY_DEADLINE {
                let text = format!("{} does not answer, though nothing is wrong any more", process.name());
                scene.journal.violation(process.name(), text);
                return;
            }
            raise_the_dead(scene, &processes);
        }
    }
}

/// Stops a process without an active fault: it must end with success.
pub async fn stop_well(scene: &Scene, process: &Process) {
    if let Some(status) = stop(scene, process).await
        && !status.success()
    {
        scene.journal.violation(process.name(), format!("{} was asked to stop: {status}", process.name()));
    }
}

/// Asks a process to stop within its deadline. Returns its exit status, if it was running.
async fn stop(scene: &Scene, process: &Process) -> Option<ExitStatus> {
    if !process.is_running() {
        return None;
    }
    process.signal("TERM");
    let started = Instant::now();
    while process.is_running() {
        if started.elapsed() > STOP_DEADLINE {
            let text = format!("{} was asked to stop and did not within {STOP_DEADLINE:?}", process.name());
            scene.journal.violation(process.name(), text);
            return None;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Some(process.exit_within(Duration::from_secs(1)).await)
}

async fn answers(process: &Process, deadline: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < deadline && process.is_running() {
        if process.answers().await {
            return true;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    false
}
