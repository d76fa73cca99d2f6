//! Follows the log of route changes, which confirms all cached routes with one query.
//!
//! An edge trusts a route for a short time only. Reading the log ahead of time renews the trust in every
//! cached route that did not change, so that visitors do not wait for the database. It must never add
//! anything to the cache: a changed route is dropped and left to the next visitor's own read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use store::{RouteLogPosition, Store};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tokio_util::sync::CancellationToken;

use crate::sites::Sites;

/// Half of the time for which a route is trusted.
const READ_EVERY: Duration = Duration::from_secs(1);
/// A later response would be useless.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(1);

/// Sets `is_database_silent` while the database does not respond.
pub async fn run(
    sites: Arc<Sites>,
    store: Store,
    is_database_silent: Arc<AtomicBool>,
    stop: CancellationToken,
) {
    let mut follower = LogFollower::default();
    let mut ticks = tokio::time::interval(READ_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        if let Some(Err(error)) = stop.run_until_cancelled(follower.read(&sites, &store)).await {
            if error.is::<Elapsed>() {
                is_database_silent.store(true, Ordering::Relaxed);
            }
            // Visitors then read the routes themselves, and those reads report the error.
            tracing::debug!(error = format!("{error:#}"), "could not read the log of route changes");
        }
    }
}

/// How far this edge has read the log.
#[derive(Default)]
pub struct LogFollower {
    position: Option<RouteLogPosition>,
}

impl LogFollower {
    /// Drops the hosts that changed since the last read, and confirms all others.
    pub async fn read(&mut self, sites: &Sites, store: &Store) -> anyhow::Result<()> {
        let requested_at = Instant::now();
        let reading = store.routes().changes_since(self.position.as_ref());
        let read =
            timeout(ANSWER_WAIT_MAX, reading).await.context("the database did not respond in time")??;
        match read.changed {
            Some(hosts) => {
                hosts.iter().for_each(|host| sites.drop_host(host));
                sites.confirm(requested_at);
            }
            // The log says nothing about routes that were read before its response.
            None => sites.confirm_none_before(Instant::now()),
        }
        self.position = Some(read.position);
        Ok(())
    }
}
