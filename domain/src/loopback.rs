//! Recognizes the host names of this machine.

use std::net::IpAddr;

/// Whether this is `localhost`, a subdomain of it, or a loopback address. An IPv6 address may be in brackets,
/// as in a URL.
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = address.parse::<IpAddr>() {
        return address.to_canonical().is_loopback();
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_localhost_and_its_subdomains_and_loopback_addresses_are_local() {
        for own in [
            "localhost",
            "LOCALHOST.",
            "a.b.localhost",
            "127.0.0.1",
            "127.8.9.1",
            "::1",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback_host(own), "{own}");
        }
        for other in [
            "",
            ".",
            "localhost.example",
            "mylocalhost",
            "127.0.0.1.nip.io",
            "10.0.0.1",
            "0.0.0.0",
            "[::]",
            "api.example.com",
        ] {
            assert!(!is_loopback_host(other), "{other}");
        }
    }
}
