//! Runs the roles of a process until it is told to stop.
//!
//! The order of stopping follows the way of a publish: first the doors, which wait for the jobs of the requests
//! that they have; then the workers; then the counters are flushed and the ground floor is closed.

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
use tokio_util::sync::CancellationToken;
use workers::PoolSettings;

use crate::house::{House, Schema};
use crate::{say, stop};

/// How long a door waits for the requests that it has.
const DOOR_STOP_WAIT: Duration = Duration::from_secs(27);

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
        let pool = PoolSettings::new(Queue::ALL.to_vec(), settings.workers.concurrency);
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
        Self { pool: Some(PoolSettings::new(queues, concurrency)), schedule, ..Self::none() }
    }

    fn none() -> Self {
        Self { api: false, edge: false, pool: None, schedule: false, schema: Schema::Require }
    }
}

pub(crate) async fn run(settings: &Settings, roles: Roles) -> anyhow::Result<()> {
    let stop_doors = CancellationToken::new();
    stop::on_signal(&stop_doors)?;
    let house = House::open(settings, roles.schema).await?;
    let stop_work = CancellationToken::new();

    let api = if roles.api { Some(open_api(settings, &house, &stop_doors).await?) } else { None };
    let edge = if roles.edge { Some(open_edge(settings, &house, &stop_doors).await?) } else { None };
    let work = roles.pool.clone().map(|pool| start_workers(&house, pool, &stop_work));
    let schedule = roles
        .schedule
        .then(|| tokio::spawn(workers::run_schedule(house.service.clone(), stop_doors.clone())));
    announce(settings, &roles);

    // A door that fails on its own stops the process too: half a house helps nobody.
    let doors = async {
        let api =
            async { if let Some(api) = api { finish(api).await } else { pending_until(&stop_doors).await } };
        let edge = async {
            if let Some(edge) = edge { edge.finish().await } else { pending_until(&stop_doors).await }
        };
        tokio::try_join!(api, edge)
    };
    let stopped = doors.await;
    stop_doors.cancel();
    stop_work.cancel();
    if let Some(work) = work {
        finish(work).await?;
    }
    if let Some(schedule) = schedule {
        schedule.await.context("stop the schedule")?;
    }
    house.close().await?;
    stopped?;
    tracing::info!("stopped");
    Ok(())
}

type Running = JoinHandle<anyhow::Result<()>>;

async fn finish(running: Running) -> anyhow::Result<()> {
    running.await.context("a part of the process fell")?
}

async fn pending_until(stop: &CancellationToken) -> anyhow::Result<()> {
    stop.cancelled().await;
    Ok(())
}

async fn open_api(settings: &Settings, house: &House, stop: &CancellationToken) -> anyhow::Result<Running> {
    let listener = TcpListener::bind(settings.api.listen);
    let acceptor = listener
        .into_acceptor()
        .await
        .with_context(|| format!("listen on api.listen {}", settings.api.listen))?;
    let routes = api::routes(
        house.service.clone(),
        ApiSettings { trusted_proxies: settings.api.trusted_proxies.clone() },
    );
    Ok(tokio::spawn(serve(acceptor, routes, stop.clone())))
}

/// An edge with its tally, which outlives the last request.
struct RunningEdge {
    serving: Running,
    edge: Arc<Edge>,
    tallying: JoinHandle<()>,
    stop_tally: CancellationToken,
}

impl RunningEdge {
    async fn finish(self) -> anyhow::Result<()> {
        let served = finish(self.serving).await;
        self.stop_tally.cancel();
        self.tallying.await.context("flush the views")?;
        if let Some(edge) = Arc::into_inner(self.edge) {
            edge.leave().await;
        }
        served
    }
}

async fn open_edge(
    settings: &Settings,
    house: &House,
    stop: &CancellationToken,
) -> anyhow::Result<RunningEdge> {
    let listener = TcpListener::bind(settings.edge.listen);
    let acceptor = listener
        .into_acceptor()
        .await
        .with_context(|| format!("listen on edge.listen {}", settings.edge.listen))?;
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
    let serving = tokio::spawn(serve(acceptor, edge.endpoint(), stop.clone()));
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

fn start_workers(house: &House, pool: PoolSettings, stop: &CancellationToken) -> Running {
    let handler = workers::handler(house.service.clone(), house.queues.clone());
    let (queues, stop) = (house.queues.clone(), stop.clone());
    tokio::spawn(async move { queues.run_pool(pool, handler, stop).await })
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
