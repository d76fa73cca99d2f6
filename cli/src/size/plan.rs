//! The planning figures, and what follows from them for a load.

use serde::Serialize;

/// CPU time of a publish of 4 kB by role: 15 ms together, half of it in the database.
const PUBLISH_API_MS: f64 = 2.5;
const PUBLISH_WORKER_MS: f64 = 5.0;
const PUBLISH_DATABASE_MS: f64 = 7.5;
/// A worker scans what exceeds the 4 kB of the measured publish at this rate.
const MEASURED_PAGE_BYTES: f64 = 4000.0;
const SCAN_BYTES_PER_MS: f64 = 15_000.0;
/// The check of the route and the count of the view, for half of the views.
const VIEW_DATABASE_MS: f64 = 0.01;
const REQUESTS_PER_VIEW: f64 = 2.0;
const EDGE_REQUESTS_PER_CORE: f64 = 30_000.0;
/// Plan to use half of each machine, for peaks and for the failure of another machine.
const RESERVE: f64 = 2.0;
/// Average load, as a fraction of the peak.
const AVERAGE: f64 = 0.1;
const DATABASE_BYTES_PER_PUBLISH: f64 = 4000.0;
/// A finished job has no content.
const QUEUE_BYTES_PER_PUBLISH: f64 = 3000.0;
const QUEUE_DAYS: f64 = 2.0;
/// The content with its encodings, and a second content.
const STORE_BYTES_PER_PAGE_BYTE: f64 = 3.0;
const CONNECTIONS_PER_PROCESS: u32 = 32;
const CONNECTIONS_RESERVED: u32 = 20;

const MB: u64 = 1_000_000;
const PROCESS_BYTES: u64 = 512 * MB;
/// The default of `workers.scan_memory_mb`.
const SCAN_BYTES: u64 = 1200 * MB;
/// Twice the default of `edge.cache_bytes`: pages in the cache, and evicted pages that are still being sent.
const CACHE_BYTES: u64 = 192 * MB;
const DATABASE_BYTES_PER_CORE: u64 = 4000 * MB;

/// A load that fits into this number of cores runs in one process.
const SERVE_CORES: u32 = 2;
const PROCESSES_MIN: u32 = 2;
/// A role gets larger processes before it gets more than this number.
const PROCESSES_PREFERRED_MAX: u32 = 4;
const PROCESS_CORES: [u32; 3] = [1, 2, 4];
const DATABASE_CORES_MIN: u32 = 2;
/// From this number of cores, the queue gets a separate database.
const DATABASE_CORES_TOGETHER_MAX: u32 = 8;
/// Limits of one PostgreSQL primary and of one Redis: docs/SCALE.md.
const DATABASE_CORES_MAX: u32 = 16;
const DATABASE_CONNECTIONS_MAX: u32 = 500;
const REDIS_MESSAGES_PER_SECOND_MAX: f64 = 100_000.0;

const SECONDS_PER_DAY: f64 = 86_400.0;
const DAYS_PER_YEAR: f64 = 365.0;

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Load {
    pub(super) publishes_per_second: f64,
    pub(super) views_per_second: f64,
    pub(super) page_bytes: u64,
}

/// What a load needs.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub(super) load: Load,
    pub(super) units: Vec<Unit>,
    /// `None` with SQLite.
    pub(super) database_connections: Option<u32>,
    pub(super) database_bytes_per_year: u64,
    pub(super) queue_bytes: u64,
    pub(super) store_bytes_per_year: u64,
    pub(super) network_bytes_per_second: u64,
    pub(super) notes: Vec<String>,
}

/// Equal processes of one role, or a dependency.
#[derive(Debug, Serialize)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) processes: u32,
    pub(super) cores_each: u32,
    /// `None`: not measured, and less than the smallest machine has.
    pub(super) memory_bytes_each: Option<u64>,
}

/// Cores that each role needs, with the reserve.
struct Cores {
    api: f64,
    worker: f64,
    edge: f64,
    database: f64,
}

impl Plan {
    pub(super) fn of(load: Load) -> Self {
        let cores = Cores::of(load);
        let units = if cores.sum() <= f64::from(SERVE_CORES) { vec![serve()] } else { roles(&cores) };
        let is_serve = units.len() == 1;
        let processes = count_of(&units, &["api", "worker", "edge"]);
        let database_connections =
            (!is_serve).then_some(CONNECTIONS_PER_PROCESS * processes + CONNECTIONS_RESERVED);
        let publishes_per_day = load.publishes_per_second * AVERAGE * SECONDS_PER_DAY;
        let page_bytes = load.page_bytes as f64;
        Self {
            load,
            database_connections,
            database_bytes_per_year: bytes(DATABASE_BYTES_PER_PUBLISH * publishes_per_day * DAYS_PER_YEAR),
            queue_bytes: bytes(QUEUE_BYTES_PER_PUBLISH * publishes_per_day * QUEUE_DAYS),
            store_bytes_per_year: bytes(
                STORE_BYTES_PER_PAGE_BYTE * page_bytes * publishes_per_day * DAYS_PER_YEAR,
            ),
            network_bytes_per_second: bytes(load.views_per_second * REQUESTS_PER_VIEW * page_bytes),
            notes: notes(load, &units, database_connections),
            units,
        }
    }
}

impl Cores {
    fn of(load: Load) -> Self {
        let scanned = (load.page_bytes as f64 - MEASURED_PAGE_BYTES).max(0.0) / SCAN_BYTES_PER_MS;
        let busy = |ms_per_second: f64| ms_per_second / 1000.0 * RESERVE;
        let (publishes, views) = (load.publishes_per_second, load.views_per_second);
        Self {
            api: busy(publishes * PUBLISH_API_MS),
            worker: busy(publishes * (PUBLISH_WORKER_MS + scanned)),
            edge: views * REQUESTS_PER_VIEW / EDGE_REQUESTS_PER_CORE * RESERVE,
            database: busy(publishes * PUBLISH_DATABASE_MS + views * VIEW_DATABASE_MS),
        }
    }

    fn sum(&self) -> f64 {
        self.api + self.worker + self.edge + self.database
    }
}

fn serve() -> Unit {
    let memory = PROCESS_BYTES + SCAN_BYTES + CACHE_BYTES;
    Unit { name: "serve", processes: 1, cores_each: SERVE_CORES, memory_bytes_each: Some(memory) }
}

fn roles(cores: &Cores) -> Vec<Unit> {
    let database = whole(cores.database).max(DATABASE_CORES_MIN);
    vec![
        role("api", cores.api, PROCESS_BYTES),
        role("worker", cores.worker, PROCESS_BYTES + SCAN_BYTES),
        role("edge", cores.edge, PROCESS_BYTES + CACHE_BYTES),
        Unit {
            name: "PostgreSQL",
            processes: 1,
            cores_each: database,
            memory_bytes_each: Some(DATABASE_BYTES_PER_CORE * u64::from(database)),
        },
        Unit { name: "Redis", processes: 1, cores_each: 1, memory_bytes_each: None },
    ]
}

fn role(name: &'static str, cores: f64, memory: u64) -> Unit {
    let processes = |each: u32| whole(cores / f64::from(each)).max(PROCESSES_MIN);
    let [.., largest] = PROCESS_CORES;
    let fits = |each: &u32| processes(*each) <= PROCESSES_PREFERRED_MAX;
    let cores_each = PROCESS_CORES.into_iter().find(fits).unwrap_or(largest);
    Unit { name, processes: processes(cores_each), cores_each, memory_bytes_each: Some(memory) }
}

fn count_of(units: &[Unit], names: &[&str]) -> u32 {
    units.iter().filter(|unit| names.contains(&unit.name)).map(|unit| unit.processes).sum()
}

fn notes(load: Load, units: &[Unit], connections: Option<u32>) -> Vec<String> {
    let mut notes = Vec::new();
    if units.len() == 1 {
        notes.push(
            "One process with SQLite and files. Nothing takes over if its machine fails. For that, run two \
             processes of each role with PostgreSQL, Redis and S3: see docs/operations/install.md."
                .to_owned(),
        );
    }
    let database = units.iter().find(|unit| unit.name == "PostgreSQL").map_or(0, |unit| unit.cores_each);
    if database > DATABASE_CORES_TOGETHER_MAX {
        notes.push(
            "Give the queue a separate PostgreSQL (HANDBILL_QUEUE__URL) with a third of the cores."
                .to_owned(),
        );
    }
    notes.extend(limits(load, units, database, connections.unwrap_or(0)));
    notes.push("The reverse proxy needs cores of its own, mostly for TLS.".to_owned());
    notes.push(
        "These values are extrapolated from one machine with 2 cores. Measure on machines like yours \
         (scripts/bench) before you rely on them. The figures are in docs/operations/scale.md."
            .to_owned(),
    );
    notes
}

/// Limits that more machines do not remove.
fn limits(load: Load, units: &[Unit], database_cores: u32, connections: u32) -> Vec<String> {
    let mut notes = Vec::new();
    let mut exceeds = |is_exceeded: bool, text: String| {
        if is_exceeded {
            notes.push(format!("{text} See docs/SCALE.md."));
        }
    };
    exceeds(
        database_cores > DATABASE_CORES_MAX,
        format!(
            "One PostgreSQL primary can use about {DATABASE_CORES_MAX} cores, fewer than this load needs."
        ),
    );
    exceeds(
        connections > DATABASE_CONNECTIONS_MAX,
        format!(
            "More than {DATABASE_CONNECTIONS_MAX} connections are too many for one PostgreSQL. Lower \
             database.connections_max."
        ),
    );
    let edges = f64::from(count_of(units, &["edge"]));
    let processes = f64::from(count_of(units, &["api", "worker", "edge"]));
    // Two notices with an acknowledgement of each edge, the counters of rate limits, and the job.
    let messages = 2.0 * (1.0 + 3.0 * edges) + 2.0 + 2.0 * (1.0 + processes);
    exceeds(
        messages * load.publishes_per_second > REDIS_MESSAGES_PER_SECOND_MAX,
        format!(
            "One Redis handles about {REDIS_MESSAGES_PER_SECOND_MAX} messages per second, fewer than needed."
        ),
    );
    notes
}

/// Rounds up. A rest of less than a thousandth of a core is an error of the multiplication.
fn whole(number: f64) -> u32 {
    (number - 0.001).ceil().max(0.0) as u32
}

fn bytes(number: f64) -> u64 {
    number.round() as u64
}

/// The planning figures as the guide shows them.
#[cfg(test)]
pub(super) fn figures() -> Vec<(&'static str, String)> {
    let publish = PUBLISH_API_MS + PUBLISH_WORKER_MS + PUBLISH_DATABASE_MS;
    vec![
        (
            "CPU time of a publish of 4 kB: API, worker, PostgreSQL",
            format!("{PUBLISH_API_MS} + {PUBLISH_WORKER_MS} + {PUBLISH_DATABASE_MS} = {publish} ms"),
        ),
        ("scanning of what exceeds 4 kB, per core", format!("{} MB/s", SCAN_BYTES_PER_MS / 1000.0)),
        ("CPU time of PostgreSQL for a view", format!("{} µs", VIEW_DATABASE_MS * 1000.0)),
        ("requests for a view", format!("{REQUESTS_PER_VIEW}")),
        ("requests per second and core of an edge, over many sites", format!("{EDGE_REQUESTS_PER_CORE}")),
        ("cores for each busy core, as a reserve", format!("{RESERVE}")),
        ("average load, as a fraction of the peak", format!("{AVERAGE}")),
        ("database, for each publish", format!("{} kB", DATABASE_BYTES_PER_PUBLISH / 1000.0)),
        ("queue, for each publish, for 48 hours", format!("{} kB", QUEUE_BYTES_PER_PUBLISH / 1000.0)),
        ("store, for each byte of a page", format!("{STORE_BYTES_PER_PAGE_BYTE} bytes")),
        ("memory of a process", format!("{} MB", PROCESS_BYTES / MB)),
        ("in addition, of `serve` and a worker: `workers.scan_memory_mb`", format!("{} MB", SCAN_BYTES / MB)),
        ("in addition, of `serve` and an edge: twice `edge.cache_bytes`", format!("{} MB", CACHE_BYTES / MB)),
        (
            "connections to PostgreSQL",
            format!("{CONNECTIONS_PER_PROCESS} per process + {CONNECTIONS_RESERVED}"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(publishes_per_second: f64, views_per_second: f64) -> Plan {
        Plan::of(Load { publishes_per_second, views_per_second, page_bytes: 4000 })
    }

    fn units(plan: &Plan) -> Vec<(&str, u32, u32)> {
        plan.units.iter().map(|unit| (unit.name, unit.processes, unit.cores_each)).collect()
    }

    #[test]
    fn small_load_runs_in_one_process() {
        let plan = plan(20.0, 1000.0);
        assert_eq!(units(&plan), [("serve", 1, 2)]);
        assert_eq!(plan.database_connections, None);
        assert!(plan.notes[0].contains("Nothing takes over"), "{:?}", plan.notes);
    }

    #[test]
    fn every_role_has_two_processes_and_grows_before_it_multiplies() {
        let medium = plan(200.0, 20_000.0);
        assert_eq!(units(&medium)[..3], [("api", 2, 1), ("worker", 2, 1), ("edge", 3, 1)]);
        assert_eq!(medium.database_connections, Some(32 * 7 + 20));
        let large = plan(1000.0, 100_000.0);
        assert_eq!(
            units(&large)[..4],
            [("api", 3, 2), ("worker", 3, 4), ("edge", 4, 4), ("PostgreSQL", 1, 17)]
        );
    }

    #[test]
    fn amounts_follow_the_average_load() {
        let plan = plan(100.0, 1000.0);
        // 100/s at the peak are 10/s on average: 864,000 a day.
        assert_eq!(plan.database_bytes_per_year, 864_000 * 365 * 4000);
        assert_eq!(plan.queue_bytes, 864_000 * 2 * 3000);
        assert_eq!(plan.store_bytes_per_year, 864_000 * 365 * 12_000);
        assert_eq!(plan.network_bytes_per_second, 1000 * 2 * 4000);
    }

    #[test]
    fn large_pages_cost_scanning_time_and_no_space_in_the_queue() {
        let load = |page_bytes| Load { publishes_per_second: 100.0, views_per_second: 0.0, page_bytes };
        assert_eq!(Cores::of(load(4000)).worker, 1.0);
        assert_eq!(Cores::of(load(79_000)).worker, 2.0);
        assert_eq!(Plan::of(load(4000)).queue_bytes, Plan::of(load(1_000_000)).queue_bytes);
    }

    #[test]
    fn limits_that_more_machines_do_not_remove_are_reported() {
        let has_note = |plan: &Plan, text: &str| plan.notes.iter().any(|note| note.contains(text));
        let (medium, huge) = (plan(200.0, 1000.0), plan(10_000.0, 1_000_000.0));
        for text in
            ["One PostgreSQL primary", "connections are too many", "One Redis handles", "separate PostgreSQL"]
        {
            assert!(has_note(&huge, text) && !has_note(&medium, text), "{text}: {:?}", huge.notes);
        }
    }

    #[test]
    fn figures_of_memory_are_the_defaults_of_the_settings() {
        let settings = include_str!("../../../config/default.toml");
        assert!(settings.contains(&format!("\nscan_memory_mb = {}\n", SCAN_BYTES / MB)));
        assert!(settings.contains("\ncache_bytes = 100663296\n"));
    }
}
