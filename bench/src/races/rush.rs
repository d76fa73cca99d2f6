//! Many clients publish at the same time, to one system and to the other in alternation.

use std::time::{Duration, Instant};

use anyhow::Context;
use domain::Chance;
use futures::future::try_join_all;

use super::racer::Racer;
use crate::boatramp::Boatramp;
use crate::latencies::Latencies;
use crate::page::SiteFile;

const CLIENTS: usize = 32;
const ROUNDS: u32 = 2;
const ROUND: Duration = Duration::from_secs(4);

/// The times of all publishes in all rounds.
pub struct Rushes {
    pub ours: Latencies,
    pub theirs: Option<Latencies>,
}

pub async fn run(api_url: &str, boatramp: Option<&Boatramp>) -> anyhow::Result<Rushes> {
    let mut ours = try_join_all((0..CLIENTS).map(|_| Racer::provisional(api_url))).await?;
    let workers =
        |boatramp| (0..CLIENTS).map(|_| Racer::boatramp(boatramp)).collect::<anyhow::Result<Vec<_>>>();
    let mut theirs = boatramp.map(workers).transpose()?;
    let (mut taken, mut taken_by_them) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        taken.extend(round(&mut ours).await?);
        if let Some(theirs) = &mut theirs {
            taken_by_them.extend(round(theirs).await?);
        }
    }
    Ok(Rushes { ours: Latencies::of(taken), theirs: theirs.map(|_| Latencies::of(taken_by_them)) })
}

pub fn per_second(taken: &Latencies) -> f64 {
    taken.count() as f64 / (ROUND * ROUNDS).as_secs_f64()
}

/// Every client publishes new pages without a pause.
async fn round(racers: &mut Vec<Racer>) -> anyhow::Result<Vec<Duration>> {
    let end = Instant::now() + ROUND;
    let clients = racers.drain(..).map(|racer| tokio::spawn(publish_until(end, racer)));
    let mut all = vec![];
    for client in clients.collect::<Vec<_>>() {
        let (racer, taken) = client.await.context("a client fell")??;
        racers.push(racer);
        all.extend(taken);
    }
    Ok(all)
}

async fn publish_until(end: Instant, racer: Racer) -> anyhow::Result<(Racer, Vec<Duration>)> {
    let (chance, mut taken) = (Chance::from_system(), vec![]);
    while Instant::now() < end {
        let (site, files) = (format!("rush-{}", chance.base36(16)), [SiteFile::index(&chance)]);
        let started = Instant::now();
        racer.publish(&site, &files).await?;
        taken.push(started.elapsed());
    }
    Ok((racer, taken))
}
