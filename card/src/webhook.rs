//! Verifies that a call comes from the card processor: its signature over the raw body and its age. A call
//! that fails here must change nothing.

use std::fmt;
use std::time::Duration;

use domain::Time;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

/// How old a signature may be, or how far ahead of our clock.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);
/// A processor that rotates its secret signs with both for a while. More than a few signatures are not
/// legitimate.
const SIGNATURES_MAX: usize = 16;
const HEADER_BYTES_MAX: usize = 4_096;
const TIMESTAMP_DIGITS_MAX: usize = 12;

/// The secret that the card processor signs its calls with. It never appears in output.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

/// Why a call is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSignature {
    #[error("is missing")]
    Missing,
    #[error("must be of the form t=<unix seconds>,v1=<hex>")]
    Malformed,
    #[error("does not verify")]
    Mismatch,
    #[error("is more than 5 minutes off")]
    Untimely,
}

/// A parsed signature header.
struct Signatures<'a> {
    timestamp: &'a str,
    seconds: i64,
    /// Signatures of the known scheme. Others are ignored.
    v1: Vec<&'a str>,
}

impl WebhookSecret {
    pub fn new(secret: &str) -> Self {
        Self(secret.as_bytes().to_vec())
    }

    /// Accepts a body that was signed with this secret within the tolerance, by any of the header's
    /// signatures.
    pub fn verify(&self, header: Option<&str>, body: &[u8], now: Time) -> Result<(), BadSignature> {
        let signatures = Signatures::read(header.ok_or(BadSignature::Missing)?)?;
        let expected = self.sign(signatures.timestamp, body);
        // Compares all signatures in constant time, so that the timing does not reveal which one matches.
        let fits = signatures.v1.iter().fold(Choice::from(0), |fits, signature| {
            fits | hex::decode(signature).map_or(Choice::from(0), |signature| signature.ct_eq(&expected))
        });
        if !bool::from(fits) {
            return Err(BadSignature::Mismatch);
        }
        let off_seconds = now.millis().div_euclid(1_000).abs_diff(signatures.seconds);
        if off_seconds > TOLERANCE.as_secs() { Err(BadSignature::Untimely) } else { Ok(()) }
    }

    fn sign(&self, timestamp: &str, body: &[u8]) -> Vec<u8> {
        // An HMAC accepts a key of any length, so this error cannot occur. An empty result matches no
        // signature of 32 bytes.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return Vec::new() };
        mac.update(timestamp.as_bytes());
        mac.update(b".");
        mac.update(body);
        mac.finalize().into_bytes().to_vec()
    }
}

impl<'a> Signatures<'a> {
    fn read(header: &'a str) -> Result<Self, BadSignature> {
        if header.len() > HEADER_BYTES_MAX {
            return Err(BadSignature::Malformed);
        }
        let (mut timestamps, mut v1) = (Vec::new(), Vec::new());
        for entry in header.split(',') {
            match entry.trim().split_once('=').ok_or(BadSignature::Malformed)? {
                ("t", timestamp) => timestamps.push(timestamp),
                ("v1", signature) => v1.push(signature),
                _ => {}
            }
        }
        // With two timestamps it would be unclear which one was signed.
        let &[timestamp] = timestamps.as_slice() else { return Err(BadSignature::Malformed) };
        if !(1..=SIGNATURES_MAX).contains(&v1.len()) {
            return Err(BadSignature::Malformed);
        }
        Ok(Self { timestamp, seconds: seconds(timestamp).ok_or(BadSignature::Malformed)?, v1 })
    }
}

fn seconds(timestamp: &str) -> Option<i64> {
    let is_plain =
        timestamp.len() <= TIMESTAMP_DIGITS_MAX && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { timestamp.parse().ok() } else { None }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_SECONDS: i64 = 1_790_000_000;
    const NOW: Time = Time::from_millis(NOW_SECONDS * 1_000 + 999);
    const BODY: &[u8] = br#"{"type":"checkout.session.completed"}"#;

    fn secret() -> WebhookSecret {
        WebhookSecret::new("whsec_test")
    }

    fn signature_at(seconds: &str, body: &[u8]) -> String {
        hex::encode(secret().sign(seconds, body))
    }

    fn header_at(seconds: i64) -> String {
        format!("t={seconds},v1={}", signature_at(&seconds.to_string(), BODY))
    }

    fn verify(header: &str) -> Result<(), BadSignature> {
        secret().verify(Some(header), BODY, NOW)
    }

    #[test]
    fn signature_matches_the_processor_documentation() {
        // printf '1790000000.{}' | openssl dgst -sha256 -hmac whsec_test
        let known = "1c2847ad1f8158a1da978f36627ac1f07f7fd027321ac9ad40bccc06743f8396";
        assert_eq!(signature_at("1790000000", b"{}"), known);
    }

    #[test]
    fn signature_timestamp_within_five_minutes_is_accepted() {
        for off in [-300, -299, 0, 299, 300] {
            assert_eq!(verify(&header_at(NOW_SECONDS + off)), Ok(()), "{off}");
        }
        for off in [-1_000_000, -301, 301, 1_000_000] {
            assert_eq!(verify(&header_at(NOW_SECONDS + off)), Err(BadSignature::Untimely), "{off}");
        }
    }

    #[test]
    fn any_of_several_signatures_is_enough_and_other_schemes_are_ignored() {
        let good = signature_at(&NOW_SECONDS.to_string(), BODY);
        let bad = signature_at(&NOW_SECONDS.to_string(), b"another body");
        for header in [
            format!("t={NOW_SECONDS},v1={bad},v1={good}"),
            format!("t={NOW_SECONDS},v1={good},v1={bad}"),
            format!("v0=whatever,v1=no-hex,v1={good},t={NOW_SECONDS},v2=,x==y"),
            format!("t={NOW_SECONDS}, v1={}", good.to_uppercase()),
        ] {
            assert_eq!(verify(&header), Ok(()), "{header}");
        }
        assert_eq!(verify(&format!("t={NOW_SECONDS},v1={bad}")), Err(BadSignature::Mismatch));
        assert_eq!(verify(&format!("t={NOW_SECONDS},v0={good}")), Err(BadSignature::Malformed));
    }

    #[test]
    fn signature_covers_timestamp_dot_and_entire_body() {
        let good = signature_at(&NOW_SECONDS.to_string(), BODY);
        for (seconds, body) in [
            (NOW_SECONDS + 1, BODY.to_vec()),
            (NOW_SECONDS, [BODY, b" "].concat()),
            (NOW_SECONDS, BODY[1..].to_vec()),
            (NOW_SECONDS, Vec::new()),
        ] {
            let header = format!("t={seconds},v1={good}");
            assert_eq!(secret().verify(Some(&header), &body, NOW), Err(BadSignature::Mismatch));
        }
        let another = WebhookSecret::new("whsec_other");
        assert_eq!(another.verify(Some(&header_at(NOW_SECONDS)), BODY, NOW), Err(BadSignature::Mismatch));
    }

    #[test]
    fn hostile_signature_headers_are_malformed() {
        let (now, good) = (NOW_SECONDS, signature_at(&NOW_SECONDS.to_string(), BODY));
        let many = format!(",v1={good}").repeat(SIGNATURES_MAX + 1);
        let long = "x".repeat(HEADER_BYTES_MAX);
        for header in [
            String::new(),
            ",".into(),
            "t".into(),
            format!("t={now}"),
            format!("v1={good}"),
            format!("t={now};v1={good}"),
            format!("t={now},t={now},v1={good}"),
            format!("t=1,t={now},v1={good}"),
            format!("t=+{now},v1={good}"),
            format!("t=-{now},v1={good}"),
            format!("t={now}.0,v1={good}"),
            format!("t= {now},v1={good}"),
            format!("t=,v1={good}"),
            format!("t=99999999999999999999,v1={good}"),
            format!("t={now},v1={good},"),
            format!("t={now},{good}"),
            format!("T={now},V1={good}"),
            format!("t={now}{many}"),
            format!("t={now},v1={good},x={long}"),
        ] {
            assert_eq!(verify(&header), Err(BadSignature::Malformed), "{header}");
        }
        for signature in ["", "00", "zz", &good[..62], &format!("{good}00"), &"0".repeat(64)] {
            assert_eq!(
                verify(&format!("t={now},v1={signature}")),
                Err(BadSignature::Mismatch),
                "{signature}"
            );
        }
        assert_eq!(secret().verify(None, BODY, NOW), Err(BadSignature::Missing));
    }

    #[test]
    fn webhook_secret_is_never_printed() {
        assert_eq!(format!("{:?}", secret()), "WebhookSecret(…)");
    }
}
