//! Checks every part of an installation and suggests a fix for each problem.
//!
//! A fault keeps the service from working or contradicts the settings, and only faults fail the command. A
//! warning is a possible problem: one that cannot be verified from here or may pass.

mod addresses;
mod board;
mod exposure;
mod finding;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use config::Settings;
use domain::{Chance, JobId, Micro, Moved, Outcome};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::open_files::{self, HasListeners};
use crate::output::{Form, say};
use crate::parts;
use crate::progress::size;
use finding::Finding;

/// The timeout of a check.
const CHECK_WAIT: Duration = Duration::from_secs(10);
/// A larger difference breaks signatures and expiry times between machines.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(2);
/// When the database's disk is full, the database stops, and so does every publish.
const DISK_FREE_BYTES_MIN: u64 = 1_000_000_000;
/// A new subscription takes a moment to be active.
const MESSAGE_WAIT: Duration = Duration::from_millis(500);
const MESSAGES_MAX: u32 = 8;

pub(crate) async fn examine(settings: &Settings, form: Form) -> ExitCode {
    let mut findings = Findings { form, all: Vec::new() };
    let has_database =
        findings.check("database", "check database.url and run `handbill migrate`", database(settings)).await;
    examine_queues(settings, &mut findings, has_database).await;
    findings.check("storage", "check storage.url, its keys and its free space", storage(settings)).await;
    findings
        .check("disk", "free some space, or move data_dir and storage.url to a larger disk", disk(settings))
        .await;
    findings.check("redis", "check redis.url and that Redis is running", redis(settings)).await;
    if has_database {
        let remedy = "synchronize the clocks of this machine and of the database with NTP";
        findings.check("clock", remedy, clock(settings)).await;
    } else {
        findings.add(Finding::unknown("clock", "unknown without the database"));
    }
    findings
        .check(
            "secrets",
            "set secrets.signing, or secrets.links for a process that runs only the edge",
            secrets(settings),
        )
        .await;
    exposure::examine(settings).into_iter().for_each(|finding| findings.add(finding));
    findings.add(open_files(settings));
    examine_addresses(settings, &mut findings).await;
    if let Some(collector) = &settings.traces.otlp_url {
        findings
            .check(
                "traces",
                "check traces.otlp_url and that the collector is running",
                check_collector(collector),
            )
            .await;
    }
    if form == Form::Json {
        say(&findings.json().to_string());
    }
    if findings.faults() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What was found, printed at once for people and at the end as JSON.
struct Findings {
    form: Form,
    all: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, finding: Finding) {
        self.form.say(|| finding.to_string());
        self.all.push(finding);
    }

    fn faults(&self) -> usize {
        self.all.iter().filter(|finding| finding.is_fault()).count()
    }

    fn json(&self) -> Value {
        let findings: Vec<_> = self.all.iter().map(Finding::json).collect();
        json!({ "fault_count": self.faults(), "findings": findings })
    }

    /// Runs a check and prints its result. Returns whether the part is usable.
    async fn check(
        &mut self,
        part: &'static str,
        remedy: &'static str,
        examination: impl Future<Output = anyhow::Result<String>>,
    ) -> bool {
        let found = with_timeout(Box::pin(examination)).await;
        let finding = match found {
            Ok(state) => Finding::sound(part, state),
            Err(error) => Finding::fault(part, format!("{error:#}"), remedy),
        };
        let is_usable = !finding.is_fault();
        self.add(finding);
        is_usable
    }
}

async fn with_timeout<T>(examination: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    timeout(CHECK_WAIT, examination).await.unwrap_or_else(|_| Err(anyhow::anyhow!("no response")))
}

async fn examine_queues(settings: &Settings, findings: &mut Findings, has_database: bool) {
    match with_timeout(Box::pin(board::examine(settings))).await {
        Ok(seen) => seen.into_iter().for_each(|finding| findings.add(finding)),
        Err(error) => {
            let remedy = "check queue.url and run `handbill migrate`";
            findings.add(Finding::fault("queue", format!("{error:#}"), remedy));
            for part in ["workers", "schedules"] {
                findings.add(Finding::unknown(part, "unknown without the queue"));
            }
            return;
        }
    }
    if !has_database {
        return findings.add(Finding::unknown("schedules", "unknown without the database"));
    }
    match with_timeout(Box::pin(board::schedules(settings))).await {
        Ok(seen) => findings.add(seen),
        Err(error) => {
            findings.add(Finding::fault("schedules", format!("{error:#}"), "run `handbill migrate`"));
        }
    }
}

/// A port that is in use by this service is not a fault.
async fn examine_addresses(settings: &Settings, findings: &mut Findings) {
    let public = addresses::examine(settings).await;
    let is_reached = public.iter().any(|finding| finding.part == addresses::API && finding.is_sound());
    public.into_iter().for_each(|finding| findings.add(finding));
    if is_reached {
        findings.add(Finding::sound("addresses", "in use by Handbill"));
    } else {
        let remedy = "free the port, or set api.listen and edge.listen";
        findings.check("addresses", remedy, check_listen_addresses(settings)).await;
    }
    if let Some(listen) = settings.ops.listen {
        let remedy = "free the port, set ops.listen, or restart the process";
        findings.check("ops", remedy, check_listen_address(listen)).await;
    }
}

async fn database(settings: &Settings) -> anyhow::Result<String> {
    let store = parts::open_store(settings).await?;
    anyhow::ensure!(store.is_current().await?, "it responds, but its schema is out of date");
    Ok("it responds, and its schema is up to date".to_owned())
}

/// An edge only reads contents and may lack permission to write.
async fn storage(settings: &Settings) -> anyhow::Result<String> {
    let blobs = parts::open_blobs(settings)?;
    if !settings.are_of_an_edge_alone() {
        blobs.probe().await?;
        return Ok("writing, reading and deleting work".to_owned());
    }
    let store = parts::open_store(settings).await?;
    match store.routes().find_any_content().await? {
        Some(hash) => {
            blobs.variants(hash).await?;
            Ok("reading works, which is all that an edge needs".to_owned())
        }
        None => Ok("nothing is published yet, so reading could not be checked".to_owned()),
    }
}

/// The disks with the embedded databases and the contents.
async fn disk(settings: &Settings) -> anyhow::Result<String> {
    let folders = parts::folders_of_data(settings)?;
    if folders.is_empty() || settings.are_of_an_edge_alone() {
        return Ok("no data is stored on this machine".to_owned());
    }
    let mut free_least = u64::MAX;
    for folder in folders {
        let disk = rustix::fs::statvfs(&folder)
            .with_context(|| format!("read the free space of {}", folder.display()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        anyhow::ensure!(free >= DISK_FREE_BYTES_MIN, "{} has only {} free", folder.display(), size(free));
        free_least = free_least.min(free);
    }
    Ok(format!("{} free", size(free_least)))
}

/// Sends a message over one connection and receives it over another, as between processes.
async fn redis(settings: &Settings) -> anyhow::Result<String> {
    if settings.redis.url.is_none() {
        return Ok("not set; `handbill serve` does not need it".to_owned());
    }
    let (here, there) = (parts::open_bus(settings).await?, parts::open_bus(settings).await?);
    let job = JobId::new(parts::clock().now(), &Chance::from_system());
    let mut reply = there.expect_reply(job);
    let outcome = Outcome::Moved(Moved { balance: Micro::ZERO, is_new: false });
    for _ in 0..MESSAGES_MAX {
        here.reply(there.instance(), job, &outcome).await;
        if reply.wait(MESSAGE_WAIT).await.is_some() {
            return Ok("it responds, and messages arrive".to_owned());
        }
    }
    anyhow::bail!("it responds, but messages do not arrive: allow publish/subscribe for this user")
}

async fn clock(settings: &Settings) -> anyhow::Result<String> {
    let store = parts::open_store(settings).await?;
    let (ours, theirs) = (parts::clock().now(), store.now().await?);
    let skew = ours.since(theirs).max(theirs.since(ours));
    anyhow::ensure!(skew <= CLOCK_SKEW_MAX, "this machine's clock is at {ours}, the database's at {theirs}");
    Ok(format!("{ours}, in agreement with the database"))
}

/// A host that runs only the edge needs no signing secret.
async fn secrets(settings: &Settings) -> anyhow::Result<String> {
    let secrets = &settings.secrets;
    let state = match (&secrets.signing, &secrets.links) {
        (Some(_), Some(_)) => "secrets.signing and secrets.links are set",
        (Some(_), None) => "secrets.signing is set",
        (None, _) if settings.dev_mode => {
            settings.signing_secret(&domain::Chance::from_system()).context("read the signing secret")?;
            "the signing secret is in the data directory"
        }
        (None, Some(_)) => "secrets.links is set, which is enough for `handbill edge`",
        (None, None) => {
            anyhow::bail!("neither secrets.signing nor secrets.links is set, and dev mode is off")
        }
    };
    Ok(state.to_owned())
}

/// The limit of open files for a process started like this one. A service manager may set another.
fn open_files(settings: &Settings) -> Finding {
    let edge_alone = HasListeners { api: false, edge: true };
    let all = HasListeners { api: true, edge: true };
    let is_edge_alone = settings.are_of_an_edge_alone();
    let wanted = open_files::wanted(settings, if is_edge_alone { edge_alone } else { all });
    let Some(allowed) = open_files::allowed_at_most().filter(|allowed| *allowed < wanted) else {
        return Finding::sound(
            "files",
            format!("the limit of open files is enough for the listeners, which need {wanted}"),
        );
    };
    Finding::warning(
        "files",
        format!(
            "{allowed} may be open in a process that is started like this one, but the listeners need {wanted}"
        ),
        "raise the limit of open files (LimitNOFILE, ulimits), or lower connections_max; workers have no listeners",
    )
}

async fn check_listen_addresses(settings: &Settings) -> anyhow::Result<String> {
    let (api, edge) =
        (check_listen_address(settings.api.listen).await?, check_listen_address(settings.edge.listen).await?);
    Ok(format!("{api}; {edge}"))
}

/// Checks that the address is either this service's or free.
async fn check_listen_address(listen: SocketAddr) -> anyhow::Result<String> {
    if let Ok(answer) = client()?.get(format!("http://{listen}/healthz")).send().await {
        anyhow::ensure!(
            answer.status().is_success(),
            "{listen} responds with {} to /healthz",
            answer.status()
        );
        return Ok(format!("a process responds at {listen}"));
    }
    tokio::net::TcpListener::bind(listen).await.map_err(|error| anyhow::anyhow!("{listen}: {error}"))?;
    Ok(format!("{listen} is free"))
}

fn client() -> anyhow::Result<reqwest::Client> {
    reqwest::Client::builder().timeout(CHECK_WAIT).build().context("build an HTTP client")
}

/// Any HTTP response proves that the collector is running.
async fn check_collector(collector: &str) -> anyhow::Result<String> {
    let response = client()?
        .post(format!("{collector}/v1/traces"))
        .header("Content-Type", "application/x-protobuf")
        .send();
    response.await.context("the collector does not respond")?;
    Ok("the collector responds".to_owned())
}
