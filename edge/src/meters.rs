//! The metrics of an edge. Every counter is created once at startup, because finding it in a table for each
//! request would cost more than the counting.

use poem::http::{Method, StatusCode};
use telemetry::{Count, Lookups, RouteMeter};
use tokio::time::Instant;

use crate::find::{Mount, SiteMatch};

const ROLE: &str = "edge";

pub struct Meters {
    by_path: RouteMeter,
    by_name: RouteMeter,
    elsewhere: RouteMeter,
    pub routes: Lookups,
    pub contents: Lookups,
    pub views: Count,
}

/// The kind of a request. Hosts and paths are left out, because they would make the number of time series
/// unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheLookup {
    SiteByPath,
    SiteByName,
    /// A health probe is not counted as a visit.
    Probe,
    #[default]
    Elsewhere,
}

/// Measures a request until its response. A client that disconnects earlier is counted, too: when the stores
/// do not respond, nothing else is.
pub struct WaitingMeter<'r> {
    meters: &'r Meters,
    method: &'r Method,
    pub since: Instant,
    pub requested: CacheLookup,
    status: Option<StatusCode>,
}

impl Meters {
    pub fn new() -> Self {
        Self {
            by_path: RouteMeter::new(ROLE, "/site/{host}/*"),
            by_name: RouteMeter::new(ROLE, "{host}.{domain}/*"),
            elsewhere: RouteMeter::new(ROLE, "-"),
            routes: Lookups::in_cache("routes"),
            contents: Lookups::in_cache("contents"),
            views: telemetry::views(),
        }
    }

    pub fn begin<'r>(&'r self, method: &'r Method) -> WaitingMeter<'r> {
        WaitingMeter {
            meters: self,
            method,
            since: Instant::now(),
            requested: CacheLookup::default(),
            status: None,
        }
    }

    fn route(&self, requested: CacheLookup) -> Option<&RouteMeter> {
        match requested {
            CacheLookup::SiteByPath => Some(&self.by_path),
            CacheLookup::SiteByName => Some(&self.by_name),
            CacheLookup::Probe => None,
            CacheLookup::Elsewhere => Some(&self.elsewhere),
        }
    }
}

impl WaitingMeter<'_> {
    pub fn end(mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for WaitingMeter<'_> {
    fn drop(&mut self) {
        let status = self.status.map_or(telemetry::GONE, |status| status.as_u16());
        if let Some(route) = self.meters.route(self.requested) {
            route.record(self.method.as_str(), status, self.since.elapsed());
        }
    }
}

impl CacheLookup {
    pub fn of(found: &SiteMatch<'_>) -> Self {
        match found {
            SiteMatch::Site(address) if address.mount == Mount::Path => Self::SiteByPath,
            SiteMatch::Site(_) => Self::SiteByName,
            SiteMatch::Alive | SiteMatch::Ready => Self::Probe,
            SiteMatch::Icon => Self::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn disconnected_clients_are_counted_and_probes_are_not() {
        let meters = Meters::new();
        let waiting_for = |requested| {
            let mut waiting = meters.begin(&Method::HEAD);
            waiting.requested = requested;
            waiting
        };
        drop(waiting_for(CacheLookup::SiteByName));
        waiting_for(CacheLookup::SiteByName).end(StatusCode::OK);
        waiting_for(CacheLookup::Probe).end(StatusCode::SERVICE_UNAVAILABLE);
        let metrics = telemetry::Vitals::default().metrics().await.body;
        for status in ["499", "200"] {
            let count = format!("route=\"{{host}}.{{domain}}/*\",status=\"{status}\"}} 1\n");
            assert!(metrics.contains(&count), "{metrics}");
        }
        assert!(!metrics.contains("status=\"503\""), "{metrics}");
    }
}
