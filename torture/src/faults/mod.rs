//! Faults: random damage to the processes and their servers. Only what the torture started itself is
//! affected, and each fault is undone by its own code.

mod clocks;
pub mod disk;
mod processes;
mod servers;

use std::sync::atomic::Ordering;
use std::time::Duration;

use handbill_tests::Mode;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::scene::Scene;

/// The pause between two faults of a kind.
const PAUSE_MS_MAX: u64 = 1_000;

/// Two independent loops of faults: one on the processes, one on their servers.
pub async fn rage(scene: &Scene, mut over_processes: StdRng, mut under_them: StdRng) {
    let processes = async {
        while pause(scene, &mut over_processes).await {
            processes::strike(scene, &mut over_processes).await;
        }
        processes::restore(scene).await;
    };
    let servers = async {
        while pause(scene, &mut under_them).await {
            match scene.world.mode() {
                Mode::Embedded => disk::strike(scene, &mut under_them).await,
                Mode::Production => servers::strike(scene, &mut under_them).await,
            }
        }
    };
    futures::join!(processes, servers);
    processes::restore(scene).await;
}

/// Stops every process as an operator does, one after the other, and starts it again.
pub async fn stop_and_start(scene: &Scene) {
    for process in scene.processes() {
        processes::stop_well(scene, &process).await;
        process.begin_again(&[]);
    }
    processes::restore(scene).await;
}

/// Returns false when the round is over.
async fn pause(scene: &Scene, rng: &mut StdRng) -> bool {
    tokio::time::sleep(Duration::from_millis(rng.random_range(100..PAUSE_MS_MAX))).await;
    !scene.is_over.load(Ordering::SeqCst)
}

/// The duration of a fault: mostly short, so that many fit into a round.
async fn hold(rng: &mut StdRng) {
    let long = rng.random_bool(0.15);
    let millis = if long { rng.random_range(2_000..6_000) } else { rng.random_range(50..1_200) };
    tokio::time::sleep(Duration::from_millis(millis)).await;
}
