//! The counters and histograms. A label must have few values that are known in advance: a route's pattern,
//! never a host, a path or an account.
//!
//! The histograms have fixed buckets, so an observation is a few atomic additions and memory does not grow.

mod declared;

use std::sync::OnceLock;
use std::time::Duration;

use domain::{ModerationStatus, Queue};
use prometheus::{Histogram, IntCounter, IntGauge};

pub(crate) use declared::{declared, text};

/// A counter. Without metrics in this process it does nothing.
#[derive(Clone, Default)]
pub struct Count(Option<IntCounter>);

impl Count {
    pub fn add(&self, number: u64) {
        if let Some(counter) = &self.0 {
            counter.inc_by(number);
        }
    }
}

/// The status of a request whose client disconnected before the response. Clients that wait too long
/// disconnect, and nothing else would show them.
pub const GONE: u16 = 499;

/// Counts a request that was answered or abandoned. `route` is a pattern, `role` is the listener's.
pub fn request(role: &str, route: &str, method: &str, status: u16, took: Duration) {
    if let Some(metrics) = declared() {
        let labels = [role, route, method_label(method), status_label(status)];
        metrics.http_requests.with_label_values(&labels).inc();
        metrics.http_request_duration.with_label_values(&[role, route]).observe(took.as_secs_f64());
    }
}

/// The requests of one route on a listener where a label lookup per request would be too slow.
pub struct RouteMeter {
    role: &'static str,
    route: &'static str,
    duration: Option<Histogram>,
    /// Created at the first request with a method and status.
    counters: [Vec<OnceLock<Count>>; METHODS.len()],
}

/// Methods with their own label. Any other is `other`.
const METHODS: [&str; 10] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "other"];
const STATUS_MIN: u16 = 100;
const STATUS_MAX: u16 = 599;

impl RouteMeter {
    pub fn new(role: &'static str, route: &'static str) -> Self {
        let statuses = || (STATUS_MIN..=STATUS_MAX).map(|_| OnceLock::new()).collect();
        let duration =
            declared().map(|metrics| metrics.http_request_duration.with_label_values(&[role, route]));
        Self { role, route, duration, counters: std::array::from_fn(|_| statuses()) }
    }

    pub fn record(&self, method: &str, status: u16, took: Duration) {
        if let Some(duration) = &self.duration {
            duration.observe(took.as_secs_f64());
        }
        let status = status.clamp(STATUS_MIN, STATUS_MAX);
        let of_method = &self.counters[method_index(method)];
        if let Some(counter) = of_method.get(usize::from(status - STATUS_MIN)) {
            counter.get_or_init(|| self.counter(method, status)).add(1);
        }
    }

    fn counter(&self, method: &str, status: u16) -> Count {
        let labels = [self.role, self.route, method_label(method), status_label(status)];
        Count(declared().map(|metrics| metrics.http_requests.with_label_values(&labels)))
    }
}

fn method_index(method: &str) -> usize {
    METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len() - 1)
}

fn method_label(method: &str) -> &'static str {
    METHODS[method_index(method)]
}

/// The text of a status, formatted once.
fn status_label(status: u16) -> &'static str {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| (STATUS_MIN..=STATUS_MAX).map(|status| status.to_string()).collect());
    let at = status.checked_sub(STATUS_MIN).map(usize::from);
    at.and_then(|at| texts.get(at)).map_or("other", String::as_str)
}

/// Counts a finished attempt at a job. `kind` is the job's, or `unreadable`.
pub fn job(queue: Queue, kind: &'static str, outcome: &'static str, took: Duration) {
    if let Some(metrics) = declared() {
        metrics.jobs.with_label_values(&[queue.name(), kind, outcome]).inc();
        metrics.job_duration.with_label_values(&[queue.name(), kind]).observe(took.as_secs_f64());
    }
}

/// Counts a ledger transaction that settled this many operations.
pub fn commit(operations: usize, took: Duration) {
    if let Some(metrics) = declared() {
        metrics.ledger_batch_operations.observe(operations as f64);
        metrics.ledger_commit.observe(took.as_secs_f64());
    }
}

/// Counts a scan's verdict.
pub fn verdict(status: ModerationStatus) {
    if let Some(metrics) = declared() {
        metrics.scan_verdicts.with_label_values(&[status.as_str()]).inc();
    }
}

/// Counts the content of new versions.
pub fn published_bytes(bytes: u64) {
    if let Some(metrics) = declared() {
        metrics.published_bytes.inc_by(bytes);
    }
}

/// Counts a request that was refused with 503 because of overload. `queue` is the one it would have waited
/// in.
pub fn shed(role: &'static str, queue: &'static str) {
    if let Some(metrics) = declared() {
        metrics.shed.with_label_values(&[role, queue]).inc();
    }
}

/// The connections of one listener.
#[derive(Clone, Default)]
pub struct ConnectionMeter(Option<ListenerMeters>);

#[derive(Clone)]
struct ListenerMeters {
    open: IntGauge,
    cut: [IntCounter; CUTS.len()],
}

/// Why a connection was refused or closed, or a response was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The connection limit was reached and no connection was idle.
    Full,
    /// The limit of the client's address was reached.
    Address,
    /// It was idle and made way for a new connection.
    Idle,
    /// Nothing was received, or read by the client, for too long.
    Silent,
    /// The client read a streamed response too slowly. Over HTTP/2 the other responses of the connection
    /// continue.
    Untaken,
}

/// In the order of the variants.
const CUTS: [&str; 5] = ["full", "address", "idle", "silent", "untaken"];

impl ConnectionMeter {
    pub fn of(role: &'static str) -> Self {
        Self(declared().map(|metrics| ListenerMeters {
            open: metrics.connections.with_label_values(&[role]),
            cut: CUTS.map(|reason| metrics.connections_cut.with_label_values(&[role, reason])),
        }))
    }

    pub fn opened(&self) {
        if let Some(meters) = &self.0 {
            meters.open.inc();
        }
    }

    pub fn closed(&self) {
        if let Some(meters) = &self.0 {
            meters.open.dec();
        }
    }

    pub fn cut(&self, reason: Cut) {
        if let Some(counter) = self.0.as_ref().and_then(|meters| meters.cut.get(reason as usize)) {
            counter.inc();
        }
    }
}

/// Counts a checkout that was paid and could not be credited: a customer is owed money.
pub fn checkout_uncredited() {
    if let Some(metrics) = declared() {
        metrics.checkouts_uncredited.inc();
    }
}

/// Counts a refund, dispute or reinstatement that was not booked to any account.
pub fn card_reversal_unbooked() {
    if let Some(metrics) = declared() {
        metrics.card_reversals_unbooked.inc();
    }
}

pub fn redis_reconnected() {
    if let Some(metrics) = declared() {
        metrics.redis_reconnects.inc();
    }
}

/// The bytes that the edge sends to visitors.
pub fn served_bytes() -> Count {
    Count(declared().map(|metrics| metrics.served_bytes.clone()))
}

/// Views of HTML documents.
pub fn views() -> Count {
    Count(declared().map(|metrics| metrics.views.clone()))
}

/// Hits and misses of an edge's cache.
#[derive(Clone, Default)]
pub struct Lookups {
    pub hits: Count,
    pub misses: Count,
}

impl Lookups {
    pub fn in_cache(cache: &'static str) -> Self {
        let Some(metrics) = declared() else { return Self::default() };
        Self {
            hits: Count(Some(metrics.cache_hits.with_label_values(&[cache]))),
            misses: Count(Some(metrics.cache_misses.with_label_values(&[cache]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_supplied_values_never_become_metric_labels() {
        assert_eq!(method_label("BREW"), "other");
        assert_eq!(method_label("GET"), "GET");
        assert_eq!((status_label(204), status_label(99), status_label(1000)), ("204", "other", "other"));
    }

    #[test]
    fn route_meter_and_generic_meter_count_alike() {
        let meter = RouteMeter::new("test", "/metered");
        for _ in 0..2 {
            meter.record("GET", 200, Duration::from_millis(3));
        }
        meter.record("BREW", 418, Duration::from_millis(3));
        request("test", "/metered", "GET", 200, Duration::from_millis(3));
        let text = text().unwrap();
        let line = |method: &str, status: u16| {
            format!(
                "handbill_http_requests_total{{method=\"{method}\",role=\"test\",route=\"/metered\",status=\"{status}\"}}"
            )
        };
        assert!(text.contains(&format!("{} 3\n", line("GET", 200))), "{text}");
        assert!(text.contains(&format!("{} 1\n", line("other", 418))), "{text}");
        let count = "handbill_http_request_duration_seconds_count{role=\"test\",route=\"/metered\"} 4\n";
        assert!(text.contains(count), "{text}");
    }
}
