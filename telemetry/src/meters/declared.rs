//! The table of metrics: field, type, name, labels, histogram buckets, help. The table in
//! docs/operations/monitor.md describes the same metrics for operators, and a test compares them.

use std::sync::LazyLock;

use anyhow::Context;
use prometheus::core::Collector;
use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};

/// Declares a field of [`Declared`] for each row.
macro_rules! metrics {
    ($($field:ident: $type:ty = $name:literal $(by [$($label:literal),+])? $(in $buckets:ident)?, $help:literal;)+) => {
        pub(crate) struct Declared {
            registry: Registry,
            $(pub $field: $type,)+
        }

        impl Declared {
            fn new() -> prometheus::Result<Self> {
                let registry = Registry::new();
                $(let $field: $type = registered(&registry, Row {
                    options: Opts::new($name, $help),
                    labels: &[$($($label),+)?],
                    buckets: [&[] as &[f64] $(, $buckets)?].concat(),
                })?;)+
                register_build_info(&registry)?;
                #[cfg(target_os = "linux")]
                registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))?;
                Ok(Self { registry, $($field),+ })
            }
        }
    };
}

metrics! {
    http_requests: IntCounterVec = "handbill_http_requests_total" by ["role", "route", "method", "status"],
        "Completed requests by role, route, method and status. 499: the client disconnected first.";
    http_request_duration: HistogramVec = "handbill_http_request_duration_seconds" by ["role", "route"] in REQUEST_SECONDS,
        "Time from a request's headers to the response's headers, by role and route.";
    jobs: IntCounterVec = "handbill_jobs_total" by ["queue", "kind", "outcome"],
        "Finished job attempts by queue, kind and outcome: done, failed, dead, left, interrupted.";
    job_duration: HistogramVec = "handbill_job_duration_seconds" by ["queue", "kind"] in JOB_SECONDS,
        "Duration of job attempts.";
    queue_jobs: IntGaugeVec = "handbill_queue_jobs" by ["queue", "state"],
        "Jobs of the whole deployment by queue and state: waiting, running, failed (waiting for a retry), \
         dead, cancelled (by an operator; deleted after 48 hours).";
    queue_oldest_waiting: GaugeVec = "handbill_queue_oldest_waiting_seconds" by ["queue"],
        "Age of the oldest due job, for a first attempt or a retry; 0 if there is none.";
    queue_paused: IntGaugeVec = "handbill_queue_paused" by ["queue"],
        "1 if an operator has paused the queue.";
    queue_workers: IntGaugeVec = "handbill_queue_workers" by ["queue"],
        "Running processes of the whole deployment that take jobs from the queue.";
    processes: IntGaugeVec = "handbill_processes" by ["role"],
        "Running processes of the whole deployment by role: serve, api, edge, worker.";
    schedule_last_done: IntGaugeVec = "handbill_schedule_last_done_timestamp" by ["schedule"],
        "Unix time of the schedule's last completed job; 0 if never.";
    part_ready: IntGaugeVec = "handbill_part_ready" by ["part"],
        "1 if a dependency of this process responds, else 0: database, queue, redis, storage.";
    moderation_waiting: IntGaugeVec = "handbill_moderation_waiting",
        "Pages waiting for a moderator, up to 10,000.";
    moderation_oldest_waiting: GaugeVec = "handbill_moderation_oldest_waiting_seconds",
        "Age of the oldest page waiting for a moderator; 0 if there is none.";
    reports_open: IntGaugeVec = "handbill_reports_open",
        "Open reports on pages that have a version, up to 10,000.";
    checkouts_uncredited: IntCounter = "handbill_checkouts_uncredited_total",
        "Paid checkouts that could not be credited to an account.";
    card_reversals_unbooked: IntCounter = "handbill_card_reversals_unbooked_total",
        "Refunds, disputes and reinstatements of card payments that were not booked on any account.";
    ledger_batch_operations: Histogram = "handbill_ledger_batch_operations" in BATCH_OPERATIONS,
        "Ledger operations settled in one transaction.";
    ledger_commit: Histogram = "handbill_ledger_commit_seconds" in COMMIT_SECONDS,
        "Duration of a ledger transaction, including retries.";
    cache_hits: IntCounterVec = "handbill_edge_cache_hits_total" by ["cache"],
        "Cache hits of the edge, by cache.";
    cache_misses: IntCounterVec = "handbill_edge_cache_misses_total" by ["cache"],
        "Cache misses of the edge, by cache.";
    views: IntCounter = "handbill_views_total",
        "Views of HTML documents counted by this edge.";
    served_bytes: IntCounter = "handbill_served_bytes_total",
        "Bytes that this edge sent to visitors, including headers.";
    published_bytes: IntCounter = "handbill_published_bytes_total",
        "Total size of the files of new versions, in bytes.";
    database_connections: IntGaugeVec = "handbill_database_connections" by ["pool", "state"],
        "Database connections of this process by pool and state: in_use, idle.";
    database_connections_max: IntGaugeVec = "handbill_database_connections_max" by ["pool"],
        "Maximum size of a connection pool.";
    redis_connected: IntGaugeVec = "handbill_redis_connected",
        "1 if Redis responds; absent if Redis is not configured.";
    redis_reconnects: IntCounter = "handbill_redis_reconnects_total",
        "Reconnects to Redis.";
    clock_skew: GaugeVec = "handbill_clock_skew_seconds",
        "Seconds by which this machine's clock is ahead of the database's; absent with SQLite.";
    scan_verdicts: IntCounterVec = "handbill_scan_verdicts_total" by ["verdict"],
        "Verdicts of scans and rescans: pass, review, blocked.";
    shed: IntCounterVec = "handbill_shed_total" by ["role", "line"],
        "Requests rejected with 503 for overload, by role and queue: requests, sign_ins, hashing, \
         publishes, uploads, upload_bytes, small_bodies, route_reads, content_reads, streamed_answers.";
    connections: IntGaugeVec = "handbill_connections" by ["role"],
        "Open connections of a listener.";
    connections_cut: IntCounterVec = "handbill_connections_cut_total" by ["role", "reason"],
        "Connections that a listener rejected or closed, and streamed responses that it cut off \
         (untaken), by reason: full, address, idle, silent, untaken.";
    dev_mode: IntGauge = "handbill_dev_mode",
        "1 in dev mode, else 0.";
}

/// From 0.5 ms (a page from memory) to 30 s, after which callers have disconnected.
const REQUEST_SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Up to the ten minutes that an upkeep job may take.
const JOB_SECONDS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0];
const COMMIT_SECONDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// A batch is full at 64.
const BATCH_OPERATIONS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The metrics of this process. `None` if a definition is invalid, which a test prevents.
pub(crate) fn declared() -> Option<&'static Declared> {
    static DECLARED: LazyLock<Option<Declared>> = LazyLock::new(|| match Declared::new() {
        Ok(declared) => Some(declared),
        Err(error) => {
            tracing::error!(error = %error, "metrics are disabled: a definition is invalid");
            None
        }
    });
    DECLARED.as_ref()
}

/// All metrics in the Prometheus text format.
pub(crate) fn text() -> anyhow::Result<String> {
    let metrics = declared().context("there are no metrics")?;
    let mut text = Vec::new();
    TextEncoder::new().encode(&metrics.registry.gather(), &mut text).context("write the metrics")?;
    String::from_utf8(text).context("metrics are not UTF-8")
}

/// A row of the table.
struct Row<'r> {
    options: Opts,
    labels: &'r [&'r str],
    /// Upper bounds in a histogram.
    buckets: Vec<f64>,
}

/// A type of metric that a row can declare.
trait Declare: Collector + Clone + Sized + 'static {
    fn declare(row: Row<'_>) -> prometheus::Result<Self>;
}

/// Implements [`Declare`] for types of one form of constructor.
macro_rules! declare {
    ($($type:ty => |$row:ident| $make:expr;)+) => {
        $(impl Declare for $type {
            fn declare($row: Row<'_>) -> prometheus::Result<Self> {
                $make
            }
        })+
    };
}

declare! {
    IntCounter => |row| Self::with_opts(row.options);
    IntCounterVec => |row| Self::new(row.options, row.labels);
    IntGauge => |row| Self::with_opts(row.options);
    IntGaugeVec => |row| Self::new(row.options, row.labels);
    GaugeVec => |row| Self::new(row.options, row.labels);
    Histogram => |row| Self::with_opts(row.histogram_options());
    HistogramVec => |row| { let labels = row.labels; Self::new(row.histogram_options(), labels) };
}

impl Row<'_> {
    fn histogram_options(self) -> HistogramOpts {
        HistogramOpts::from(self.options).buckets(self.buckets)
    }
}

fn registered<M: Declare>(registry: &Registry, row: Row<'_>) -> prometheus::Result<M> {
    let metric = M::declare(row)?;
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}

fn register_build_info(registry: &Registry) -> prometheus::Result<()> {
    let options = Opts::new("handbill_build_info", "1, with the version of the program.");
    let build = Gauge::with_opts(options.const_label("version", env!("CARGO_PKG_VERSION")))?;
    build.set(1.0);
    registry.register(Box::new(build))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const GUIDE: &str = include_str!("../../../docs/operations/monitor.md");

    #[test]
    fn the_metrics_do_not_contradict_each_other() {
        Declared::new().unwrap();
    }

    #[test]
    fn operators_guide_lists_exactly_the_existing_metrics() {
        let guide: BTreeSet<&str> = GUIDE
            .lines()
            .filter(|line| line.starts_with("| `handbill_"))
            .filter_map(|line| line.split(['`', '{']).find(|word| word.starts_with("handbill_")))
            .collect();
        assert_eq!(guide, declared_names());
    }

    /// Parsed from the source above, because the registry omits a label family until it has a value.
    fn declared_names() -> BTreeSet<&'static str> {
        let code = include_str!("declared.rs").split("#[cfg(test)]").next().unwrap();
        let names = code.split('"').filter(|text| text.starts_with("handbill_"));
        names.filter(|text| text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())).collect()
    }
}
