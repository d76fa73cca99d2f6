//! Many clients publish at the same time, to one system and to the other in alternation. The two also
//! alternate in being first, as in the heats.

use std::time::{Duration, Instant};

use anyhow::Context;
use domain::Chance;
use futures::future::try_join_all;

use super::racer::Racer;
use super::rival::Rival;
use crate::extent::Extent;
use crate::figure::Figure;
use crate::page::SiteFile;

const CLIENTS: usize = 32;
/// An even number, so that each system is first in half of the rounds.
const ROUNDS: u32 = 4;
const ROUND: Duration = Duration::from_secs(4);
/// Before the first round, without being counted: connections open and caches fill.
const WARM_UP: Duration = Duration::from_secs(1);

/// The rates of publishes over all rounds.
pub struct Rushes {
    pub ours: Figure,
    pub theirs: Option<Figure>,
}

pub async fn run(api_url: &str, rival: Option<&Rival>, extent: Extent) -> anyhow::Result<Rushes> {
    let length = extent.time(ROUND);
    let mut ours = try_join_all((0..CLIENTS).map(|_| Racer::provisional(api_url))).await?;
    let mut theirs = match rival {
        Some(rival) => Some(try_join_all((0..CLIENTS).map(|_| rival.new_client())).await?),
        None => None,
    };
    for racers in std::iter::once(&mut ours).chain(theirs.as_mut()) {
        round(racers, extent.time(WARM_UP)).await?;
    }
    let (mut published, mut published_by_them) = (0, 0);
    for number in 0..ROUNDS {
        let is_first = number % 2 == 0;
        if is_first {
            published += round(&mut ours, length).await?;
        }
        if let Some(theirs) = &mut theirs {
            published_by_them += round(theirs, length).await?;
        }
        if !is_first {
            published += round(&mut ours, length).await?;
        }
    }
    let rate = |count: u32| Figure::PerSecond(f64::from(count) / (length * ROUNDS).as_secs_f64());
    Ok(Rushes { ours: rate(published), theirs: theirs.map(|_| rate(published_by_them)) })
}

/// Every client publishes new pages without a pause. Returns the number of all publishes.
async fn round(racers: &mut Vec<Racer>, length: Duration) -> anyhow::Result<u32> {
    let end = Instant::now() + length;
    let clients = racers.drain(..).map(|racer| tokio::spawn(publish_until(end, racer)));
    let mut all = 0;
    for client in clients.collect::<Vec<_>>() {
        let (racer, published) = client.await.context("a client fell")??;
        racers.push(racer);
        all += published;
    }
    Ok(all)
}

async fn publish_until(end: Instant, racer: Racer) -> anyhow::Result<(Racer, u32)> {
    let (chance, mut published) = (Chance::from_system(), 0);
    while Instant::now() < end {
        let (site, files) = (format!("rush-{}", chance.base36(16)), [SiteFile::index(&chance)]);
        racer.publish(&site, &files).await?;
        published += 1;
    }
    Ok((racer, published))
}
