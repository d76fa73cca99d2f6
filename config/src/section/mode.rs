//! Dev mode, which lets every caller sign in as any user. It must start only where nothing is public, unless
//! the operator allowed that by a setting of its own.

use std::net::SocketAddr;

use domain::is_loopback_host;
use url::Url;

use crate::reader::Reader;

const EXPECTED: &str =
    "set dev_mode to false (HANDBILL_DEV_MODE), or allow_public_dev to true on a closed network";

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
    pub fn guard_listener(self, reader: &mut Reader, key: &'static str, listen: SocketAddr) {
        if !listen.ip().to_canonical().is_loopback() {
            self.refuse(reader, key, format!("{listen} is not loopback"));
        }
    }

    /// A listener on loopback may stand behind a proxy. An address that is not plain http to this machine gives it away.
    pub fn guard_address(self, reader: &mut Reader, key: &'static str, address: &str) {
        let url = Url::parse(address).ok();
        let is_local =
            url.is_some_and(|url| url.scheme() == "http" && url.host_str().is_some_and(is_loopback_host));
        if !is_local {
            self.refuse(reader, key, format!("{address} is not http:// with a loopback name"));
        }
    }

    /// So do proxies, and a card key is for real money.
    pub fn guard_unset(self, reader: &mut Reader, key: &'static str, is_set: bool) {
        if is_set {
            self.refuse(reader, key, "is set".to_owned());
        }
    }

    fn refuse(self, reader: &mut Reader, key: &'static str, fault: String) {
        if self.dev_mode && !self.allow_public_dev {
            reader.fault(key, format!("{fault}, and dev mode is on"), EXPECTED);
        }
    }
}
