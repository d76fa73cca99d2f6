//! Dev mode, in which whoever reaches the service is whoever they like. With it a door must never listen beyond this
//! machine unless the operator allowed that by a setting of its own.

use std::net::SocketAddr;

use crate::reader::Reader;

/// Whether this is a playground, and who may reach it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub dev_mode: bool,
    pub allow_public_dev: bool,
}

impl Mode {
    pub fn read(reader: &mut Reader) -> Option<Self> {
        let dev_mode = reader.required("dev_mode");
        let allow_public_dev = reader.required("allow_public_dev");
        Some(Self { dev_mode: dev_mode?, allow_public_dev: allow_public_dev? })
    }

    /// The default of a limit that would only slow down development: 0, none, in dev mode.
    pub fn limit_outside_dev_mode(self, limit: u32) -> u32 {
        if self.dev_mode { 0 } else { limit }
    }

    /// In dev mode anyone who reaches the service is anyone they like, so only this machine may reach it.
    pub fn guard(self, reader: &mut Reader, key: &'static str, listen: SocketAddr) {
        if self.dev_mode && !self.allow_public_dev && !listen.ip().is_loopback() {
            reader.fault(
                key,
                format!("{listen} is not loopback, and dev mode is on"),
                "set dev_mode to false (HANDBILL_DEV_MODE), or allow_public_dev to true on a closed network",
            );
        }
    }
}
