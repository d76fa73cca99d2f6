//! One process of the program: started, observed, killed, stopped and restarted with the same settings.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::eventually;

const START_DEADLINE: Duration = Duration::from_secs(30);
/// A role has 30 s to finish its work. The rest is for a busy machine.
const STOP_DEADLINE: Duration = Duration::from_secs(40);
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);
/// A command may have to read everything that is stored.
const COMMAND_DEADLINE: Duration = Duration::from_secs(180);
/// The variables that a process inherits from the test.
const INHERITED: [&str; 4] = ["PATH", "HOME", "TMPDIR", "RUST_BACKTRACE"];

/// How a process is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub program: &'static str,
    pub name: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The directory of its log.
    pub folder: PathBuf,
    pub working_dir: PathBuf,
    /// Its addresses. The process is ready when all of them respond.
    pub addresses: Vec<String>,
    /// The address of its health routes and metrics.
    pub ops_url: Option<String>,
}

/// A handle on a process of the world. The process ends with the world.
#[derive(Clone, Debug)]
pub struct Process(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    launch: Launch,
    child: Mutex<Option<Child>>,
}

/// How a process ended after a signal to stop.
#[derive(Debug)]
pub struct Stopped {
    pub status: ExitStatus,
    pub took: Duration,
}

impl Process {
    pub(crate) async fn start(launch: Launch) -> Self {
        let process = Self(Arc::new(Inner { child: Mutex::new(Some(spawn(&launch, &[]))), launch }));
        process.become_ready().await;
        process
    }

    /// Its first address: the control plane for `serve` and `api`, the pages for `edge`.
    pub fn url(&self) -> &str {
        self.0.launch.addresses.first().expect("a process that listens")
    }

    /// The address of its health routes and metrics, in a world with them.
    pub fn ops_url(&self) -> &str {
        self.0.launch.ops_url.as_deref().expect("a world set up with operators' addresses")
    }

    pub fn name(&self) -> &str {
        &self.0.launch.name
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    pub fn is_running(&self) -> bool {
        let was_killed = self.0.child.lock().unwrap().is_none();
        !was_killed && self.exited().is_none()
    }

    /// Ends it with SIGKILL.
    pub fn kill(&self) {
        if let Some(mut child) = self.0.child.lock().unwrap().take() {
            child.kill().expect("a process of our own can be killed");
            child.wait().expect("a killed process ends");
        }
    }

    /// Sends SIGTERM and waits until it has ended.
    pub async fn terminate(&self) -> Stopped {
        let what = format!("{} handles SIGTERM", self.name());
        eventually(STOP_DEADLINE, &what, async || self.handles_sigterm().then_some(())).await;
        let start = Instant::now();
        self.signal("TERM");
        let status = self.exit_within(STOP_DEADLINE).await;
        Stopped { status, took: start.elapsed() }
    }

    /// Whether it handles SIGTERM or has ended. Right after its start the signal would kill it.
    fn handles_sigterm(&self) -> bool {
        const SIGTERM_BIT: u64 = 1 << 14;
        let id = self.0.child.lock().unwrap().as_ref().expect("a running process").id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_none_or(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & SIGTERM_BIT != 0)
    }

    /// Sends a signal by its name, such as `TERM` or `STOP`.
    pub fn signal(&self, name: &str) {
        let id = self.0.child.lock().unwrap().as_ref().expect("a running process").id();
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{name} {id}")).status();
        assert!(sent.expect("a shell").success(), "{} could not be sent {name}", self.name());
    }

    /// Waits for an end without a signal, such as a fault point that kills.
    pub async fn exit_within(&self, deadline: Duration) -> ExitStatus {
        let what = format!("the end of {}", self.name());
        eventually(deadline, &what, async || self.exited()).await
    }

    /// Starts it again with the same settings and ports.
    pub async fn restart(&self) {
        self.restart_with(&[]).await;
    }

    /// Starts it again with additional settings, for this start only.
    pub async fn restart_with(&self, env: &[(&str, &str)]) {
        self.kill();
        *self.0.child.lock().unwrap() = Some(spawn(&self.0.launch, env));
        self.become_ready().await;
    }

    /// Begins to start it again with additional settings, without waiting.
    pub fn begin_again(&self, env: &[(&str, &str)]) {
        self.kill();
        *self.0.child.lock().unwrap() = Some(spawn(&self.0.launch, env));
    }

    /// Whether all of its addresses respond.
    pub async fn answers(&self) -> bool {
        let client = crate::call::client();
        for address in &self.0.launch.addresses {
            let answer = client.get(format!("{address}/v1/status")).timeout(ANSWER_DEADLINE).send().await;
            if !answer.is_ok_and(|answer| answer.status().as_u16() < 500) {
                return false;
            }
        }
        self.is_running()
    }

    fn exited(&self) -> Option<ExitStatus> {
        self.0
            .child
            .lock()
            .unwrap()
            .as_mut()
            .expect("a process that was not killed")
            .try_wait()
            .expect("its state")
    }

    fn log_path(&self) -> PathBuf {
        log_path(&self.0.launch)
    }

    async fn become_ready(&self) {
        let client = crate::call::client();
        let launch = &self.0.launch;
        for address in launch.addresses.iter().chain(&launch.ops_url) {
            let probe = format!("{address}/v1/status");
            let what = format!("{} answers at {address}", launch.name);
            eventually(START_DEADLINE, &what, async || {
                if let Some(status) = self.exited() {
                    panic!("{} ended with {status} instead of starting:\n{}", launch.name, self.log());
                }
                // The edge and the operator's address have no such page. Their 404 shows that they respond.
                client.get(&probe).send().await.ok().filter(|answer| answer.status().as_u16() < 500)
            })
            .await;
        }
    }
}

/// How a command of the program ended, and its output.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub output: String,
}

/// Runs a command of the program to its end.
pub(crate) async fn run_to_end(launch: Launch) -> Finished {
    let mut child = spawn(&launch, &[]);
    let what = format!("the end of {}", launch.name);
    let status = eventually(COMMAND_DEADLINE, &what, async || child.try_wait().expect("its state")).await;
    Finished { status, output: fs::read_to_string(log_path(&launch)).unwrap_or_default() }
}

fn log_path(launch: &Launch) -> PathBuf {
    launch.folder.join(format!("{}.log", launch.name))
}

fn spawn(launch: &Launch, env: &[(&str, &str)]) -> Child {
    let log = File::options().create(true).append(true).open(log_path(launch)).expect("a log file");
    let inherited = INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    Command::new(launch.program)
        .args(&launch.args)
        .env_clear()
        .envs(inherited)
        .envs(&launch.env)
        .envs(env.iter().copied())
        .current_dir(&launch.working_dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle on the log"))
        .stderr(log)
        .spawn()
        .expect("the program under test starts")
}
