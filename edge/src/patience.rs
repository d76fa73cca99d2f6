//! Patience: until when a visit waits. Each moment is counted from the begin of the visit, so that what is waited for one
//! after the other, be it only because another visitor fetched it in vain, does not add up.

use std::time::Duration;

use tokio::time::Instant;

/// A visitor waits no longer than this for the stores to begin to answer.
const STORE_WAIT_MAX: Duration = Duration::from_secs(10);
/// Nor longer than this for the database to confirm a route that is known already: a database that is not overloaded does
/// that in milliseconds.
const KNOWN_ROUTE_WAIT_MAX: Duration = Duration::from_secs(1);
/// Nor longer than this for a page to be pressed. A build that is not optimized takes twenty times as long for it.
const PRESS_WAIT_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 100 } else { 5 });
/// What is left for the store to begin with a page that could not be pressed.
const UNPRESSED_WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub struct Patience {
    since: Instant,
    turn_wait_max: Duration,
}

impl Patience {
    pub fn new(since: Instant, turn_wait_max: Duration) -> Self {
        Self { since, turn_wait_max }
    }

    /// Until when a turn must have come.
    pub fn for_turn(self) -> Instant {
        self.since + self.turn_wait_max
    }

    /// Until when a store must have begun to answer.
    pub fn for_store(self) -> Instant {
        self.since + STORE_WAIT_MAX
    }

    /// Until when the database must have confirmed a route that is known already.
    pub fn for_known_route(self) -> Instant {
        self.since + KNOWN_ROUTE_WAIT_MAX.max(self.turn_wait_max)
    }

    /// Until when a page must be pressed.
    pub fn for_press(self) -> Instant {
        self.since + PRESS_WAIT_MAX
    }

    /// Until when the store must have begun with a page that is dressed on its way.
    pub fn for_unpressed(self) -> Instant {
        self.for_press() + UNPRESSED_WAIT_MAX
    }
}
