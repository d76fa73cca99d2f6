//! The contest: rounds in which the servers take turns, so that a slow minute of the machine meets all of them.

use std::time::Duration;

use anyhow::Context;

use super::load::{Ask, Load, Measured, Visit};
use super::{Entrant, NGINX};
use crate::latencies::Ms;
use crate::table::{NO_GOAL, Table};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
const WARM_UP: Duration = Duration::from_secs(2);
/// The time within which all sites are asked for once.
const COLD_ROUNDS: usize = 3;
const COLD_ROUND_MAX: Duration = Duration::from_secs(10);

pub struct Contest {
    edge: Entrant,
    nginx: Entrant,
    /// Left out when it is not on this machine.
    static_web_server: Option<Entrant>,
}

/// What the edge should reach, as ratios to nginx.
#[derive(Clone, Copy)]
pub struct Goal {
    pub rate: &'static str,
    pub p99: &'static str,
}

impl Goal {
    pub const NONE: Goal = Goal { rate: NO_GOAL, p99: NO_GOAL };
}

/// What a server did in each round.
struct Turns {
    name: &'static str,
    rounds: Vec<Measured>,
}

impl Contest {
    pub fn new(edge: Entrant, nginx: Entrant, static_web_server: Option<Entrant>) -> Self {
        Self { edge, nginx, static_web_server }
    }

    pub async fn start_rivals(&mut self) -> anyhow::Result<()> {
        for entrant in self.all().into_iter().skip(1) {
            entrant.start().await?;
        }
        Ok(())
    }

    /// Over what every server has in its memory.
    pub async fn warm(
        &mut self,
        what: &str,
        goal: Goal,
        visits: &[Visit],
        ask: Ask,
        table: &mut Table,
    ) -> anyhow::Result<()> {
        let mut loads = Vec::new();
        for entrant in self.all() {
            let Some(load) = Load::prepare(entrant, visits, ask).await? else { continue };
            load.run(WARM_UP).await?;
            loads.push((load, Turns { name: entrant.name, rounds: vec![] }));
        }
        for _ in 0..ROUNDS {
            for (load, turns) in &mut loads {
                turns.rounds.push(load.run(ROUND).await?);
            }
        }
        tell(what, goal, loads.into_iter().map(|(_, turns)| turns).collect(), table)
    }

    /// Each visit once, by a server that has just been started.
    pub async fn cold(&mut self, what: &str, visits: &[Visit], table: &mut Table) -> anyhow::Result<()> {
        let mut all: Vec<_> =
            self.all().iter().map(|entrant| Turns { name: entrant.name, rounds: vec![] }).collect();
        for _ in 0..COLD_ROUNDS {
            for (entrant, turns) in self.all().into_iter().zip(&mut all) {
                entrant.start().await?;
                if let Some(load) = Load::prepare(entrant, visits, Ask::Plainly).await? {
                    turns.rounds.push(load.run_once(COLD_ROUND_MAX).await?);
                }
            }
        }
        tell(what, Goal::NONE, all, table)
    }

    fn all(&mut self) -> Vec<&mut Entrant> {
        [&mut self.edge, &mut self.nginx].into_iter().chain(&mut self.static_web_server).collect()
    }
}

fn tell(what: &str, goal: Goal, all: Vec<Turns>, table: &mut Table) -> anyhow::Result<()> {
    let (nginx, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|turns| turns.name == NGINX);
    let nginx = nginx.first().with_context(|| format!("nginx took no part in: {what}"))?;
    for (turns, goal) in others.iter().zip([goal, Goal::NONE]) {
        let ratio = |(one, other): (&Measured, &Measured)| one.rate / other.rate;
        let mut ratios: Vec<_> = turns.rounds.iter().zip(&nginx.rounds).map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        let beside = format!("{:.0} /s to {:.0} /s; {least:.2} to {most:.2}", turns.rate(), nginx.rate());
        let name = turns.name;
        table.add(
            format!("{what}: {name} to nginx"),
            format!("{:.2} ×", ratios[ratios.len() / 2]),
            goal.rate,
            beside,
        );
        let (p99, nginx_p99) = (turns.p99(), nginx.p99());
        let ratio = format!("{:.2} ×", p99.ratio_to(nginx_p99));
        table.add(format!("{what}: p99, the same"), ratio, goal.p99, format!("{p99} to {nginx_p99}"));
    }
    Ok(())
}

impl Turns {
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
