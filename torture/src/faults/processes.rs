//! Processes that die, are asked to stop, hang for a while, or come back with another clock.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use handbill_tests::Process;
use rand::RngExt;
use rand::rngs::StdRng;

use super::{clocks, hold};
use crate::scene::Scene;

/// A role has 30 s to finish what it has; the rest is a busy machine.
const STOP_DEADLINE: Duration = Duration::from_secs(45);
const READY_DEADLINE: Duration = Duration::from_secs(60);
const AWAY_MS_MAX: u64 = 500;
/// Mostly a process may come to its feet before the next blow.
const FEET_DEADLINE: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

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
            // Who cannot write down what it gives up, since the disk is full, says so and does not end well.
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

/// As long as whoever watches over it takes to see that it is gone.
async fn be_away(rng: &mut StdRng) {
    tokio::time::sleep(Duration::from_millis(rng.random_range(0..AWAY_MS_MAX))).await;
}

/// Whoever ended by itself is started again, as systemd would. A start while the database is away ends so.
fn raise_the_dead(scene: &Scene, processes: &[Process]) {
    for process in processes.iter().filter(|process| !process.is_running()) {
        scene.journal.fault_goes_on(&format!("{} had ended by itself and is started again", process.name()));
        process.begin_again(&[]);
    }
}

/// Everything runs and answers; whoever does not is a violation.
pub async fn mend(scene: &Scene) {
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

/// Stops a process when nothing is wrong: it must end with success.
pub async fn stop_well(scene: &Scene, process: &Process) {
    if let Some(status) = stop(scene, process).await
        && !status.success()
    {
        scene.journal.violation(process.name(), format!("{} was asked to stop: {status}", process.name()));
    }
}

/// Asks a process to stop, which it must within its time. How it ended, if it was there.
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
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Some(process.exit_within(Duration::from_secs(1)).await)
}

async fn answers(process: &Process, deadline: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < deadline && process.is_running() {
        if process.answers().await {
            return true;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    false
}
