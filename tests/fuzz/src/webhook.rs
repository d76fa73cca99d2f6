//! Calls of the card processor: a signature header in the first line, then an event. In the header `{sig}`
//! becomes the valid signature of `{now}` and the event, and `{now}` the time, so that variations around a
//! valid signature are tested. Only signed events are accepted, no event that was changed after signing is,
//! and the values of an event are within bounds.

use card::{BadSignature, CardEvent, Livemode, NotJson, PaidCheckout, WebhookSecret};
use domain::{Micro, Time};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

const SECRET: &str = "whsec_of_the_judge_and_nobody_else";
const NOW_SECONDS: i64 = 1_790_000_000;
const NOW: Time = Time::from_millis(NOW_SECONDS * 1_000 + 500);
const TOLERANCE_SECONDS: i64 = 300;
const CENTS_MAX: u32 = 100_000_000;

pub fn judge(input: &[u8]) -> bool {
    let line_ends_at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (header, body) = input.split_at(line_ends_at);
    let body = body.strip_prefix(b"\n").unwrap_or(body);
    let is_believed = std::str::from_utf8(header).is_ok_and(|header| judge_header(header, body));
    judge_changes(input, body);
    is_believed | judge_event(body)
}

fn judge_header(template: &str, body: &[u8]) -> bool {
    let true_signature = hex::encode(sign(SECRET, &NOW_SECONDS.to_string(), body));
    let header = template.replace("{sig}", &true_signature).replace("{now}", &NOW_SECONDS.to_string());
    let verified = verify(&header, body);
    assert_eq!(verified, opinion(&header, body), "{header:?}");
    verified.is_ok()
}

/// The expected result for a header, by a second implementation.
fn opinion(header: &str, body: &[u8]) -> Result<(), BadSignature> {
    let entries: Option<Vec<_>> = header.split(',').map(|entry| entry.trim().split_once('=')).collect();
    let entries = entries.filter(|_| header.len() <= 4_096).ok_or(BadSignature::Malformed)?;
    let named = |name: &str| entries.iter().filter(|entry| entry.0 == name).map(|entry| entry.1).collect();
    let (times, signatures): (Vec<&str>, Vec<&str>) = (named("t"), named("v1"));
    let is_number = |text: &&str| (1..=12).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit());
    let Some(time) = times.first().filter(|text| times.len() == 1 && is_number(text)) else {
        return Err(BadSignature::Malformed);
    };
    if signatures.is_empty() || signatures.len() > 16 {
        return Err(BadSignature::Malformed);
    }
    let expected = hex::encode(sign(SECRET, time, body));
    if !signatures.iter().any(|signature| signature.eq_ignore_ascii_case(&expected)) {
        return Err(BadSignature::Mismatch);
    }
    let seconds: i64 = time.parse().unwrap();
    let is_timely = (seconds - NOW_SECONDS).abs() <= TOLERANCE_SECONDS;
    if is_timely { Ok(()) } else { Err(BadSignature::Untimely) }
}

/// A signed call is accepted, and no change of it is. The input decides which byte is changed, and how.
fn judge_changes(input: &[u8], body: &[u8]) {
    let time = NOW_SECONDS.to_string();
    let signature = hex::encode(sign(SECRET, &time, body));
    let header = format!("t={time},v1={signature}");
    assert_eq!(verify(&header, body), Ok(()));
    let foreign = hex::encode(sign("whsec_of_another", &time, body));
    assert_eq!(verify(&format!("t={time},v1={foreign}"), body), Err(BadSignature::Mismatch));
    let sum =
        input.iter().fold(input.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let bit = 1_u8 << (sum % 8);
    let mut changed = body.to_vec();
    match changed.len() {
        0 => changed.push(bit),
        length => changed[sum / 8 % length] ^= bit,
    }
    assert_eq!(verify(&header, &changed), Err(BadSignature::Mismatch));
    let other_time = NOW_SECONDS + 1 + i64::from(bit);
    assert_eq!(verify(&format!("t={other_time},v1={signature}"), body), Err(BadSignature::Mismatch));
    let mut forged = sign(SECRET, &time, body);
    forged[sum / 8 % 32] ^= bit;
    assert_eq!(verify(&format!("t={time},v1={}", hex::encode(forged)), body), Err(BadSignature::Mismatch));
}

fn judge_event(body: &[u8]) -> bool {
    let read = read_event(body);
    let parsed = serde_json::from_slice::<Value>(body);
    assert_eq!(read.is_err(), parsed.is_err());
    let (Ok(event), Ok(parsed)) = (read, parsed) else { return false };
    assert_eq!(read_event(parsed.to_string().as_bytes()), Ok(event.clone()), "written again it is another");
    match event {
        CardEvent::Paid(paid) => {
            let cents = paid.amount.cents().unwrap();
            assert!((1..=CENTS_MAX).contains(&cents) && paid.amount > Micro::ZERO);
            assert_eq!(read_event(&written(&paid, cents)), Ok(CardEvent::Paid(paid.clone())));
            is_loggable(&paid.session)
        }
        CardEvent::Reversed(reversal) => is_loggable(&reversal.id) && is_loggable(&reversal.payment_intent),
        CardEvent::Unusable { id, .. } => is_loggable(&id),
        CardEvent::Other => false,
    }
}

fn read_event(body: &[u8]) -> Result<CardEvent, NotJson> {
    CardEvent::read(body, Livemode::default())
}

fn is_loggable(session: &str) -> bool {
    assert!((1..=255).contains(&session.len()) && session.bytes().all(|byte| byte.is_ascii_graphic()));
    true
}

fn written(paid: &PaidCheckout, cents: u32) -> Vec<u8> {
    let checkout = json!({
        "id": paid.session,
        "payment_status": "paid",
        "amount_total": cents,
        "currency": "usd",
        "payment_intent": paid.payment_intent,
        "metadata": { "account_id": paid.account },
    });
    json!({ "type": "checkout.session.completed", "data": { "object": checkout } }).to_string().into_bytes()
}

fn verify(header: &str, body: &[u8]) -> Result<(), BadSignature> {
    WebhookSecret::new(SECRET).verify(Some(header), body, NOW)
}

fn sign(secret: &str, time: &str, body: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(&[time.as_bytes(), b".", body].concat());
    mac.finalize().into_bytes().to_vec()
}
