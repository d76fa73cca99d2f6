//! Confirms, in batches, that the cached routes in use are still current.
//!
//! An edge trusts a route for a short time only. Confirming the routes in use ahead of time saves a database
//! query per host every other second, and visitors do not wait for it. It must never add anything to the
//! cache: a route that is no longer current is left to the next visitor's own read.

use std::sync::Arc;
use std::time::Duration;

use domain::Host;
use store::{RouteState, Store};
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tokio_util::sync::CancellationToken;

use crate::sites::{InUse, Sites};

/// Half of the time for which a route is trusted.
const FRESHEN_EVERY: Duration = Duration::from_secs(1);
/// How many hosts one statement queries.
const HOSTS_MAX: usize = 500;
/// A later response would be useless.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(1);

pub async fn run(sites: Arc<Sites>, store: Store, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(FRESHEN_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        stop.run_until_cancelled(freshen(&sites, &store)).await;
    }
}

pub async fn freshen(sites: &Sites, store: &Store) {
    for batch in sites.in_use().chunks(HOSTS_MAX) {
        let confirming = timeout(ANSWER_WAIT_MAX, confirm(batch, store)).await;
        // Visitors then read the routes themselves, and those reads report the error.
        if !matches!(confirming, Ok(Ok(()))) {
            tracing::debug!("could not confirm the routes in use");
            return;
        }
    }
}

async fn confirm(batch: &[InUse], store: &Store) -> anyhow::Result<()> {
    let hosts: Vec<Host> = batch.iter().map(|in_use| in_use.site.route.host.clone()).collect();
    let queried_at = Instant::now();
    let states = store.routes().states(&hosts).await?;
    for in_use in batch {
        let route = &in_use.site.route;
        // Whether a pending route is held back depends on other versions too, which its state does not
        // include.
        if route.held_from.is_none() && states.get(&route.host) == Some(&RouteState::of(route)) {
            in_use.confirm(queried_at);
        }
    }
    Ok(())
}
