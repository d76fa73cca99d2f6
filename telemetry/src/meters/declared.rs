//! The metrics as they are told: names, labels, words. The table in docs/OPERATIONS.md says the same for people.

use std::sync::LazyLock;

use anyhow::Context;
use prometheus::core::Collector;
use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};

pub(crate) struct Declared {
    registry: Registry,
    pub http_requests: IntCounterVec,
    pub http_request_duration: HistogramVec,
    pub jobs: IntCounterVec,
    pub job_duration: HistogramVec,
    pub queue_jobs: IntGaugeVec,
    pub queue_oldest_waiting: GaugeVec,
    pub queue_paused: IntGaugeVec,
    pub queue_workers: IntGaugeVec,
    pub processes: IntGaugeVec,
    pub schedule_last_done: IntGaugeVec,
    pub part_ready: IntGaugeVec,
    pub moderation_waiting: IntGaugeVec,
    pub moderation_oldest_waiting: GaugeVec,
    pub reports_open: IntGaugeVec,
    pub checkouts_uncredited: IntCounter,
    pub card_reversals_unbooked: IntCounter,
    pub ledger_batch_deeds: Histogram,
    pub ledger_commit: Histogram,
    pub cache_hits: IntCounterVec,
    pub cache_misses: IntCounterVec,
    pub views: IntCounter,
    pub served_bytes: IntCounter,
    pub published_bytes: IntCounter,
    pub database_connections: IntGaugeVec,
    pub database_connections_max: IntGaugeVec,
    pub redis_connected: IntGaugeVec,
    pub redis_reconnects: IntCounter,
    pub clock_skew: GaugeVec,
    pub scan_verdicts: IntCounterVec,
    pub shed: IntCounterVec,
    pub connections: IntGaugeVec,
    pub connections_cut: IntCounterVec,
    pub dev_mode: IntGauge,
    _build: Gauge,
}

/// From half a millisecond, a page from memory, to the 30 s after which a caller has gone.
const REQUEST_SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// To the ten minutes that a job of the upkeep may take.
const JOB_SECONDS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0];
const COMMIT_SECONDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// A batch is full at 64.
const BATCH_DEEDS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The metrics of this process; none when a name among them is wrong, which a test finds.
pub(crate) fn declared() -> Option<&'static Declared> {
    static DECLARED: LazyLock<Option<Declared>> = LazyLock::new(|| match Declared::new() {
        Ok(declared) => Some(declared),
        Err(error) => {
            tracing::error!(error = %error, "nothing is counted: the metrics contradict each other");
            None
        }
    });
    DECLARED.as_ref()
}

/// All that is counted, in the text form of Prometheus.
pub(crate) fn text() -> anyhow::Result<String> {
    let metrics = declared().context("there are no metrics")?;
    let mut text = Vec::new();
    TextEncoder::new().encode(&metrics.registry.gather(), &mut text).context("write the metrics")?;
    String::from_utf8(text).context("the metrics are no text")
}

impl Declared {
    #[expect(clippy::too_many_lines, reason = "an entry for each metric")]
    fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let at = Registrar(&registry);
        let declared = Self {
            http_requests: at.counters(
                "handbill_http_requests_total",
                "Completed requests by role, route, method and status. 499: the client disconnected first.",
                &["role", "route", "method", "status"],
            )?,
            http_request_duration: at.histograms(
                "handbill_http_request_duration_seconds",
                "Time from a request's headers to the response's headers, by role and route.",
                &["role", "route"],
                REQUEST_SECONDS,
            )?,
            jobs: at.counters(
                "handbill_jobs_total",
                "Finished job attempts by queue, kind and outcome: done, failed, dead, left, interrupted.",
                &["queue", "kind", "outcome"],
            )?,
            job_duration: at.histograms(
                "handbill_job_duration_seconds",
                "Duration of job attempts.",
                &["queue", "kind"],
                JOB_SECONDS,
            )?,
            queue_jobs: at.int_gauges(
                "handbill_queue_jobs",
                "Jobs of the whole deployment by queue and state: waiting, running, failed (waiting for a \
                 retry), dead, cancelled (by an operator; deleted after 48 hours).",
                &["queue", "state"],
            )?,
            queue_oldest_waiting: at.gauges(
                "handbill_queue_oldest_waiting_seconds",
                "Age of the oldest due job, for a first attempt or a retry; 0 if there is none.",
                &["queue"],
            )?,
            queue_paused: at.int_gauges(
                "handbill_queue_paused",
                "1 if an operator has paused the queue.",
                &["queue"],
            )?,
            queue_workers: at.int_gauges(
                "handbill_queue_workers",
                "Running processes of the whole deployment that take jobs from the queue.",
                &["queue"],
            )?,
            processes: at.int_gauges(
                "handbill_processes",
                "Running processes of the whole deployment by role: serve, api, edge, worker.",
                &["role"],
            )?,
            schedule_last_done: at.int_gauges(
                "handbill_schedule_last_done_timestamp",
                "Unix time of the schedule's last completed job; 0 if never.",
                &["schedule"],
            )?,
            part_ready: at.int_gauges(
                "handbill_part_ready",
                "1 if a dependency of this process responds, else 0: database, queue, redis, storage.",
                &["part"],
            )?,
            moderation_waiting: at.int_gauges(
                "handbill_moderation_waiting",
                "Pages waiting for a moderator, up to 10,000.",
                &[],
            )?,
            moderation_oldest_waiting: at.gauges(
                "handbill_moderation_oldest_waiting_seconds",
                "Age of the oldest page waiting for a moderator; 0 if there is none.",
                &[],
            )?,
            reports_open: at.int_gauges(
                "handbill_reports_open",
                "Open reports on live pages, up to 10,000.",
                &[],
            )?,
            checkouts_uncredited: at.counter(
                "handbill_checkouts_uncredited_total",
                "Paid checkouts that could not be credited to an account.",
            )?,
            card_reversals_unbooked: at.counter(
                "handbill_card_reversals_unbooked_total",
                "Refunds, disputes and reinstatements of card payments that were not booked on any account.",
            )?,
            ledger_batch_deeds: at.histogram(
                "handbill_ledger_batch_deeds",
                "Ledger operations settled in one transaction.",
                BATCH_DEEDS,
            )?,
            ledger_commit: at.histogram(
                "handbill_ledger_commit_seconds",
                "Duration of a ledger transaction, including retries.",
                COMMIT_SECONDS,
            )?,
            cache_hits: at.counters(
                "handbill_edge_cache_hits_total",
                "Cache hits of the edge, by cache.",
                &["cache"],
            )?,
            cache_misses: at.counters(
                "handbill_edge_cache_misses_total",
                "Cache misses of the edge, by cache.",
                &["cache"],
            )?,
            views: at.counter("handbill_views_total", "Views of HTML documents counted by this edge.")?,
            served_bytes: at.counter(
                "handbill_served_bytes_total",
                "Bytes that this edge sent to visitors, including headers.",
            )?,
            published_bytes: at.counter(
                "handbill_published_bytes_total",
                "Total size of the files of new versions, in bytes.",
            )?,
            database_connections: at.int_gauges(
                "handbill_database_connections",
                "Database connections of this process by pool and state: in_use, idle.",
                &["pool", "state"],
            )?,
            database_connections_max: at.int_gauges(
                "handbill_database_connections_max",
                "Maximum size of a connection pool.",
                &["pool"],
            )?,
            redis_connected: at.int_gauges(
                "handbill_redis_connected",
                "1 if Redis responds; absent if Redis is not configured.",
                &[],
            )?,
            redis_reconnects: at.counter("handbill_redis_reconnects_total", "Reconnects to Redis.")?,
            clock_skew: at.gauges(
                "handbill_clock_skew_seconds",
                "Seconds by which this machine's clock is ahead of the database's; absent with SQLite.",
                &[],
            )?,
            scan_verdicts: at.counters(
                "handbill_scan_verdicts_total",
                "Verdicts of scans and rescans: pass, review, blocked.",
                &["verdict"],
            )?,
            shed: at.counters(
                "handbill_shed_total",
                "Requests rejected with 503 for overload, by role and queue: requests, sign_ins, hashing, \
                 publishes, uploads, upload_bytes, small_bodies, route_reads, content_reads, \
                 streamed_answers.",
                &["role", "line"],
            )?,
            connections: at.int_gauges(
                "handbill_connections",
                "Open connections of a listener.",
                &["role"],
            )?,
            connections_cut: at.counters(
                "handbill_connections_cut_total",
                "Connections that a listener rejected or closed, and streamed responses that it cut off \
                 (untaken), by reason: full, address, idle, silent, untaken.",
                &["role", "reason"],
            )?,
            dev_mode: at.told(IntGauge::new("handbill_dev_mode", "1 in dev mode, else 0.")?)?,
            _build: at.build()?,
            registry: registry.clone(),
        };
        #[cfg(target_os = "linux")]
        registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))?;
        Ok(declared)
    }
}

/// Makes a metric and has it told.
struct Registrar<'r>(&'r Registry);

impl Registrar<'_> {
    fn counter(&self, name: &str, help: &str) -> prometheus::Result<IntCounter> {
        self.told(IntCounter::new(name, help)?)
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
        self.told(IntCounterVec::new(Opts::new(name, help), labels)?)
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<GaugeVec> {
        self.told(GaugeVec::new(Opts::new(name, help), labels)?)
    }

    fn int_gauges(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntGaugeVec> {
        self.told(IntGaugeVec::new(Opts::new(name, help), labels)?)
    }

    fn histogram(&self, name: &str, help: &str, buckets: &[f64]) -> prometheus::Result<Histogram> {
        self.told(Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets.to_vec()))?)
    }

    fn histograms(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        buckets: &[f64],
    ) -> prometheus::Result<HistogramVec> {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        self.told(HistogramVec::new(options, labels)?)
    }

    fn build(&self) -> prometheus::Result<Gauge> {
        let options = Opts::new("handbill_build_info", "1, with the version of the program.");
        let build = Gauge::with_opts(options.const_label("version", env!("CARGO_PKG_VERSION")))?;
        build.set(1.0);
        self.told(build)
    }

    fn told<M: Collector + Clone + 'static>(&self, metric: M) -> prometheus::Result<M> {
        self.0.register(Box::new(metric.clone()))?;
        Ok(metric)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const OPERATIONS: &str = include_str!("../../../docs/OPERATIONS.md");

    #[test]
    fn the_metrics_do_not_contradict_each_other() {
        Declared::new().unwrap();
    }

    #[test]
    fn every_metric_stands_in_the_operators_guide_and_no_other_does() {
        let guide: BTreeSet<&str> = OPERATIONS
            .lines()
            .filter(|line| line.starts_with("| `handbill_"))
            .filter_map(|line| line.split(['`', '{']).find(|word| word.starts_with("handbill_")))
            .collect();
        assert_eq!(guide, declared_names());
    }

    /// As they stand above: a family of labels is told from its first value on, so the registry does not know all.
    fn declared_names() -> BTreeSet<&'static str> {
        let code = include_str!("declared.rs").split("#[cfg(test)]").next().unwrap();
        let names = code.split('"').filter(|text| text.starts_with("handbill_"));
        names.filter(|text| text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())).collect()
    }
}
