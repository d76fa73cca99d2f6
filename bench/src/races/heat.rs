//! The heats: the operations that both perform in alternation, and their times.

use std::time::{Duration, Instant};

use anyhow::Context;
use domain::Chance;

use super::racer::{Racer, Version};
use crate::extent::Extent;
use crate::figure::Goal;
use crate::latencies::Latencies;
use crate::page::SiteFile;

/// Opens connections and fills caches.
const WARM_UP_RUNS: usize = 10;
const SITE_FILES: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    NewPage,
    NextPage,
    NewSite,
    NextSite,
    FirstByte,
    Rollback,
}

/// The input of one run.
struct Run {
    site: String,
    files: Vec<SiteFile>,
}

impl Heat {
    pub const ALL: [Heat; 6] =
        [Heat::NewPage, Heat::NextPage, Heat::NewSite, Heat::NextSite, Heat::FirstByte, Heat::Rollback];

    pub fn what(self) -> &'static str {
        match self {
            Heat::NewPage => "publish a new page of 4 KB",
            Heat::NextPage => "publish a page's next version",
            Heat::NewSite => "publish a new site of 50 files",
            Heat::NextSite => "publish a site's next version, 1 file of 50 changed",
            Heat::FirstByte => "publish a new page until it is served",
            Heat::Rollback => "go back to an older version until it is served",
        }
    }

    pub fn goal(self) -> Option<Goal> {
        match self {
            Heat::NewPage => Some(Goal::RatioAtMost(0.18)),
            Heat::NewSite => Some(Goal::RatioAtMost(0.35)),
            _ => None,
        }
    }

    fn runs(self) -> usize {
        match self {
            Heat::NewSite | Heat::NextSite => 60,
            _ => 300,
        }
    }

    /// The content of this run, the same for both.
    fn prepare(self) -> Run {
        let chance = Chance::from_system();
        let index = SiteFile::index(&chance);
        let site = match self {
            Heat::NextPage => "known-page".to_owned(),
            Heat::NextSite => "known-site".to_owned(),
            _ => format!("new-{}", chance.base36(16)),
        };
        let others = match self {
            Heat::NewSite => SiteFile::others(&chance, SITE_FILES),
            // The same files in each run.
            Heat::NextSite => SiteFile::others(&Chance::seeded(SITE_FILES as u64), SITE_FILES),
            _ => vec![],
        };
        Run { site, files: std::iter::once(index).chain(others).collect() }
    }
}

/// Returns the times of each run for Handbill and for boatramp.
pub async fn run(
    heat: Heat,
    ours: &Racer,
    theirs: Option<&Racer>,
    extent: Extent,
) -> anyhow::Result<(Latencies, Option<Latencies>)> {
    let racers: Vec<&Racer> = std::iter::once(ours).chain(theirs).collect();
    let mut taken = vec![vec![]; racers.len()];
    let turning = if heat == Heat::Rollback { two_versions(&racers).await? } else { vec![] };
    for number in 0..WARM_UP_RUNS + extent.runs(heat.runs()) {
        let run = heat.prepare();
        for index in 0..racers.len() {
            // The two alternate in being first.
            let index = (index + number) % racers.len();
            let took = match turning.get(index) {
                Some(turning) => turning.go_back(racers[index], number).await?,
                None => publish(heat, racers[index], &run).await?,
            };
            if number >= WARM_UP_RUNS {
                taken[index].push(took);
            }
        }
    }
    let mut taken = taken.into_iter().map(Latencies::of);
    Ok((taken.next().context("there are no racers")?, taken.next()))
}

async fn publish(heat: Heat, racer: &Racer, run: &Run) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let version = racer.publish(&run.site, &run.files).await?;
    if heat == Heat::FirstByte {
        racer.see(&version, &run.files[0].content).await?;
    }
    Ok(started.elapsed())
}

/// Two versions of a page, which are activated in alternation.
struct Turning([(Version, SiteFile); 2]);

async fn two_versions(racers: &[&Racer]) -> anyhow::Result<Vec<Turning>> {
    let mut all = vec![];
    for racer in racers {
        let (one, other) = (Heat::Rollback.prepare(), Heat::Rollback.prepare());
        let first = racer.publish("turning-page", &one.files).await?;
        let second = racer.publish("turning-page", &other.files).await?;
        all.push(Turning([(first, one.files[0].clone()), (second, other.files[0].clone())]));
    }
    Ok(all)
}

impl Turning {
    async fn go_back(&self, racer: &Racer, number: usize) -> anyhow::Result<Duration> {
        let (version, index) = &self.0[number % self.0.len()];
        let started = Instant::now();
        racer.activate(version).await?;
        racer.see(version, &index.content).await?;
        Ok(started.elapsed())
    }
}
