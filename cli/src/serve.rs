//! Runs the roles of a process until it is told to stop.
//!
//! The order of stopping follows the way of a publish: first the doors, which wait for the jobs of the requests
//! that they have; then the workers; then the counters are flushed and the ground floor is closed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use api::ApiSettings;
use config::Settings;
use domain::Queue;
use edge::{Edge, EdgeSettings};
use futures::FutureExt;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{IntoEndpoint, Server};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use workers::PoolSettings;

use crate::connections::Connections;
use crate::house::{House, Schema};
use crate::{say, stop};

/// A stop that takes longer is cut short: what was not finished is taken over by another process, or at the next start.
const STOP_WITHIN: Duration = Duration::from_secs(29);
// A process has 30 s to stop; the parts stop one behind the other, so they share them.
/// How long a door waits for the requests that it has.
const DOOR_STOP_WAIT: Duration = Duration::from_secs(20);
/// How long jobs may run on in a process that has doors, too.
const POOL_STOP_WAIT_BESIDE_DOORS: Duration = Duration::from_secs(6);
/// How long jobs may run on in a process that is all workers.
const POOL_STOP_WAIT: Duration = Duration::from_secs(26);

/// What a process does.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    api: bool,
    edge: bool,
    pool: Option<PoolSettings>,
    /// The schedules run wherever the upkeep queue is worked on.
    schedule: bool,
    schema: Schema,
}

impl Roles {
    pub(crate) fn all(settings: &Settings) -> Self {
        let pool = PoolSettings {
            stop_timeout: POOL_STOP_WAIT_BESIDE_DOORS,
            ..PoolSettings::new(Queue::ALL.to_vec(), settings.workers.concurrency)
        };
        Self { api: true, edge: true, pool: Some(pool), schedule: true, schema: Schema::Migrate }
    }

    pub(crate) fn api() -> Self {
        Self { api: true, ..Self::none() }
    }

    pub(crate) fn edge() -> Self {
        Self { edge: true, ..Self::none() }
    }

    /// A worker pool: all queues unless some are named.
    pub(crate) fn worker(settings: &Settings, queues: &[Queue], concurrency: Option<u16>) -> Self {
        let queues = if queues.is_empty() { Queue::ALL.to_vec() } else { queues.to_vec() };
        let schedule = queues.contains(&Queue::Upkeep);
        let concurrency = concurrency.map_or(settings.workers.concurrency, usize::from);
        let pool = PoolSettings { stop_timeout: POOL_STOP_WAIT, ..PoolSettings::new(queues, concurrency) };
        Self { pool: Some(pool), schedule, ..Self::none() }
    }

    fn none() -> Self {
        Self { api: false, edge: false, pool: None, schedule: false, schema: Schema::Require }
    }
}

pub(crate) async fn run(settings: &Settings, roles: Roles) -> anyhow::Result<()> {
    // Cancelled by a signal, and by any part that ends on its own: half a house helps nobody.
    let stop = CancellationToken::new();
    stop::on_signal(&stop)?;
    let house = House::open(settings, roles.schema).await?;
    let stop_work = CancellationToken::new();
    let api = if roles.api { Some(open_api(settings, &house, &stop).await?) } else { None };
    let edge = if roles.edge { Some(open_edge(settings, &house, &stop).await?) } else { None };
    let token_uses = roles.api.then(|| start_token_uses(&house, &stop_work));
    let work = roles.pool.clone().map(|pool| start_workers(&house, pool, &stop_work, &stop));
    let schedule = roles.schedule.then(|| start_schedule(&house, &stop));
    announce(settings, &roles);

    stop.cancelled().await;
    let finishing = async {
        let doors = tokio::join!(finish(api), finish_edge(edge));
        stop_work.cancel();
        let rest = (finish(work).await, finish(schedule).await, finish(token_uses).await);
        let closed = house.close().await;
        doors.0.and(doors.1).and(rest.0).and(rest.1).and(rest.2).and(closed)
    };
    timeout(STOP_WITHIN, finishing).await.context("the process did not finish what it had in 30 s")??;
    tracing::info!("stopped");
    Ok(())
}

type Running = JoinHandle<anyhow::Result<()>>;

/// Runs a part of the process; when it ends, whatever the reason, the process stops.
fn start(
    part: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    stop: &CancellationToken,
) -> Running {
    let ends_the_process = stop.clone().drop_guard();
    tokio::spawn(async move {
        let ended = part.await;
        drop(ends_the_process);
        ended
    })
}

async fn finish(running: Option<Running>) -> anyhow::Result<()> {
    match running {
        Some(running) => running.await.context("a part of the process fell")?,
        None => Ok(()),
    }
}

async fn listen(address: SocketAddr, key: &str) -> anyhow::Result<Connections> {
    let acceptor = TcpListener::bind(address).into_acceptor().await;
    acceptor.map(Connections::of).with_context(|| format!("listen on {key} {address}"))
}

async fn open_api(settings: &Settings, house: &House, stop: &CancellationToken) -> anyhow::Result<Running> {
    let acceptor = listen(settings.api.listen, "api.listen").await?;
    let routes = api::routes(
        house.service.clone(),
        ApiSettings { trusted_proxies: settings.api.trusted_proxies.clone() },
    );
    Ok(start(serve(acceptor, routes, stop.clone()), stop))
}

/// An edge with its tally, which outlives the last request.
struct RunningEdge {
    serving: Running,
    edge: Arc<Edge>,
    tallying: JoinHandle<()>,
    stop_tally: CancellationToken,
}

async fn finish_edge(running: Option<RunningEdge>) -> anyhow::Result<()> {
    let Some(running) = running else { return Ok(()) };
    let served = finish(Some(running.serving)).await;
    running.stop_tally.cancel();
    running.tallying.await.context("flush the views")?;
    if let Some(edge) = Arc::into_inner(running.edge) {
        edge.leave().await;
    }
    served
}

async fn open_edge(
    settings: &Settings,
    house: &House,
    stop: &CancellationToken,
) -> anyhow::Result<RunningEdge> {
    let acceptor = listen(settings.edge.listen, "edge.listen").await?;
    let edge = Arc::new(Edge::new(
        EdgeSettings {
            domain: settings.edge.domain.clone(),
            serve_url: settings.edge.serve_url.clone(),
            base_url: settings.api.base_url.clone(),
            cache_bytes: settings.edge.cache_bytes,
            font_hosts: settings.edge.font_hosts.clone(),
            signing: house.signing_key.clone(),
        },
        house.store.clone(),
        house.blobs.clone(),
        &house.bus,
        house.clock.clone(),
    )?);
    let stop_tally = CancellationToken::new();
    let service = house.service.clone();
    let tallying = tokio::spawn({
        let (edge, stop) = (edge.clone(), stop_tally.clone());
        async move {
            let flush = move |views| {
                let service = service.clone();
                async move { service.enqueue_views(views).await }.boxed()
            };
            edge.run_tally(flush, stop).await;
        }
    });
    let serving = start(serve(acceptor, edge.endpoint(), stop.clone()), stop);
    Ok(RunningEdge { serving, edge, tallying, stop_tally })
}

async fn serve<A, E>(acceptor: A, endpoint: E, stop: CancellationToken) -> anyhow::Result<()>
where
    A: Acceptor + 'static,
    E: IntoEndpoint,
    E::Endpoint: 'static,
{
    Server::new_with_acceptor(acceptor)
        .run_with_graceful_shutdown(endpoint, stop.cancelled_owned(), Some(DOOR_STOP_WAIT))
        .await
        .context("serve HTTP")
}

fn start_workers(
    house: &House,
    pool: PoolSettings,
    stop_work: &CancellationToken,
    stop: &CancellationToken,
) -> Running {
    let handler = workers::handler(house.service.clone(), house.queues.clone());
    let (queues, stop_work) = (house.queues.clone(), stop_work.clone());
    start(async move { queues.run_pool(pool, handler, stop_work).await }, stop)
}

fn start_schedule(house: &House, stop: &CancellationToken) -> Running {
    let (service, cancel) = (house.service.clone(), stop.clone());
    let schedule = async move {
        workers::run_schedule(service, cancel).await;
        Ok(())
    };
    start(schedule, stop)
}

/// Writes when tokens were used, until the door has answered its last request.
fn start_token_uses(house: &House, stop_work: &CancellationToken) -> Running {
    let (service, stop) = (house.service.clone(), stop_work.clone());
    tokio::spawn(async move {
        service.run_token_uses(stop.cancelled()).await;
        Ok(())
    })
}

fn announce(settings: &Settings, roles: &Roles) {
    if roles.api && roles.edge {
        say(&format!(
            "Handbill is open.\n  API   {base}\n  pages {pages}\n\nTry it:\n  \
             TOKEN=$(curl -s -X POST {base}/v1/signup | sed 's/.*\"token\":\"\\([^\"]*\\)\".*/\\1/')\n  \
             curl -s -H \"Authorization: Bearer $TOKEN\" -F slug=hello --form-string html='<h1>Hello</h1>' {base}/v1/publish\n",
            base = settings.api.base_url,
            pages = settings.edge.serve_url,
        ));
    }
    tracing::info!(
        role.api = roles.api,
        role.edge = roles.edge,
        role.worker = roles.pool.is_some(),
        api.listen = %settings.api.listen,
        edge.listen = %settings.edge.listen,
        "ready"
    );
}
