//! Dev mode, which lets every caller sign in as any user. It must start only if nothing is public, unless the
//! operator explicitly allows that.

use std::net::SocketAddr;

use domain::is_loopback_host;
use url::Url;

use crate::reader::Reader;

const EXPECTED: &str =
    "set dev_mode to false (HANDBILL_DEV_MODE), or allow_public_dev to true on a private network";

/// Dev mode, and who may reach it.
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

    /// A limit that would only slow down development: 0, which means none, in dev mode.
    pub fn limit_outside_dev_mode(self, limit: u32) -> u32 {
        if self.dev_mode { 0 } else { limit }
    }

    /// In dev mode every client can act as anybody, so only this machine may connect.
    pub fn guard_listener(self, reader: &mut Reader, key: &'static str, listen: SocketAddr) {
        if !listen.ip().to_canonical().is_loopback() {
            self.refuse(reader, key, format!("{listen} is not loopback"));
        }
    }

    /// A loopback listener may be behind a proxy. A public address that is not plain http to this machine
    /// reveals one.
    pub fn guard_address(self, reader: &mut Reader, key: &'static str, address: &str) {
        let url = Url::parse(address).ok();
        let is_local =
            url.is_some_and(|url| url.scheme() == "http" && url.host_str().is_some_and(is_loopback_host));
        if !is_local {
            self.refuse(reader, key, format!("{address} is not http:// with a loopback name"));
        }
    }

    /// The same for trusted proxies. A card key is for real money.
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
