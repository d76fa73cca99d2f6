//! Vitals: whether a process lives, whether it is ready, and what it has counted, as those hear it who look after it.
//! Strangers hear no more than yes or no.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use serde::Serialize;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::cached::CachedReading;
use crate::levels::set_part;
use crate::meters::text;

/// A part that has not answered by then does not answer.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// A scrape waits no longer for what has to be read for it.
const READING_WAIT: Duration = Duration::from_secs(1);

const JSON: &str = "application/json; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Asks a part of the house whether it is there.
pub type Ask = Box<dyn Fn() -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>;

/// Reads into its metrics what is not counted.
pub struct Reading {
    pub read: Ask,
    /// What is done when it could not be read in time: a value of yesterday is worse than none.
    pub forget: fn(),
}

/// A part of the house that a process does its work with.
pub struct Part {
    pub name: &'static str,
    pub when_away: WhenAway,
    pub ask: Ask,
}

/// What the loss of a part is to a process. Processes share their parts, so whoever passes over all those that are not
/// ready has nobody left to ask: that must be worse than what they can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenAway {
    /// It can do nothing of what it is there for.
    NotReady,
    /// It does without, slower or in part, and says so.
    Degraded,
}

/// What the vitals are made of.
#[derive(Default)]
pub struct VitalsParts {
    pub parts: Vec<Part>,
    /// What a scrape has to read first, all at once.
    pub readings: Vec<Reading>,
    /// Cancelled when a stop begins.
    pub stopping: CancellationToken,
}

/// What a process tells of itself. Clones are the same; the default needs nothing and is always ready.
#[derive(Clone, Default)]
pub struct Vitals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    parts: VitalsParts,
    asked: CachedReading<Vec<State>>,
    read: CachedReading<()>,
    /// What was away when it was last looked at, so that a change is told in the log, once.
    missed: Mutex<Vec<&'static str>>,
}

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Whoever reaches an address that is the operator's own.
    Operator,
    Stranger,
}

/// An answer, for whichever door it was asked at.
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

    /// For `/healthz`: whoever hears this hears it from a process that turns. Nothing is asked for it.
    pub fn alive() -> HealthResponse {
        HealthResponse::json(200, &Readiness { status: "ok", parts: None })
    }

    /// For `/readyz`: whether this process can do what it is there for, as far as that is known beforehand. That it does
    /// without a part is for the operator to hear.
    pub async fn readiness(&self, audience: Audience) -> HealthResponse {
        if self.0.parts.stopping.is_cancelled() {
            return HealthResponse::json(503, &Readiness { status: "stopping", parts: None });
        }
        let states = self.0.asked.or_ask(self.0.ask_all()).await;
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

    /// For `/metrics`: all that is counted, and what could be read beside it. It takes no longer than a part may take to
    /// answer.
    pub async fn metrics(&self) -> HealthResponse {
        let read = self.0.read.or_ask(self.0.read_all());
        let (states, ()) = tokio::join!(self.0.asked.or_ask(self.0.ask_all()), read);
        states.iter().for_each(|state| set_part(state.name, state.is_ready));
        match text() {
            Ok(body) => HealthResponse { status: 200, content_type: PROMETHEUS, body },
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "the metrics cannot be told");
                HealthResponse { status: 500, content_type: PROMETHEUS, body: String::new() }
            }
        }
    }
}

impl Inner {
    async fn ask_all(&self) -> Vec<State> {
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
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        if names == *missed {
            return;
        }
        let faults: Vec<_> = away.iter().filter_map(|state| state.fault.as_deref()).collect();
        let (parts, error) = (names.join(", "), faults.join("; "));
        match worst(states) {
            None => tracing::info!("ready again: every part answers"),
            Some(WhenAway::Degraded) => tracing::warn!(parts, error, "degraded: it goes on without a part"),
            Some(WhenAway::NotReady) => tracing::warn!(parts, error, "not ready: a part is missing"),
        }
        *missed = names;
    }
}

/// What the parts that are away mean together; none when all are there.
fn worst(states: &[State]) -> Option<WhenAway> {
    let mut away = states.iter().filter(|state| !state.is_ready).map(|state| state.when_away).peekable();
    away.peek()?;
    let is_lost = away.any(|when_away| when_away == WhenAway::NotReady);
    Some(if is_lost { WhenAway::NotReady } else { WhenAway::Degraded })
}

impl Part {
    async fn state(&self) -> State {
        let fault = match timeout(ANSWER_WAIT, (self.ask)()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(_) => Some(format!("no answer within {} s", ANSWER_WAIT.as_secs())),
        };
        State { name: self.name, is_ready: fault.is_none(), when_away: self.when_away, fault }
    }
}

impl HealthResponse {
    fn json(status: u16, told: &impl Serialize) -> Self {
        // Texts alone are always JSON.
        Self { status, content_type: JSON, body: serde_json::to_string(told).unwrap_or_default() }
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
        let ask = move || {
            let is_there = is_there.load(Ordering::SeqCst);
            async move {
                ensure!(is_there, "gone");
                Ok(())
            }
            .boxed()
        };
        Part { name, when_away, ask: Box::new(ask) }
    }

    async fn told(vitals: &Vitals, audience: Audience) -> (u16, Value) {
        let told = vitals.readiness(audience).await;
        (told.status, serde_json::from_str(&told.body).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn the_operator_hears_which_part_is_missing_and_a_stranger_only_that_one_is() {
        let (there, gone) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let parts =
            vec![part("database", WhenAway::NotReady, &there), part("storage", WhenAway::NotReady, &gone)];
        let vitals = Vitals::new(VitalsParts { parts, ..VitalsParts::default() });
        let to_operator = json!({"status": "not ready", "parts": [
            {"name": "database", "is_ready": true}, {"name": "storage", "is_ready": false, "fault": "gone"},
        ]});
        assert_eq!(told(&vitals, Audience::Operator).await, (503, to_operator));
        assert_eq!(told(&vitals, Audience::Stranger).await, (503, json!({"status": "not ready"})));
        gone.store(true, Ordering::SeqCst);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(told(&vitals, Audience::Stranger).await, (200, json!({"status": "ready"})));
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_does_without_a_part_is_ready_until_it_lacks_one_that_it_needs() {
        let (redis, database) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
        let parts =
            vec![part("redis", WhenAway::Degraded, &redis), part("database", WhenAway::NotReady, &database)];
        let vitals = Vitals::new(VitalsParts { parts, ..VitalsParts::default() });
        let to_operator = json!({"status": "degraded", "parts": [
            {"name": "redis", "is_ready": false, "fault": "gone"}, {"name": "database", "is_ready": true},
        ]});
        assert_eq!(told(&vitals, Audience::Operator).await, (200, to_operator));
        assert_eq!(told(&vitals, Audience::Stranger).await, (200, json!({"status": "ready"})));
        database.store(false, Ordering::SeqCst);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(told(&vitals, Audience::Stranger).await, (503, json!({"status": "not ready"})));
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_that_stays_silent_is_missing_after_two_seconds() {
        let ask: Ask = Box::new(|| futures::future::pending().boxed());
        let silent = Part { name: "database", when_away: WhenAway::NotReady, ask };
        let vitals = Vitals::new(VitalsParts { parts: vec![silent], ..VitalsParts::default() });
        let (status, body) = told(&vitals, Audience::Operator).await;
        assert_eq!((status, &body["parts"][0]["fault"]), (503, &json!("no answer within 2 s")));
    }

    #[tokio::test]
    async fn a_process_that_stops_is_not_ready_whatever_is_there() {
        let vitals = Vitals::default();
        assert_eq!(told(&vitals, Audience::Stranger).await.0, 200);
        vitals.0.parts.stopping.cancel();
        assert_eq!(told(&vitals, Audience::Operator).await, (503, json!({"status": "stopping"})));
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_read_in_time_holds_no_scrape_up_and_is_not_told() {
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
        let told = timeout(READING_WAIT + Duration::from_millis(1), vitals.metrics()).await.unwrap();
        assert_eq!(told.status, 200);
        assert!(told.body.contains("handbill_build_info{version="), "{}", told.body);
        assert!(!told.body.contains("handbill_queue_jobs{"), "{}", told.body);
        assert!(!told.body.contains("handbill_queue_workers{"), "{}", told.body);
    }

    #[tokio::test(start_paused = true)]
    async fn a_scrape_tells_which_parts_answer_and_waits_two_seconds_for_one_that_does_not() {
        let there = Arc::new(AtomicBool::new(true));
        let ask: Ask = Box::new(|| futures::future::pending().boxed());
        let silent = Part { name: "silent", when_away: WhenAway::Degraded, ask };
        let read: Ask = Box::new(|| futures::future::pending().boxed());
        let readings = vec![Reading { read, forget: || {} }];
        let parts = vec![part("there", WhenAway::NotReady, &there), silent];
        let vitals = Vitals::new(VitalsParts { parts, readings, ..VitalsParts::default() });
        let told = timeout(ANSWER_WAIT + Duration::from_millis(1), vitals.metrics()).await.unwrap();
        for line in ["handbill_part_ready{part=\"there\"} 1\n", "handbill_part_ready{part=\"silent\"} 0\n"] {
            assert!(told.body.contains(line), "{}", told.body);
        }
    }
}
