//! When a call is retried, and after which pause. A call must never be repeated if it would then be executed
//! twice.

use std::time::Duration;

/// The pause before the first retry. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(4);
/// The longest `Retry-After` that is waited for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// What repeating a call would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing: the call has an `Idempotency-Key`. It is retried for long, because much may be lost with it.
    Keyed,
    /// Nothing: the call reads or sets a state.
    Harmless,
    /// A second token, invite or account. It is repeated only if it never reached the server.
    Twice,
}

/// Why there is no usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The connection failed, so the server did not get the call.
    Unreached,
    /// The connection broke. The server may have executed the call.
    Broken,
    /// 502, 503 or 504, with the server's `Retry-After`.
    Busy { retry_after: Option<Duration> },
}

impl Repeat {
    fn retries_max(self) -> u32 {
        match self {
            Repeat::Keyed => 7,
            Repeat::Harmless | Repeat::Twice => 2,
        }
    }

    /// The pause before the next retry, or `None` if there is none.
    pub fn pause_after(self, trouble: Trouble, retries: u32) -> Option<Duration> {
        let is_seen = trouble != Trouble::Unreached;
        if retries >= self.retries_max() || (self == Repeat::Twice && is_seen) {
            return None;
        }
        let own = FIRST_PAUSE.saturating_mul(1 << retries).min(PAUSE_MAX);
        match trouble {
            Trouble::Busy { retry_after: Some(retry_after) } if retry_after > RETRY_AFTER_MAX => None,
            Trouble::Busy { retry_after: Some(retry_after) } => Some(own.max(retry_after)),
            _ => Some(own),
        }
    }
}

impl Trouble {
    /// Whether a response of this status is worth a retry.
    pub fn of_status(status: u16, retry_after: Option<&str>) -> Option<Self> {
        let retry_after = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        matches!(status, 502..=504).then_some(Trouble::Busy { retry_after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_pauses_grow_and_attempts_are_limited() {
        let pauses: Vec<_> =
            (0..).map_while(|retries| Repeat::Keyed.pause_after(Trouble::Broken, retries)).collect();
        let millis: Vec<_> = pauses.iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [250, 500, 1000, 2000, 4000, 4000, 4000]);
        assert_eq!(Repeat::Harmless.pause_after(Trouble::Broken, 2), None);
    }

    #[test]
    fn non_idempotent_requests_are_retried_only_if_the_server_was_not_reached() {
        assert!(Repeat::Twice.pause_after(Trouble::Unreached, 0).is_some());
        assert_eq!(Repeat::Twice.pause_after(Trouble::Broken, 0), None);
        assert_eq!(Repeat::Twice.pause_after(Trouble::Busy { retry_after: None }, 0), None);
    }

    #[test]
    fn retry_after_is_respected_unless_it_is_too_long() {
        let busy = |seconds| Trouble::of_status(503, Some(seconds)).unwrap();
        assert_eq!(Repeat::Keyed.pause_after(busy("2"), 0), Some(Duration::from_secs(2)));
        assert_eq!(Repeat::Keyed.pause_after(busy("0"), 0), Some(FIRST_PAUSE));
        assert_eq!(Repeat::Keyed.pause_after(busy("31"), 0), None);
        assert_eq!(
            Trouble::of_status(503, Some("Fri, 01 Jan 2027 00:00:00 GMT")),
            Some(Trouble::Busy { retry_after: None })
        );
        for other in [200, 402, 429, 500, 501] {
            assert_eq!(Trouble::of_status(other, None), None, "{other}");
        }
    }
}
