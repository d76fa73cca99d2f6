//! Where pages are served, how their addresses are written, how much memory they may take, and how much is read for them
//! at a time. In dev mode it is held to this machine, as `mode` says.

use std::net::SocketAddr;
use std::time::Duration;

use domain::link::UrlStyle;
use ipnet::IpNet;

use crate::reader::Reader;
use crate::section::connections::{ConnectionLimits, connection_limits};
use crate::section::mode::Mode;
use crate::value::{AtATime, HostName, Value, Wait, WebAddress};

/// The serving edge.
#[derive(Clone, Debug)]
pub struct Edge {
    pub listen: SocketAddr,
    /// `{serve_url}`, without a slash at the end.
    pub serve_url: String,
    pub domain: String,
    pub url_style: UrlStyle,
    /// Whether pages may share a site with the API.
    pub allow_same_site: bool,
    pub cache_bytes: u64,
    pub font_hosts: Vec<String>,
    /// The proxies before it.
    pub trusted_proxies: Vec<IpNet>,
    pub connections: ConnectionLimits,
    /// Looks at the database at a time.
    pub route_reads_max: usize,
    /// Reads of contents at a time.
    pub content_reads_max: usize,
    /// Answers at a time that are too large for memory.
    pub streamed_answers_max: usize,
    /// How many visitors wait for a turn at each of these, and how long.
    pub waiting_max: usize,
    pub wait_max: Duration,
}

impl Edge {
    /// `api_proxies` are those that the API believes.
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>, api_proxies: &[IpNet]) -> Option<Self> {
        let listen = reader.required("edge.listen");
        let serve_url = reader.required::<WebAddress>("edge.serve_url");
        let domain = reader.required::<HostName>("edge.domain");
        let url_style = reader.required("edge.url_style");
        let allow_same_site = reader.required("edge.allow_same_site");
        let cache_bytes = reader.required("edge.cache_bytes");
        let font_hosts = reader.required::<Vec<HostName>>("edge.font_hosts");
        let trusted_proxies =
            reader.derived("edge.trusted_proxies", "api.trusted_proxies", || api_proxies.to_vec());
        let connections = connection_limits!(reader, "edge");
        let route_reads_max = reader.required::<AtATime>("edge.route_reads_max");
        let content_reads_max = reader.required::<AtATime>("edge.content_reads_max");
        let streamed_answers_max = reader.required::<AtATime>("edge.streamed_answers_max");
        let waiting_max = reader.required::<AtATime>("edge.waiting_max");
        let wait_max = reader.required::<Wait>("edge.wait_max");
        if let (Some(mode), Some(listen)) = (mode, listen) {
            mode.guard_listener(reader, "edge.listen", listen);
        }
        if let (Some(mode), Some(serve_url)) = (mode, &serve_url) {
            mode.guard_address(reader, "edge.serve_url", &serve_url.0);
        }
        if let Some(mode) = mode {
            // Those of the API have a fault of their own.
            let has_own = !trusted_proxies.is_empty() && trusted_proxies != api_proxies;
            mode.guard_unset(reader, "edge.trusted_proxies", has_own);
        }
        Some(Self {
            listen: listen?,
            serve_url: serve_url?.0,
            domain: domain?.0,
            url_style: url_style?,
            allow_same_site: allow_same_site?,
            cache_bytes: cache_bytes?,
            font_hosts: font_hosts?.into_iter().map(|host| host.0).collect(),
            trusted_proxies,
            connections: connections?,
            route_reads_max: route_reads_max?.0,
            content_reads_max: content_reads_max?.0,
            streamed_answers_max: streamed_answers_max?.0,
            waiting_max: waiting_max?.0,
            wait_max: wait_max?.0,
        })
    }
}

impl Value for UrlStyle {
    const EXPECTED: &'static str = "path or host";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "path" => Some(UrlStyle::Path),
            "host" => Some(UrlStyle::Host),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            UrlStyle::Path => "path".to_owned(),
            UrlStyle::Host => "host".to_owned(),
        }
    }
}
