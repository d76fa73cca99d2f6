//! What an edge counts. Every counter is made once, before the first visit: a look into a table of them for each visit
//! would cost more than the counting.

use poem::http::{Method, StatusCode};
use telemetry::{Count, Lookups, RouteMeter};
use tokio::time::Instant;

use crate::find::{Found, Mount};

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
pub enum Asked {
    SiteByPath,
    SiteByName,
    /// Whoever probes is no visitor.
    Probe,
    #[default]
    Elsewhere,
}

/// A visitor who waits for an answer. Should they go before it is there, that is counted, too: when the stores answer no
/// more, it is all that there is to count.
pub struct Waiting<'r> {
    meters: &'r Meters,
    method: &'r Method,
    pub since: Instant,
    pub asked: Asked,
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

    pub fn begin<'r>(&'r self, method: &'r Method) -> Waiting<'r> {
        Waiting { meters: self, method, since: Instant::now(), asked: Asked::default(), answer: None }
    }

    fn route(&self, asked: Asked) -> Option<&RouteMeter> {
        match asked {
            Asked::SiteByPath => Some(&self.by_path),
            Asked::SiteByName => Some(&self.by_name),
            Asked::Probe => None,
            Asked::Elsewhere => Some(&self.elsewhere),
        }
    }
}

impl Waiting<'_> {
    pub fn end(mut self, answer: StatusCode) {
        self.answer = Some(answer);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let status = self.answer.map_or(telemetry::GONE, |status| status.as_u16());
        if let Some(route) = self.meters.route(self.asked) {
            route.note(self.method.as_str(), status, self.since.elapsed());
        }
    }
}

impl Asked {
    pub fn of(found: &Found<'_>) -> Self {
        match found {
            Found::Site(address) if address.mount == Mount::Path => Self::SiteByPath,
            Found::Site(_) => Self::SiteByName,
            Found::Alive | Found::Ready => Self::Probe,
            Found::Icon => Self::Elsewhere,
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
        drop(waiting_for(Asked::SiteByName));
        waiting_for(Asked::SiteByName).end(StatusCode::OK);
        waiting_for(Asked::Probe).end(StatusCode::SERVICE_UNAVAILABLE);
        let told = telemetry::Vitals::default().metrics().await.body;
        for status in ["499", "200"] {
            let count = format!("route=\"{{host}}.{{domain}}/*\",status=\"{status}\"}} 1\n");
            assert!(told.contains(&count), "{told}");
        }
        assert!(!told.contains("status=\"503\""), "{told}");
    }
}
