//! How soon a change is visible: from sending `activate` to the first new byte from an edge in another
//! process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::Chance;
use reqwest::Client;

use crate::Bench;
use crate::agent::Agent;
use crate::figure::{Figure, Goal};
use crate::latencies::Latencies;
use crate::page::page;
use crate::system::BenchSystem;
use crate::table::{Row, Table};

const SLUG: &str = "visible";
const ACTIVATIONS: usize = 500;
const WARM_UP_ACTIVATIONS: usize = 50;
/// A change that is not visible after this time is lost.
const SEEN_WITHIN: Duration = Duration::from_secs(10);

/// In production mode: the API, a worker and two edges, each a process of its own.
pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let mut system = BenchSystem::production(bench, "visible").await?;
    let other_edge = system.start_edge().await?;
    let agent = Agent::sign_up(&system.api_url).await?;
    let chance = Chance::from_system();
    let mut watch = None;
    for version in 1..=2 {
        let published = agent.publish_as(SLUG, page(&chance)).await?;
        ensure!(published.version == version, "the versions are numbered otherwise");
        let watch = watch.get_or_insert(Watch::of(other_edge, &published.host)?);
        watch.versions.push(watch.poll().await?.etag);
    }
    let watch = Arc::new(watch.context("nothing was published")?);
    let (mut seen, mut answered, mut old_after_answer) = (Vec::new(), Vec::new(), 0);
    for number in 0..WARM_UP_ACTIVATIONS + bench.extent().runs(ACTIVATIONS) {
        let round = activate_and_watch(&agent, &watch, number % 2).await?;
        old_after_answer += round.old_after_answer;
        if number >= WARM_UP_ACTIVATIONS {
            seen.push(round.seen_after);
            answered.push(round.answered_after);
        }
    }
    add_rows(table, &Latencies::of(seen), &Latencies::of(answered), old_after_answer);
    Ok(())
}

fn add_rows(table: &mut Table, seen: &Latencies, answered: &Latencies, old_after_answer: usize) {
    for (what, percent) in
        [("activate to the first new byte of another edge, p50", 50), ("the same, p99", 99)]
    {
        let beside = format!("the answer to activate: {}", answered.percentile(percent));
        table.add(Row::of(what, seen.percentile(percent)).note(beside));
    }
    let of = format!("of {}", seen.count());
    let row = Row::of("old pages asked for after the answer", Figure::Count(old_after_answer));
    table.add(row.goal(Goal::AtMost(0.0)).note(of));
}

/// The result of one activation, counted from the sending of the request.
struct VisibilityRound {
    seen_after: Duration,
    answered_after: Duration,
    old_after_answer: usize,
}

/// A watcher polls the other edge while a version is activated.
async fn activate_and_watch(
    agent: &Agent,
    watch: &Arc<Watch>,
    version: usize,
) -> anyhow::Result<VisibilityRound> {
    let is_answered = Arc::new(AtomicBool::new(false));
    let started = Instant::now();
    let watching = tokio::spawn({
        let (watch, is_answered) = (watch.clone(), is_answered.clone());
        async move { watch.until_seen(version, &is_answered, started).await }
    });
    agent.activate(SLUG, u32::try_from(version)? + 1).await?;
    let answered_after = started.elapsed();
    is_answered.store(true, Ordering::SeqCst);
    let (seen_after, old_after_answer) = watching.await??;
    Ok(VisibilityRound { seen_after, answered_after, old_after_answer })
}

/// A client that polls a page.
struct Watch {
    client: Client,
    url: String,
    /// The ETags, which identify the versions.
    versions: Vec<String>,
}

/// A response, and its time.
struct VisibilityProbe {
    etag: String,
    at: Instant,
}

impl Watch {
    fn of(edge: SocketAddr, host: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        Ok(Self { client, url: format!("http://{edge}/site/{host}/"), versions: vec![] })
    }

    async fn poll(&self) -> anyhow::Result<VisibilityProbe> {
        let answer = self.client.get(&self.url).send().await?.error_for_status()?;
        // The time at which the head was complete.
        let at = Instant::now();
        let etag = answer.headers().get("etag").context("no ETag")?.to_str()?.to_owned();
        // The connection is reused only after the body was read.
        answer.bytes().await?;
        Ok(VisibilityProbe { etag, at })
    }

    /// The time at which the version was visible, and how many requests after the response still got the old
    /// one.
    async fn until_seen(
        &self,
        version: usize,
        is_answered: &AtomicBool,
        started: Instant,
    ) -> anyhow::Result<(Duration, usize)> {
        let mut old_after_answer = 0;
        while started.elapsed() < SEEN_WITHIN {
            let was_answered = is_answered.load(Ordering::SeqCst);
            let seen = self.poll().await?;
            if seen.etag == self.versions[version] {
                return Ok((seen.at - started, old_after_answer));
            }
            old_after_answer += usize::from(was_answered);
        }
        anyhow::bail!("version {} was not seen within {SEEN_WITHIN:?}", version + 1)
    }
}
