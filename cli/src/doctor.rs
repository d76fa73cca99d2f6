//! Tries every part of an installation and says, for what is wrong, what to do.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use bus::Bus;
use config::{Settings, Storage};
use domain::{Chance, JobId, Micro, Moved, Outcome, Queue};
use service::Board;
use tokio::time::timeout;

use crate::progress::{count, size};
use crate::{parts, say};

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
    let has_queue =
        findings.note("queue", "check queue.url and run `handbill migrate`", queue(settings)).await;
    findings.note("storage", "check storage.url, its keys and its free space", storage(settings)).await;
    findings
        .note("disk", "make room, or move data_dir and storage.url to a larger disk", disk(settings))
        .await;
    if has_queue {
        let remedy = "start a `handbill worker` that takes it; one without --queues takes every queue";
        findings.note("workers", remedy, workers(settings)).await;
    } else {
        say("?     workers: not known without the queue");
    }
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
    findings.note("addresses", "free the port, or set api.listen and edge.listen", addresses(settings)).await;
    if let Some(listen) = settings.ops.listen {
        findings
            .note(
                "ops",
                "free the port, set ops.listen, or start the process anew",
                answers_or_is_free(listen),
            )
            .await;
    }
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
    /// Whether the part is as it should be.
    async fn note(
        &mut self,
        part: &str,
        remedy: &str,
        examination: impl Future<Output = anyhow::Result<String>>,
    ) -> bool {
        let found =
            timeout(ANSWER_WAIT, examination).await.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer")));
        match found {
            Ok(state) => {
                say(&format!("ok    {part}: {state}"));
                true
            }
            Err(error) => {
                self.faults += 1;
                say(&format!("FAULT {part}: {error:#}\n      what to do: {remedy}"));
                false
            }
        }
    }
}

async fn database(settings: &Settings) -> anyhow::Result<String> {
    let store = parts::open_store(settings).await?;
    anyhow::ensure!(store.is_current().await?, "it answers, but its schema is not the newest");
    Ok("it answers and its schema is the newest".to_owned())
}

async fn queue(settings: &Settings) -> anyhow::Result<String> {
    let queues = parts::open_queues(settings, &bus::Bus::local("doctor")).await?;
    anyhow::ensure!(queues.is_current().await?, "it answers, but its schema is not the newest");
    let depths = queues.depth().await?;
    let waiting: u64 = depths.iter().map(|depth| depth.waiting).sum();
    let dead: u64 = depths.iter().map(|depth| depth.dead).sum();
    Ok(format!("it answers; {waiting} jobs wait, {dead} are dead"))
}

async fn storage(settings: &Settings) -> anyhow::Result<String> {
    parts::open_blobs(settings)?.probe().await?;
    Ok("it can be written, read and deleted from".to_owned())
}

/// Where the databases of an embedded installation grow, and what a folder of contents needs.
async fn disk(settings: &Settings) -> anyhow::Result<String> {
    let folders = match &settings.storage {
        Storage::Folder(folder) => vec![&settings.data_dir, folder],
        Storage::Bucket(_) => vec![&settings.data_dir],
    };
    let mut free_least = u64::MAX;
    for folder in folders {
        let disk = rustix::fs::statvfs(folder).with_context(|| format!("look at {}", folder.display()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        anyhow::ensure!(free >= DISK_FREE_BYTES_MIN, "{} has {} left", folder.display(), size(free));
        free_least = free_least.min(free);
    }
    Ok(format!("{} are free", size(free_least)))
}

/// Whoever is alive must take every queue between them. Where nothing runs, nothing is wrong.
async fn workers(settings: &Settings) -> anyhow::Result<String> {
    let queues = parts::open_queues(settings, &Bus::local("doctor")).await?;
    let processes = queues.shown().await?.processes;
    let alive: Vec<_> = processes.iter().filter(|process| !process.is_lost).collect();
    if alive.is_empty() {
        return Ok("no process runs at present".to_owned());
    }
    let is_taken =
        |queue: Queue| alive.iter().any(|process| process.takes.iter().any(|takes| takes.0 == queue));
    let untaken: Vec<_> = Queue::ALL.into_iter().filter(|queue| !is_taken(*queue)).map(Queue::name).collect();
    anyhow::ensure!(untaken.is_empty(), "no process that is alive takes the queue {}", untaken.join(", "));
    Ok(format!(
        "{} alive, and every queue is taken",
        count(alive.len() as u64, "process is", "processes are")
    ))
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

/// A port that is in use is no fault when it is this very service that uses it.
async fn addresses(settings: &Settings) -> anyhow::Result<String> {
    let status_url = format!("{}/v1/status", settings.api.base_url);
    if let Ok(answer) = reqwest::get(&status_url).await
        && answer.status().is_success()
    {
        return Ok(format!("Handbill answers at {}", settings.api.base_url));
    }
    let (api, edge) =
        (answers_or_is_free(settings.api.listen).await?, answers_or_is_free(settings.edge.listen).await?);
    Ok(format!("{api}; {edge}"))
}

/// The address is this very service's, or free for it.
async fn answers_or_is_free(listen: SocketAddr) -> anyhow::Result<String> {
    if let Ok(answer) = reqwest::get(format!("http://{listen}/healthz")).await {
        anyhow::ensure!(answer.status().is_success(), "{listen} answers {} to /healthz", answer.status());
        return Ok(format!("a process answers at {listen}"));
    }
    tokio::net::TcpListener::bind(listen).await.map_err(|error| anyhow::anyhow!("{listen}: {error}"))?;
    Ok(format!("{listen} is free to listen on"))
}

/// Whatever a collector says to nothing: it is there.
async fn collector_answers(collector: &str) -> anyhow::Result<String> {
    let nothing = reqwest::Client::new()
        .post(format!("{collector}/v1/traces"))
        .header("Content-Type", "application/x-protobuf")
        .timeout(ANSWER_WAIT)
        .send();
    nothing.await.context("the collector does not answer")?;
    Ok("the collector answers".to_owned())
}
