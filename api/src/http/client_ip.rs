//! The client's address. `X-Forwarded-For` is trusted only as far as it was written by trusted proxies: rate
//! limits depend on this address, so a client must not be able to choose it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ipnet::IpNet;
use poem::{FromRequest, Request, RequestBody};

/// The prefix length of the smallest IPv6 network that a customer gets.
const IPV6_NETWORK_BITS: u32 = 64;

/// Headers that proxies add, besides those that begin with `x-forwarded-`.
const FORWARDED: [&str; 3] = ["forwarded", "via", "x-real-ip"];

/// The networks of the proxies in front of a listener.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

/// The client's address, as an argument of a handler.
pub struct ClientIp(pub IpAddr);

impl TrustedProxies {
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks.into())
    }

    /// Whether the request's peer is a trusted proxy, which has set its headers.
    pub fn is_peer_of(&self, request: &Request) -> bool {
        let peer = request.remote_addr().as_socket_addr();
        peer.is_some_and(|peer| self.contains(peer.ip().to_canonical()))
    }

    /// The client's address.
    pub fn client_of(&self, request: &Request) -> IpAddr {
        // Only a connection over a Unix socket has no address. Such clients share one.
        let peer =
            request.remote_addr().as_socket_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), SocketAddr::ip);
        let lines = request.headers().get_all("x-forwarded-for").iter();
        let forwarded: Vec<&str> = lines.map(|line| line.to_str().unwrap_or_default()).collect();
        self.client(peer, &forwarded)
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Each proxy appends the address of its peer, so the list is read from its end: the first address that
    /// is not a trusted proxy is the client's. Anything before it was sent by the client and may be forged.
    fn client(&self, peer: IpAddr, forwarded: &[&str]) -> IpAddr {
        let mut client = peer.to_canonical();
        for hop in forwarded.iter().flat_map(|line| line.split(',')).rev() {
            if !self.contains(client) {
                break;
            }
            let Some(address) = address_of(hop.trim()) else { break };
            client = address;
        }
        client
    }
}

// Some proxies append the port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let address = hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    address.map(|address| address.to_canonical())
}

/// The address of the API's client.
pub fn client_of(request: &Request) -> IpAddr {
    request.data::<TrustedProxies>().cloned().unwrap_or_default().client_of(request)
}

/// Whether the request comes from this machine. A request through a proxy does not.
pub fn is_from_here(request: &Request) -> bool {
    let peer = request.remote_addr().as_socket_addr();
    !is_forwarded(request) && peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback())
}

/// Whether the request has a header of a proxy, trusted or not.
pub fn is_forwarded(request: &Request) -> bool {
    let mut names = request.headers().keys().map(poem::http::HeaderName::as_str);
    names.any(|name| name.starts_with("x-forwarded-") || FORWARDED.contains(&name))
}

/// The address that a limit per client counts. An IPv6 client gets a whole network, so that network counts as
/// one.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (u128::BITS - IPV6_NETWORK_BITS))).into()
        }
        address => address,
    }
}

impl<'a> FromRequest<'a> for ClientIp {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(client_of(request)))
    }
}

#[cfg(test)]
mod tests {
    use poem::Addr;
    use poem::http::uri::Scheme;
    use poem::web::{LocalAddr, RemoteAddr};

    use super::*;

    fn client(trusted: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let networks = trusted.iter().map(|network| network.parse().unwrap()).collect();
        TrustedProxies::new(networks).client(peer.parse().unwrap(), forwarded).to_string()
    }

    fn is_here(peer: &str, header: Option<&'static str>) -> bool {
        let mut head = poem::http::Request::new(()).into_parts().0;
        if let Some(name) = header {
            head.headers.insert(name, "127.0.0.1".parse().unwrap());
        }
        let peer = RemoteAddr(Addr::SocketAddr(peer.parse().unwrap()));
        let head = (head, LocalAddr::default(), peer, Scheme::HTTP);
        is_from_here(&Request::from_parts(head.into(), poem::Body::empty()))
    }

    #[test]
    fn local_requests_are_detected_by_peer_address_and_never_through_a_proxy() {
        for peer in ["127.0.0.1:4711", "127.8.9.1:4711", "[::1]:4711", "[::ffff:127.0.0.1]:4711"] {
            assert!(is_here(peer, None), "{peer}");
            for header in
                FORWARDED.into_iter().chain(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-server"])
            {
                assert!(!is_here(peer, Some(header)), "{peer} {header}");
            }
        }
        for peer in ["192.0.2.1:4711", "10.0.0.1:4711", "[2001:db8::1]:4711", "[::ffff:10.0.0.1]:4711"] {
            assert!(!is_here(peer, None), "{peer}");
        }
    }

    #[test]
    fn forwarded_header_of_an_untrusted_peer_is_ignored() {
        assert_eq!(client(&[], "198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
        assert_eq!(client(&["10.0.0.0/8"], "198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
    }

    #[test]
    fn trusted_proxy_names_the_client_and_forged_entries_are_ignored() {
        let trusted = ["10.0.0.0/8"];
        assert_eq!(client(&trusted, "10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(client(&trusted, "10.0.0.1", &["1.2.3.4, 203.0.113.9"]), "203.0.113.9");
        assert_eq!(client(&trusted, "10.0.0.1", &["1.2.3.4, 203.0.113.9, 10.9.9.9"]), "203.0.113.9");
        assert_eq!(client(&trusted, "10.0.0.1", &["1.2.3.4", "203.0.113.9"]), "203.0.113.9");
    }

    #[test]
    fn unreadable_forwarded_header_falls_back_to_the_peer_address() {
        assert_eq!(client(&["10.0.0.0/8"], "10.0.0.1", &["203.0.113.9, unknown"]), "10.0.0.1");
        assert_eq!(client(&["10.0.0.0/8"], "10.0.0.1", &[""]), "10.0.0.1");
    }

    #[test]
    fn ipv6_addresses_are_grouped_by_64_and_ipv4_addresses_are_separate() {
        let network = |text: &str| network_of(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.1");
    }

    #[test]
    fn ports_and_ipv4_mapped_addresses_are_parsed() {
        assert_eq!(client(&["10.0.0.0/8"], "::ffff:10.0.0.1", &["203.0.113.9:4711"]), "203.0.113.9");
        assert_eq!(client(&["10.0.0.0/8"], "10.0.0.1", &["[2001:db8::1]:4711"]), "2001:db8::1");
    }
}
