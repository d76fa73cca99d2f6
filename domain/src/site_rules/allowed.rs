//! The response headers that a site may set.

use super::cache;
use super::lines::{LineFault, shown};

/// Besides those that begin with one of `FAMILIES`.
const ALLOWED: [&str; 9] = [
    "access-control-allow-origin",
    "cache-control",
    "content-disposition",
    "content-language",
    POLICY,
    "link",
    "permissions-policy",
    "referrer-policy",
    "x-frame-options",
];
const FAMILIES: [&str; 2] = ["cross-origin-", "x-"];
pub(super) const POLICY: &str = "content-security-policy";
pub(super) const CACHE: &str = "cache-control";

/// Headers of the `x-` family that this service sets, or that proxies and other servers act on.
const RESERVED: [&str; 6] =
    ["x-content-type-options", "x-real-ip", "x-reproxy-url", "x-request-id", "x-rewrite-url", "x-varnish"];
const RESERVED_FAMILIES: [&str; 11] = [
    "x-accel-",
    "x-archive-",
    "x-envoy-",
    "x-forwarded",
    "x-handbill-",
    "x-http-",
    "x-lighttpd-",
    "x-original-",
    "x-payment",
    "x-proxy-",
    "x-sendfile",
];

const HINT: &str = "use Cache-Control, Content-Security-Policy, X-Frame-Options, Referrer-Policy, \
                    Permissions-Policy, Cross-Origin-*, X-Robots-Tag, Link, Access-Control-Allow-Origin, \
                    Content-Disposition, Content-Language or an X-* header of your own";

/// Reports to other hosts would carry what the policy of this service keeps on the page.
const REPORTING: [&str; 2] = ["report-uri", "report-to"];

/// `name` is in lower case.
pub(super) fn check_name(name: &str) -> Result<(), LineFault> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(LineFault::new(
            format!("{} is not a header name", shown(name)),
            "write it as: X-Name: value",
        ));
    }
    let begins = |family: &&str| name.starts_with(*family) && name.len() > family.len();
    let is_allowed = ALLOWED.contains(&name) || FAMILIES.iter().any(begins);
    if !is_allowed {
        return Err(LineFault::new(format!("a site cannot set the header {}", shown(name)), HINT));
    }
    if RESERVED.contains(&name) || RESERVED_FAMILIES.iter().any(|family| name.starts_with(family)) {
        let message = format!("the header {} is reserved for servers", shown(name));
        return Err(LineFault::new(message, "use another name"));
    }
    Ok(())
}

/// The value as it may be sent, and what is wrong with the part of it that is left out.
pub(super) fn check_value(name: &str, value: &str) -> Result<(String, Option<LineFault>), LineFault> {
    if value.is_empty() {
        return Err(LineFault::new(format!("the header {} has no value", shown(name)), "add a value"));
    }
    if !value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        let message = format!("the value of {} has characters beyond ASCII", shown(name));
        return Err(LineFault::new(message, "percent-encode them"));
    }
    match name {
        POLICY => without_reporting(value),
        CACHE => cache::check(value).map(|fault| (value.to_owned(), fault)),
        _ => Ok((value.to_owned(), None)),
    }
}

/// A policy can only be stricter than that of this service, because browsers apply both.
fn without_reporting(policies: &str) -> Result<(String, Option<LineFault>), LineFault> {
    let is_kept = |directive: &&str| {
        let name = directive.split_ascii_whitespace().next().unwrap_or_default();
        !name.is_empty() && !REPORTING.iter().any(|reporting| name.eq_ignore_ascii_case(reporting))
    };
    let count = |policies: &str| policies.split([',', ';']).filter(|part| !part.trim().is_empty()).count();
    let kept = policies.split(',').map(|policy| {
        let directives: Vec<&str> = policy.split(';').filter(is_kept).map(str::trim).collect();
        directives.join("; ")
    });
    let kept: Vec<String> = kept.filter(|policy| !policy.is_empty()).collect();
    let kept = kept.join(", ");
    let fault = || LineFault::new("a site's policy cannot send reports", "remove report-uri and report-to");
    match count(&kept) {
        0 => Err(fault()),
        kept_count => Ok((kept, (kept_count < count(policies)).then(fault))),
    }
}
