//! Runs the roles of a process until it is stopped.
//!
//! The order of stopping follows a publish: first the listeners, which wait for the jobs of their requests;
//! then the workers; then the view counts are flushed and the databases are closed.

mod banner;
mod roles;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use api::ApiSettings;
use config::Settings;
use domain::signing_key::LinkKey;
use domain::{Job, JobEnvelope};
use edge::{Edge, EdgeSettings};
use futures::FutureExt;
use service::Service;
use telemetry::Vitals;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use workers::{PoolSettings, Presence};

use crate::data_lock::DataLock;
use crate::listener::Listener;
use crate::open_files::{self, HasListeners};
use crate::ops;
use crate::output::{Form, say};
use crate::system::{SharedServices, System};
use crate::{load, logging, parts, stop};

use banner::{DEV_MODE, REDUCED_LOG, banner, ready};

pub(crate) use roles::Roles;

/// A stop that takes longer is aborted. Another process, or the next start, takes over unfinished work.
const STOP_WITHIN: Duration = Duration::from_secs(29);

pub(crate) async fn run(settings: &Settings, roles: Roles, form: Form) -> anyhow::Result<()> {
    // Cancelled by a signal, and when any part ends: a process with missing parts must not continue.
    let stop = CancellationToken::new();
    stop::on_signal(&stop)?;
    open_files::allow_all();
    // An embedded server rarely has that many connections, and `handbill doctor` reports it.
    if settings.database.url.is_postgres() {
        open_files::warn_if_short(settings, HasListeners { api: roles.api, edge: roles.edge });
    }
    warn_of_readers(settings)?;
    telemetry::levels::set_dev_mode(settings.dev_mode);
    let _alone = DataLock::take(settings, roles.tenant())?;
    let system = System::open(settings, roles.schema).await?;
    let heartbeat = heartbeat_of(&system, &roles);
    system.queues.join(&heartbeat).await?;
    let stop_heartbeat = CancellationToken::new();
    let beating = start_heartbeat(&system, heartbeat, &stop_heartbeat);
    let running = match RunningRoles::start(settings, &roles, &system, &stop).await {
        Ok(running) => running,
        Err(error) => {
            stop_heartbeat.cancel();
            beating.await.context("sign off from the queue board")?;
            return Err(error);
        }
    };
    announce(settings, &roles, form);

    stop.cancelled().await;
    let finishing = async {
        let (finished, ops) = running.finish().await;
        stop_heartbeat.cancel();
        beating.await.context("sign off from the queue board")?;
        let closed = system.close().await;
        finished.and(closed).and(ops.finish().await)
    };
    timeout(STOP_WITHIN, finishing).await.context("the process did not finish its work within 30 s")??;
    tracing::info!("stopped");
    Ok(())
}

/// The running parts of a process.
struct RunningRoles {
    shared: Option<SharedServices>,
    edge: Option<RunningEdge>,
    shared_tasks: SharedTasks,
    stop_work: CancellationToken,
    ops: OpsListener,
}

/// The operator's address, which stops last.
struct OpsListener {
    running: Option<Running>,
    stop: CancellationToken,
}

impl OpsListener {
    async fn finish(self) -> anyhow::Result<()> {
        self.stop.cancel();
        finish(self.running).await
    }
}

impl RunningRoles {
    async fn start(
        settings: &Settings,
        roles: &Roles,
        system: &System,
        stop: &CancellationToken,
    ) -> anyhow::Result<Self> {
        let shared = if roles.has_shared() {
            parts::make_blob_folders(settings);
            let shared = SharedServices::open(settings, system).await?;
            shared.service.note_limits().await?;
            Some(shared)
        } else {
            None
        };
        let stop_work = CancellationToken::new();
        let vitals = ops::vitals(settings, system, roles.needs(), stop)?;
        let stop_ops = CancellationToken::new();
        // Opened before any work starts: an address in use must not interrupt work.
        let ops = ops::open(settings, vitals.clone(), stop_ops.clone()).await?;
        let edge = if roles.edge { Some(open_edge(settings, system, &vitals, stop).await?) } else { None };
        let shared_tasks = match &shared {
            Some(shared) => {
                SharedTasks::start(settings, roles, system, shared, &vitals, &stop_work, stop).await?
            }
            None => SharedTasks::default(),
        };
        let ops = OpsListener { running: ops.map(|ops| start(ops, stop)), stop: stop_ops };
        Ok(Self { shared, edge, shared_tasks, stop_work, ops })
    }

    /// Stops everything except the operator's address.
    async fn finish(self) -> (anyhow::Result<()>, OpsListener) {
        let Self { shared, edge, shared_tasks, stop_work, ops } = self;
        let listeners = tokio::join!(finish(shared_tasks.api), finish_edge(edge));
        stop_work.cancel();
        let rest = (
            finish(shared_tasks.work).await,
            finish(shared_tasks.schedule).await,
            finish(shared_tasks.token_uses).await,
        );
        if let Some(shared) = shared {
            shared.close().await;
        }
        (listeners.0.and(listeners.1).and(rest.0).and(rest.1).and(rest.2), ops)
    }
}

/// The parts that need the shared services.
#[derive(Default)]
struct SharedTasks {
    api: Option<Running>,
    token_uses: Option<Running>,
    work: Option<Running>,
    schedule: Option<Running>,
}

impl SharedTasks {
    async fn start(
        settings: &Settings,
        roles: &Roles,
        system: &System,
        shared: &SharedServices,
        vitals: &Vitals,
        stop_work: &CancellationToken,
        stop: &CancellationToken,
    ) -> anyhow::Result<Self> {
        let service = &shared.service;
        Ok(Self {
            api: if roles.api { Some(open_api(settings, service, vitals, stop).await?) } else { None },
            token_uses: roles.api.then(|| start_token_uses(service, stop_work)),
            work: roles.pool.clone().map(|pool| start_workers(system, service, pool, stop_work, stop)),
            schedule: roles.schedule.then(|| start_schedule(service, stop)),
        })
    }
}

type Running = JoinHandle<anyhow::Result<()>>;

/// Runs a part of the process. When it ends for any reason, the process stops.
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
        Some(running) => running.await.context("a part of the process panicked")?,
        None => Ok(()),
    }
}

async fn open_api(
    settings: &Settings,
    service: &Service,
    vitals: &Vitals,
    stop: &CancellationToken,
) -> anyhow::Result<Running> {
    let listener = Listener::open(settings.api.listen, load::api_listener(settings)).await?;
    let background_tasks = TaskTracker::new();
    let routes = api::routes(
        service.clone(),
        ApiSettings {
            trusted_proxies: settings.api.trusted_proxies.clone(),
            background_tasks: background_tasks.clone(),
            stop: stop.clone(),
            vitals: vitals.clone(),
            load: load::api(settings),
            links: settings.service.links.clone(),
            robots: settings.service.robots.clone(),
        },
    );
    Ok(start(listener.serve(routes, background_tasks, stop.clone()), stop))
}

/// An edge with its view counter, which outlives the last request.
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
    system: &System,
    vitals: &Vitals,
    stop: &CancellationToken,
) -> anyhow::Result<RunningEdge> {
    let listener = Listener::open(settings.edge.listen, load::edge_listener(settings)).await?;
    let listener = listener.counting(telemetry::served_bytes());
    let edge = Arc::new(Edge::new(
        EdgeSettings {
            domain: settings.edge.domain.clone(),
            serve_url: settings.edge.serve_url.clone(),
            url_style: settings.edge.url_style,
            base_url: settings.api.base_url.clone(),
            links: settings.service.links.clone(),
            cache_bytes: settings.edge.cache_bytes,
            policy: settings.edge.policy.clone(),
            load: load::edge(settings),
            network_of: load::networks_of_visitors(settings),
            misses_per_minute: settings.limits.edge_misses_per_minute,
            client_network_of: load::networks_of_clients(settings),
            link_key: LinkKey::new(settings.link_secret(&system.chance)?.reveal()),
            vitals: vitals.clone(),
        },
        system.store.clone(),
        system.blobs.clone(),
        &system.bus,
        system.clock.clone(),
    )?);
    let stop_tally = CancellationToken::new();
    let tallying = tokio::spawn({
        let (edge, jobs, stop) = (edge.clone(), system.jobs.clone(), stop_tally.clone());
        let chance = system.chance.clone();
        let push = move |id, counted| {
            let jobs = jobs.clone();
            let envelope = JobEnvelope { id, reply_to: None, trace: None, job: Job::Views(counted) };
            async move { jobs.push(envelope).await }.boxed()
        };
        async move { edge.run_tally(push, chance, stop).await }
    });
    let serving = start(listener.serve(edge.endpoint(), TaskTracker::new(), stop.clone()), stop);
    Ok(RunningEdge { serving, edge, tallying, stop_tally })
}

fn start_workers(
    system: &System,
    service: &Service,
    pool: PoolSettings,
    stop_work: &CancellationToken,
    stop: &CancellationToken,
) -> Running {
    let handler = workers::handler(service.clone(), system.queues.clone(), &pool);
    let (queues, stop_work) = (system.queues.clone(), stop_work.clone());
    start(async move { queues.run_pool(pool, handler, stop_work).await }, stop)
}

fn heartbeat_of(system: &System, roles: &Roles) -> Presence {
    let host =
        hostname::get().map_or_else(|_| "unknown".to_owned(), |name| name.to_string_lossy().into_owned());
    let takes = roles.pool.as_ref().map(|pool| pool.queues.clone()).unwrap_or_default();
    let bus = system.bus.clone();
    Presence {
        role: roles.name(),
        host,
        takes,
        started_at: system.clock.now(),
        bus: Arc::new(move || bus.identity()),
    }
}

/// Sends heartbeats to the queue board until the process has finished its work.
fn start_heartbeat(system: &System, heartbeat: Presence, stop: &CancellationToken) -> JoinHandle<()> {
    let (queues, stop) = (system.queues.clone(), stop.clone());
    tokio::spawn(async move { queues.run_presence(heartbeat, stop).await })
}

fn start_schedule(service: &Service, stop: &CancellationToken) -> Running {
    let (service, cancel) = (service.clone(), stop.clone());
    let schedule = async move {
        workers::run_schedule(service, cancel).await;
        Ok(())
    };
    start(schedule, stop)
}

/// Records when tokens were used, until the API has answered its last request.
fn start_token_uses(service: &Service, stop_work: &CancellationToken) -> Running {
    let (service, stop) = (service.clone(), stop_work.clone());
    tokio::spawn(async move {
        service.run_token_uses(stop.cancelled()).await;
        Ok(())
    })
}

/// Handbill creates directories for their owner only. Existing ones keep their mode.
fn warn_of_readers(settings: &Settings) -> anyhow::Result<()> {
    for folder in parts::folders_open_to_others(settings)? {
        tracing::warn!(
            folder = %folder.path.display(),
            remedy = folder.remedy(),
            "other users of this machine can read a directory that holds data"
        );
    }
    Ok(())
}

/// The banner comes before the log's warnings, so that it is the first thing to read.
fn announce(settings: &Settings, roles: &Roles, form: Form) {
    if form == Form::Json {
        say(&ready(settings, roles).to_string());
    }
    let is_banner_shown = form == Form::People && roles.api && roles.edge;
    let is_seen = is_banner_shown && logging::is_at_terminal(form, settings);
    if is_banner_shown {
        let is_reduced = is_seen && !logging::is_level_set(settings);
        say(&banner(settings, is_reduced.then_some(REDUCED_LOG)));
    }
    // A terminal shows the banner with the same warning.
    if settings.dev_mode && !is_seen {
        tracing::warn!(public.allowed = settings.allow_public_dev, "{DEV_MODE}");
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
