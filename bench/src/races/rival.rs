//! The other server of the comparison: boatramp, or another build of Handbill.

use super::racer::Racer;
use crate::Bench;
use crate::boatramp::{BOATRAMP, Boatramp};
use crate::system::BenchSystem;
use crate::table::OTHER_BUILD;

pub enum Rival {
    Boatramp(Boatramp),
    OtherBuild {
        system: Box<BenchSystem>,
        /// Its directory, which is deleted at the end.
        _bench: Bench,
    },
}

impl Rival {
    /// `None` if this machine has no such program.
    pub async fn start(bench: &Bench) -> anyhow::Result<Option<Self>> {
        let Some(other) = &bench.arguments.against else {
            return Ok(Boatramp::start(bench, "races-boatramp").await?.map(Self::Boatramp));
        };
        let bench = bench.with_program(other)?;
        let system = Box::new(BenchSystem::embedded(&bench, "races").await?);
        Ok(Some(Self::OtherBuild { system, _bench: bench }))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Boatramp(_) => BOATRAMP,
            Self::OtherBuild { .. } => OTHER_BUILD,
        }
    }

    /// A client whose storage has no limit, and whose pages are served without a badge.
    pub async fn racer(&self) -> anyhow::Result<Racer> {
        match self {
            Self::Boatramp(boatramp) => Racer::boatramp(boatramp),
            Self::OtherBuild { system, .. } => Racer::handbill(&system.api_url).await,
        }
    }

    /// A client with an account of its own, if there are accounts.
    pub async fn new_client(&self) -> anyhow::Result<Racer> {
        match self {
            Self::Boatramp(boatramp) => Racer::boatramp(boatramp),
            Self::OtherBuild { system, .. } => Racer::provisional(&system.api_url).await,
        }
    }
}
