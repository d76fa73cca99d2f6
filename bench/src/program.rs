//! Programs that are started for a measurement and end with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::process::{Child, Command};

/// A start that takes longer has failed.
const START_WAIT_MAX: Duration = Duration::from_secs(30);
/// The interval of polling whether a program responds.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// How a program is started.
#[derive(Clone)]
pub struct Launch {
    /// The name of its log.
    pub name: String,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub settings: BTreeMap<String, String>,
    /// Its working directory, which also contains its log.
    pub folder: PathBuf,
    /// The only processor core that it may use, or any if unset.
    pub core: Option<u8>,
}

/// A running program, which is killed on drop.
pub struct Program {
    /// The name that it was started under.
    pub name: String,
    child: Child,
    log: PathBuf,
}

impl Launch {
    pub fn start(&self) -> anyhow::Result<Program> {
        std::fs::create_dir_all(&self.folder)?;
        let log = self.folder.join(format!("{}.log", self.name));
        let out = File::create(&log)?;
        let child = self
            .command()
            .args(&self.arguments)
            .env_clear()
            .envs(INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))))
            .envs(&self.settings)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("start {}", self.program.display()))?;
        Ok(Program { name: self.name.clone(), child, log })
    }

    fn command(&self) -> Command {
        let Some(core) = self.core else { return Command::new(&self.program) };
        let mut pinned = Command::new("taskset");
        pinned.arg("-c").arg(core.to_string()).arg(&self.program);
        pinned
    }
}

impl Program {
    pub fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("the program has ended")
    }

    /// Waits until the address responds to `path` with a status below 500.
    pub async fn answers(&mut self, address: SocketAddr, path: &str) -> anyhow::Result<()> {
        let started = Instant::now();
        while started.elapsed() < START_WAIT_MAX {
            if status_of(address, path).is_some_and(|status| status < 500) {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status}:\n{}", std::fs::read_to_string(&self.log)?);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        bail!("it does not answer at {address}:\n{}", std::fs::read_to_string(&self.log)?)
    }

    /// Waits for a program that ends by itself.
    pub async fn end(mut self) -> anyhow::Result<()> {
        let status = self.child.wait().await?;
        if status.success() {
            return Ok(());
        }
        bail!("it ended with {status}:\n{}", std::fs::read_to_string(&self.log)?)
    }

    /// Its resident memory.
    pub fn resident_bytes(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: u64 = line.context("/proc contains no memory")?.trim().trim_end_matches(" kB").parse()?;
        Ok(kib * 1024)
    }

    pub async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// A minimal HTTP request, so that the time of a client library does not count.
fn status_of(address: SocketAddr, path: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut start = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut start).ok()?;
    std::str::from_utf8(&start).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// A loopback address that is free at this moment.
pub fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

/// Whether it is in PATH.
pub fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}
