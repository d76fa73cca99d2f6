//! What a process of any role stands on, opened in order and closed in order. Only with `Schema::Migrate` may it
//! change a schema: a process that finds an old one refuses to start.

use actors::{LedgerTerms, Ledgers};
use anyhow::{Context, bail};
use bus::Bus;
use config::Settings;
use domain::link::SigningKey;
use domain::{Chance, Clock};
use service::{JobQueue, Parts, Rules, Service, TokenUses};
use store::{Blobs, Store};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use workers::Queues;

use crate::parts;

/// Everything that a process of any role stands on.
pub(crate) struct House {
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) bus: Bus,
    pub(crate) queues: Queues,
    pub(crate) service: Service,
    pub(crate) signing_key: SigningKey,
    pub(crate) clock: Clock,
    ledgers: Ledgers,
    pushing: JoinHandle<()>,
    stop_pushing: CancellationToken,
}

/// Who sees to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// This process brings it up to date.
    Migrate,
    /// It must be up to date already.
    Require,
}

impl House {
    pub(crate) async fn open(settings: &Settings, schema: Schema) -> anyhow::Result<Self> {
        let (clock, chance) = (parts::clock(), Chance::from_system());
        let bus = parts::open_bus(settings).await?;
        let store = parts::open_store(settings).await?;
        let queues = parts::open_queues(settings, &bus).await?;
        let blobs = parts::open_blobs(settings)?;
        see_to_schema(schema, &store, &queues).await?;
        let woken = queues.clone();
        bus.on_wake(move |queue| woken.wake_handle(queue).notify_one());

        let signing_key = SigningKey::new(settings.signing_secret(&chance)?.reveal());
        let terms = LedgerTerms {
            tariff: settings.tariff(),
            chance: chance.clone(),
            clock: clock.clone(),
            idle_after: LedgerTerms::IDLE_AFTER,
        };
        let ledgers = Ledgers::start(store.clone(), terms).await?;
        let (queue, pushes) = JobQueue::new();
        let stop_pushing = CancellationToken::new();
        let pushing = tokio::spawn({
            let (queues, stop) = (queues.clone(), stop_pushing.clone());
            async move { queues.run_pushes(pushes, stop).await }
        });
        let service = Service::new(Parts {
            store: store.clone(),
            blobs: blobs.clone(),
            ledgers: ledgers.clone(),
            queue,
            bus: bus.clone(),
            clock: clock.clone(),
            chance: chance.clone(),
            token_uses: TokenUses::default(),
            card: parts::card_rail(settings)?,
            rules: rules(settings, &signing_key),
        });
        Ok(Self { store, blobs, bus, queues, service, signing_key, clock, ledgers, pushing, stop_pushing })
    }

    /// Keeps what waits to be pushed, settles what waits to be settled, closes the databases.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.stop_pushing.cancel();
        self.pushing.await.context("stop pushing jobs")?;
        self.ledgers.stop().await;
        self.store.close().await
    }
}

async fn see_to_schema(schema: Schema, store: &Store, queues: &Queues) -> anyhow::Result<()> {
    if schema == Schema::Migrate {
        store.migrate().await?;
        return queues.migrate().await;
    }
    if store.is_current().await? && queues.is_current().await? {
        return Ok(());
    }
    bail!("the database does not have the newest schema: run `handbill migrate` first")
}

fn rules(settings: &Settings, signing_key: &SigningKey) -> Rules {
    Rules {
        tariff: settings.tariff(),
        addresses: settings.addresses(),
        signing_key: signing_key.clone(),
        is_dev_mode: settings.dev_mode,
        signups_per_minute: settings.limits.signups_per_minute,
        logins_per_minute: settings.limits.logins_per_minute,
        registrations_per_minute: settings.limits.registrations_per_minute,
        reports_per_minute: settings.limits.reports_per_minute,
        purge_grace: settings.limits.purge_grace,
    }
}
