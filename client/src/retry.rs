//! When a call is sent again, and after what pause. Nothing may be sent twice that would then be done twice.

use std::time::Duration;

/// The pause before the first repetition; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(4);
/// A server that asks for a longer wait than this is not waited for.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(30);

/// What a second sending of a call would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing: the call carries an `Idempotency-Key`. Much may be lost with it, so it is tried for long.
    Keyed,
    /// Nothing: the call reads, or sets what is set then.
    Harmless,
    /// A second token, invite or account: only what never reached the server is sent again.
    Twice,
}

/// Why there is no answer that could be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No connection came about, so the call was not seen.
    Unreached,
    /// The connection broke; what the server has done nobody knows.
    Broken,
    /// 502, 503 or 504, with the wait that the server asked for.
    Busy { asked: Option<Duration> },
}

impl Repeat {
    fn retries_max(self) -> u32 {
        match self {
            Repeat::Keyed => 7,
            Repeat::Harmless | Repeat::Twice => 2,
        }
    }

    /// How long to wait before the call is sent again after so many retries; `None` when it is not.
    pub fn pause_after(self, trouble: Trouble, retries: u32) -> Option<Duration> {
        let is_seen = trouble != Trouble::Unreached;
        if retries >= self.retries_max() || (self == Repeat::Twice && is_seen) {
            return None;
        }
        let own = FIRST_PAUSE.saturating_mul(1 << retries).min(PAUSE_MAX);
        match trouble {
            Trouble::Busy { asked: Some(asked) } if asked > ASKED_WAIT_MAX => None,
            Trouble::Busy { asked: Some(asked) } => Some(own.max(asked)),
            _ => Some(own),
        }
    }
}

impl Trouble {
    /// Whether an answer of this status is worth another try.
    pub fn of_status(status: u16, retry_after: Option<&str>) -> Option<Self> {
        let asked = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        matches!(status, 502..=504).then_some(Trouble::Busy { asked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_the_tries_end() {
        let pauses: Vec<_> =
            (0..).map_while(|retries| Repeat::Keyed.pause_after(Trouble::Broken, retries)).collect();
        let millis: Vec<_> = pauses.iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [250, 500, 1000, 2000, 4000, 4000, 4000]);
        assert_eq!(Repeat::Harmless.pause_after(Trouble::Broken, 2), None);
    }

    #[test]
    fn what_would_be_done_twice_is_sent_again_only_when_it_was_not_seen() {
        assert!(Repeat::Twice.pause_after(Trouble::Unreached, 0).is_some());
        assert_eq!(Repeat::Twice.pause_after(Trouble::Broken, 0), None);
        assert_eq!(Repeat::Twice.pause_after(Trouble::Busy { asked: None }, 0), None);
    }

    #[test]
    fn the_wait_that_the_server_asks_for_is_kept_unless_it_is_too_long() {
        let busy = |seconds| Trouble::of_status(503, Some(seconds)).unwrap();
        assert_eq!(Repeat::Keyed.pause_after(busy("2"), 0), Some(Duration::from_secs(2)));
        assert_eq!(Repeat::Keyed.pause_after(busy("0"), 0), Some(FIRST_PAUSE));
        assert_eq!(Repeat::Keyed.pause_after(busy("31"), 0), None);
        assert_eq!(
            Trouble::of_status(503, Some("Fri, 01 Jan 2027 00:00:00 GMT")),
            Some(Trouble::Busy { asked: None })
        );
        for other in [200, 402, 429, 500, 501] {
            assert_eq!(Trouble::of_status(other, None), None, "{other}");
        }
    }
}
