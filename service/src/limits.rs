//! How often an address or a name may try something in a minute. The counts live in `bus`; here one too many becomes a
//! refusal.

use std::net::{IpAddr, Ipv6Addr};

use bus::RateLimit;
use domain::Refusal;

use crate::{Answer, Service};

/// Whoever gets IPv6 addresses gets a network of them at once, of this many leading bits at the most.
const IPV6_NETWORK_BITS: u32 = 64;

/// What stands for an address in the limits: all addresses of an IPv6 network are one caller's, or a limit would limit
/// nobody.
pub(crate) fn network_of(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << (u128::BITS - IPV6_NETWORK_BITS));
            format!("{}/{IPV6_NETWORK_BITS}", Ipv6Addr::from_bits(network))
        }
    }
}

impl Service {
    /// Takes one try of a limit, or says when the next one is free.
    pub(crate) async fn take(&self, limit: RateLimit) -> Answer<()> {
        let taken = self.0.bus.take(&limit, self.0.clock.now()).await;
        Ok(taken.map_err(|wait| Refusal::RateLimited { retry_after_seconds: wait.seconds })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_of_an_ipv6_network_are_one_and_each_of_ipv4_is_its_own() {
        let network = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2::1"), "2001:db8:1:2::/64");
        assert_eq!(network("2001:db8:1:2:ffff:ffff:ffff:ffff"), network("2001:db8:1:2::1"));
        assert_ne!(network("2001:db8:1:3::1"), network("2001:db8:1:2::1"));
        assert_eq!(network("192.0.2.1"), "192.0.2.1");
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
