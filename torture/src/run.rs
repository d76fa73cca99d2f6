//! A torture run: worlds with rounds of faults and checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::Mode;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::checker;
use crate::client::Client;
use crate::faults;
use crate::report::Report;
use crate::scene::Scene;

/// After this many rounds a new world begins, so that the checks stay short.
const ROUNDS_OF_A_WORLD: u64 = 6;
/// The sweep queues jobs again that have been missing for a minute.
const UNTIL_SWEPT: Duration = Duration::from_secs(120);
/// More clients with more processes, because more of their time is spent waiting.
const CLIENTS_EMBEDDED: usize = 10;
const CLIENTS_PRODUCTION: usize = 24;

#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    pub mode: Mode,
    pub program: &'static str,
    pub seed: u64,
    pub length: Length,
    /// The duration of clients and faults in each round.
    pub round: Duration,
}

#[derive(Clone, Copy, Debug)]
pub enum Length {
    Rounds(u64),
    /// No round begins after this time.
    For(Duration),
}

/// Runs until the time is over or a violation is found.
pub async fn torture(plan: RunPlan) -> Report {
    let started = Instant::now();
    let mut report = Report::of(plan.mode, plan.seed);
    let is_over = |round: u64| match plan.length {
        Length::Rounds(rounds) => round >= rounds,
        Length::For(time) => started.elapsed() >= time,
    };
    let mut round = 0;
    while !is_over(round) && report.is_clean() {
        let scene = Arc::new(Scene::set(plan.mode, plan.program).await);
        let mut clients = Vec::new();
        for _ in 0..ROUNDS_OF_A_WORLD {
            if is_over(round) || !scene.journal.violations().is_empty() {
                break;
            }
            clients = storm(&plan, &scene, clients, round).await;
            quiet(&plan, &scene, round).await;
            round += 1;
        }
        if scene.journal.violations().is_empty() {
            checker::check_the_end(&scene).await;
        }
        drop(clients);
        report.add(&scene.journal, round);
        close(scene, &mut report);
    }
    report.took = started.elapsed();
    report
}

/// A separate random generator for each user, so that one's choices do not affect the others.
fn dice(seed: u64, round: u64, whose: u64) -> StdRng {
    StdRng::seed_from_u64(
        seed.wrapping_mul(1_000_003).wrapping_add(round).wrapping_mul(1_009).wrapping_add(whose),
    )
}

async fn storm(plan: &RunPlan, scene: &Arc<Scene>, clients: Vec<Client>, round: u64) -> Vec<Client> {
    const OF_PROCESSES: u64 = 1_000;
    const OF_SERVERS: u64 = 1_001;
    scene.journal.fault_goes_on(&format!("round {round} begins"));
    scene.is_over.store(false, Ordering::SeqCst);
    let clients = if clients.is_empty() {
        let client =
            |number: usize| Client::new(number, scene.clone(), dice(plan.seed, round, number as u64));
        let count = if plan.mode == Mode::Embedded { CLIENTS_EMBEDDED } else { CLIENTS_PRODUCTION };
        (0..count).map(client).collect()
    } else {
        clients
    };
    let playing: Vec<_> = clients.into_iter().map(|client| tokio::spawn(client.play())).collect();
    let (first, second) = (dice(plan.seed, round, OF_PROCESSES), dice(plan.seed, round, OF_SERVERS));
    let ending = async {
        tokio::time::sleep(plan.round).await;
        scene.is_over.store(true, Ordering::SeqCst);
    };
    futures::join!(faults::rage(scene, first, second), ending);
    join_all(playing).await.into_iter().map(|client| client.expect("a client comes to an end")).collect()
}

/// A phase without active faults: the program must recover, stop and start as it should, finish its work, and
/// have kept its promises.
async fn quiet(plan: &RunPlan, scene: &Arc<Scene>, round: u64) {
    const OF_CHECKER: u64 = 1_002;
    scene.journal.fault_goes_on(&format!("round {round} is over"));
    let mut rng = dice(plan.seed, round, OF_CHECKER);
    checker::assert_back(scene, &mut rng).await;
    scene.world.advance(UNTIL_SWEPT);
    // After the restart no request without a waiting client is in flight.
    faults::stop_and_start(scene).await;
    checker::drain(scene).await;
    checker::check(scene, plan.seed.wrapping_add(round)).await;
}

/// Removes a world without violations, and keeps others for inspection.
fn close(scene: Arc<Scene>, report: &mut Report) {
    let Ok(scene) = Arc::try_unwrap(scene) else { panic!("everybody has left the scene") };
    if report.is_clean() {
        return;
    }
    let folder = scene.world.folder().to_owned();
    let journal = scene.journal.whole();
    report.kept = Some(keep(scene, folder, &journal));
}

fn keep(scene: Scene, folder: PathBuf, journal: &str) -> PathBuf {
    std::fs::write(folder.join("journal.txt"), journal).expect("a journal is kept");
    let Scene { world, disk, .. } = scene;
    if let Some(disk) = &disk {
        // The contents of a disk in memory would be lost with it.
        disk.copy_to(&folder.join("data-kept"));
    }
    world.end_and_keep()
}
