//! Describes in one sentence what limited a run, according to the counters.

use std::fmt;
use std::thread::available_parallelism;
use std::time::Duration;

use super::Crew;
use super::processor::{Busy, Spent};
use crate::latencies::Latencies;

/// Above this load, processes wait for a processor.
const MACHINE_FULL_PERCENT: f64 = 92.0;
/// This share of all processors' time is one full disk.
const DISK_FULL_PERCENT: f64 = 25.0;
/// Redis uses one core.
const REDIS_FULL_CORES: f64 = 0.9;

/// A run with its costs.
pub struct Measured {
    pub workers: Crew,
    pub taken: Latencies,
    pub took: Duration,
    pub spent: Spent,
    pub machine: Busy,
}

impl Measured {
    pub fn per_second(&self) -> f64 {
        self.taken.count() as f64 / self.took.as_secs_f64()
    }

    fn saturated(&self) -> Option<Saturated> {
        let redis = self.spent.0.iter().find(|(kind, _)| *kind == "redis");
        let redis_cores = redis.map_or(0.0, |(_, time)| time.as_secs_f64() / self.took.as_secs_f64());
        if self.machine.busy_percent >= MACHINE_FULL_PERCENT {
            Some(Saturated::Processors)
        } else if redis_cores >= REDIS_FULL_CORES {
            Some(Saturated::Redis)
        } else if self.machine.disk_percent >= DISK_FULL_PERCENT {
            Some(Saturated::Disk)
        } else {
            None
        }
    }

    /// The share of each kind in the processor time, largest first.
    fn shares(&self) -> String {
        let total_s = self.spent.total().as_secs_f64().max(f64::MIN_POSITIVE);
        let mut kinds = self.spent.0.clone();
        kinds.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        let share = |time: Duration| time.as_secs_f64() * 100.0 / total_s;
        let shares = kinds.iter().map(|(kind, time)| format!("{kind} {:.0} %", share(*time)));
        shares.collect::<Vec<_>>().join(", ")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saturated {
    Processors,
    Redis,
    Disk,
}

impl fmt::Display for Saturated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processors => {
                write!(f, "the machine's {} processor cores", available_parallelism().map_or(1, usize::from))
            }
            Self::Redis => f.write_str("Redis, which has one core"),
            Self::Disk => f.write_str("the disk"),
        }
    }
}

impl fmt::Display for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count| if count == 1 { "" } else { "s" };
        let Self { apis, workers } = *self;
        write!(f, "{apis} API{} and {workers} worker{}", plural(apis), plural(workers))
    }
}

/// What saturates first, and the effect of more processes.
pub fn sentence(all: &[Measured]) -> String {
    let growth = growth(all);
    match all.iter().find_map(|measured| Some((measured, measured.saturated()?))) {
        Some((measured, saturated)) => format!(
            "First to saturate: {saturated}, with {} at {:.0} publishes a second (processors {:.0} % busy: {}); {growth}.",
            measured.workers,
            measured.per_second(),
            measured.machine.busy_percent,
            measured.shares(),
        ),
        None => format!(
            "Nothing that is counted here saturates, so publishes wait for commits and for each other; {growth}."
        ),
    }
}

fn growth(all: &[Measured]) -> String {
    let (Some(first), Some(best)) =
        (all.first(), all.iter().max_by(|one, other| one.per_second().total_cmp(&other.per_second())))
    else {
        return "nothing was measured".to_owned();
    };
    if best.workers == first.workers {
        return "more processes publish no more".to_owned();
    }
    let times = best.per_second() / first.per_second();
    format!("the most, by {}, is {times:.2} × what {} publish", best.workers, first.workers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(
        workers: usize,
        count: usize,
        busy_percent: f64,
        disk_percent: f64,
        redis_ms: u64,
    ) -> Measured {
        let spent = [
            ("api", Duration::from_millis(500)),
            ("postgres", Duration::from_millis(1_500)),
            ("redis", Duration::from_millis(redis_ms)),
        ];
        Measured {
            workers: Crew { apis: 1, workers },
            taken: Latencies::of(vec![Duration::from_millis(5); count]),
            took: Duration::from_secs(1),
            spent: Spent(spent.to_vec()),
            machine: Busy { busy_percent, disk_percent },
        }
    }

    #[test]
    fn first_saturated_resource_is_named_with_its_heaviest_users() {
        let all =
            [measured(1, 100, 80.0, 3.0, 0), measured(2, 150, 97.0, 1.0, 0), measured(4, 140, 99.0, 1.0, 0)];
        let text = sentence(&all);
        assert!(text.starts_with("First to saturate: the machine's "), "{text}");
        assert!(text.contains("with 1 API and 2 workers at 150 publishes a second"), "{text}");
        assert!(text.contains("(processors 97 % busy: postgres 75 %, api 25 %, redis 0 %)"), "{text}");
        assert!(
            text.ends_with("by 1 API and 2 workers, is 1.50 × what 1 API and 1 worker publish."),
            "{text}"
        );
    }

    #[test]
    fn saturation_of_redis_disk_or_nothing_is_distinguished() {
        let saturated = |measured: Measured| measured.saturated();
        assert_eq!(saturated(measured(1, 1, 60.0, 5.0, 950)), Some(Saturated::Redis));
        assert_eq!(saturated(measured(1, 1, 60.0, 30.0, 100)), Some(Saturated::Disk));
        assert_eq!(saturated(measured(1, 1, 60.0, 5.0, 100)), None);
        assert!(sentence(&[measured(1, 1, 60.0, 5.0, 100)]).starts_with("Nothing that is counted here"));
        assert!(sentence(&[measured(1, 1, 60.0, 5.0, 100)]).ends_with("; more processes publish no more."));
        assert_eq!(
            sentence(&[]),
            "Nothing that is counted here saturates, so publishes wait for commits and for each other; nothing was measured."
        );
    }
}
