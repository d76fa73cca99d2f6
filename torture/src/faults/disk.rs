//! A disk that fills up: a file system in memory, whose size is taken away to what it holds. It takes the right to
//! mount; without it there is no such fault.

use rand::RngExt;
use rand::rngs::StdRng;

use super::hold;
use crate::scene::Scene;

/// So many pages may be left when it is full.
const PAGES_LEFT_MAX: u64 = 40;

pub async fn strike(scene: &Scene, rng: &mut StdRng) {
    let Some(disk) = &scene.disk else { return };
    // What is written meanwhile may need more than there was; then it is not full this time.
    if disk.fill(rng.random_range(0..PAGES_LEFT_MAX)) {
        scene.journal.fault("disk full", "");
        hold(rng).await;
        scene.journal.fault_goes_on("there is room again");
    }
    disk.empty();
}
