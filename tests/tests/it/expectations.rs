//! Expectations that many test files share.

use domain::Time;
use handbill_tests::{Agent, Human, LedgerEntry, Mode, Process, Reply, Visitor, World, fields_of};

pub const PAGE: &str =
    "<!doctype html><html><head><title>A page</title></head><body><h1>Hello</h1></body></html>";

/// A password for any person of the tests.
pub const PASSWORD: &str = "correct horse battery";

/// A page with only this text.
pub fn page_saying(text: &str) -> String {
    format!("<!doctype html><html><body><p>{text}</p></body></html>")
}

/// The time of a timestamp in a response, in milliseconds from now.
#[track_caller]
pub fn millis_from_now(timestamp: &str) -> i64 {
    assert!(timestamp.ends_with('Z'), "not in UTC with Z: {timestamp}");
    let at = Time::parse_rfc3339(timestamp).expect("an RFC 3339 timestamp");
    let now = handbill_tests::system_time();
    at.millis() - i64::try_from(now.as_millis()).expect("a time before the end of time")
}

/// Expects the page as published, apart from the badge of a provisional account before `</body>`.
#[track_caller]
pub fn assert_serves(reply: &Reply, html: &str) {
    assert_eq!(reply.status, 200, "{reply:?}");
    let served = reply.text();
    let (before, after) = html.split_at(html.rfind("</body>").expect("a page with a body"));
    assert!(served.starts_with(before) && served.ends_with(after), "not the page: {reply:?}");
    assert!(served.len() > html.len(), "the badge is missing: {reply:?}");
}

/// A refused publish leaves nothing: no artifact, no use of the allowance, no charge, no storage.
pub async fn assert_untouched(agent: &Agent) {
    assert_eq!(agent.artifacts().await.expect(200).json(), serde_json::json!([]));
    let usage = agent.usage().await.expect(200);
    assert_eq!(usage.integer("publishes.used"), 0, "{usage:?}");
    assert_eq!(usage.integer("storage.bytes"), 0, "{usage:?}");
    assert_eq!(usage.number("credits_usd"), 0.0, "{usage:?}");
}

/// A site's front page as a visitor gets it.
pub async fn front_page(visitor: &Visitor, published: &Reply) -> Reply {
    visitor.open(&published.string("url")).await
}

/// One row of a ledger.
pub fn entry(reason: impl Into<String>, delta_micro: i64) -> LedgerEntry {
    LedgerEntry { reason: reason.into(), delta_micro }
}

/// The ledger of a world with one account, which must be sound: the account's displayed balance is the sum of
/// its rows, and no reason occurs twice.
pub async fn sound_ledger(world: &World, agent: &Agent) -> Vec<LedgerEntry> {
    let ledger = world.ledger().await;
    let balance_usd = agent.usage().await.expect(200).number("credits_usd");
    let sum_micro: i64 = ledger.iter().map(|entry| entry.delta_micro).sum();
    assert_eq!((balance_usd * 1e6).round() as i64, sum_micro, "{ledger:?}");
    let mut reasons: Vec<_> = ledger.iter().map(|entry| &entry.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    assert_eq!(reasons.len(), ledger.len(), "a reason occurs twice: {ledger:?}");
    ledger
}

/// The receipt of a call that was paid inline, which is the same in the body and in the header.
#[track_caller]
pub fn receipt_of(paid: &Reply, amount_usd: &str) -> serde_json::Value {
    let receipt = paid.at("receipt");
    assert_eq!(fields_of(&receipt), ["amount_usd", "id", "rail", "settled_at"]);
    assert_eq!(receipt["rail"], "dev");
    assert_eq!(receipt["amount_usd"].to_string(), amount_usd);
    assert!(millis_from_now(receipt["settled_at"].as_str().unwrap()).abs() < 60_000, "{receipt}");
    let header: serde_json::Value =
        serde_json::from_str(paid.header("X-PAYMENT-RESPONSE")).expect("compact JSON");
    assert_eq!(header, receipt);
    receipt
}

/// A free call has no receipt.
#[track_caller]
pub fn assert_unpaid(free: &Reply) {
    assert_eq!(free.json().get("receipt"), None, "{free:?}");
    assert_eq!(free.header("X-PAYMENT-RESPONSE"), "", "{free:?}");
}

/// A persona at two processes of the control plane, if there can be two.
pub async fn at_two_processes<P: Clone>(
    world: &World,
    persona: &P,
    at: impl Fn(&P, &Process) -> P,
) -> [P; 2] {
    match world.mode() {
        Mode::Embedded => [persona.clone(), persona.clone()],
        Mode::Production => [persona.clone(), at(persona, &world.start_api().await)],
    }
}

/// Opens the result of a publish on the front page, as a browser does.
pub async fn open_result(human: &Human, published: &Reply) -> Reply {
    assert_eq!(published.status, 303, "{published:?}");
    assert_eq!(published.header("Cache-Control"), "no-store");
    let result = human.get(published.header("Location")).header("Accept", "text/html").await;
    assert_page(&result, 200);
    result
}

/// One of our own pages: it has the common script and no script in the page, loads nothing from other sites,
/// and is not cached.
#[track_caller]
pub fn assert_page(reply: &Reply, status: u16) {
    assert_eq!(reply.status, status, "{reply:?}");
    assert_eq!(reply.header("Content-Type"), "text/html; charset=utf-8", "{reply:?}");
    assert_eq!(reply.header("Cache-Control"), "no-store");
    assert_eq!(reply.header("X-Content-Type-Options"), "nosniff");
    let policy = reply.header("Content-Security-Policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{reply:?}");
    assert!(policy.contains("script-src 'self'; ") && !policy.contains("unsafe"), "{reply:?}");
    let (text, common) = (reply.text(), "<script src=\"/assets/page.js\" defer></script>");
    assert_eq!(text.matches(common).count(), 1, "{reply:?}");
    assert_eq!(text.matches("<script").count(), text.matches("<script src=\"/assets/").count(), "{reply:?}");
}
