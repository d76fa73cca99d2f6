//! The deadlines of a visit. All are counted from the start of the visit, so that consecutive waits do not
//! add up, even when one of them was for another visitor's failed read.

use std::time::Duration;

use tokio::time::Instant;

/// How long a visitor waits for the stores to start responding.
const STORE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long a visitor waits for the database to confirm a known route. A database that is not overloaded does
/// this in milliseconds.
const KNOWN_ROUTE_WAIT_MAX: Duration = Duration::from_secs(1);
/// How long a visitor waits for a page to be pressed. An unoptimized build takes twenty times as long.
const PRESS_WAIT_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 100 } else { 5 });
/// The time left for the store to start sending a page that could not be pressed.
const UNPRESSED_WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub struct Patience {
    since: Instant,
    permit_wait_max: Duration,
}

impl Patience {
    pub fn new(since: Instant, permit_wait_max: Duration) -> Self {
        Self { since, permit_wait_max }
    }

    /// The start of the visit.
    pub fn since(self) -> Instant {
        self.since
    }

    /// The deadline of a permit.
    pub fn for_permit(self) -> Instant {
        self.since + self.permit_wait_max
    }

    /// The deadline of the first response from a store.
    pub fn for_store(self) -> Instant {
        self.since + STORE_WAIT_MAX
    }

    /// The deadline of the database's confirmation of a known route.
    pub fn for_known_route(self) -> Instant {
        self.since + KNOWN_ROUTE_WAIT_MAX.max(self.permit_wait_max)
    }

    /// The deadline of pressing a page.
    pub fn for_press(self) -> Instant {
        self.since + PRESS_WAIT_MAX
    }

    /// The deadline of the first bytes of a page that is dressed as a stream.
    pub fn for_unpressed(self) -> Instant {
        self.for_press() + UNPRESSED_WAIT_MAX
    }
}
