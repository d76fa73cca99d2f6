//! The health of a process, and the operator's address that reports it. Nothing else may be served there,
//! because the address requires no authentication.

use std::sync::Arc;

use config::{ConnectionLimits, Settings};
use domain::Time;
use futures::FutureExt;
use poem::http::Method;
use poem::{Endpoint, Request, Response};
use service::Board;
use store::DiskRoom;
use telemetry::levels::{self, ModerationLevel, QueueLevel};
use telemetry::{Audience, HealthResponse, Part, Reading, Vitals, VitalsParts, WhenAway};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use workers::Queues;

use crate::listener::{Listener, ListenerLimits, OverloadResponse};
use crate::parts::folders_of_data;
use crate::system::System;

/// Probes and scrapes need only a few.
const CONNECTIONS_MAX: usize = 64;

/// The roles with a metric. Other values in the board's table must not become labels.
const ROLES: [&str; 4] = ["serve", "api", "edge", "worker"];

/// The role of a process, which decides what it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// An edge serves what it has in memory without the database and the blob store, its storage key may only
    /// read contents, and it has no queue to watch.
    Pages,
    /// An API handles most calls without the blob store, and reports an outage to publishes.
    Calls,
    /// A worker can do almost nothing without the blob store, and no client is refused while it is not ready.
    Jobs,
}

/// The health of this process.
pub(crate) fn vitals(
    settings: &Settings,
    system: &System,
    needs: Needs,
    stopping: &CancellationToken,
) -> anyhow::Result<Vitals> {
    let mut parts = vec![database(system, needs.database()), queue(system, needs.database())];
    let mut readings = vec![pools(system)];
    // An edge alone writes nothing to disk.
    if needs != Needs::Pages {
        parts.extend(disk(settings)?);
    }
    if settings.redis.url.is_some() {
        parts.push(redis(system));
        readings.push(redis_connection(system));
    }
    if settings.database.url.is_postgres() {
        readings.push(clock_skew(system));
    }
    if let Some(when_away) = needs.storage() {
        parts.push(storage(system, when_away));
        readings.extend([queue_levels(system), schedules(system), moderation(system)]);
    }
    Ok(Vitals::new(VitalsParts { parts, readings, stopping: stopping.clone() }))
}

impl Needs {
    /// The effect of losing the database.
    fn database(self) -> WhenAway {
        match self {
            Self::Pages => WhenAway::Degraded,
            Self::Calls | Self::Jobs => WhenAway::NotReady,
        }
    }

    /// The effect of losing the blob store. `None`: it is not checked.
    fn storage(self) -> Option<WhenAway> {
        match self {
            Self::Pages => None,
            Self::Calls => Some(WhenAway::Degraded),
            Self::Jobs => Some(WhenAway::NotReady),
        }
    }
}

/// Serves `ops.listen`, if set, until the token is cancelled. It outlives the other listeners, so that a
/// stopping process can report that it stops.
pub(crate) async fn open(
    settings: &Settings,
    vitals: Vitals,
    stop: CancellationToken,
) -> anyhow::Result<Option<impl Future<Output = anyhow::Result<()>> + Send + 'static>> {
    let Some(listen) = settings.ops.listen else { return Ok(None) };
    let terms = ListenerLimits {
        key: "ops.listen",
        role: "ops",
        // Head and idle timeouts are those of the API, without settings of their own.
        limits: ConnectionLimits {
            max: CONNECTIONS_MAX,
            per_address_max: CONNECTIONS_MAX,
            ..settings.api.connections.clone()
        },
        proxies: Vec::new(),
        overload_response: OverloadResponse::new("text/plain; charset=utf-8", "too many connections\n"),
    };
    let listener = Listener::open(listen, terms).await?;
    tracing::info!(ops.listen = %listen, "serving metrics and health");
    Ok(Some(listener.serve(OpsHandler(vitals), TaskTracker::new(), stop)))
}

/// The endpoint of the operator's address.
struct OpsHandler(Vitals);

impl Endpoint for OpsHandler {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let response = match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, "/metrics") => self.0.metrics().await,
            (&Method::GET | &Method::HEAD, "/healthz") => Vitals::alive(),
            (&Method::GET | &Method::HEAD, "/readyz") => self.0.readiness(Audience::Operator).await,
            _ => HealthResponse {
                status: 404,
                content_type: "text/plain; charset=utf-8",
                body: "not found; available are /metrics, /healthz and /readyz\n".to_owned(),
            },
        };
        Ok(api::answer_probe(response, request.method()))
    }
}

fn database(system: &System, when_away: WhenAway) -> Part {
    let store = system.store.clone();
    let check = move || {
        let store = store.clone();
        async move { store.now().await.map(drop) }.boxed()
    };
    Part { name: "database", when_away, check: Box::new(check) }
}

fn queue(system: &System, when_away: WhenAway) -> Part {
    let queues = system.queues.clone();
    let check = move || {
        let queues = queues.clone();
        async move { queues.ping().await }.boxed()
    };
    Part { name: "queue", when_away, check: Box::new(check) }
}

/// The bus checks Redis by its heartbeat. Without Redis everything works, but slower.
fn redis(system: &System) -> Part {
    let bus = system.bus.clone();
    let check = move || {
        let is_connected = bus.is_connected();
        async move {
            anyhow::ensure!(is_connected, "it does not respond; reconnecting automatically");
            Ok(())
        }
        .boxed()
    };
    Part { name: "redis", when_away: WhenAway::Degraded, check: Box::new(check) }
}

fn storage(system: &System, when_away: WhenAway) -> Part {
    let blobs = system.blobs.clone();
    let check = move || {
        let blobs = blobs.clone();
        async move { blobs.ping().await }.boxed()
    };
    Part { name: "storage", when_away, check: Box::new(check) }
}

/// The disks with data. Without free space for a publish a process is not ready.
fn disk(settings: &Settings) -> anyhow::Result<Option<Part>> {
    let folders = folders_of_data(settings)?;
    if folders.is_empty() {
        return Ok(None);
    }
    let disk = DiskRoom::of(folders);
    let check = move || {
        let disk = disk.clone();
        async move { disk.check() }.boxed()
    };
    Ok(Some(Part { name: "disk", when_away: WhenAway::NotReady, check: Box::new(check) }))
}

fn pools(system: &System) -> Reading {
    let (store, queues) = (system.store.clone(), system.queues.clone());
    let read = move || {
        store.pools().iter().for_each(levels::set_pool);
        levels::set_pool(&queues.pool());
        async { Ok(()) }.boxed()
    };
    Reading { read: Box::new(read), forget: || {} }
}

fn redis_connection(system: &System) -> Reading {
    let bus = system.bus.clone();
    let read = move || {
        levels::set_redis_connected(bus.is_connected());
        async { Ok(()) }.boxed()
    };
    Reading { read: Box::new(read), forget: || {} }
}

fn clock_skew(system: &System) -> Reading {
    let clock = system.clock.clone();
    let read = move || {
        levels::set_clock_skew(clock.ahead_ms());
        async { Ok(()) }.boxed()
    };
    Reading { read: Box::new(read), forget: || {} }
}

fn queue_levels(system: &System) -> Reading {
    let queues = Arc::new(system.queues.clone());
    let read = move || {
        let queues = queues.clone();
        async move { read_queue_levels(&queues).await }.boxed()
    };
    Reading { read: Box::new(read), forget: levels::forget_queues }
}

async fn read_queue_levels(queues: &Queues) -> anyhow::Result<()> {
    let board = queues.figures().await?;
    for queue in &board.queues {
        let waits_since = |since: Time| board.at.since(since);
        levels::set_queue(&QueueLevel {
            queue: queue.queue,
            waiting: queue.jobs.waiting,
            running: queue.jobs.running,
            failed: queue.jobs.failed,
            dead: queue.jobs.dead,
            cancelled: queue.jobs.cancelled,
            oldest_waiting: queue.jobs.oldest_waiting_since.map(waits_since).unwrap_or_default(),
            is_paused: queue.paused.is_some(),
            workers: count(board.takers(queue.queue)),
        });
    }
    for role in ROLES {
        let of_role = board.processes.iter().filter(|process| !process.is_lost && process.role == role);
        levels::set_processes(role, count(of_role));
    }
    Ok(())
}

fn count<T>(things: impl Iterator<Item = T>) -> u64 {
    things.fold(0, |count, _| count + 1)
}

fn schedules(system: &System) -> Reading {
    let queues = system.queues.clone();
    let read = move || {
        let queues = queues.clone();
        async move {
            let done = queues.schedules_done().await?;
            done.into_iter().for_each(|(schedule, last_done)| levels::set_schedule(schedule, last_done));
            Ok(())
        }
        .boxed()
    };
    Reading { read: Box::new(read), forget: levels::forget_schedules }
}

fn moderation(system: &System) -> Reading {
    let (store, clock) = (system.store.clone(), system.clock.clone());
    let read = move || {
        let (store, now) = (store.clone(), clock.now());
        async move {
            let backlog = store.review_queue().backlog(now).await?;
            levels::set_moderation(&ModerationLevel {
                waiting: backlog.pages,
                oldest_waiting: backlog.oldest_since.map(|since| now.since(since)).unwrap_or_default(),
                open_reports: backlog.reports,
            });
            Ok(())
        }
        .boxed()
    };
    Reading { read: Box::new(read), forget: levels::forget_moderation }
}
