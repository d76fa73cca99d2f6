//! Runs the same steps on two systems in alternation: one that has grown, and an empty one.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::Chance;
use reqwest::{Client, StatusCode};

use super::filling::Filling;
use crate::latencies::Latencies;
use crate::page::page;

/// The number of measured runs of each step.
pub const RUNS: usize = 200;
/// Opens connections and fills caches.
const WARM_UP_RUNS: usize = 20;
const SEEN_WITHIN: Duration = Duration::from_secs(10);
const TURNING_SLUG: &str = "turning-page";

/// The measured steps, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Publish,
    FirstGet,
    OldGet,
    Rollback,
}

/// The times of each run by step.
type MeasuredTime = [Vec<Duration>; Step::ALL.len()];
pub type Steps = [Latencies; Step::ALL.len()];

impl Step {
    pub const ALL: [Step; 4] = [Step::Publish, Step::FirstGet, Step::OldGet, Step::Rollback];

    pub fn what(self) -> &'static str {
        match self {
            Step::Publish => "publish a new page",
            Step::FirstGet => "its first GET",
            Step::OldGet => "first GET of an old page",
            Step::Rollback => "rollback until it is served",
        }
    }
}

/// Two versions of a page, which are activated in alternation.
struct Turning {
    url: String,
    /// Each with its number.
    versions: [(u32, String); 2],
}

/// One system, with its publisher and its visitor.
pub struct Side<'a> {
    filling: &'a Filling,
    visitor: Client,
    chance: Chance,
}

impl<'a> Side<'a> {
    pub fn of(filling: &'a Filling) -> anyhow::Result<Self> {
        let visitor = Client::builder().no_proxy().build()?;
        Ok(Self { filling, visitor, chance: Chance::from_system() })
    }

    /// One run of all steps. A warm-up has no number, and skips steps that are possible only once.
    async fn run(&self, number: Option<usize>, turning: &Turning) -> anyhow::Result<[Duration; 4]> {
        let html = page(&self.chance);
        let (published, publish) = timed(self.filling.agent.publish(html.clone())).await?;
        let (_, first_get) = timed(self.visit(&published.url, &html)).await?;
        let old_get = match number {
            Some(number) => self.visit_unvisited(number).await?,
            None => Duration::ZERO,
        };
        let (_, rollback) = timed(self.activate_next(turning, number.unwrap_or_default())).await?;
        Ok([publish, first_get, old_get, rollback])
    }

    async fn visit_unvisited(&self, number: usize) -> anyhow::Result<Duration> {
        let Filling { unvisited, edge_url, page, .. } = self.filling;
        let host = unvisited.get(number).context("there are fewer pages than runs")?;
        Ok(timed(self.visit(&format!("{edge_url}{host}/"), page)).await?.1)
    }

    /// A published page is served at once, so that one request suffices.
    async fn visit(&self, url: &str, html: &str) -> anyhow::Result<()> {
        let answer = self.visitor.get(url).send().await?;
        let status = answer.status();
        ensure!(status == StatusCode::OK, "{url} was answered {status}");
        ensure!(answer.bytes().await? == html.as_bytes(), "{url} serves another page");
        Ok(())
    }

    async fn publish_turning(&self) -> anyhow::Result<Turning> {
        let agent = &self.filling.agent;
        let (one, other) = (page(&self.chance), page(&self.chance));
        let first = agent.publish_as(TURNING_SLUG, one.clone()).await?;
        let second = agent.publish_as(TURNING_SLUG, other.clone()).await?;
        Ok(Turning { url: second.url, versions: [(first.version, one), (second.version, other)] })
    }

    async fn activate_next(&self, turning: &Turning, number: usize) -> anyhow::Result<()> {
        let (seq, html) = &turning.versions[number % turning.versions.len()];
        self.filling.agent.activate(TURNING_SLUG, *seq).await?;
        let started = Instant::now();
        while let Err(error) = self.visit(&turning.url, html).await {
            if started.elapsed() > SEEN_WITHIN {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Returns the times of the grown system and of the empty one.
pub async fn run(grown: Side<'_>, empty: Side<'_>) -> anyhow::Result<(Steps, Steps)> {
    let sides = [&grown, &empty];
    let turning = [grown.publish_turning().await?, empty.publish_turning().await?];
    let mut taken: [MeasuredTime; 2] = Default::default();
    for number in 0..WARM_UP_RUNS + RUNS {
        let run = number.checked_sub(WARM_UP_RUNS);
        for index in 0..sides.len() {
            // The systems alternate in being first.
            let index = (index + number) % sides.len();
            let times = sides[index].run(run, &turning[index]).await?;
            if run.is_some() {
                taken[index].iter_mut().zip(times).for_each(|(all, time)| all.push(time));
            }
        }
    }
    let [grown, empty] = taken.map(|taken| taken.map(Latencies::of));
    Ok((grown, empty))
}

async fn timed<T>(done: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<(T, Duration)> {
    let started = Instant::now();
    let value = done.await?;
    Ok((value, started.elapsed()))
}
