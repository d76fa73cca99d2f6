//! The comparison: rounds in which the servers alternate, so that a slow minute of the machine affects all of
//! them.

use std::time::Duration;

use super::load::{Load, Measured, RequestVariant, Visit};
use super::{Entrant, NGINX};
use crate::extent::Extent;
use crate::figure::{self, Figure};
use crate::latencies::Ms;
use crate::table::{Row, Table};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
const WARM_UP: Duration = Duration::from_secs(2);
/// The number of rounds with cold caches, in which each site is requested once.
const COLD_ROUNDS: usize = 3;
const COLD_ROUND_MAX: Duration = Duration::from_secs(10);

pub struct Contest {
    edge: Entrant,
    rivals: Vec<Entrant>,
    extent: Extent,
}

/// The goals of the edge, as ratios to nginx.
#[derive(Clone, Copy)]
pub struct Goal {
    pub rate: Option<figure::Goal>,
    pub p99: Option<figure::Goal>,
}

impl Goal {
    pub const NONE: Goal = Goal { rate: None, p99: None };
}

/// The results of a server in each round.
struct ContestRounds {
    name: &'static str,
    rounds: Vec<Measured>,
}

impl Contest {
    pub fn new(edge: Entrant, rivals: Vec<Entrant>, extent: Extent) -> Self {
        Self { edge, rivals, extent }
    }

    pub async fn start_rivals(&mut self) -> anyhow::Result<()> {
        for rival in &mut self.rivals {
            rival.start().await?;
        }
        Ok(())
    }

    /// Measures with everything cached.
    pub async fn warm(
        &mut self,
        what: &str,
        goal: Goal,
        visits: &[Visit],
        variant: RequestVariant,
        table: &mut Table,
    ) -> anyhow::Result<()> {
        let (round, mut loads) = (self.extent.time(ROUND), Vec::new());
        for entrant in self.all() {
            let Some(load) = Load::prepare(entrant, visits, variant).await? else { continue };
            load.run(WARM_UP).await?;
            loads.push((load, ContestRounds { name: entrant.name, rounds: vec![] }));
        }
        for _ in 0..ROUNDS {
            for (load, results) in &mut loads {
                results.rounds.push(load.run(round).await?);
            }
        }
        add_rows(what, goal, loads.into_iter().map(|(_, results)| results).collect(), table);
        Ok(())
    }

    /// Measures each visit once, on a server that was just started.
    pub async fn cold(
        &mut self,
        what: &str,
        goal: Goal,
        visits: &[Visit],
        table: &mut Table,
    ) -> anyhow::Result<()> {
        let mut all: Vec<_> =
            self.all().iter().map(|entrant| ContestRounds { name: entrant.name, rounds: vec![] }).collect();
        for _ in 0..COLD_ROUNDS {
            for (entrant, results) in self.all().into_iter().zip(&mut all) {
                entrant.start().await?;
                if let Some(load) = Load::prepare(entrant, visits, RequestVariant::Plainly).await? {
                    results.rounds.push(load.run_once(COLD_ROUND_MAX).await?);
                }
            }
        }
        all.retain(|results| !results.rounds.is_empty());
        add_rows(what, goal, all, table);
        Ok(())
    }

    fn all(&mut self) -> Vec<&mut Entrant> {
        std::iter::once(&mut self.edge).chain(&mut self.rivals).collect()
    }
}

fn add_rows(what: &str, goal: Goal, all: Vec<ContestRounds>, table: &mut Table) {
    let (nginx, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|results| results.name == NGINX);
    let Some(nginx) = nginx.first() else {
        // Two builds are compared, each in a table of its own.
        for results in &others {
            let (rate, p99) = (Figure::PerSecond(results.rate()), results.p99());
            table.add(Row::of(format!("{what}: {}", results.name), rate));
            table.add(Row::of(format!("{what}: {}, p99", results.name), p99));
        }
        return;
    };
    let goals = std::iter::once(goal).chain(std::iter::repeat(Goal::NONE));
    for (results, goal) in others.iter().zip(goals) {
        let ratio = |(one, other): (&Measured, &Measured)| one.rate / other.rate;
        let mut ratios: Vec<_> = results.rounds.iter().zip(&nginx.rounds).map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        let row = Row::of(format!("{what}: {}", results.name), Figure::PerSecond(results.rate()))
            .beside(NGINX, Figure::PerSecond(nginx.rate()))
            .ratio(ratios[ratios.len() / 2])
            .note(format!("rounds {least:.2} to {most:.2}"));
        table.add(row.goal_if(goal.rate));
        let row = Row::of(format!("{what}: {}, p99", results.name), results.p99()).beside(NGINX, nginx.p99());
        table.add(row.goal_if(goal.p99));
    }
}

impl ContestRounds {
    fn rate(&self) -> f64 {
        let mut rates: Vec<_> = self.rounds.iter().map(|round| round.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }

    fn p99(&self) -> Ms {
        let mut times: Vec<_> = self.rounds.iter().map(|round| round.p99).collect();
        times.sort_unstable();
        Ms(times[times.len() / 2])
    }
}
