//! The operator's address of a process. In dev mode it is restricted to this machine, see `mode`.

use std::net::SocketAddr;

use crate::reader::Reader;
use crate::section::mode::Mode;

/// The operator's address, which serves metrics and health without authentication.
#[derive(Clone, Debug)]
pub struct Ops {
    pub listen: Option<SocketAddr>,
}

impl Ops {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Self {
        let listen = reader.optional("ops.listen");
        if let (Some(mode), Some(listen)) = (mode, listen) {
            mode.guard_listener(reader, "ops.listen", listen);
        }
        Self { listen }
    }
}
