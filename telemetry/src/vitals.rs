//! Process health for operators: liveness, readiness and metrics. The public gets no more than yes or no.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use serde::Serialize;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::cached::CachedReading;
use crate::levels::set_part;
use crate::meters::text;

/// The timeout of a dependency's check.
const CHECK_WAIT: Duration = Duration::from_secs(2);
/// The timeout of a reading for a scrape.
const READING_WAIT: Duration = Duration::from_secs(1);

const JSON: &str = "application/json; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// An asynchronous check or reading.
pub type HealthCheck = Box<dyn Fn() -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>;

/// Reads gauges for a scrape.
pub struct Reading {
    pub read: HealthCheck,
    /// Drops the values after a failed reading, because a missing value is better than a stale one.
    pub forget: fn(),
}

/// A dependency of the process.
pub struct Part {
    pub name: &'static str,
    pub when_away: WhenAway,
    pub check: HealthCheck,
}

/// The effect of losing a dependency. Processes share their dependencies, and a load balancer that removes
/// every process that is not ready has none left. So a process must be not ready only if that is worse than
/// what it can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenAway {
    /// The process cannot do its work.
    NotReady,
    /// The process continues, slower or in part, and reports it.
    Degraded,
}

/// The dependencies and readings of a process.
#[derive(Default)]
pub struct VitalsParts {
    pub parts: Vec<Part>,
    /// Readings that a scrape makes first, concurrently.
    pub readings: Vec<Reading>,
    /// Cancelled when a stop begins.
    pub stopping: CancellationToken,
}

/// The health of a process. Clones share it. The default has no dependencies and is always ready.
#[derive(Clone, Default)]
pub struct Vitals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    parts: VitalsParts,
    states: CachedReading<Vec<State>>,
    read: CachedReading<()>,
    /// The dependencies that failed the last check, so that each change is logged once.
    last_failed: Mutex<Vec<&'static str>>,
}

/// Who gets the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Anybody who reaches an address that is the operator's own.
    Operator,
    Stranger,
}

/// The response to a health request, for any listener.
#[derive(Clone, Debug)]
pub struct HealthResponse {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
}

#[derive(Clone, Debug, Serialize)]
struct State {
    name: &'static str,
    is_ready: bool,
    #[serde(skip)]
    when_away: WhenAway,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

#[derive(Serialize)]
struct Readiness<'s> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<&'s [State]>,
}

impl Vitals {
    pub fn new(parts: VitalsParts) -> Self {
        Self(Arc::new(Inner { parts, ..Inner::default() }))
    }

    /// Liveness probe (`/healthz`). It checks no dependencies: a response proves that the process is running.
    pub fn alive() -> HealthResponse {
        HealthResponse::json(200, &Readiness { status: "ok", parts: None })
    }

    /// Readiness probe (`/readyz`): whether this process can do its work, as far as that is known in advance.
    /// Only the operator learns that it is degraded.
    pub async fn readiness(&self, audience: Audience) -> HealthResponse {
        if self.0.parts.stopping.is_cancelled() {
            return HealthResponse::json(503, &Readiness { status: "stopping", parts: None });
        }
        let states = self.0.states.get_or_read(self.0.check_all()).await;
        let (code, status) = match (worst(&states), audience) {
            (Some(WhenAway::NotReady), _) => (503, "not ready"),
            (Some(WhenAway::Degraded), Audience::Operator) => (200, "degraded"),
            (Some(WhenAway::Degraded), Audience::Stranger) | (None, _) => (200, "ready"),
        };
        HealthResponse::json(
            code,
            &Readiness { status, parts: (audience == Audience::Operator).then_some(&states) },
        )
    }

    /// `/metrics`: all counters and the gauges that could be read. Takes no longer than a dependency's check
    /// may take.
    pub async fn metrics(&self) -> HealthResponse {
        let read = self.0.read.get_or_read(self.0.read_all());
        let (states, ()) = tokio::join!(self.0.states.get_or_read(self.0.check_all()), read);
        states.iter().for_each(|state| set_part(state.name, state.is_ready));
        match text() {
            Ok(body) => HealthResponse { status: 200, content_type: PROMETHEUS, body },
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "could not encode the metrics");
                HealthResponse { status: 500, content_type: PROMETHEUS, body: String::new() }
            }
        }
    }
}

impl Inner {
    async fn check_all(&self) -> Vec<State> {
        let states = join_all(self.parts.parts.iter().map(Part::state)).await;
        self.log_change(&states);
        states
    }

    async fn read_all(&self) {
        join_all(self.parts.readings.iter().map(|reading| async {
            if !matches!(timeout(READING_WAIT, (reading.read)()).await, Ok(Ok(()))) {
                (reading.forget)();
            }
        }))
        .await;
    }

    fn log_change(&self, states: &[State]) {
        let away: Vec<_> = states.iter().filter(|state| !state.is_ready).collect();
        let names: Vec<_> = away.iter().map(|state| state.name).collect();
        let mut last_failed = self.last_failed.lock().unwrap_or_else(PoisonError::into_inner);
        if names == *last_failed {
            return;
        }
        let faults: Vec<_> = away.iter().filter_map(|state| state.fault.as_deref()).collect();
        let (parts, error) = (names.join(", "), faults.join("; "));
        match worst(states) {
            None => tracing::info!("ready again: every dependency responds"),
            Some(WhenAway::Degraded) => {
                tracing::warn!(parts, error, "degraded: a dependency does not respond")
            }
            Some(WhenAway::NotReady) => {
                tracing::warn!(parts, error, "not ready: a required dependency does not respond")
            }
        }
        *last_failed = names;
    }
}

/// The effect of all failed dependencies together, or `None` if none failed.
fn worst(states: &[State]) -> Option<WhenAway> {
    let mut away = states.iter().filter(|state| !state.is_ready).map(|state| state.when_away).peekable();
    away.peek()?;
    let is_lost = away.any(|when_away| when_away == WhenAway::NotReady);
    Some(if is_lost { WhenAway::NotReady } else { WhenAway::Degraded })
}

impl Part {
    async fn state(&self) -> State {
        let fault = match timeout(CHECK_WAIT, (self.check)()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(_) => Some(format!("no response within {} s", CHECK_WAIT.as_secs())),
        };
        State { name: self.name, is_ready: fault.is_none(), when_away: self.when_away, fault }
    }
}

impl HealthResponse {
    fn json(status: u16, body: &impl Serialize) -> Self {
        // Serializing plain strings cannot fail.
        Self { status, content_type: JSON, body: serde_json::to_string(body).unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use anyhow::ensure;
    use domain::Queue;
    use futures::FutureExt;
    use serde_json::{Value, json};

    use super::*;
    use crate::levels::{QueueLevel, forget_queues, set_queue};

    fn part(name: &'static str, when_away: WhenAway, is_there: &Arc<AtomicBool>) -> Part {
        let is_there = is_there.clone();
        let check = move || {
            let is_there = is_there.load(Ordering::SeqCst);
            async move {
                ensure!(is_there, "gone");
                Ok(())
            }
            .boxed()
        };
        Part { name, when_away, check: Box::new(check) }
    }

    async fn readiness(vitals: &Vitals, audience: Audience) -> (u16, Value) {
        let response = vitals.readiness(audience).await;
        (response.status, serde_json::from_str(&response.body).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn only_operators_see_which_component_is_not_ready() {
        let (there, gone) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let parts =
            vec![part("database", WhenAway::NotReady, &there), part("storage", WhenAway::NotReady, &gone)];
        let vitals = Vitals::new(VitalsParts { parts, ..VitalsParts::default() });
        let to_operator = json!({"status": "not ready", "parts": [
            {"name": "database", "is_ready": true}, {"name": "storage", "is_ready": false, "fault": "gone"},
        ]});
        assert_eq!(readiness(&vitals, Audience::Operator).await, (503, to_operator));
        assert_eq!(readiness(&vitals, Audience::Stranger).await, (503, json!({"status": "not ready"})));
        gone.store(true, Ordering::SeqCst);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(readiness(&vitals, Audience::Stranger).await, (200, json!({"status": "ready"})));
    }

    #[tokio::test(start_paused = true)]
    async fn process_is_not_ready_only_if_a_required_component_is_missing() {
        let (redis, database) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
        let parts =
            vec![part("redis", WhenAway::Degraded, &redis), part("database", WhenAway::NotReady, &database)];
        let vitals = Vitals::new(VitalsParts { parts, ..VitalsParts::default() });
        let to_operator = json!({"status": "degraded", "parts": [
            {"name": "redis", "is_ready": false, "fault": "gone"}, {"name": "database", "is_ready": true},
        ]});
        assert_eq!(readiness(&vitals, Audience::Operator).await, (200, to_operator));
        assert_eq!(readiness(&vitals, Audience::Stranger).await, (200, json!({"status": "ready"})));
        database.store(false, Ordering::SeqCst);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(readiness(&vitals, Audience::Stranger).await, (503, json!({"status": "not ready"})));
    }

    #[tokio::test(start_paused = true)]
    async fn unresponsive_component_is_not_ready_after_two_seconds() {
        let check: HealthCheck = Box::new(|| futures::future::pending().boxed());
        let silent = Part { name: "database", when_away: WhenAway::NotReady, check };
        let vitals = Vitals::new(VitalsParts { parts: vec![silent], ..VitalsParts::default() });
        let (status, body) = readiness(&vitals, Audience::Operator).await;
        assert_eq!((status, &body["parts"][0]["fault"]), (503, &json!("no response within 2 s")));
    }

    #[tokio::test]
    async fn stopping_process_is_not_ready() {
        let vitals = Vitals::default();
        assert_eq!(readiness(&vitals, Audience::Stranger).await.0, 200);
        vitals.0.parts.stopping.cancel();
        assert_eq!(readiness(&vitals, Audience::Operator).await, (503, json!({"status": "stopping"})));
    }

    #[tokio::test(start_paused = true)]
    async fn readings_that_time_out_are_omitted_from_the_scrape() {
        set_queue(&QueueLevel {
            queue: Queue::Views,
            waiting: 7,
            running: 0,
            failed: 0,
            dead: 0,
            cancelled: 0,
            oldest_waiting: Duration::ZERO,
            is_paused: false,
            workers: 1,
        });
        let readings =
            vec![Reading { read: Box::new(|| futures::future::pending().boxed()), forget: forget_queues }];
        let vitals = Vitals::new(VitalsParts { readings, ..VitalsParts::default() });
        let response = timeout(READING_WAIT + Duration::from_millis(1), vitals.metrics()).await.unwrap();
        assert_eq!(response.status, 200);
        assert!(response.body.contains("handbill_build_info{version="), "{}", response.body);
        assert!(!response.body.contains("handbill_queue_jobs{"), "{}", response.body);
        assert!(!response.body.contains("handbill_queue_workers{"), "{}", response.body);
    }

    #[tokio::test(start_paused = true)]
    async fn scrape_reports_component_health_and_waits_at_most_two_seconds() {
        let there = Arc::new(AtomicBool::new(true));
        let check: HealthCheck = Box::new(|| futures::future::pending().boxed());
        let silent = Part { name: "silent", when_away: WhenAway::Degraded, check };
        let read: HealthCheck = Box::new(|| futures::future::pending().boxed());
        let readings = vec![Reading { read, forget: || {} }];
        let parts = vec![part("there", WhenAway::NotReady, &there), silent];
        let vitals = Vitals::new(VitalsParts { parts, readings, ..VitalsParts::default() });
        let response = timeout(CHECK_WAIT + Duration::from_millis(1), vitals.metrics()).await.unwrap();
        for line in ["handbill_part_ready{part=\"there\"} 1\n", "handbill_part_ready{part=\"silent\"} 0\n"] {
            assert!(response.body.contains(line), "{}", response.body);
        }
    }
}
