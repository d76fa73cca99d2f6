//! The servers that the edge is compared with, which serve the same bytes with the same headers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use reqwest::header::{
    ACCEPT_RANGES, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName,
    LAST_MODIFIED, SERVER, TRANSFER_ENCODING,
};

use super::stock::{Sample, Stock};
use super::{Entrant, NGINX, SITES};
use crate::Bench;
use crate::boatramp::{self, BOATRAMP, Boatramp, Publisher};
use crate::page::SiteFile;
use crate::program::{Launch, free_address};

/// The headers that a file server sends by default.
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

const STATIC_WEB_SERVER: &str = "static-web-server";
/// Serves precompressed files, as the edge does. From Debian's libnginx-mod-http-brotli-static.
const BROTLI_MODULE: &str = "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so";

/// Writes the files and the configuration of each server that takes part.
pub async fn prepare(bench: &Bench, stock: &Stock, core: u8) -> anyhow::Result<Vec<Entrant>> {
    let at = &bench.folder.path().join("rivals");
    lay_out(at, stock).context("lay out the pages")?;
    let mut rivals = Vec::new();
    if bench.has_rival(NGINX) {
        rivals.push(nginx(at, stock, core)?);
    }
    if bench.has_rival(STATIC_WEB_SERVER) {
        rivals.push(static_web_server(at, stock, core)?);
    }
    rivals.extend(boatramp(bench, stock, core).await?);
    Ok(rivals)
}

fn lay_out(at: &Path, stock: &Stock) -> anyhow::Result<()> {
    let (sites, names) = (at.join("pages/site"), at.join("names"));
    std::fs::create_dir_all(&names)?;
    for sample in stock.many.iter().chain([&stock.page]) {
        let site = sites.join(&sample.host);
        std::fs::create_dir_all(&site)?;
        std::fs::write(site.join("index.html"), &sample.body)?;
        std::os::unix::fs::symlink(&site, names.join(format!("{}.localhost", sample.host)))?;
    }
    std::fs::write(sites.join(&stock.page.host).join("index.html.br"), &stock.page_brotli)?;
    std::fs::create_dir_all(sites.join(&stock.file.host))?;
    std::fs::write(sites.join(&stock.file.host).join(Sample::FILE), &stock.file.body)?;
    Ok(())
}

fn nginx(at: &Path, stock: &Stock, core: u8) -> anyhow::Result<Entrant> {
    let (address, by_name) = (free_address()?, free_address()?);
    std::fs::write(at.join("nginx.conf"), nginx_configuration(at, address, by_name, stock))?;
    let launch = Launch {
        name: "nginx".to_owned(),
        program: "nginx".into(),
        arguments: vec!["-c".to_owned(), at.join("nginx.conf").display().to_string()],
        settings: BTreeMap::new(),
        folder: at.to_owned(),
        core: Some(core),
    };
    Ok(Entrant {
        name: NGINX,
        address,
        by_name: Some(by_name),
        mount: SITES,
        hosts: None,
        launch,
        program: None,
    })
}

/// nginx configured for speed: an open file cache, no logs, keep-alive connections.
fn nginx_configuration(at: &Path, address: SocketAddr, by_name: SocketAddr, stock: &Stock) -> String {
    let add = |(name, value): (&str, &str)| format!("add_header {name} \"{value}\";\n");
    let page_headers: String = own_headers(&stock.page.headers).map(add).collect();
    let file_headers: String = own_headers(&stock.file.headers).map(add).collect();
    let at = at.display();
    let (load, brotli) = if Path::new(BROTLI_MODULE).exists() {
        (format!("load_module {BROTLI_MODULE};"), "brotli_static on;")
    } else {
        (String::new(), "")
    };
    let file = format!("/site/{}/{}", stock.file.host, Sample::FILE);
    format!(
        "{load}
daemon off;
master_process off;
worker_processes 1;
pid {at}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    # More than there are sites, fewer than a process may open.
    open_file_cache max=15000 inactive=10m;
    open_file_cache_valid 10m;
    keepalive_requests 1000000000;
    {brotli}
    types {{ }}
    default_type 'text/html; charset=utf-8';
    server {{
        listen {address};
        root {at}/pages;
        {page_headers}
        location = {file} {{
            {file_headers}
        }}
    }}
    server {{
        listen {by_name};
        root {at}/names/$host;
        {page_headers}
    }}
}}
"
    )
}

fn static_web_server(at: &Path, stock: &Stock, core: u8) -> anyhow::Result<Entrant> {
    let address = free_address()?;
    let configuration = at.join("static-web-server.toml");
    std::fs::write(&configuration, static_web_server_configuration(at, address, stock))?;
    let launch = Launch {
        name: STATIC_WEB_SERVER.to_owned(),
        program: STATIC_WEB_SERVER.into(),
        arguments: vec!["--config-file".to_owned(), configuration.display().to_string()],
        settings: BTreeMap::new(),
        folder: at.to_owned(),
        core: Some(core),
    };
    Ok(Entrant {
        name: STATIC_WEB_SERVER,
        address,
        by_name: None,
        mount: SITES,
        hosts: None,
        launch,
        program: None,
    })
}

fn static_web_server_configuration(at: &Path, address: SocketAddr, stock: &Stock) -> String {
    let headers_of = |sample: &Sample, source: &str| {
        let lines: String =
            own_headers(&sample.headers).map(|(name, value)| format!("{name} = {value:?}\n")).collect();
        format!("[[advanced.headers]]\nsource = {source:?}\n[advanced.headers.headers]\n{lines}\n")
    };
    format!(
        "[general]
host = \"{}\"
port = {}
root = \"{}/pages\"
log-level = \"error\"
threads-multiplier = 1
cache-control-headers = false
security-headers = false
compression = false
compression-static = true
directory-listing = false

{}{}",
        address.ip(),
        address.port(),
        at.display(),
        headers_of(&stock.page, "**/"),
        headers_of(&stock.file, "**/*.bin"),
    )
}

/// It serves the page and the file as published through its API, with its own headers.
async fn boatramp(bench: &Bench, stock: &Stock, core: u8) -> anyhow::Result<Option<Entrant>> {
    let folder = "rivals-boatramp";
    let Some(Boatramp { address, program }) = Boatramp::start(bench, folder).await? else { return Ok(None) };
    let publisher = Publisher::new(address)?;
    let samples = [(&stock.page, "index.html"), (&stock.file, Sample::FILE)];
    for (sample, path) in samples {
        let file = SiteFile { path: path.to_owned(), content: sample.body.clone() };
        publisher.publish(&sample.host, &[file]).await?;
    }
    program.kill().await?;
    Ok(Some(Entrant {
        name: BOATRAMP,
        address,
        by_name: None,
        mount: boatramp::SITES,
        hosts: Some(samples.iter().map(|(sample, _)| sample.host.clone()).collect()),
        launch: Launch { core: Some(core), ..boatramp::launch(&bench.folder.path().join(folder), address) },
        program: None,
    }))
}

/// The headers of the edge that a file server would not send by default.
fn own_headers(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers
        .iter()
        .filter(|(name, _)| !OWN_HEADERS.contains(name))
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
}
