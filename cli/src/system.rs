//! What a process of any role needs, opened and closed in order. Only `Schema::Migrate` may change a schema:
//! otherwise a process with an outdated schema refuses to start.

use std::sync::Arc;
use std::time::Duration;

use actors::{LedgerTerms, Ledgers};
use anyhow::{Context, bail};
use bus::Bus;
use config::Settings;
use domain::signing_key::{LinkKey, SigningKey};
use domain::{Chance, Clock, OperatorPassword};
use service::{
    ClientDocuments, FileStoreWatch, JobQueue, PublishBounds, Rules, ScanTerms, Scans, Service,
    ServiceDependencies, TokenUses, VerdictCommits,
};
use store::{Blobs, DiskRoom, Store};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use workers::Queues;

use crate::{database_clock, parts};

/// What a process of any role needs.
pub(crate) struct System {
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) bus: Bus,
    pub(crate) queues: Queues,
    /// Pushes jobs of this process to the queues.
    pub(crate) jobs: JobQueue,
    pub(crate) clock: Clock,
    pub(crate) chance: Chance,
    /// `None` with SQLite, which uses this machine's clock.
    _following: Option<AbortOnDropHandle<()>>,
    pushing: JoinHandle<()>,
    stop_pushing: CancellationToken,
}

/// The service, in every process except one that runs only the edge, which needs neither the ledgers nor the
/// signing secret.
pub(crate) struct SharedServices {
    pub(crate) service: Service,
    ledgers: Ledgers,
}

/// How an outdated schema is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// This process migrates it.
    Migrate,
    /// It must be up to date.
    Require,
}

impl System {
    pub(crate) async fn open(settings: &Settings, schema: Schema) -> anyhow::Result<Self> {
        if schema == Schema::Require {
            parts::ensure_installed(settings)?;
        }
        let (clock, chance) = (parts::clock(), Chance::from_system());
        let bus = parts::open_bus(settings).await?;
        let store = parts::open_store(settings).await?;
        let queues = parts::open_queues(settings, &bus, clock.clone()).await?;
        let blobs = parts::open_blobs(settings)?;
        ensure_schema(schema, &store, &queues).await?;
        let following = follow_database_clock(settings, &store, &clock).await;
        let woken = queues.clone();
        bus.on_wake(move |queue| woken.handle_wake(queue));

        if !settings.are_of_an_edge_alone() {
            bus.join_as_writer().await?;
        }
        let (jobs, pushes) = JobQueue::new();
        let stop_pushing = CancellationToken::new();
        let pushing = tokio::spawn({
            let (queues, stop) = (queues.clone(), stop_pushing.clone());
            async move { queues.run_pushes(pushes, stop).await }
        });
        Ok(Self {
            store,
            blobs,
            bus,
            queues,
            jobs,
            clock,
            chance,
            _following: following,
            pushing,
            stop_pushing,
        })
    }

    /// Finishes pending pushes, closes the databases and leaves the bus.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.stop_pushing.cancel();
        self.pushing.await.context("stop pushing jobs")?;
        let closed = self.store.close().await;
        self.bus.leave_as_writer().await;
        closed
    }
}

impl SharedServices {
    pub(crate) async fn open(settings: &Settings, system: &System) -> anyhow::Result<Self> {
        let terms = LedgerTerms {
            tariff: settings.tariff(),
            chance: system.chance.clone(),
            clock: system.clock.clone(),
            idle_after: LedgerTerms::IDLE_AFTER,
        };
        let ledgers = Ledgers::start(system.store.clone(), terms).await?;
        let service = Service::new(ServiceDependencies {
            store: system.store.clone(),
            blobs: system.blobs.clone(),
            file_store: FileStoreWatch::default(),
            disk: DiskRoom::of(parts::folders_of_data(settings)?),
            ledgers: ledgers.clone(),
            queue: system.jobs.clone(),
            board: Arc::new(system.queues.clone()),
            bus: system.bus.clone(),
            clock: system.clock.clone(),
            chance: system.chance.clone(),
            token_uses: TokenUses::default(),
            publish_bounds: PublishBounds::default(),
            scans: Scans::start(system.store.clone(), scan_terms(settings)),
            verdicts: VerdictCommits::start(system.store.clone()),
            card: parts::card_payments(settings)?,
            client_documents: ClientDocuments::default(),
            rules: rules(settings, &system.chance)?,
        });
        Ok(Self { service, ledgers })
    }

    /// Settles pending ledger operations.
    pub(crate) async fn close(self) {
        self.ledgers.stop().await;
    }
}

fn scan_terms(settings: &Settings) -> ScanTerms {
    let seconds = settings.limits.scan_seconds_per_minute;
    let quota = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
    ScanTerms::of(settings.workers.scan_memory_mb, quota)
}

/// Sets the clock once before it is used, and keeps it synchronized.
async fn follow_database_clock(
    settings: &Settings,
    store: &Store,
    clock: &Clock,
) -> Option<AbortOnDropHandle<()>> {
    if !settings.database.url.is_postgres() {
        return None;
    }
    if let Err(error) = database_clock::measure(store, clock).await {
        tracing::warn!(error = format!("{error:#}"), "could not read the database's clock; retrying");
    }
    let following = tokio::spawn(database_clock::follow(store.clone(), clock.clone()));
    Some(AbortOnDropHandle::new(following))
}

async fn ensure_schema(schema: Schema, store: &Store, queues: &Queues) -> anyhow::Result<()> {
    if schema == Schema::Migrate {
        store.migrate().await?;
        return queues.migrate().await;
    }
    if store.is_current().await? && queues.is_current().await? {
        return Ok(());
    }
    bail!("the database schema is out of date: run `handbill migrate` first")
}

fn rules(settings: &Settings, chance: &Chance) -> anyhow::Result<Rules> {
    if settings.is_admin_for_this_machine_alone() {
        tracing::warn!(
            listen = %settings.api.listen,
            "dev mode without secrets.operator_password: /admin is open to this machine only"
        );
    }
    Ok(Rules {
        tariff: settings.tariff(),
        addresses: settings.addresses(),
        signing_key: SigningKey::new(settings.signing_secret(chance)?.reveal()),
        link_key: LinkKey::new(settings.link_secret(chance)?.reveal()),
        content_policy: settings.edge.policy.clone(),
        operator_password: settings
            .secrets
            .operator_password
            .as_ref()
            .map(|password| OperatorPassword::new(password.reveal())),
        operators: settings.secrets.operators.clone(),
        is_dev_mode: settings.dev_mode,
        is_public_dev_allowed: settings.allow_public_dev,
        signups_per_minute: settings.limits.signups_per_minute,
        logins_per_minute: settings.limits.logins_per_minute,
        registrations_per_minute: settings.limits.registrations_per_minute,
        reports_per_minute: settings.limits.reports_per_minute,
        claims_per_person: settings.limits.claims_per_person,
        claims_per_address_per_day: settings.limits.claims_per_address_per_day,
        publishes_per_minute: settings.limits.publishes_per_minute,
        are_bundles_written: settings.workers.bundles,
        purge_grace: settings.limits.purge_grace,
    })
}
