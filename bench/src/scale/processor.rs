//! Processor time by kind of process, as the kernel counts it in hundredths of a second.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use sqlx::{Connection, PgConnection};

use crate::Arguments;
use crate::s3;
use crate::system::BenchSystem;

/// The kernel's tick in `/proc`, which is the same on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// The processes of each kind.
pub struct Processes {
    roles: Vec<(&'static str, Vec<u32>)>,
    /// The main process of PostgreSQL, the parent of all others.
    postgres: u32,
    redis: u32,
}

impl Processes {
    pub async fn of(system: &BenchSystem, arguments: &Arguments) -> anyhow::Result<Self> {
        let roles = [("api", "api"), ("workers", "worker"), ("edge", "edge")];
        let roles = roles.map(|(kind, role)| Ok((kind, system.process_ids(role)?)));
        Ok(Self {
            roles: roles.into_iter().collect::<anyhow::Result<_>>()?,
            postgres: postgres_id(arguments).await?,
            redis: redis_id(arguments).await?,
        })
    }

    /// The processor time of each kind since its start.
    pub fn spent(&self) -> anyhow::Result<Spent> {
        let mut spent = Vec::new();
        for (kind, ids) in &self.roles {
            let times: anyhow::Result<Vec<_>> = ids.iter().map(|id| Ok(Stat::of(*id)?.own)).collect();
            spent.push((*kind, times?.into_iter().sum()));
        }
        let s3 = of_own_threads(s3::THREADS)?;
        spent.push(("postgres", of_process_tree(self.postgres)?));
        spent.push(("redis", Stat::of(self.redis)?.own));
        spent.push(("s3", s3));
        // The rest of this process.
        spent.push(("clients", Stat::of(std::process::id())?.own.saturating_sub(s3)));
        Ok(Spent(spent))
    }
}

/// Processor time by kind, always in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent(pub Vec<(&'static str, Duration)>);

impl Spent {
    pub fn since(&self, before: &Spent) -> anyhow::Result<Spent> {
        ensure!(self.0.len() == before.0.len(), "other kinds were measured");
        let pairs = self.0.iter().zip(&before.0);
        Ok(Spent(pairs.map(|((kind, now), (_, then))| (*kind, now.saturating_sub(*then))).collect()))
    }

    pub fn total(&self) -> Duration {
        self.0.iter().map(|(_, time)| *time).sum()
    }
}

/// The load of all processors, by any process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    pub busy_percent: f64,
    /// The part of the idle time that waited for a disk.
    pub disk_percent: f64,
}

/// The counters of all processors together, in ticks since the boot.
pub struct Machine {
    busy: u64,
    disk: u64,
    idle: u64,
}

impl Machine {
    pub fn now() -> anyhow::Result<Self> {
        Self::read(&std::fs::read_to_string("/proc/stat")?)
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let line =
            text.lines().find_map(|line| line.strip_prefix("cpu ")).context("no line of processors")?;
        let ticks: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        // user nice system idle iowait irq softirq steal. Guest time is included in the first two.
        let [user, nice, system, idle, disk, irq, softirq, steal, ..] = ticks[..] else {
            anyhow::bail!("the processors' line is shorter than it was")
        };
        Ok(Self { busy: user + nice + system + irq + softirq + steal, disk, idle })
    }

    pub fn since(&self, before: &Machine) -> Busy {
        let (busy, disk) = (self.busy - before.busy, self.disk.saturating_sub(before.disk));
        let all = (busy + disk + self.idle.saturating_sub(before.idle)).max(1);
        let percent = |ticks: u64| ticks as f64 * 100.0 / all as f64;
        Busy { busy_percent: percent(busy), disk_percent: percent(disk) }
    }
}

/// The kernel's counters of a process or a thread.
struct Stat {
    name: String,
    parent: u32,
    own: Duration,
    /// The time of children that have ended.
    of_children: Duration,
}

impl Stat {
    fn of(id: u32) -> anyhow::Result<Self> {
        Self::at(Path::new(&format!("/proc/{id}/stat")))
    }

    fn at(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        Self::read(&text).with_context(|| format!("read {}", path.display()))
    }

    /// The name is in parentheses and may contain any characters. Numbers follow.
    fn read(text: &str) -> anyhow::Result<Self> {
        let (before, after) = text.rsplit_once(')').context("no name")?;
        let (_, name) = before.split_once('(').context("no name")?;
        let fields: Vec<&str> = after.split_whitespace().collect();
        let number =
            |at: usize| fields.get(at).context("too few fields")?.parse::<u64>().context("no number");
        let ticks = |at: usize| Ok::<_, anyhow::Error>(TICK * u32::try_from(number(at)? + number(at + 1)?)?);
        Ok(Self {
            name: name.to_owned(),
            parent: u32::try_from(number(1)?)?,
            own: ticks(11)?,
            of_children: ticks(13)?,
        })
    }
}

/// The time of a process, its children, and its former children.
fn of_process_tree(id: u32) -> anyhow::Result<Duration> {
    // A child that ends between the two reads is missed.
    let stats = process_tree(id)?.into_iter().filter_map(|id| Stat::of(id).ok());
    Ok(stats.map(|stat| stat.own + stat.of_children).sum())
}

/// A process with one thread, and its children.
pub fn process_tree(id: u32) -> anyhow::Result<Vec<u32>> {
    let path = format!("/proc/{id}/task/{id}/children");
    let children = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    let ids = std::iter::once(Ok(id)).chain(children.split_whitespace().map(str::parse));
    Ok(ids.collect::<Result<_, _>>()?)
}

/// The time of this process's threads with a name.
fn of_own_threads(name: &str) -> anyhow::Result<Duration> {
    let mut spent = Duration::ZERO;
    for entry in std::fs::read_dir("/proc/self/task")? {
        let Ok(stat) = Stat::at(&entry?.path().join("stat")) else { continue };
        if stat.name == name {
            spent += stat.own;
        }
    }
    Ok(spent)
}

/// The main process of PostgreSQL.
pub async fn postgres_id(arguments: &Arguments) -> anyhow::Result<u32> {
    let server = arguments.postgres.as_deref().context("this needs a PostgreSQL: --postgres")?;
    let mut connection = PgConnection::connect(server).await.context("connect to PostgreSQL")?;
    let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await?;
    let backend = Stat::of(u32::try_from(backend)?).context("PostgreSQL runs on another machine")?;
    Ok(backend.parent)
}

/// The process of Redis.
pub async fn redis_id(arguments: &Arguments) -> anyhow::Result<u32> {
    let server = arguments.redis.as_deref().context("this needs a Redis: --redis")?;
    let mut connection = redis::Client::open(server)?.get_multiplexed_async_connection().await?;
    let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await?;
    let id = info
        .lines()
        .find_map(|line| line.strip_prefix("process_id:"))
        .context("Redis returned no process id")?;
    Ok(id.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_for_any_process_name() {
        let text = "42 (a (bad) name) S 7 42 42 0 -1 4194560 901 9 0 0 150 50 30 20 20 0 5 0 99";
        let stat = Stat::read(text).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent), ("a (bad) name", 7));
        assert_eq!((stat.own, stat.of_children), (Duration::from_secs(2), Duration::from_millis(500)));
        assert!(Stat::read("42 (short) S 7").is_err());
    }

    #[test]
    fn this_process_has_threads_and_time() {
        assert!(Stat::of(std::process::id()).is_ok());
        assert_eq!(of_own_threads("no thread has this name").unwrap(), Duration::ZERO);
    }

    #[test]
    fn machine_utilization_is_reported_in_percent() {
        let at = |text: &str| Machine::read(text).unwrap();
        let before = at("cpu  100 0 100 1000 50 0 0 0 0 0\ncpu0 1 1 1 1");
        let after = at("cpu  140 0 120 1020 70 0 0 0 0 0\n");
        assert_eq!(after.since(&before), Busy { busy_percent: 60.0, disk_percent: 20.0 });
        assert!(Machine::read("intr 1 2 3").is_err() && Machine::read("cpu  1 2 3").is_err());
    }
}
