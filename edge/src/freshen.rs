//! Freshen: asks the store, for many hosts at once, whether the routes that visitors use still stand.
//!
//! An edge believes a route for a short time only. So that not each hot host is looked up every other second, and no
//! visitor waits for it, the routes in use are asked about beforehand. It must never put anything into the cache: what
//! stands no more is left to the next visitor's own look.

use std::sync::Arc;
use std::time::Duration;

use domain::Host;
use store::{RouteState, Store};
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tokio_util::sync::CancellationToken;

use crate::sites::{InUse, Sites};

/// Half of the time for which a route is believed.
const FRESHEN_EVERY: Duration = Duration::from_secs(1);
/// How many hosts are asked about in one statement.
const HOSTS_MAX: usize = 500;
/// An answer that comes later is of no use.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(1);

pub async fn run(sites: Arc<Sites>, store: Store, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(FRESHEN_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        stop.run_until_cancelled(freshen(&sites, &store)).await;
    }
}

pub async fn freshen(sites: &Sites, store: &Store) {
    for some in sites.in_use().chunks(HOSTS_MAX) {
        let asking = timeout(ANSWER_WAIT_MAX, ask(some, store)).await;
        // Visitors look for themselves then, and say what is wrong.
        if !matches!(asking, Ok(Ok(()))) {
            tracing::debug!("the routes in use could not be asked about");
            return;
        }
    }
}

async fn ask(some: &[InUse], store: &Store) -> anyhow::Result<()> {
    let hosts: Vec<Host> = some.iter().map(|in_use| in_use.site.route.host.clone()).collect();
    let asked_at = Instant::now();
    let states = store.routes().states(&hosts).await?;
    for in_use in some {
        let route = &in_use.site.route;
        // Whether a pending route is held back depends on other versions as well, which its state does not show.
        if route.held_from.is_none() && states.get(&route.host) == Some(&RouteState::of(route)) {
            in_use.stands_at(asked_at);
        }
    }
    Ok(())
}
