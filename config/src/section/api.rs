//! Where the API listens, how it calls itself, and which proxies it believes. In dev mode it is held to this machine,
//! as `mode` says.

use std::net::SocketAddr;

use ipnet::IpNet;

use crate::reader::Reader;
use crate::section::mode::Mode;
use crate::value::{Connections, WebAddress};

/// The control plane.
#[derive(Clone, Debug)]
pub struct Api {
    pub listen: SocketAddr,
    /// `{base_url}`, without a slash at the end.
    pub base_url: String,
    pub trusted_proxies: Vec<IpNet>,
    /// How many connections are open at a time; more wait to be taken.
    pub connections_max: usize,
}

impl Api {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Option<Self> {
        let listen = reader.required("api.listen");
        let base_url = reader.required::<WebAddress>("api.base_url");
        let trusted_proxies = reader.required("api.trusted_proxies");
        let connections_max = reader.required::<Connections>("api.connections_max");
        if let (Some(mode), Some(listen)) = (mode, listen) {
            mode.guard(reader, "api.listen", listen);
        }
        Some(Self {
            listen: listen?,
            base_url: base_url?.0,
            trusted_proxies: trusted_proxies?,
            connections_max: connections_max?.0,
        })
    }
}
