//! Why a visitor does not get a page: the status, the headers and the text of each error page.

#[cfg(test)]
mod glyphs;
mod page;

use std::sync::atomic::{AtomicI64, Ordering};

use domain::{Clock, Time};
use poem::http::{HeaderMap, HeaderValue, StatusCode, header};

pub use page::{ClosedPages, escape};

/// Why a visitor does not get the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    Malformed,
    Private,
    Missing,
    /// The site has no such file. The front page is this many folders up.
    NoFile {
        depth: u16,
    },
    /// The root of the edge's own address, which has no page.
    Root,
    MethodNotAllowed,
    Expired,
    PreconditionFailed,
    RangeNotSatisfiable {
        size_bytes: u64,
    },
    Misdirected,
    /// The visitor's network has requested too many sites that do not exist.
    TooManyMisses {
        retry_after_seconds: u64,
    },
    Blocked,
    /// The operator has suspended the account.
    Suspended,
    /// The version waits for its scan, and the scan is late.
    Unchecked,
    /// The database or the blob store does not respond.
    Unavailable,
}

/// Why a request failed: an expected refusal or an internal error.
#[derive(Debug)]
pub enum Failure {
    Closed(Closed),
    Trouble(anyhow::Error),
}

impl From<Closed> for Failure {
    fn from(closed: Closed) -> Self {
        Self::Closed(closed)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Trouble(error)
    }
}

/// The title of the page for hosts that do not exist. Monitoring identifies this service by it.
pub const NO_PAGE: &str = "There is no page here";

const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");
/// A scan takes seconds at most, but others may be queued before it.
const RETRY_AFTER_CHECK: HeaderValue = HeaderValue::from_static("10");
const ALLOW: HeaderValue = HeaderValue::from_static("GET, HEAD");

impl Closed {
    fn status(self) -> StatusCode {
        match self {
            Closed::Malformed => StatusCode::BAD_REQUEST,
            Closed::Private => StatusCode::FORBIDDEN,
            Closed::Missing | Closed::NoFile { .. } | Closed::Root => StatusCode::NOT_FOUND,
            Closed::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Closed::Expired => StatusCode::GONE,
            Closed::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Closed::RangeNotSatisfiable { .. } => StatusCode::RANGE_NOT_SATISFIABLE,
            Closed::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Closed::TooManyMisses { .. } => StatusCode::TOO_MANY_REQUESTS,
            Closed::Blocked | Closed::Suspended => StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS,
            Closed::Unchecked | Closed::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Closed::Malformed => "Bad request",
            Closed::Private => "This page is private",
            Closed::Missing | Closed::NoFile { .. } => NO_PAGE,
            Closed::Root => "This server publishes pages",
            Closed::MethodNotAllowed => "Method not allowed",
            Closed::Expired => "This page has expired",
            Closed::PreconditionFailed => "This page has changed",
            Closed::RangeNotSatisfiable { .. } => "Range not available",
            Closed::Misdirected => "This name is not served here",
            Closed::TooManyMisses { .. } => "Too many requests",
            Closed::Blocked => "This page has been blocked",
            Closed::Suspended => "This page is not available",
            Closed::Unchecked => "This page is being checked",
            Closed::Unavailable => "This page is temporarily unavailable",
        }
    }

    fn explanation(self) -> &'static str {
        match self {
            Closed::Malformed => "The request must name exactly one host.",
            Closed::Private => "You need its full signed link to open it. Ask the person who shared it.",
            Closed::Root => {
                "There is no page here. Every published page has an address of its own, which its author shares."
            }
            Closed::Missing | Closed::NoFile { .. } => {
                "It may have been moved or deleted, or the address may be wrong."
            }
            Closed::MethodNotAllowed => "Published sites support GET and HEAD only.",
            Closed::Expired => {
                "The account that published it was not claimed in time. Its author can sign up and publish it again."
            }
            Closed::PreconditionFailed => "It has changed since you last loaded it. Reload the page.",
            Closed::RangeNotSatisfiable { .. } => "The requested range is beyond the end of the file.",
            Closed::Misdirected => {
                "The address points to this server, but no page is published under that name."
            }
            Closed::TooManyMisses { .. } => {
                "Too many pages that do not exist were requested from your network. Please try again in a minute."
            }
            Closed::Blocked => "A scan or a moderator blocked it, or a moderator has to approve it first.",
            Closed::Suspended => "The account that published it is suspended.",
            Closed::Unchecked => {
                "Every new page is checked for abuse, and the check is taking longer than usual. Please try again in a moment."
            }
            Closed::Unavailable => "Something went wrong on our side. Please try again in a moment.",
        }
    }

    fn add_headers(self, headers: &mut HeaderMap) {
        match self {
            Closed::MethodNotAllowed => {
                headers.insert(header::ALLOW, ALLOW);
            }
            Closed::Unchecked => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER_CHECK);
            }
            Closed::Unavailable => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            Closed::TooManyMisses { retry_after_seconds } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after_seconds));
            }
            Closed::RangeNotSatisfiable { size_bytes } => {
                if let Ok(value) = HeaderValue::try_from(format!("bytes */{size_bytes}")) {
                    headers.insert(header::CONTENT_RANGE, value);
                }
            }
            _ => {}
        }
    }
}

/// Logs serving errors at most once a second, because an outage affects every visitor.
#[derive(Default)]
pub struct Troubles {
    logged_at_millis: AtomicI64,
}

const LOG_EVERY_MILLIS: i64 = 1000;

impl Troubles {
    /// Logs the error and returns the page that the visitor sees.
    pub fn report(&self, error: &anyhow::Error, clock: &Clock) -> Closed {
        if self.may_log(clock.now()) {
            let is_outage = store::is_outage(error);
            tracing::error!(
                error = format!("{error:#}"),
                store.is_outage = is_outage,
                "a page cannot be served"
            );
        }
        Closed::Unavailable
    }

    fn may_log(&self, now: Time) -> bool {
        let logged_at = self.logged_at_millis.load(Ordering::Relaxed);
        (now.millis() - logged_at).abs() >= LOG_EVERY_MILLIS
            && self
                .logged_at_millis
                .compare_exchange(logged_at, now.millis(), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_logged_at_most_once_a_second() {
        let troubles = Troubles::default();
        let said = [5000, 5500, 5999, 6000, 6001].map(|millis| troubles.may_log(Time::from_millis(millis)));
        assert_eq!(said, [true, false, false, true, false]);
    }
}
