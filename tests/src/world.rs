//! The world of one test: the program in one of its modes, with its servers and data. All of it is removed
//! when the test ends.

mod setup;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, Method};
use tempfile::TempDir;

use crate::clock::WorldClock;
use crate::port::Port;
use crate::process::{Finished, Launch, Process, run_to_end};
use crate::server::outage::OwnServer;
use crate::server::postgres::OwnDatabase;
use crate::server::{card, s3};
use crate::{Call, CardServer, Collector, S3};

pub use setup::Setup;

/// How the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `handbill serve`: one process with SQLite and a directory.
    Embedded,
    /// `handbill api`, `edge` and `worker` with Postgres, Redis and S3.
    Production,
}

/// The running processes and how to reach them.
#[derive(Debug)]
pub struct World {
    mode: Mode,
    program: &'static str,
    env: BTreeMap<String, String>,
    client: Client,
    clock: WorldClock,
    processes: Mutex<Vec<Process>>,
    /// The working directory of every process.
    working_dir: PathBuf,
    /// Whether every process has an operator's address of its own.
    has_ops: bool,
    /// Whether the world was already ended and its directory is kept for inspection.
    is_kept: bool,
    /// The number of commands so far, so that each has a log of its own.
    commands: AtomicU32,
    ports: Mutex<Vec<Port>>,
    api: Port,
    edge: Port,
    // Dropped last, so that the servers outlive the processes.
    servers: Servers,
    folder: TempDir,
}

#[derive(Debug, Default)]
struct Servers {
    database: Option<OwnDatabase>,
    postgres: Option<OwnServer>,
    redis: Option<OwnServer>,
    s3: Option<S3>,
    card: Option<CardServer>,
    collector: Option<Collector>,
}

impl World {
    /// The signing secret of every process in every world.
    pub const SIGNING_SECRET: &'static str = "the-signing-secret-of-the-test-worlds-0123456789";

    /// A world in this mode, for the program at this path: see [`program!`](crate::program).
    #[must_use]
    pub fn with(mode: Mode, program: &'static str) -> Setup {
        Setup::new(mode, program)
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The address of the control plane.
    pub fn base_url(&self) -> String {
        self.api.url()
    }

    /// The address of the edge.
    pub fn serve_url(&self) -> String {
        self.edge.url()
    }

    /// The current time of every process, in seconds since 1970.
    pub fn now_seconds(&self) -> i64 {
        i64::try_from(self.clock.now_millis() / 1_000).expect("a time before the end of time")
    }

    /// Moves the clock of every process forward.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// The process with the API: `api`, or `serve`.
    pub fn api(&self) -> Process {
        self.process("api")
    }

    /// The process with the edge: `edge`, or `serve`.
    pub fn edge(&self) -> Process {
        self.process("edge")
    }

    /// The process that runs jobs: `worker`, or `serve`.
    pub fn worker(&self) -> Process {
        self.process("worker")
    }

    /// Starts another control plane, on a port of its own.
    pub async fn start_api(&self) -> Process {
        let port = Port::take();
        let (address, url) = (port.address(), port.url());
        self.ports.lock().unwrap().push(port);
        self.run("api", &["api"], vec![url], &[("HANDBILL_API__LISTEN", &address)]).await
    }

    /// Starts another edge, on a port of its own.
    pub async fn start_edge(&self) -> Process {
        self.start_edge_with(&[]).await
    }

    /// Starts another edge with additional settings.
    pub async fn start_edge_with(&self, env: &[(&str, &str)]) -> Process {
        let port = Port::take();
        let (address, url) = (port.address(), port.url());
        self.ports.lock().unwrap().push(port);
        let env: Vec<_> =
            [("HANDBILL_EDGE__LISTEN", address.as_str())].into_iter().chain(env.iter().copied()).collect();
        self.run("edge", &["edge"], vec![url], &env).await
    }

    /// Starts another worker, with arguments such as `["--queues", "scan"]`.
    pub async fn start_worker(&self, args: &[&str]) -> Process {
        let args: Vec<_> = ["worker"].iter().chain(args).copied().collect();
        self.run("worker", &args, vec![], &[]).await
    }

    /// Runs a command that ends by itself, such as `config`, with the settings of this world and additional
    /// ones.
    pub async fn command(&self, args: &[&str], env: &[(&str, &str)]) -> Finished {
        let number = self.commands.fetch_add(1, Ordering::Relaxed);
        let name = format!("command-{number}-{}", args.first().copied().unwrap_or_default());
        run_to_end(self.launch(&name, args, vec![], env)).await
    }

    /// The world's own Postgres, if it has one.
    pub fn postgres(&self) -> &OwnServer {
        self.servers.postgres.as_ref().expect("a world set up with its own Postgres")
    }

    /// The world's own Redis, if it has one.
    pub fn redis(&self) -> &OwnServer {
        self.servers.redis.as_ref().expect("a world set up with its own Redis")
    }

    /// The card processor of a world with one.
    pub fn card(&self) -> &CardServer {
        self.servers.card.as_ref().expect("a world set up with a card processor")
    }

    /// The trace collector of a world with one.
    pub fn collector(&self) -> &Collector {
        self.servers.collector.as_ref().expect("a world set up with a collector of traces")
    }

    /// Sends a request to the operator's address of a process, in a world with such addresses.
    pub fn ask_ops(&self, process: &Process, path: &str) -> Call {
        Call::new(&self.client, Method::GET, format!("{}{path}", process.ops_url()))
    }

    /// The S3 server of a production world.
    pub fn s3(&self) -> &S3 {
        self.servers.s3.as_ref().expect("a production world")
    }

    /// The directory of this world. The data directory is `data` in it.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The logs of all processes, concatenated.
    pub fn logs(&self) -> String {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.iter().map(|process| format!("--- {}\n{}", process.name(), process.log())).collect()
    }

    /// Fails the test if a log contains a token.
    pub fn assert_no_secret_was_logged(&self) {
        let logs = self.logs();
        let of_servers = [s3::SECRET_ACCESS_KEY, card::SECRET_KEY, card::WEBHOOK_SECRET];
        for secret in ["svc_sk_", Self::SIGNING_SECRET].into_iter().chain(of_servers) {
            let line = logs.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "a secret was logged: {line:?}");
        }
    }

    /// A setting that every process of this world has.
    pub fn setting(&self, name: &str) -> &str {
        self.env.get(name).expect("a setting of this world")
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Runs one role until the world ends. The name identifies its log.
    async fn run(&self, role: &str, args: &[&str], addresses: Vec<String>, env: &[(&str, &str)]) -> Process {
        let running =
            self.processes.lock().unwrap().iter().filter(|process| process.name().starts_with(role)).count();
        let name = if running == 0 { role.to_owned() } else { format!("{role}-{}", running + 1) };
        let mut launch = self.launch(&name, args, addresses, env);
        if self.has_ops {
            let port = Port::take();
            launch.env.insert("HANDBILL_OPS__LISTEN".to_owned(), port.address());
            launch.ops_url = Some(port.url());
            self.ports.lock().unwrap().push(port);
        }
        let process = Process::start(launch).await;
        self.processes.lock().unwrap().push(process.clone());
        process
    }

    fn launch(&self, name: &str, args: &[&str], addresses: Vec<String>, env: &[(&str, &str)]) -> Launch {
        let own = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Launch {
            program: self.program,
            name: name.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: self.env.clone().into_iter().chain(own).collect(),
            folder: self.folder.path().to_owned(),
            working_dir: self.working_dir.clone(),
            addresses,
            ops_url: None,
        }
    }

    fn process(&self, role: &str) -> Process {
        let name = if self.mode == Mode::Embedded { "serve" } else { role };
        let processes = self.processes.lock().unwrap();
        processes.iter().find(|process| process.name() == name).expect("a process of this role").clone()
    }
}

impl World {
    /// Ends the world and keeps its directory, with data and logs, for inspection.
    pub fn end_and_keep(mut self) -> std::path::PathBuf {
        self.is_kept = true;
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        processes.iter().for_each(Process::kill);
        if let Some(database) = &self.servers.database {
            database.drop_now();
        }
        if self.is_kept {
            return;
        }
        if std::thread::panicking() {
            eprintln!("{}", self.logs());
            return;
        }
        self.assert_no_secret_was_logged();
        assert!(!self.logs().contains("panicked at"), "a process panicked:\n{}", self.logs());
    }
}
