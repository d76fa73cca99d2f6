//! The API: its listener, its public address, its trusted proxies and its load limits. In dev mode it is
//! restricted to this machine, see `mode`.

use std::net::SocketAddr;
use std::time::Duration;

use ipnet::IpNet;

use crate::reader::Reader;
use crate::section::connections::{ConnectionLimits, connection_limits, own_address};
use crate::section::mode::Mode;
use crate::value::{AtATime, UploadBytes, Wait};

/// The settings of the API.
#[derive(Clone, Debug)]
pub struct Api {
    pub listen: SocketAddr,
    /// The base URL, without a trailing slash.
    pub base_url: String,
    pub trusted_proxies: Vec<IpNet>,
    pub connections: ConnectionLimits,
    pub load: ApiLoad,
}

/// The load limits of the API.
#[derive(Clone, Debug)]
pub struct ApiLoad {
    /// Concurrent requests, except those with their own limit.
    pub requests_max: usize,
    pub sign_ins_max: usize,
    /// Concurrent publishes.
    pub publishes_max: usize,
    /// Concurrent transfers of staged uploads to or from the blob store.
    pub uploads_max: usize,
    /// The length of each queue, and how long a request waits in it.
    pub waiting_max: usize,
    pub wait_max: Duration,
    pub body_timeout: Duration,
    /// The minimum average rate since the body started, checked after the grace.
    pub body_bytes_per_second_min: u32,
    pub body_grace: Duration,
    /// Memory for uploads in progress.
    pub upload_bytes_max: usize,
}

impl Api {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Option<Self> {
        let listen = reader.required("api.listen");
        let base_url = reader.derived("api.base_url", "api.listen", || own_address(listen));
        let trusted_proxies = reader.required::<Vec<IpNet>>("api.trusted_proxies");
        let connections = connection_limits!(reader, "api");
        let load = ApiLoad::read(reader);
        if let (Some(mode), Some(listen)) = (mode, listen) {
            mode.guard_listener(reader, "api.listen", listen);
        }
        // A derived address has the fault of its listener, if any.
        if let Some(mode) = mode.filter(|_| base_url != own_address(listen)) {
            mode.guard_address(reader, "api.base_url", &base_url.0);
        }
        if let (Some(mode), Some(proxies)) = (mode, &trusted_proxies) {
            mode.guard_unset(reader, "api.trusted_proxies", !proxies.is_empty());
        }
        Some(Self {
            listen: listen?,
            base_url: base_url.0,
            trusted_proxies: trusted_proxies?,
            connections: connections?,
            load: load?,
        })
    }
}

impl ApiLoad {
    fn read(reader: &mut Reader) -> Option<Self> {
        let requests_max = reader.required::<AtATime>("api.requests_max");
        let sign_ins_max = reader.required::<AtATime>("api.sign_ins_max");
        let publishes_max = reader.required::<AtATime>("api.publishes_max");
        let uploads_max = reader.required::<AtATime>("api.uploads_max");
        let waiting_max = reader.required::<AtATime>("api.waiting_max");
        let wait_max = reader.required::<Wait>("api.wait_max");
        let body_timeout = reader.required::<Wait>("api.body_timeout");
        let body_bytes_per_second_min = reader.required("api.body_bytes_per_second_min");
        let body_grace = reader.required::<Wait>("api.body_grace");
        let upload_bytes_max = reader.required::<UploadBytes>("api.upload_bytes_max");
        Some(Self {
            requests_max: requests_max?.0,
            sign_ins_max: sign_ins_max?.0,
            publishes_max: publishes_max?.0,
            uploads_max: uploads_max?.0,
            waiting_max: waiting_max?.0,
            wait_max: wait_max?.0,
            body_timeout: body_timeout?.0,
            body_bytes_per_second_min: body_bytes_per_second_min?,
            body_grace: body_grace?.0,
            upload_bytes_max: upload_bytes_max?.0,
        })
    }
}
