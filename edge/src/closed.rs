//! The error pages that visitors see instead of a page.
//!
//! They are self-contained: no scripts, no subresources, and never a byte of the user's content.

use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use domain::{Clock, Time};
use poem::http::{HeaderMap, HeaderValue, StatusCode, header};
use poem::{Body, Response};

/// Why a visitor does not get the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    Malformed,
    Private,
    Missing,
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
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const NOTHING_BUT_STYLE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'");

impl Closed {
    fn status(self) -> StatusCode {
        match self {
            Closed::Malformed => StatusCode::BAD_REQUEST,
            Closed::Private => StatusCode::FORBIDDEN,
            Closed::Missing => StatusCode::NOT_FOUND,
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
            Closed::Missing => NO_PAGE,
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
            Closed::Missing => "It may have been moved or deleted, or the address may be wrong.",
            Closed::MethodNotAllowed => "Published sites support GET and HEAD only.",
            Closed::Expired => {
                "The account that published it was not claimed in time. Its owner can sign up and publish it again."
            }
            Closed::PreconditionFailed => "It has changed since you last loaded it. Reload the page.",
            Closed::RangeNotSatisfiable { .. } => "The requested range is beyond the end of the file.",
            Closed::Misdirected => {
                "The address points to this server, but no page is published under that name."
            }
            Closed::TooManyMisses { .. } => {
                "Too many pages that do not exist were requested from your network. Please try again in a minute."
            }
            Closed::Blocked => "This page was blocked or is waiting for review.",
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

/// Renders the error pages.
pub struct ClosedPages {
    /// Escaped for an attribute.
    base_url: String,
    /// The operator's contact for blocked pages, as HTML.
    contact: Option<String>,
}

impl ClosedPages {
    pub fn new(base_url: &str, contact: Option<&str>) -> Self {
        Self { base_url: escape(base_url), contact: contact.map(link_to_contact) }
    }

    pub fn show(&self, closed: Closed) -> Response {
        let page = Bytes::from(self.page(closed));
        let mut response = Response::builder().status(closed.status()).finish();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HTML);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(page.len()));
        headers.insert(header::CACHE_CONTROL, NO_STORE);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CONTENT_SECURITY_POLICY, NOTHING_BUT_STYLE);
        closed.add_headers(headers);
        response.set_body(Body::from_bytes(page));
        response
    }

    fn page(&self, closed: Closed) -> String {
        let (title, explanation) = (closed.title(), closed.explanation());
        let (status, base_url) = (closed.status().as_u16(), &self.base_url);
        let contact = match (closed, &self.contact) {
            (Closed::Blocked | Closed::Suspended, Some(contact)) => {
                format!("\n<p>Questions about this decision: {contact}</p>")
            }
            _ => String::new(),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<main>\n<p class=\"status\">{status}</p>\n\
             <h1>{title}</h1>\n<p>{explanation}</p>{contact}\n\
             <footer><a href=\"{base_url}/\">Handbill</a></footer>\n</main>\n</body>\n</html>\n"
        )
    }
}

const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#faf9f6;--ink:#1d1c1a;--soft:#6b6860;--line:#dedbd2}\
@media(prefers-color-scheme:dark){:root{--paper:#171614;--ink:#ece9e2;--soft:#9d988c;--line:#35322d}}\
*{box-sizing:border-box}\
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1.5rem;\
background:var(--paper);color:var(--ink);font:1.0625rem/1.6 system-ui,-apple-system,'Segoe UI',sans-serif}\
main{max-width:30rem;width:100%}\
.status{margin:0;color:var(--soft);font-variant-numeric:tabular-nums;letter-spacing:.08em}\
h1{margin:.25rem 0 .75rem;font-size:clamp(1.5rem,6vw,2.125rem);line-height:1.2;text-wrap:balance}\
p{margin:0}\
footer{margin-top:2rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.9375rem}\
a{color:var(--soft)}";

/// A link to an address such as `mailto:abuse@example.com`. Its text omits the `mailto:` scheme.
fn link_to_contact(contact: &str) -> String {
    let text = contact.strip_prefix("mailto:").unwrap_or(contact);
    format!("<a href=\"{}\">{}</a>", escape(contact), escape(text))
}

/// Escapes text for use in an attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
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

    const ALL: [Closed; 13] = [
        Closed::Malformed,
        Closed::Private,
        Closed::Missing,
        Closed::MethodNotAllowed,
        Closed::Expired,
        Closed::PreconditionFailed,
        Closed::RangeNotSatisfiable { size_bytes: 7 },
        Closed::Misdirected,
        Closed::TooManyMisses { retry_after_seconds: 37 },
        Closed::Blocked,
        Closed::Suspended,
        Closed::Unchecked,
        Closed::Unavailable,
    ];

    #[test]
    fn error_pages_are_complete_self_contained_and_not_cached() {
        let pages = ClosedPages::new("http://127.0.0.1:8080", None);
        for closed in ALL {
            let response = pages.show(closed);
            assert_eq!(response.header("cache-control"), Some("no-store"));
            assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
            let page = pages.page(closed);
            assert_eq!(response.header("content-length"), Some(page.len().to_string().as_str()));
            assert!(page.contains("width=device-width") && page.contains("prefers-color-scheme:dark"));
            assert!(!page.contains("<script") && !page.contains("src="), "{page}");
            assert!(page.contains("<a href=\"http://127.0.0.1:8080/\">Handbill</a>"));
        }
    }

    #[test]
    fn error_pages_have_the_right_status_and_headers() {
        let pages = ClosedPages::new("", None);
        let statuses = ALL.map(|closed| pages.show(closed).status().as_u16());
        assert_eq!(statuses, [400, 403, 404, 405, 410, 412, 416, 421, 429, 451, 451, 503, 503]);
        assert_eq!(pages.show(Closed::MethodNotAllowed).header("allow"), Some("GET, HEAD"));
        assert_eq!(pages.show(Closed::Unavailable).header("retry-after"), Some("2"));
        assert_eq!(pages.show(Closed::Unchecked).header("retry-after"), Some("10"));
        let misses = pages.show(Closed::TooManyMisses { retry_after_seconds: 37 });
        assert_eq!(misses.header("retry-after"), Some("37"));
        let range = pages.show(Closed::RangeNotSatisfiable { size_bytes: 7 });
        assert_eq!(range.header("content-range"), Some("bytes */7"));
    }

    #[test]
    fn urls_are_escaped_in_attributes() {
        let page = ClosedPages::new("http://x/\"><script>", None).page(Closed::Missing);
        assert!(!page.contains("<script>"));
    }

    #[test]
    fn only_451_pages_show_the_contact() {
        let pages = ClosedPages::new("", Some("mailto:abuse@example.com?subject=\"a\"&b"));
        let link = "<a href=\"mailto:abuse@example.com?subject=&quot;a&quot;&amp;b\">abuse@example.com?subject=&quot;a&quot;&amp;b</a>";
        for closed in ALL {
            let is_451 = matches!(closed, Closed::Blocked | Closed::Suspended);
            assert_eq!(pages.page(closed).contains(link), is_451, "{closed:?}");
        }
        assert!(!ClosedPages::new("", None).page(Closed::Blocked).contains("Questions"));
    }

    #[test]
    fn errors_are_logged_at_most_once_a_second() {
        let troubles = Troubles::default();
        let said = [5000, 5500, 5999, 6000, 6001].map(|millis| troubles.may_log(Time::from_millis(millis)));
        assert_eq!(said, [true, false, false, true, false]);
    }
}
