//! The web server that the edge is compared with.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use reqwest::header::{
    ACCEPT_RANGES, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName,
    LAST_MODIFIED, SERVER, TRANSFER_ENCODING,
};

use crate::program::{Launch, Program, free_address};

/// What nginx says of a file by itself.
const OWN_HEADERS: [HeaderName; 9] = [
    ACCEPT_RANGES,
    CONNECTION,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    DATE,
    ETAG,
    LAST_MODIFIED,
    SERVER,
    TRANSFER_ENCODING,
];

/// An nginx that serves one page.
pub struct WebServer {
    pub url: String,
    _program: Program,
}

impl WebServer {
    /// With the same body and the same headers as the page that it is compared with.
    pub async fn start(at: &Path, page: &[u8], headers: &HeaderMap, core: u8) -> anyhow::Result<Self> {
        let address = free_address()?;
        std::fs::create_dir_all(at.join("pages"))?;
        std::fs::write(at.join("pages/index.html"), page)?;
        std::fs::write(at.join("nginx.conf"), configuration(at, address, headers))?;
        let launch = Launch {
            name: "nginx".to_owned(),
            program: "nginx".into(),
            arguments: vec!["-c".to_owned(), at.join("nginx.conf").display().to_string()],
            settings: BTreeMap::new(),
            folder: at.to_owned(),
            core: Some(core),
        };
        let mut program = launch.start()?;
        program.answers(address, "/").await?;
        Ok(Self { url: format!("http://{address}/"), _program: program })
    }
}

/// As one would set nginx up for speed: the open file is kept, nothing is logged, connections stay.
fn configuration(at: &Path, address: SocketAddr, headers: &HeaderMap) -> String {
    let said: String = headers
        .iter()
        .filter(|(name, _)| !OWN_HEADERS.contains(name))
        .filter_map(|(name, value)| Some(format!("add_header {name} \"{}\";\n", value.to_str().ok()?)))
        .collect();
    let at = at.display();
    format!(
        "daemon off;
master_process off;
worker_processes 1;
pid {at}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    open_file_cache max=100;
    open_file_cache_valid 60s;
    keepalive_requests 1000000000;
    default_type 'text/html; charset=utf-8';
    types {{ }}
    server {{
        listen {address};
        root {at}/pages;
        {said}
    }}
}}
"
    )
}
