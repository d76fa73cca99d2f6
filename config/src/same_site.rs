//! Checks that pages and the API are separate sites for browsers. Anybody may publish a page, and a script in
//! it can set cookies for every host of its site. So the API must be on another registrable domain, and each
//! page on its own origin.

use domain::is_loopback_host;
use domain::link::UrlStyle;
use url::Url;

use crate::Settings;
use crate::fault::Fault;

const SEPARATE: &str = "expected different registrable domains for pages and the API, or edge.allow_same_site=true \
                        if what is published is as trusted as the API";
const HOST_STYLE: &str = "expected host, which gives each page its own origin, or edge.allow_same_site=true if \
                          what is published is as trusted as the API";

impl Settings {
    /// Settings that let a page act on the API or on other pages. None if all of them are on this machine
    /// only.
    pub fn same_site_faults(&self) -> Vec<Fault> {
        let (base_url, serve_url) = (&self.api.base_url, &self.edge.serve_url);
        let (api, pages, domain) = (host_of(base_url), host_of(serve_url), self.edge.domain.clone());
        if [&api, &pages, &domain].into_iter().all(|host| is_loopback_host(host)) {
            return Vec::new();
        }
        let shares = |host: &str| site_of(host) == site_of(&api);
        let shared = |key, host: &str| {
            let fault =
                format!("{host} and {api} of api.base_url are the same site for browsers: {}", site_of(&api));
            self.site_fault(key, fault, SEPARATE)
        };
        let path_style = (self.edge.url_style == UrlStyle::Path).then(|| {
            self.site_fault("edge.url_style", "path puts all pages on one origin".to_owned(), HOST_STYLE)
        });
        let pages = shares(&pages).then(|| shared("edge.serve_url", &pages));
        let domain = shares(&domain).then(|| shared("edge.domain", &domain));
        [path_style, pages, domain].into_iter().flatten().collect()
    }

    fn site_fault(&self, key: &str, fault: String, expected: &str) -> Fault {
        Fault { key: key.to_owned(), source: self.source_of(key), fault, expected: expected.to_owned() }
    }
}

/// The host of a URL that was already parsed.
fn host_of(address: &str) -> String {
    let url = Url::parse(address).ok();
    url.and_then(|url| url.host_str().map(|host| host.trim_end_matches('.').to_owned())).unwrap_or_default()
}

/// The registrable domain by the public suffix list, within which browsers share cookies. An IP address is
/// its own site, and so is a public suffix.
fn site_of(host: &str) -> &str {
    let is_address = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    if is_address { host } else { psl::domain_str(host).unwrap_or(host) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_is_the_registrable_domain() {
        for (host, site) in [
            ("api.example.com", "example.com"),
            ("example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("my-pages.github.io", "my-pages.github.io"),
            ("github.io", "github.io"),
            ("a.intranet", "a.intranet"),
            ("intranet", "intranet"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:db8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(site_of(host), site, "{host}");
        }
    }
}
