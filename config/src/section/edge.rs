//! Where pages are served, how their addresses are written, and how much memory they may take. In dev mode it is held
//! to this machine, as `mode` says.

use std::net::SocketAddr;

use domain::link::UrlStyle;

use crate::reader::Reader;
use crate::section::mode::Mode;
use crate::value::{Connections, HostName, Value, WebAddress};

/// The serving edge.
#[derive(Clone, Debug)]
pub struct Edge {
    pub listen: SocketAddr,
    /// `{serve_url}`, without a slash at the end.
    pub serve_url: String,
    pub domain: String,
    pub url_style: UrlStyle,
    pub cache_bytes: u64,
    pub font_hosts: Vec<String>,
    /// How many connections are open at a time; more wait to be taken.
    pub connections_max: usize,
}

impl Edge {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Option<Self> {
        let listen = reader.required("edge.listen");
        let serve_url = reader.required::<WebAddress>("edge.serve_url");
        let domain = reader.required::<HostName>("edge.domain");
        let url_style = reader.required("edge.url_style");
        let cache_bytes = reader.required("edge.cache_bytes");
        let font_hosts = reader.required::<Vec<HostName>>("edge.font_hosts");
        let connections_max = reader.required::<Connections>("edge.connections_max");
        if let (Some(mode), Some(listen)) = (mode, listen) {
            mode.guard(reader, "edge.listen", listen);
        }
        Some(Self {
            listen: listen?,
            serve_url: serve_url?.0,
            domain: domain?.0,
            url_style: url_style?,
            cache_bytes: cache_bytes?,
            font_hosts: font_hosts?.into_iter().map(|host| host.0).collect(),
            connections_max: connections_max?.0,
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
