//! What many chapters look for.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Time;
use handbill_tests::{Agent, Reply, Visitor};

pub const PAGE: &str =
    "<!doctype html><html><head><title>A page</title></head><body><h1>Hello</h1></body></html>";

/// A page that says this and nothing else.
pub fn page_saying(text: &str) -> String {
    format!("<!doctype html><html><body><p>{text}</p></body></html>")
}

/// The moment that a timestamp of the wire names, in milliseconds from now.
#[track_caller]
pub fn millis_from_now(timestamp: &str) -> i64 {
    assert!(timestamp.ends_with('Z'), "not in UTC with Z: {timestamp}");
    let at = Time::parse_rfc3339(timestamp).expect("an RFC 3339 timestamp");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    at.millis() - i64::try_from(now.as_millis()).expect("a time before the end of time")
}

/// The page as published, apart from the badge of a provisional account before `</body>`.
#[track_caller]
pub fn assert_serves(reply: &Reply, html: &str) {
    assert_eq!(reply.status, 200, "{reply:?}");
    let served = reply.text();
    let (before, after) = html.split_at(html.rfind("</body>").expect("a page with a body"));
    assert!(served.starts_with(before) && served.ends_with(after), "not the page: {reply:?}");
    assert!(served.len() > html.len(), "the badge is missing: {reply:?}");
}

/// Nothing of a refused publish is left: no artifact, no use of the allowance, no charge, no storage.
pub async fn assert_untouched(agent: &Agent) {
    assert_eq!(agent.artifacts().await.expect(200).json(), serde_json::json!([]));
    let usage = agent.usage().await.expect(200);
    assert_eq!(usage.integer("publishes.used"), 0, "{usage:?}");
    assert_eq!(usage.integer("storage.bytes"), 0, "{usage:?}");
    assert_eq!(usage.number("credits_usd"), 0.0, "{usage:?}");
}

/// What a visitor sees of a site's front page.
pub async fn front_page(visitor: &Visitor, published: &Reply) -> Reply {
    visitor.open(&published.string("url")).await
}
