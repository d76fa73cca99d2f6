//! The roles of a process, by the command that started it.

use std::num::NonZeroU16;
use std::time::Duration;

use config::Settings;
use domain::Queue;
use workers::PoolSettings;

use crate::args::QueueShare;
use crate::data_lock::Tenant;
use crate::ops::Needs;
use crate::system::Schema;

// A process has 30 s to stop. Its parts stop in sequence, so they share this time.
/// How long running jobs may continue when a process with listeners stops.
const POOL_STOP_WAIT_WITH_LISTENERS: Duration = Duration::from_secs(6);
/// How long running jobs may continue when a worker process stops.
const POOL_STOP_WAIT: Duration = Duration::from_secs(26);

/// What a process does.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    pub(super) api: bool,
    pub(super) edge: bool,
    pub(super) pool: Option<PoolSettings>,
    /// The schedules run in every process that works on the upkeep queue.
    pub(super) schedule: bool,
    pub(super) schema: Schema,
}

impl Roles {
    pub(crate) fn all(settings: &Settings) -> Self {
        let pool = PoolSettings {
            stop_timeout: POOL_STOP_WAIT_WITH_LISTENERS,
            ..PoolSettings::new(Queue::ALL.map(|queue| (queue, concurrency_of(queue, settings))))
        };
        Self { api: true, edge: true, pool: Some(pool), schedule: true, schema: Schema::Migrate }
    }

    pub(crate) fn api() -> Self {
        Self { api: true, ..Self::none() }
    }

    pub(crate) fn edge() -> Self {
        Self { edge: true, ..Self::none() }
    }

    /// A worker pool for the named queues, or for all of them if none is named.
    pub(crate) fn worker(settings: &Settings, named: &[QueueShare], concurrency: Option<u16>) -> Self {
        let own = |queue| named.iter().find(|share| share.queue == queue).and_then(|share| share.concurrency);
        let is_named = |queue: &Queue| named.iter().any(|share| share.queue == *queue);
        let queues = Queue::ALL.into_iter().filter(|queue| named.is_empty() || is_named(queue));
        let with_concurrency = queues.map(|queue| {
            // `--concurrency` applies to rescans only if `--queues` names them.
            let is_meant = queue != Queue::Rescan || is_named(&queue);
            let requests = own(queue).map(NonZeroU16::get).or(concurrency.filter(|_| is_meant));
            (queue, requests.map_or_else(|| concurrency_of(queue, settings), usize::from))
        });
        let pool = PoolSettings { stop_timeout: POOL_STOP_WAIT, ..PoolSettings::new(with_concurrency) };
        let schedule = pool.queues.contains_key(&Queue::Upkeep);
        Self { pool: Some(pool), schedule, ..Self::none() }
    }

    /// The role's name on the queue board.
    pub(super) fn name(&self) -> &'static str {
        match (self.api, self.edge, &self.pool) {
            (true, true, _) => "serve",
            (true, false, _) => "api",
            (false, true, _) => "edge",
            (false, false, _) => "worker",
        }
    }

    pub(super) fn tenant(&self) -> Tenant {
        if self.api && self.edge { Tenant::Alone } else { Tenant::OneRole }
    }

    pub(super) fn has_shared(&self) -> bool {
        self.api || self.pool.is_some()
    }

    pub(super) fn needs(&self) -> Needs {
        match (self.api, self.has_shared()) {
            (true, _) => Needs::Calls,
            (false, true) => Needs::Jobs,
            (false, false) => Needs::Pages,
        }
    }

    fn none() -> Self {
        Self { api: false, edge: false, pool: None, schedule: false, schema: Schema::Require }
    }
}

/// The concurrency of a queue, unless the command line sets it.
fn concurrency_of(queue: Queue, settings: &Settings) -> usize {
    match queue {
        Queue::Scan => settings.workers.scan_concurrency,
        // Rescans have low priority.
        Queue::Rescan => 1,
        Queue::Publish | Queue::Views | Queue::Upkeep => settings.workers.concurrency,
    }
}
