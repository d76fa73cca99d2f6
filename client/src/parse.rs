//! Parses arguments. Each error says what a valid value looks like.

use std::time::Duration;

use domain::{Micro, Slug, Time};
use reqwest::Url;

pub fn slug(text: &str) -> Result<Slug, String> {
    text.parse().map_err(|_| "a slug has 3 to 40 lowercase letters, digits and hyphens".to_owned())
}

/// US dollars with or without the sign: `0.50`, `$0.50`.
pub fn dollars(text: &str) -> Result<Micro, String> {
    Micro::parse_usd(text.strip_prefix('$').unwrap_or(text))
        .filter(|amount| !amount.is_negative())
        .ok_or_else(|| "expected US dollars with at most six decimals, such as 0.50".to_owned())
}

/// The base URL of a Handbill server. Paths are appended to it, so it must not end in a slash.
pub fn address(text: &str) -> Result<Url, String> {
    let fault = |fault: &str| format!("{fault}; expected an address such as https://handbill.example");
    let url: Url = text.parse().map_err(|_| fault("invalid address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(fault("only http and https are supported"));
    }
    // Messages contain the address, so it must not hold a secret.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault("the address must not contain a username or password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(fault("the address must not contain a query or fragment"));
    }
    Ok(url)
}

pub fn moment(text: &str) -> Result<Time, String> {
    Time::parse_rfc3339(text).ok_or_else(|| "expected a time such as 2030-01-31T12:00:00Z".to_owned())
}

pub fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "expected a duration such as 30m, 12h or 7d".to_owned())
}

pub fn idempotency_key(text: &str) -> Result<String, String> {
    let fits = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| text.to_owned())
        .ok_or_else(|| "expected 1 to 255 printable ASCII characters without spaces".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_address_must_be_http_without_credentials() {
        for good in ["http://127.0.0.1:8080", "https://handbill.example/", "https://example.org/handbill"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in ["handbill.example", "ftp://example.org", "https://ada:pw@example.org", "http://a/?b", ""]
        {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn dollars_are_exact_and_never_negative() {
        assert_eq!(dollars("0.50"), Ok(Micro::new(500_000)));
        assert_eq!(dollars("$5"), Ok(Micro::new(5_000_000)));
        for bad in ["-1", "1e3", "", "$", "0.0000001", "half"] {
            assert!(dollars(bad).is_err(), "{bad}");
        }
    }
}
