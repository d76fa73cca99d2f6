//! The files `_redirects` and `_headers`, and a path of their site. A rule within the site never leads out of
//! it, no rule takes the signature elsewhere, and no header loosens what protects visitors.

use domain::site_rules::{
    CacheTerms, Destination, FileAtPath, RedirectMatch, RequestPath, RuleFault, SiteRules, cache_control,
};

use crate::SEPARATOR;

const QUERY: &str = "a=1&sig=0123456789abcdef";
const SIGNATURE: &str = "0123456789abcdef";
const HEADERS_BYTES_MAX: usize = 5_000;

pub fn judge(input: &[u8]) -> bool {
    let mut parts = input.splitn(3, |byte| *byte == SEPARATOR);
    let (redirects, headers) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(path) = std::str::from_utf8(parts.next().unwrap_or_default()) else { return false };
    let (rules, faults) = SiteRules::parse(redirects, headers);
    let again = SiteRules::parse(redirects, headers);
    assert_eq!(format!("{rules:?}{faults:?}"), format!("{:?}{:?}", again.0, again.1));
    faults.iter().for_each(|fault| judge_fault(fault, redirects, headers));
    let path = RequestPath::new(path);
    assert_eq!(RequestPath::new(path.as_str()), path, "a path has one spelling");
    for file in [FileAtPath::Present, FileAtPath::Absent] {
        if let Some(found) = rules.redirects.find(&path, file, Some(QUERY)) {
            judge_match(&found, &path, redirects);
        }
    }
    judge_headers(&rules, &path);
    !rules.redirects.is_empty() || !rules.headers.is_empty()
}

fn judge_fault(fault: &RuleFault, redirects: &[u8], headers: &[u8]) {
    let text = if fault.file == "_redirects" { redirects } else { headers };
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert!((1..=lines).contains(&(fault.line as usize)), "{fault:?}");
    assert!(fault.message.len() < 400 && !fault.message.is_empty() && !fault.hint.is_empty(), "{fault:?}");
}

fn judge_match(found: &RedirectMatch, path: &RequestPath, redirects: &[u8]) {
    match found {
        RedirectMatch::Rewrite { path } | RedirectMatch::NotFound { path } => {
            let inner = path.strip_prefix('/').expect("a path with a leading slash");
            judge_inner(inner);
        }
        RedirectMatch::Redirect { status, to } => {
            assert!([301, 302, 303, 307, 308].contains(status), "{status}");
            match to {
                Destination::Within { path: inner, rest } => {
                    judge_inner(inner);
                    assert_ne!(path.as_str().trim_start_matches('/'), inner, "a loop");
                    assert!(rest.is_empty() || rest.starts_with(['?', '#']), "{rest}");
                }
                Destination::Elsewhere(address) => judge_address(address, redirects),
            }
        }
    }
}

/// A path below the root of the site, as a browser resolves it.
fn judge_inner(inner: &str) {
    assert!(inner.bytes().all(|byte| (b'!'..=b'~').contains(&byte)) && !inner.contains('\\'), "{inner}");
    assert!(!inner.starts_with('/') && !inner.contains(['?', '#']), "{inner}");
    let plain = inner.to_ascii_lowercase().replace("%2e", ".");
    assert!(!plain.split('/').any(|segment| segment == "." || segment == ".."), "{inner}");
}

/// The host stands in the rule, and nothing from the request is a part of it.
fn judge_address(address: &str, redirects: &[u8]) {
    let (scheme, rest) = address.split_once("//").expect("an absolute address");
    assert!(["http:", "https:", ""].contains(&scheme.to_ascii_lowercase().as_str()), "{address}");
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap();
    assert!(!authority.is_empty() && !authority.contains('@'), "{address}");
    let in_rule = format!("//{authority}");
    assert!(String::from_utf8_lossy(redirects).contains(&in_rule), "{address}");
    let path = rest[authority.len()..].split(['?', '#']).next().unwrap();
    assert!(path.bytes().all(|byte| (b'!'..=b'~').contains(&byte)), "{address}");
    let brings_its_own = String::from_utf8_lossy(redirects).contains(SIGNATURE);
    assert!(brings_its_own || !address.contains(SIGNATURE), "{address}");
}

fn judge_headers(rules: &SiteRules, path: &RequestPath) {
    let headers = rules.headers.for_path(path);
    let bytes: usize = headers.iter().map(|header| header.name.len() + header.value.len()).sum();
    assert!(bytes <= HEADERS_BYTES_MAX, "{bytes} bytes of headers");
    for header in &headers {
        let (name, value) = (header.name, header.value.as_str());
        assert!(name.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()), "{name}");
        assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\t'), "{value:?}");
        let is_content = name.starts_with("content-");
        let is_harmless =
            ["content-disposition", "content-language", "content-security-policy"].contains(&name);
        assert!(!is_content || is_harmless, "{name}");
        let forbidden = ["set-cookie", "location", "transfer-encoding", "service-worker-allowed"];
        assert!(!forbidden.contains(&name), "{name}");
        assert!(name != "x-content-type-options" && !name.starts_with("x-accel-"), "{name}");
        if name == "content-security-policy" {
            assert!(!value.to_ascii_lowercase().split([';', ',']).any(sends_reports), "{value}");
        }
        if name == "cache-control" {
            judge_caching(value);
        }
    }
    assert!(headers.iter().all(|one| headers.iter().filter(|other| one.name == other.name).count() == 1));
}

fn sends_reports(directive: &str) -> bool {
    let name = directive.split_ascii_whitespace().next();
    name.is_some_and(|name| ["report-uri", "report-to"].contains(&name))
}

fn judge_caching(wanted: &str) {
    for (is_private, is_fingerprinted) in [(false, false), (false, true), (true, false), (true, true)] {
        let sent = cache_control(wanted, CacheTerms { is_private, is_fingerprinted });
        let directives: Vec<_> = sent.split(", ").collect();
        let seconds_max = if is_fingerprinted { 31_536_000 } else { 60 };
        let times = directives.iter().filter_map(|directive| directive.split_once('='));
        assert!(times.clone().all(|(_, seconds)| seconds.parse::<u32>().unwrap() <= seconds_max), "{sent}");
        assert!(is_fingerprinted || times.clone().all(|(name, _)| name.ends_with("age")), "{sent}");
        let is_limited = times.clone().any(|(name, _)| name == "max-age")
            || directives.contains(&"no-store")
            || directives.contains(&"no-cache");
        assert!(is_limited, "{sent}");
        let is_shared = directives.contains(&"public") || times.clone().any(|(name, _)| name == "s-maxage");
        assert!(!is_private || (!is_shared && directives.contains(&"private")), "{sent}");
    }
}
