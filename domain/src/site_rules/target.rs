//! Where a rule leads.

use super::lines::{LineFault, shown};
use super::pattern::{Captures, Inserting, Pattern, SPLAT, name_at_start};
use super::request_path::{has_dot_segment, respelled};

/// The target of a rule, with placeholders.
#[derive(Debug)]
pub(super) struct Target {
    kind: TargetKind,
    /// A path, or an address with its scheme and host.
    address: Box<str>,
    query: Option<Box<str>>,
    fragment: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetKind {
    Within,
    Elsewhere,
}

/// Where a redirect leads for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A path below the root of the site, without a leading slash, and its query and fragment.
    Within { path: String, rest: String },
    /// Any other address.
    Elsewhere(String),
}

const LOCATION_BYTES_MAX: usize = 8 << 10;
/// The parameter that opens a private page. It must not leave the site.
const SIGNATURE: &str = "sig";

impl Target {
    pub fn parse(text: &str, from: &Pattern) -> Result<Self, LineFault> {
        if !from.has_star() && uses(text, SPLAT) {
            let hint = format!("end the path with *, as in {}/*", shown(from.as_str().trim_end_matches('/')));
            return Err(LineFault::new(":splat stands for the *, and the path has no *", hint));
        }
        let (text, fragment) = split_at(text, '#');
        let (address, query) = split_at(text, '?');
        let (kind, address) = match origin_of(address) {
            Some((origin, authority)) => (TargetKind::Elsewhere, absolute(address, origin, authority)?),
            None => (TargetKind::Within, within(address)?),
        };
        let boxed = |part: Option<&str>| part.map(Box::from);
        Ok(Self { kind, address: address.into(), query: boxed(query), fragment: boxed(fragment) })
    }

    pub fn is_within(&self) -> bool {
        self.kind == TargetKind::Within
    }

    /// The path of the target, if it is within the site and the same for all requests.
    pub fn fixed_path(&self) -> Option<&str> {
        let is_fixed = self.is_within() && !self.address.split('/').any(has_placeholder);
        is_fixed.then_some(&*self.address)
    }

    /// The path within the site, with a leading slash.
    pub fn path(&self, captures: &Captures<'_>) -> Option<String> {
        let filled = captures.fill(&self.address, Inserting::InPath, LOCATION_BYTES_MAX)?;
        // Otherwise a captured text could lead out of the site: to another host by `//`, by `..` to another
        // site of this host.
        let path = format!("/{}", filled.trim_start_matches('/'));
        (self.is_within() && !has_dot_segment(&path)).then_some(path)
    }

    /// `query` is that of the request.
    pub fn destination(&self, captures: &Captures<'_>, query: Option<&str>) -> Option<Destination> {
        let rest = self.query_and_fragment(captures, query)?;
        if self.is_within() {
            return Some(Destination::Within { path: self.path(captures)?.split_off(1), rest });
        }
        let address = captures.fill(&self.address, Inserting::InPath, LOCATION_BYTES_MAX)?;
        Some(Destination::Elsewhere(address + &rest))
    }

    /// The parameters of the target come first, then those of the request that the target does not set.
    fn query_and_fragment(&self, captures: &Captures<'_>, query: Option<&str>) -> Option<String> {
        let fill = |text: &str| captures.fill(text, Inserting::AsValue, LOCATION_BYTES_MAX);
        let own = self.query.as_deref().map(fill).unwrap_or_else(|| Some(String::new()))?;
        let is_carried = |parameter: &&str| {
            let name = name_of(parameter);
            let may_leave = self.is_within() || name != SIGNATURE;
            may_leave && !own.split('&').any(|own| !own.is_empty() && name_of(own) == name)
        };
        let sent = query.into_iter().flat_map(|query| query.split('&')).filter(is_carried);
        let all: Vec<&str> = [own.as_str()].into_iter().filter(|own| !own.is_empty()).chain(sent).collect();
        let mut rest = if all.is_empty() { String::new() } else { format!("?{}", all.join("&")) };
        if let Some(fragment) = &self.fragment {
            rest.push('#');
            rest.push_str(&fill(fragment)?);
        }
        Some(rest)
    }

    pub fn weight_bytes(&self) -> u64 {
        let length = |part: &Option<Box<str>>| part.as_ref().map_or(0, |part| part.len());
        (self.address.len() + length(&self.query) + length(&self.fragment)) as u64
    }
}

fn name_of(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or_default()
}

fn split_at(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn uses(text: &str, name: &str) -> bool {
    text.match_indices(':').any(|(at, _)| name_at_start(&text[at + 1..]) == name)
}

fn has_placeholder(segment: &str) -> bool {
    segment.match_indices(':').any(|(at, _)| !name_at_start(&segment[at + 1..]).is_empty())
}

/// The part of an absolute address before its path, and the host and port in it.
fn origin_of(address: &str) -> Option<(&str, &str)> {
    let begins_with =
        |scheme: &&str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = ["https://", "http://", "//"].into_iter().find(begins_with)?;
    let length = address[scheme.len()..].find('/').map_or(address.len(), |end| scheme.len() + end);
    let origin = &address[..length];
    Some((origin, &origin[scheme.len()..]))
}

fn absolute(address: &str, origin: &str, authority: &str) -> Result<String, LineFault> {
    if !is_authority(authority) {
        return Err(LineFault::new(
            format!("{} is not a host that a rule may lead to", shown(authority)),
            "write the host name in full: letters, digits, dots and hyphens, without placeholders or a user",
        ));
    }
    let path = &address[origin.len()..];
    // Browsers add the slash, and a query needs it.
    let path = if path.is_empty() { "/".to_owned() } else { respelled(path) };
    Ok(format!("{origin}{path}"))
}

/// A host name or an IPv4 address, with or without a port. It contains no name of a placeholder, as an IPv6
/// address could.
fn is_authority(authority: &str) -> bool {
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    let is_host = host.bytes().all(is_part) && host.bytes().any(|byte| byte.is_ascii_alphanumeric());
    is_host && port.is_none_or(is_port)
}

fn within(address: &str) -> Result<String, LineFault> {
    if !address.starts_with('/') {
        return Err(LineFault::new(
            format!("the target {} is neither a path of the site nor a web address", shown(address)),
            "begin it with / for a page of this site, or with https:// for another site",
        ));
    }
    let path = respelled(address);
    if has_dot_segment(&path) {
        let message = "the target has a . or .. between its slashes";
        return Err(LineFault::new(message, "write the path from the root of the site"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::super::pattern::StarPlace;
    use super::super::request_path::RequestPath;
    use super::*;

    fn led(rule: (&str, &str), path: &str, query: Option<&str>) -> Option<String> {
        let from = Pattern::parse(rule.0, StarPlace::AtEnd).ok().unwrap();
        let target = Target::parse(rule.1, &from).ok().unwrap();
        let path = RequestPath::new(path);
        match target.destination(&from.captures(&path).unwrap(), query)? {
            Destination::Within { path, rest } => Some(format!("within {path}{rest}")),
            Destination::Elsewhere(address) => Some(address),
        }
    }

    #[test]
    fn a_path_of_the_site_never_leads_out_of_it() {
        for (rule, path, expected) in [
            (("/*", "/:splat"), "//evil.example", Some("within evil.example")),
            (("/*", "/:splat"), "///evil.example/x", Some("within evil.example/x")),
            (("/a/*", "/:splat"), "/a//evil.example", Some("within evil.example")),
            (("/*", "/:splat"), "/\\evil.example", Some("within %5Cevil.example")),
            (("/*", "/:splat"), "/%5c%5cevil.example", Some("within %5C%5Cevil.example")),
            (("/*", "/:splat"), "/%2fevil.example", Some("within %2Fevil.example")),
            (("/*", "/:splat"), "/%09/evil.example", Some("within %09/evil.example")),
            (("/*", "/:splat"), "/https:evil.example", Some("within https:evil.example")),
            (("/a/*", "/b/:splat"), "/a/../../other-a1b2/", None),
            (("/a/*", "/b/:splat"), "/a/%2e%2e/x", None),
            (("/:a", "/:a/x"), "/%2E.", None),
            (("/:a", "/.:a/x"), "/.", None),
            (("/*", "/x:splat"), "/%0d%0aSet-Cookie: a", Some("within x%0D%0ASet-Cookie:%20a")),
            (("/*", "/x?y=:splat"), "/a&sig=b#?c", Some("within x?y=a%26sig%3Db%23%3Fc")),
        ] {
            assert_eq!(led(rule, path, None).as_deref(), expected, "{rule:?} {path:?}");
        }
    }

    #[test]
    fn the_query_is_carried_along_and_the_signature_only_within_the_site() {
        let query = Some("a=1&sig=00&b");
        for (rule, query, expected) in [
            (("/x", "/y"), query, "within y?a=1&sig=00&b"),
            (("/x", "/y#top"), query, "within y?a=1&sig=00&b#top"),
            (("/x", "/y?a=2&c"), query, "within y?a=2&c&sig=00&b"),
            (("/x", "/y?a=2"), None, "within y?a=2"),
            (("/x", "/y?"), None, "within y"),
            (("/x", "/"), query, "within ?a=1&sig=00&b"),
            (("/x", "https://a.example"), query, "https://a.example/?a=1&b"),
            (("/x", "https://a.example/y?z#top"), query, "https://a.example/y?z&a=1&b#top"),
            (("/x", "//a.example/y"), Some("sig=00"), "//a.example/y"),
            (("/x", "HTTP://127.0.0.1:80/é"), Some("sig"), "HTTP://127.0.0.1:80/%C3%A9"),
            (("/x", "https://s"), query, "https://s/?a=1&b"),
            (("/*", "https://a.example/b/:splat"), None, "https://a.example/b/x"),
        ] {
            assert_eq!(led(rule, "/x", query).as_deref(), Some(expected), "{rule:?}");
        }
    }

    #[test]
    fn other_targets_are_faults() {
        let from = Pattern::parse("/:a/*", StarPlace::AtEnd).ok().unwrap();
        for text in [
            "x",
            "./x",
            "/a/../b",
            "/%2e%2e/b",
            "javascript:alert(1)",
            "mailto:a@b.example",
            "ftp://a.example/",
            "https://",
            "https:///x",
            "//",
            "https://:a/",
            "https://:splat",
            "https://:a.example/",
            "https://a.example:splat/",
            "https://user@a.example/",
            "https://a.example\\@b.example/",
            "https://münchen.example/",
            "https://[::1]/",
            "https://[2001:splat::1]/",
            "https://[x]/",
            "https://a.example:80:81/",
            "https://../",
        ] {
            assert!(Target::parse(text, &from).is_err(), "{text}");
        }
        let plain = Pattern::parse("/a", StarPlace::AtEnd).ok().unwrap();
        assert!(Target::parse("/b/:splat", &plain).is_err());
        assert!(Target::parse("/wiki/Help:Contents", &plain).is_ok());
    }

    #[test]
    fn a_location_has_a_maximum_length() {
        let long = ":splat/".repeat(200);
        let path = format!("/{}", "a".repeat(100));
        assert_eq!(led(("/*", &format!("/{long}")), &path, None), None);
    }
}
