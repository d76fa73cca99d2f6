//! The edge: its listener, the addresses of pages, its memory and its load limits. In dev mode it is
//! restricted to this machine, see `mode`.

use std::net::SocketAddr;
use std::time::Duration;

use domain::ContentPolicy;
use domain::link::UrlStyle;
use ipnet::IpNet;

use crate::reader::Reader;
use crate::section::connections::{ConnectionLimits, connection_limits, own_address};
use crate::section::mode::Mode;
use crate::value::{AtATime, HostName, Value, Wait};

/// The settings of the edge.
#[derive(Clone, Debug)]
pub struct Edge {
    pub listen: SocketAddr,
    /// The base URL of pages, without a trailing slash.
    pub serve_url: String,
    pub domain: String,
    pub url_style: UrlStyle,
    /// Whether pages may share a site with the API.
    pub allow_same_site: bool,
    pub cache_bytes: u64,
    /// What pages may load from other hosts.
    pub policy: ContentPolicy,
    /// Proxies in front of the edge.
    pub trusted_proxies: Vec<IpNet>,
    pub connections: ConnectionLimits,
    /// Concurrent route reads from the database.
    pub route_reads_max: usize,
    /// Concurrent reads of contents.
    pub content_reads_max: usize,
    /// Concurrent responses that are too large for memory.
    pub streamed_answers_max: usize,
    /// The length of each queue, and how long a request waits in it.
    pub waiting_max: usize,
    pub wait_max: Duration,
}

impl Edge {
    /// `api_proxies` are the API's trusted proxies.
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>, api_proxies: &[IpNet]) -> Option<Self> {
        let listen = reader.required("edge.listen");
        let serve_url = reader.derived("edge.serve_url", "edge.listen", || own_address(listen));
        let domain = reader.required::<HostName>("edge.domain");
        let url_style = reader.required("edge.url_style");
        let allow_same_site = reader.required("edge.allow_same_site");
        let cache_bytes = reader.required("edge.cache_bytes");
        let policy = content_policy(reader);
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
        if let Some(mode) = mode.filter(|_| serve_url != own_address(listen)) {
            mode.guard_address(reader, "edge.serve_url", &serve_url.0);
        }
        if let Some(mode) = mode {
            // The API's own proxies are reported as a fault of the API.
            let has_own = !trusted_proxies.is_empty() && trusted_proxies != api_proxies;
            mode.guard_unset(reader, "edge.trusted_proxies", has_own);
        }
        Some(Self {
            listen: listen?,
            serve_url: serve_url.0,
            domain: domain?.0,
            url_style: url_style?,
            allow_same_site: allow_same_site?,
            cache_bytes: cache_bytes?,
            policy: policy?,
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

fn content_policy(reader: &mut Reader) -> Option<ContentPolicy> {
    let mut hosts = |key| {
        let hosts = reader.required::<Vec<HostName>>(key);
        Some(hosts?.into_iter().map(|host| host.0).collect::<Vec<_>>())
    };
    let (font_hosts, script_hosts) = (hosts("edge.font_hosts"), hosts("edge.script_hosts"));
    let (image_hosts, frame_hosts) = (hosts("edge.image_hosts"), hosts("edge.frame_hosts"));
    Some(ContentPolicy {
        font_hosts: font_hosts?,
        script_hosts: script_hosts?,
        image_hosts: image_hosts?,
        frame_hosts: frame_hosts?,
    })
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
