//! What an edge counts. Every counter is made once, before the first visit: a look into a table of them for each visit
//! would cost more than the counting.

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

/// What a request turned out to be for. No host and no path: of those there are as many as anybody likes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheLookup {
    SiteByPath,
    SiteByName,
    /// Whoever probes is no visitor.
    Probe,
    #[default]
    Elsewhere,
}

/// A visitor who waits for an answer. Should they go before it is there, that is counted, too: when the stores answer no
/// more, it is all that there is to count.
pub struct WaitingMeter<'r> {
    meters: &'r Meters,
    method: &'r Method,
    pub since: Instant,
    pub asked: CacheLookup,
    answer: Option<StatusCode>,
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
            asked: CacheLookup::default(),
            answer: None,
        }
    }

    fn route(&self, asked: CacheLookup) -> Option<&RouteMeter> {
        match asked {
            CacheLookup::SiteByPath => Some(&self.by_path),
            CacheLookup::SiteByName => Some(&self.by_name),
            CacheLookup::Probe => None,
            CacheLookup::Elsewhere => Some(&self.elsewhere),
        }
    }
}

impl WaitingMeter<'_> {
    pub fn end(mut self, answer: StatusCode) {
        self.answer = Some(answer);
    }
}

impl Drop for WaitingMeter<'_> {
    fn drop(&mut self) {
        let status = self.answer.map_or(telemetry::GONE, |status| status.as_u16());
        if let Some(route) = self.meters.route(self.asked) {
            route.note(self.method.as_str(), status, self.since.elapsed());
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
    async fn who_goes_before_the_answer_is_counted_and_who_probes_is_not() {
        let meters = Meters::new();
        let waiting_for = |asked| {
            let mut waiting = meters.begin(&Method::HEAD);
            waiting.asked = asked;
            waiting
        };
        drop(waiting_for(CacheLookup::SiteByName));
        waiting_for(CacheLookup::SiteByName).end(StatusCode::OK);
        waiting_for(CacheLookup::Probe).end(StatusCode::SERVICE_UNAVAILABLE);
        let told = telemetry::Vitals::default().metrics().await.body;
        for status in ["499", "200"] {
            let count = format!("route=\"{{host}}.{{domain}}/*\",status=\"{status}\"}} 1\n");
            assert!(told.contains(&count), "{told}");
        }
        assert!(!told.contains("status=\"503\""), "{told}");
    }
}
