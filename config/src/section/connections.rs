//! The connection limits of a listener, and its own address. Everything on a connection must have a limit.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::value::{Value, WebAddress};

/// The limits of a listener. Both listeners have the same keys.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Open connections.
    pub max: usize,
    /// Open connections of one address.
    pub per_address_max: usize,
    /// The timeout of the first request's head.
    pub head_timeout: Duration,
    /// The timeout of a connection without a request.
    pub idle_timeout: Duration,
    pub head_bytes_max: usize,
    pub headers_max: usize,
    /// Concurrent requests on an HTTP/2 connection.
    pub streams_max: usize,
    /// The minimum rate at which a client must read a response. 0: no minimum.
    pub answer_bytes_per_second_min: u32,
}

/// Reads the limits of a section's listener. A macro, so that each key is a whole string in the program and
/// can be searched for.
macro_rules! connection_limits {
    ($reader:expr, $section:literal) => {{
        use $crate::section::connections::ConnectionLimits;
        use $crate::value::{AtATime, HeadBytes, Wait};
        let max = $reader.required::<AtATime>(concat!($section, ".connections_max"));
        let per_address_max = $reader.required::<AtATime>(concat!($section, ".connections_per_address_max"));
        let head_timeout = $reader.required::<Wait>(concat!($section, ".head_timeout"));
        let idle_timeout = $reader.required::<Wait>(concat!($section, ".idle_timeout"));
        let head_bytes_max = $reader.required::<HeadBytes>(concat!($section, ".head_bytes_max"));
        let headers_max = $reader.required::<AtATime>(concat!($section, ".headers_max"));
        let streams_max = $reader.required::<AtATime>(concat!($section, ".streams_max"));
        let answer_bytes_per_second_min = $reader.required(concat!($section, ".answer_bytes_per_second_min"));
        (|| {
            Some(ConnectionLimits {
                max: max?.0,
                per_address_max: per_address_max?.0,
                head_timeout: head_timeout?.0,
                idle_timeout: idle_timeout?.0,
                head_bytes_max: head_bytes_max?.0,
                headers_max: headers_max?.0,
                streams_max: streams_max?.0,
                answer_bytes_per_second_min: answer_bytes_per_second_min?,
            })
        })()
    }};
}
pub(crate) use connection_limits;

/// The URL of a listener for clients on this machine. Empty for a listener with a fault.
pub(crate) fn own_address(listen: Option<SocketAddr>) -> WebAddress {
    let url = listen.map(|listen| {
        let ip = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, listen.port()))
    });
    url.and_then(|url| WebAddress::parse(&url)).unwrap_or_else(|| WebAddress(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_reached_at_its_address_or_on_this_machine() {
        for (listen, url) in [
            ("127.0.0.2:9090", "http://127.0.0.2:9090"),
            ("0.0.0.0:9090", "http://127.0.0.1:9090"),
            ("[::]:9091", "http://[::1]:9091"),
            ("0.0.0.0:80", "http://127.0.0.1"),
        ] {
            assert_eq!(own_address(Some(listen.parse().unwrap())).0, url);
        }
        assert_eq!(own_address(None).0, "");
    }
}
