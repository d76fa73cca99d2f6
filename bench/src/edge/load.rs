//! The load generator: `wrk` with one thread on a core of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::StatusCode;
use tempfile::NamedTempFile;
use tokio::process::Command;

use super::Entrant;

pub const CORE: u8 = 1;
const CONNECTIONS: u32 = 64;
const SCRIPT: &str = include_str!("load.lua");

/// A request, for any of the servers.
pub struct Visit {
    addressing: Addressing,
    host: String,
    /// The path in the site.
    path: String,
}

enum Addressing {
    Path,
    Name,
}

/// The address of a visit on one server.
struct Target {
    address: SocketAddr,
    host: String,
    path: String,
}

/// The result of one run.
#[derive(Clone, Copy)]
pub struct Measured {
    /// Requests per second.
    pub rate: f64,
    pub p99: Duration,
}

/// The headers of a visitor's request.
#[derive(Clone, Copy, PartialEq)]
pub enum RequestVariant {
    Plainly,
    InBrotli,
    /// Conditional on the ETag that the server sent.
    IfChanged,
}

/// Visits to one server, ready to run.
pub struct Load {
    server: &'static str,
    address: SocketAddr,
    targets: NamedTempFile,
    script: NamedTempFile,
    header: Option<String>,
    count: usize,
}

/// How often the targets are visited.
#[derive(Clone, Copy, PartialEq)]
enum Course {
    Again,
    Once,
}

impl Visit {
    pub fn by_path(host: &str, path: &str) -> Self {
        Self { addressing: Addressing::Path, host: host.to_owned(), path: path.to_owned() }
    }

    pub fn by_name(host: &str, path: &str) -> Self {
        Self { addressing: Addressing::Name, host: host.to_owned(), path: path.to_owned() }
    }

    /// `None` if this server cannot serve the site like this.
    fn at(&self, entrant: &Entrant) -> Option<Target> {
        let Self { addressing, host, path } = self;
        if entrant.hosts.as_ref().is_some_and(|hosts| !hosts.contains(host)) {
            return None;
        }
        Some(match addressing {
            Addressing::Path => Target {
                address: entrant.address,
                host: entrant.address.to_string(),
                path: format!("/{}/{host}/{path}", entrant.mount),
            },
            Addressing::Name => Target {
                address: entrant.by_name?,
                host: format!("{host}.localhost"),
                path: format!("/{path}"),
            },
        })
    }
}

impl Load {
    /// `None` if this server cannot respond to such visits.
    pub async fn prepare(
        entrant: &Entrant,
        visits: &[Visit],
        variant: RequestVariant,
    ) -> anyhow::Result<Option<Self>> {
        let (mut lines, mut first) = (String::new(), None);
        for visit in visits {
            let Some(target) = visit.at(entrant) else { return Ok(None) };
            lines.push_str(&format!("{} {}\n", target.host, target.path));
            first = first.or(Some(target));
        }
        let Target { address, host, path } = first.context("nothing to visit")?;
        let Some(header) = try_out(&format!("http://{address}{path}"), &host, variant).await? else {
            return Ok(None);
        };
        let (targets, script) = (written(&lines)?, written(SCRIPT)?);
        Ok(Some(Self {
            server: entrant.name,
            address,
            targets,
            script,
            header: header.0,
            count: visits.len(),
        }))
    }

    pub async fn run(&self, time: Duration) -> anyhow::Result<Measured> {
        self.wrk(time, Course::Again).await
    }

    pub async fn run_once(&self, time_max: Duration) -> anyhow::Result<Measured> {
        self.wrk(time_max, Course::Once).await
    }

    async fn wrk(&self, time: Duration, course: Course) -> anyhow::Result<Measured> {
        let mut command = Command::new("taskset");
        command.args(["-c", &CORE.to_string(), "wrk", "-t1"]);
        command.arg(format!("-c{CONNECTIONS}")).arg(format!("-d{}s", time.as_secs().max(1)));
        if let Some(header) = &self.header {
            command.args(["-H", header]);
        }
        command.arg("-s").arg(self.script.path()).arg(format!("http://{}/", self.address)).arg("--");
        command.arg(self.targets.path()).arg(if course == Course::Once { "once" } else { "again" });
        let output = command.output().await.context("run wrk")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "wrk failed:\n{text}{}", String::from_utf8_lossy(&output.stderr));
        self.read(&text, course).with_context(|| format!("the output of wrk for {}:\n{text}", self.server))
    }

    /// `measured <requests> <seconds> <seconds for one course> <p99 in µs> <failed>`
    fn read(&self, text: &str, course: Course) -> anyhow::Result<Measured> {
        let line =
            text.lines().find_map(|line| line.strip_prefix("measured ")).context("nothing was measured")?;
        let figures: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [requests, seconds, seconds_once, p99_micros, failed] = figures[..] else {
            anyhow::bail!("five figures were expected")
        };
        // A failed response invalidates the round.
        ensure!(failed == 0.0, "some requests failed");
        let rate = match course {
            Course::Again => requests / seconds,
            Course::Once => {
                ensure!(seconds_once > 0.0, "not all were visited in time");
                self.count as f64 / seconds_once
            }
        };
        Ok(Measured { rate, p99: Duration::from_secs_f64(p99_micros / 1e6) })
    }
}

/// The header for the request.
struct Header(Option<String>);

/// `None` if the server does not support such requests.
async fn try_out(url: &str, host: &str, variant: RequestVariant) -> anyhow::Result<Option<Header>> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let call = || client.get(url).header("host", host);
    let plain = call().send().await?.error_for_status()?;
    match variant {
        RequestVariant::Plainly => Ok(Some(Header(None))),
        RequestVariant::InBrotli => {
            let answer = call().header("accept-encoding", "br").send().await?.error_for_status()?;
            let is_encoded = answer.headers().contains_key("content-encoding");
            Ok(is_encoded.then(|| Header(Some("Accept-Encoding: br".to_owned()))))
        }
        RequestVariant::IfChanged => {
            let Some(etag) = plain.headers().get("etag") else { return Ok(None) };
            let answer = call().header("if-none-match", etag).send().await?;
            let header = format!("If-None-Match: {}", etag.to_str()?);
            Ok((answer.status() == StatusCode::NOT_MODIFIED).then_some(Header(Some(header))))
        }
    }
}

fn written(text: &str) -> anyhow::Result<NamedTempFile> {
    let file = NamedTempFile::new()?;
    std::fs::write(Path::new(file.path()), text)?;
    Ok(file)
}
