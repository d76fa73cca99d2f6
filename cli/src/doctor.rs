//! Tries every part of an installation and says, for what is wrong, what to do.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use config::Settings;
use tokio::time::timeout;

use crate::{parts, say};

/// A part that has not answered by then does not answer.
const ANSWER_WAIT: Duration = Duration::from_secs(10);
/// Clocks further apart than this make signatures and expiries go wrong between machines.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(2);

pub(crate) async fn examine(settings: &Settings) -> anyhow::Result<ExitCode> {
    let mut findings = Findings::default();
    findings.note("database", "check database.url and run `handbill migrate`", database(settings)).await;
    findings.note("queue", "check queue.url and run `handbill migrate`", queue(settings)).await;
    findings.note("storage", "check storage.url, its keys and its free space", storage(settings)).await;
    findings.note("redis", "check redis.url and that Redis runs", redis(settings)).await;
    findings
        .note("clock", "set the clocks of this machine and of the database by NTP", clock(settings))
        .await;
    findings
        .note("secrets", "set secrets.signing, or for an edge alone secrets.links", secrets(settings))
        .await;
    findings.note("addresses", "free the port, or set api.listen and edge.listen", addresses(settings)).await;
    Ok(if findings.faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Findings {
    faults: usize,
}

impl Findings {
    async fn note(
        &mut self,
        part: &str,
        remedy: &str,
        examination: impl Future<Output = anyhow::Result<String>>,
    ) {
        let found =
            timeout(ANSWER_WAIT, examination).await.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer")));
        match found {
            Ok(state) => say(&format!("ok    {part}: {state}")),
            Err(error) => {
                self.faults += 1;
                say(&format!("FAULT {part}: {error:#}\n      what to do: {remedy}"));
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

async fn redis(settings: &Settings) -> anyhow::Result<String> {
    if settings.redis.url.is_none() {
        return Ok("not set; `handbill serve` needs none".to_owned());
    }
    parts::open_bus(settings).await?;
    Ok("it answers".to_owned())
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
    for listen in [settings.api.listen, settings.edge.listen] {
        tokio::net::TcpListener::bind(listen).await.map_err(|error| anyhow::anyhow!("{listen}: {error}"))?;
    }
    Ok(format!("{} and {} are free to listen on", settings.api.listen, settings.edge.listen))
}
