//! Finds the site and the path that a request is for.
//!
//! Under a site's own name every path belongs to the site. Under any other name, sites are below
//! `/site/<host>/`. In host style that path only redirects to the site's own name, and names that do not
//! belong to the edge are refused.

use std::borrow::Cow;
use std::net::IpAddr;

use domain::SiteLabel;
use domain::link::{Addresses, UrlStyle};
use percent_encoding::percent_decode_str;
use poem::http::{HeaderMap, Uri, Version, header};
use url::Url;

use crate::closed::Closed;

/// The names of this edge.
pub struct Names {
    /// `.<domain>`, in lower case.
    domain_suffix: String,
    serve_name: String,
    addresses: Addresses,
}

/// How a site is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mount {
    /// Below `/site/<host>/`.
    Path,
    /// At the root of its own hostname.
    Name,
}

/// The site and path of a request.
#[derive(Debug, PartialEq)]
pub struct Address<'r> {
    pub mount: Mount,
    pub label: SiteLabel,
    /// The path within the site as it was sent: empty, or starting with a slash.
    pub path: &'r str,
}

#[derive(Debug, PartialEq)]
pub enum SiteMatch<'r> {
    Site(Address<'r>),
    /// A liveness probe.
    Alive,
    /// A readiness probe.
    Ready,
    /// The icon of the edge's own address.
    Icon,
}

const SITES_PATH: &str = "/site/";
const ALIVE_PATH: &str = "/healthz";
const READY_PATH: &str = "/readyz";
const ICON_PATH: &str = "/favicon.ico";
const DEPTH_MAX: u16 = 256;

impl Names {
    pub fn new(domain: &str, serve_url: &Url, url_style: UrlStyle) -> Self {
        let domain = domain.to_ascii_lowercase();
        Self {
            domain_suffix: format!(".{domain}"),
            serve_name: serve_url.host_str().unwrap_or_default().to_ascii_lowercase(),
            addresses: Addresses {
                base_url: String::new(),
                serve_url: serve_url.as_str().trim_end_matches('/').to_owned(),
                edge_domain: domain,
                url_style,
            },
        }
    }

    pub fn find<'r>(&self, uri: &'r Uri, name: &str) -> Result<SiteMatch<'r>, Closed> {
        let Some(label) = self.label(name) else {
            return match uri.path() {
                // Load balancers probe by IP address, so both are served under every name.
                ALIVE_PATH => Ok(SiteMatch::Alive),
                READY_PATH => Ok(SiteMatch::Ready),
                _ if !self.is_served(name) => Err(Closed::Misdirected),
                ICON_PATH => Ok(SiteMatch::Icon),
                path => find_by_path(path),
            };
        };
        let label = label.to_ascii_lowercase().parse().map_err(|_| Closed::Missing)?;
        Ok(SiteMatch::Site(Address { mount: Mount::Name, label, path: uri.path() }))
    }

    /// In host style, the address on the site's own name for a request that came by path. `None` if the site
    /// is served at the requested address.
    pub fn own_name_of(&self, address: &Address<'_>) -> Option<String> {
        let is_redirected = self.addresses.url_style == UrlStyle::Host
            && address.mount == Mount::Path
            && address.label.host.is_dns_label();
        let page = is_redirected.then(|| self.addresses.site(&address.label))?;
        Some(format!("{page}{}", address.path.strip_prefix('/').unwrap_or(address.path)))
    }

    /// The live address of the same path, for the address of a version.
    pub fn live_address_of(&self, address: &Address<'_>) -> Option<String> {
        let page = address.label.version.map(|_| self.addresses.page(&address.label.host))?;
        Some(format!("{page}{}", address.path.strip_prefix('/').unwrap_or(address.path)))
    }

    /// Whether this edge serves anything under a name that is not below its domain. An HTTP/1.0 request may
    /// have no name.
    fn is_served(&self, name: &str) -> bool {
        self.addresses.url_style == UrlStyle::Path
            || name.is_empty()
            || name.eq_ignore_ascii_case(&self.serve_name)
            || name.eq_ignore_ascii_case(&self.addresses.edge_domain)
            || is_loopback(name)
    }

    /// The part before the domain, if the name is below it.
    fn label<'n>(&self, name: &'n str) -> Option<&'n str> {
        let suffix_at = name.len().checked_sub(self.domain_suffix.len())?;
        let (label, suffix) = name.split_at_checked(suffix_at)?;
        let is_below = suffix.eq_ignore_ascii_case(&self.domain_suffix);
        (is_below && !name.eq_ignore_ascii_case(&self.serve_name)).then_some(label)
    }
}

fn find_by_path(path: &str) -> Result<SiteMatch<'_>, Closed> {
    if path == "/" {
        return Err(Closed::Root);
    }
    let rest = path.strip_prefix(SITES_PATH).ok_or(Closed::Missing)?;
    let (label, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let label: Cow<'_, str> = percent_decode_str(label).decode_utf8().map_err(|_| Closed::Missing)?;
    let label = label.parse().map_err(|_| Closed::Missing)?;
    Ok(SiteMatch::Site(Address { mount: Mount::Path, label, path }))
}

fn is_loopback(name: &str) -> bool {
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let address = address.parse::<IpAddr>().map(|address| address.to_canonical().is_loopback());
    address.unwrap_or_else(|_| {
        let top = name.rsplit('.').next().unwrap_or(name);
        top.eq_ignore_ascii_case("localhost")
    })
}

/// The name of the request, without its port. An absolute-form target takes precedence over the `Host`
/// header, which HTTP/1.1 requires nevertheless (RFC 9112, 3.2).
pub fn name_of<'r>(uri: &'r Uri, headers: &'r HeaderMap, version: Version) -> Result<&'r str, Closed> {
    let mut sent = headers.get_all(header::HOST).iter();
    let name = match (uri.authority(), sent.next()) {
        (_, Some(_)) if sent.next().is_some() => return Err(Closed::Malformed),
        (_, None) if version == Version::HTTP_11 => return Err(Closed::Malformed),
        (Some(authority), _) => authority.as_str(),
        (None, Some(value)) => value.to_str().map_err(|_| Closed::Malformed)?,
        (None, None) if version < Version::HTTP_11 => "",
        (None, None) => return Err(Closed::Malformed),
    };
    Ok(without_port(name))
}

fn without_port(name: &str) -> &str {
    let name = match name.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    bare(name)
}

/// Removes the trailing dot of a fully qualified name.
pub fn bare(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

impl Mount {
    /// The path of a site's root, with a slash at both ends.
    pub fn root(self, label: &SiteLabel) -> String {
        match self {
            Mount::Path => format!("{SITES_PATH}{label}/"),
            Mount::Name => "/".to_owned(),
        }
    }
}

impl Address<'_> {
    /// The path of the whole request, with a trailing slash.
    pub fn with_slash(&self) -> String {
        let below_root = self.path.trim_start_matches('/');
        let slash = if below_root.is_empty() { "" } else { "/" };
        format!("{}{below_root}{slash}", self.mount.root(&self.label))
    }

    /// The number of folders of the site that the path is in, as a browser counts them. No file is deeper
    /// than the bound.
    pub fn depth(&self) -> u16 {
        let slashes = self.path.bytes().filter(|byte| *byte == b'/').count();
        u16::try_from(slashes.saturating_sub(1)).unwrap_or(DEPTH_MAX).min(DEPTH_MAX)
    }
}

#[cfg(test)]
mod tests;
