//! A disk that fills up.

use rand::RngExt;
use rand::rngs::StdRng;

use super::hold;
use crate::scene::Scene;

/// The maximum number of free pages when it is full.
const PAGES_LEFT_MAX: u64 = 40;

pub async fn strike(scene: &Scene, rng: &mut StdRng) {
    let Some(disk) = &scene.disk else { return };
    // Concurrent writes may need more than was free. Then the disk is not full this time.
    if disk.fill(rng.random_range(0..PAGES_LEFT_MAX)) {
        scene.journal.fault("disk full", "");
        hold(rng).await;
        scene.journal.fault_goes_on("there is room again");
    }
    disk.empty();
}
