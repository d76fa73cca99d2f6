//! The environment of a run: a world with its processes, the accounts in it, and the journal.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use handbill_tests::{Agent, Mode, Process, Visitor, World};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::disk::SmallDisk;
use crate::journal::Journal;
use crate::model::account::Account;
use crate::model::allowance::Allowance;
use crate::model::state::OpId;

/// Short enough that clients receive most timeouts.
const ANSWER_WAIT_MS: u32 = 5_000;
const FREE: Allowance = Allowance { provisional: 4, claimed: 8 };
/// The processes start this far ahead of the system's clock, so that one of them can be behind the others.
const AHEAD: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub struct Scene {
    pub apis: Vec<Process>,
    pub edges: Vec<Process>,
    pub workers: Vec<Process>,
    pub journal: Journal,
    pub accounts: Mutex<Vec<Arc<Account>>>,
    pub free: Allowance,
    pub is_over: AtomicBool,
    operations: AtomicU64,
    numbers: AtomicUsize,
    // Dropped last, so that it outlives the rest.
    pub world: World,
    pub disk: Option<SmallDisk>,
}

impl Scene {
    /// A world with limits that allow the clients' load, and two processes of each role where possible.
    pub async fn set(mode: Mode, program: &'static str) -> Self {
        let setup = World::with(mode, program)
            .env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", FREE.provisional.to_string())
            .env("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES", FREE.claimed.to_string())
            .env("HANDBILL_LIMITS__PROVISIONAL_LIFETIME", "1000h")
            .env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "100000")
            .env("HANDBILL_TEST_FAULTS", format!("answer.wait_ms:instead={ANSWER_WAIT_MS}"))
            .env("HANDBILL_LOG", "info");
        let setup = if mode == Mode::Production { setup.with_own_postgres().with_own_redis() } else { setup };
        let world = setup.prepare().await;
        world.advance(AHEAD);
        let disk = if mode == Mode::Embedded { SmallDisk::mount(&world.folder().join("data")) } else { None };
        world.start_program().await;
        let (mut apis, mut edges, mut workers) =
            (vec![world.api()], vec![world.edge()], vec![world.worker()]);
        if mode == Mode::Production {
            apis.push(world.start_api().await);
            edges.push(world.start_edge().await);
            workers.push(world.start_worker(&[]).await);
        }
        Self {
            apis,
            edges,
            workers,
            journal: Journal::default(),
            accounts: Mutex::default(),
            free: FREE,
            is_over: AtomicBool::new(false),
            operations: AtomicU64::new(1),
            numbers: AtomicUsize::new(1),
            world,
            disk,
        }
    }

    /// Each process once. In embedded mode one process has all roles.
    pub fn processes(&self) -> Vec<Process> {
        match self.world.mode() {
            Mode::Embedded => self.apis.clone(),
            Mode::Production => [&self.apis[..], &self.edges, &self.workers].concat(),
        }
    }

    /// An agent with this token, at a random API.
    pub fn agent(&self, token: &str, rng: &mut StdRng) -> Agent {
        self.stranger(rng).with_token(token)
    }

    pub fn stranger(&self, rng: &mut StdRng) -> Agent {
        self.world.stranger().at(&self.apis[rng.random_range(0..self.apis.len())])
    }

    pub fn visitor(&self, rng: &mut StdRng) -> Visitor {
        match self.world.mode() {
            // Its only process listens for agents first.
            Mode::Embedded => self.world.visitor(),
            Mode::Production => self.world.visitor().at(&self.edges[rng.random_range(0..self.edges.len())]),
        }
    }

    pub fn next_operation(&self) -> OpId {
        OpId(self.operations.fetch_add(1, Ordering::SeqCst))
    }

    pub fn next_account_number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::SeqCst)
    }

    pub fn all_accounts(&self) -> Vec<Arc<Account>> {
        self.accounts.lock().unwrap().clone()
    }
}
