//! Tries every part of an installation and says, for what is wrong, what to do.
//!
//! A fault is what keeps the service from its work, or what plainly is not as the settings say; only that fails the
//! command. What only may be wrong, because it cannot be seen from here or will pass, is a warning.

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
use tokio::time::timeout;

use crate::open_files::{self, HasListeners};
use crate::progress::size;
use crate::{parts, say};
use finding::Finding;

/// A part that has not answered by then does not answer.
const ANSWER_WAIT: Duration = Duration::from_secs(10);
/// Clocks further apart than this make signatures and expiries go wrong between machines.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(2);
/// A database that meets a full disk stops, and so does every publish.
const DISK_FREE_BYTES_MIN: u64 = 1_000_000_000;
/// A subscription takes a moment to be in force.
const MESSAGE_WAIT: Duration = Duration::from_millis(500);
const MESSAGES_MAX: u32 = 8;

pub(crate) async fn examine(settings: &Settings) -> anyhow::Result<ExitCode> {
    let mut findings = Findings::default();
    let has_database =
        findings.note("database", "check database.url and run `handbill migrate`", database(settings)).await;
    examine_queues(settings, &mut findings, has_database).await;
    findings.note("storage", "check storage.url, its keys and its free space", storage(settings)).await;
    findings
        .note("disk", "make room, or move data_dir and storage.url to a larger disk", disk(settings))
        .await;
    findings.note("redis", "check redis.url and that Redis runs", redis(settings)).await;
    if has_database {
        let remedy = "set the clocks of this machine and of the database by NTP";
        findings.note("clock", remedy, clock(settings)).await;
    } else {
        say("?     clock: not known without the database");
    }
    findings
        .note("secrets", "set secrets.signing, or for an edge alone secrets.links", secrets(settings))
        .await;
    exposure::look(settings)?.iter().for_each(|finding| findings.tell(finding));
    findings.tell(&open_files(settings));
    examine_addresses(settings, &mut findings).await;
    if let Some(collector) = &settings.traces.otlp_url {
        findings
            .note("traces", "check traces.otlp_url and that the collector runs", collector_answers(collector))
            .await;
    }
    Ok(if findings.faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Findings {
    faults: usize,
}

impl Findings {
    fn tell(&mut self, finding: &Finding) {
        self.faults += usize::from(finding.is_fault());
        say(&finding.to_string());
    }

    /// Whether the part can be used.
    async fn note(
        &mut self,
        part: &'static str,
        remedy: &'static str,
        examination: impl Future<Output = anyhow::Result<String>>,
    ) -> bool {
        let found = within_answer_wait(Box::pin(examination)).await;
        let finding = match found {
            Ok(state) => Finding::sound(part, state),
            Err(error) => Finding::fault(part, format!("{error:#}"), remedy),
        };
        self.tell(&finding);
        !finding.is_fault()
    }
}

async fn within_answer_wait<T>(examination: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    timeout(ANSWER_WAIT, examination).await.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer")))
}

async fn examine_queues(settings: &Settings, findings: &mut Findings, has_database: bool) {
    match within_answer_wait(Box::pin(board::look(settings))).await {
        Ok(seen) => seen.iter().for_each(|finding| findings.tell(finding)),
        Err(error) => {
            let remedy = "check queue.url and run `handbill migrate`";
            findings.tell(&Finding::fault("queue", format!("{error:#}"), remedy));
            return say("?     workers, schedules: not known without the queue");
        }
    }
    if !has_database {
        return say("?     schedules: not known without the database");
    }
    match within_answer_wait(Box::pin(board::schedules(settings))).await {
        Ok(seen) => findings.tell(&seen),
        Err(error) => {
            findings.tell(&Finding::fault("schedules", format!("{error:#}"), "run `handbill migrate`"));
        }
    }
}

/// A port that is in use is no fault when it is this very service that uses it.
async fn examine_addresses(settings: &Settings, findings: &mut Findings) {
    let public = addresses::look(settings).await;
    let is_reached = public.iter().any(|finding| finding.part == addresses::API && finding.is_sound());
    public.iter().for_each(|finding| findings.tell(finding));
    if is_reached {
        findings.tell(&Finding::sound("addresses", "Handbill has them"));
    } else {
        let remedy = "free the port, or set api.listen and edge.listen";
        findings.note("addresses", remedy, listened_on(settings)).await;
    }
    if let Some(listen) = settings.ops.listen {
        let remedy = "free the port, set ops.listen, or start the process anew";
        findings.note("ops", remedy, answers_or_is_free(listen)).await;
    }
}

async fn database(settings: &Settings) -> anyhow::Result<String> {
    let store = parts::open_store(settings).await?;
    anyhow::ensure!(store.is_current().await?, "it answers, but its schema is not the newest");
    Ok("it answers and its schema is the newest".to_owned())
}

/// An edge reads contents and writes none, and need not be able to.
async fn storage(settings: &Settings) -> anyhow::Result<String> {
    let blobs = parts::open_blobs(settings)?;
    if !settings.are_of_an_edge_alone() {
        blobs.probe().await?;
        return Ok("it can be written, read and deleted from".to_owned());
    }
    let store = parts::open_store(settings).await?;
    match store.routes().find_any_content().await? {
        Some(hash) => {
            blobs.variants(hash).await?;
            Ok("a content can be read, which is all that an edge does".to_owned())
        }
        None => Ok("nothing is published yet that could be read".to_owned()),
    }
}

/// Where the databases of an embedded installation grow, and what a folder of contents needs.
async fn disk(settings: &Settings) -> anyhow::Result<String> {
    let folders = parts::folders_of_data(settings)?;
    if folders.is_empty() || settings.are_of_an_edge_alone() {
        return Ok("nothing is kept on this machine".to_owned());
    }
    let mut free_least = u64::MAX;
    for folder in folders {
        let disk = rustix::fs::statvfs(&folder).with_context(|| format!("look at {}", folder.display()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        anyhow::ensure!(free >= DISK_FREE_BYTES_MIN, "{} has {} left", folder.display(), size(free));
        free_least = free_least.min(free);
    }
    Ok(format!("{} are free", size(free_least)))
}

/// A message goes out over one connection and comes in over another, as between processes.
async fn redis(settings: &Settings) -> anyhow::Result<String> {
    if settings.redis.url.is_none() {
        return Ok("not set; `handbill serve` needs none".to_owned());
    }
    let (here, there) = (parts::open_bus(settings).await?, parts::open_bus(settings).await?);
    let job = JobId::new(parts::clock().now(), &Chance::from_system());
    let mut reply = there.expect_reply(job);
    let outcome = Outcome::Moved(Moved { balance: Micro::ZERO, is_new: false });
    for _ in 0..MESSAGES_MAX {
        here.reply(there.instance(), job, &outcome).await;
        if reply.wait(MESSAGE_WAIT).await.is_some() {
            return Ok("it answers, and messages arrive".to_owned());
        }
    }
    anyhow::bail!("it answers, but no message arrives: its publish/subscribe must be allowed")
}

async fn clock(settings: &Settings) -> anyhow::Result<String> {
    let store = parts::open_store(settings).await?;
    let (ours, theirs) = (parts::clock().now(), store.now().await?);
    let skew = ours.since(theirs).max(theirs.since(ours));
    anyhow::ensure!(skew <= CLOCK_SKEW_MAX, "this machine says {ours}, the database {theirs}");
    Ok(format!("{ours}, as the database says too"))
}

/// A host that is all edge needs no signing secret.
async fn secrets(settings: &Settings) -> anyhow::Result<String> {
    let secrets = &settings.secrets;
    let state = match (&secrets.signing, &secrets.links) {
        (Some(_), Some(_)) => "secrets.signing and secrets.links are set",
        (Some(_), None) => "secrets.signing is set",
        (None, _) if settings.dev_mode => {
            settings.signing_secret(&domain::Chance::from_system()).context("the data directory")?;
            "the signing secret is in the data directory"
        }
        (None, Some(_)) => "secrets.links is set, which is enough for `handbill edge` alone",
        (None, None) => {
            anyhow::bail!("neither secrets.signing nor secrets.links is set, and dev mode is off")
        }
    };
    Ok(state.to_owned())
}

/// How many files a process may have open that is started like this one. A service manager may allow another number.
fn open_files(settings: &Settings) -> Finding {
    let edge_alone = HasListeners { api: false, edge: true };
    let all = HasListeners { api: true, edge: true };
    let is_edge_alone = settings.are_of_an_edge_alone();
    let wanted = open_files::wanted(settings, if is_edge_alone { edge_alone } else { all });
    let Some(allowed) = open_files::allowed_at_most().filter(|allowed| *allowed < wanted) else {
        return Finding::sound("files", format!("as many may be open as the doors want, which is {wanted}"));
    };
    Finding::warning(
        "files",
        format!(
            "{allowed} may be open in a process that is started like this one, and the doors want {wanted}"
        ),
        "raise the limit of open files (LimitNOFILE, ulimits), or lower connections_max; a worker has no doors",
    )
}

async fn listened_on(settings: &Settings) -> anyhow::Result<String> {
    let (api, edge) =
        (answers_or_is_free(settings.api.listen).await?, answers_or_is_free(settings.edge.listen).await?);
    Ok(format!("{api}; {edge}"))
}

/// The address is this very service's, or free for it.
async fn answers_or_is_free(listen: SocketAddr) -> anyhow::Result<String> {
    if let Ok(answer) = client()?.get(format!("http://{listen}/healthz")).send().await {
        anyhow::ensure!(answer.status().is_success(), "{listen} answers {} to /healthz", answer.status());
        return Ok(format!("a process answers at {listen}"));
    }
    tokio::net::TcpListener::bind(listen).await.map_err(|error| anyhow::anyhow!("{listen}: {error}"))?;
    Ok(format!("{listen} is free to listen on"))
}

fn client() -> anyhow::Result<reqwest::Client> {
    reqwest::Client::builder().timeout(ANSWER_WAIT).build().context("cannot build an HTTP client")
}

/// Whatever a collector says to nothing: it is there.
async fn collector_answers(collector: &str) -> anyhow::Result<String> {
    let nothing = client()?
        .post(format!("{collector}/v1/traces"))
        .header("Content-Type", "application/x-protobuf")
        .send();
    nothing.await.context("the collector does not answer")?;
    Ok("the collector answers".to_owned())
}
