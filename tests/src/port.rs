//! Ports for programs under test. No other program may get such a port, not even while the program under test
//! is down.

use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};

/// A loopback port that belongs to one test while this value exists, also across restarts of the program on
/// it.
///
/// The kernel chose it, and a socket that never listens stays bound to it. So the kernel assigns it to no
/// other program, while a server that sets `SO_REUSEADDR`, as all of ours do, can listen on it.
#[derive(Debug)]
pub struct Port {
    pub number: u16,
    _reserved: Socket,
}

impl Port {
    pub fn take() -> Self {
        let reserved = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        reserved.set_reuse_address(true).expect("an address that others may listen on");
        reserved.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a free port");
        let address = reserved.local_addr().ok().and_then(|address| address.as_socket());
        Self { number: address.expect("the address of a bound socket").port(), _reserved: reserved }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.number)
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.number)
    }
}
