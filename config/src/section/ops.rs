//! Where a process tells of itself to whoever looks after it. In dev mode it is held to this machine, as `mode` says.

use std::net::SocketAddr;

use crate::reader::Reader;
use crate::section::mode::Mode;

/// The operator's own address: metrics and health. It asks for no secret.
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
