//! How cost grows: publishes, first visits and rollbacks in a system with many artifacts and accounts,
//! compared with an empty one, in alternation on the same machine.

mod database;
mod filling;
mod pair;

use anyhow::Context;

use crate::Bench;
use crate::extent::Extent;
use crate::figure::Goal;
use crate::latencies::Latencies;
use crate::system::BenchSystem;
use crate::table::{Row, Table};
pub use filling::Filling;
use pair::{RUNS, Side, Step};

/// The contents of an installation.
#[derive(Clone, Copy)]
struct Size {
    artifacts: usize,
    /// The accounts that share the artifacts evenly, including the publisher's.
    accounts: usize,
}

/// The sizes of one line are steps in the growth of one system.
const COURSES: [&[Size]; 3] = [
    &[
        Size { artifacts: 1_000, accounts: 1 },
        Size { artifacts: 10_000, accounts: 1 },
        Size { artifacts: 100_000, accounts: 1 },
    ],
    &[Size { artifacts: 100_000, accounts: 100 }],
    &[Size { artifacts: 100_000, accounts: 10_000 }],
];
/// The size of an empty system: only the pages for the first visits.
const EMPTY: Size = Size { artifacts: RUNS, accounts: 1 };
/// From this number of artifacts on, the goal applies.
const GOAL_FROM: usize = 100_000;
const GOAL: Goal = Goal::RatioAtMost(1.2);

#[derive(Clone, Copy)]
pub enum Mode {
    Embedded,
    Production,
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    // A quick run has only the first size.
    let (courses, sizes) = match bench.extent() {
        Extent::Full => (COURSES.len(), usize::MAX),
        Extent::Quick => (1, 1),
    };
    for mode in Mode::ALL {
        for (number, course) in COURSES[..courses].iter().enumerate() {
            let course = &course[..sizes.min(course.len())];
            let name = format!("growth-{}-{number}", mode.name());
            measure_course(bench, mode, &name, course, table).await.context(name)?;
        }
    }
    Ok(())
}

async fn measure_course(
    bench: &Bench,
    mode: Mode,
    name: &str,
    course: &[Size],
    table: &mut Table,
) -> anyhow::Result<()> {
    let system = mode.start(bench, name).await?;
    let mut filling = Filling::begin(&system, course[0].accounts).await?;
    for size in course {
        filling.grow_to(size.artifacts).await?;
        // A new one each time, because measuring adds data.
        let empty_system = mode.start(bench, &format!("{name}-beside-{}", size.artifacts)).await?;
        let mut empty = Filling::begin(&empty_system, EMPTY.accounts).await?;
        empty.grow_to(EMPTY.artifacts).await?;
        let (grown, empty) = pair::run(Side::of(&filling)?, Side::of(&empty)?).await?;
        for step in Step::ALL {
            table.add(row(mode, *size, step, &grown[step as usize], &empty[step as usize]));
        }
    }
    Ok(())
}

fn row(mode: Mode, size: Size, step: Step, grown: &Latencies, empty: &Latencies) -> Row {
    let Size { artifacts, accounts } = size;
    let of = if accounts == 1 { "one account".to_owned() } else { format!("{accounts} accounts") };
    let what = format!("{}, {}, {artifacts} artifacts of {of}, p50", step.what(), mode.name());
    let has_goal = artifacts >= GOAL_FROM && step != Step::Rollback;
    Row::of(what, grown.percentile(50))
        .beside("empty", empty.percentile(50))
        .goal_if(has_goal.then_some(GOAL))
        .note(format!("p99 {}, empty {}", grown.percentile(99), empty.percentile(99)))
}

impl Mode {
    pub const ALL: [Mode; 2] = [Mode::Embedded, Mode::Production];

    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Production => "production",
        }
    }

    pub async fn start(self, bench: &Bench, name: &str) -> anyhow::Result<BenchSystem> {
        match self {
            Self::Embedded => BenchSystem::embedded(bench, name).await,
            Self::Production => BenchSystem::production(bench, name).await,
        }
    }
}
