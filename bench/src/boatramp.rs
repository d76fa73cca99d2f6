//! boatramp, an alternative for publishing pages from programs on one's own machine. It runs as its
//! documentation says: `boatramp serve`, with blobs in files and the rest in SlateDB, both synced to disk.
//!
//! Publishing uses the fastest way of its HTTP API: it declares the files with their hashes, uploads the
//! missing ones several at a time, and activates the deployment. Its own `sync` uploads one file after the
//! other, in two encodings each.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, RequestBuilder, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Bench;
use crate::page::SiteFile;
use crate::program::{Launch, Program, free_address};

pub const BOATRAMP: &str = "boatramp";
/// The path below which it serves sites by name.
pub const SITES: &str = "_sites";
/// Its liveness probe.
pub const HEALTH: &str = "/healthz";

const PUTS_AT_ONCE: usize = 8;

/// A running boatramp. Dropping it ends the process.
pub struct Boatramp {
    pub address: SocketAddr,
    pub program: Program,
}

impl Boatramp {
    /// `None` if it takes no part.
    pub async fn start(bench: &Bench, name: &str) -> anyhow::Result<Option<Self>> {
        if !bench.has_rival(BOATRAMP) {
            return Ok(None);
        }
        let address = free_address()?;
        let mut program = launch(&bench.folder.path().join(name), address).start()?;
        program.answers(address, HEALTH).await.context("boatramp serve")?;
        Ok(Some(Self { address, program }))
    }
}

pub fn launch(folder: &Path, address: SocketAddr) -> Launch {
    let arguments = ["serve", "--addr", &address.to_string(), "--data-dir", "data"];
    Launch {
        name: BOATRAMP.to_owned(),
        program: BOATRAMP.into(),
        arguments: arguments.map(str::to_owned).to_vec(),
        settings: BTreeMap::new(),
        folder: folder.to_owned(),
        core: None,
    }
}

/// A client that publishes to it, on connections of its own.
pub struct Publisher {
    client: Client,
    base_url: String,
}

#[derive(Serialize)]
struct Manifest<'a> {
    files: BTreeMap<&'a str, Entry>,
}

#[derive(Serialize)]
struct Entry {
    hash: String,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'static str>,
}

#[derive(Deserialize)]
struct Created {
    id: String,
    missing: Vec<String>,
}

impl Publisher {
    pub fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        Ok(Self { client, base_url: format!("http://{address}") })
    }

    /// Publishes a site's next deployment and returns its id.
    pub async fn publish(&self, site: &str, files: &[SiteFile]) -> anyhow::Result<String> {
        let hashed: Vec<_> = files.iter().map(|file| (hash_of(&file.content), file)).collect();
        let entries = hashed.iter().map(|(hash, file)| {
            let content_type = file.path.ends_with(".html").then_some("text/html; charset=utf-8");
            (file.path.as_str(), Entry { hash: hash.clone(), size: file.content.len(), content_type })
        });
        let manifest = Manifest { files: entries.collect() };
        let call = self.client.post(self.deployments_of(site)).json(&manifest);
        let Created { id, missing } = done(call).await.context("declare a deployment")?.json().await?;
        let contents: BTreeMap<_, _> =
            hashed.iter().map(|(hash, file)| (hash.as_str(), &file.content)).collect();
        let puts: Vec<_> =
            missing.iter().map(|hash| self.put(hash, contents.get(hash.as_str()).copied())).collect();
        stream::iter(puts).buffer_unordered(PUTS_AT_ONCE).try_collect::<()>().await?;
        self.activate(site, &id).await?;
        Ok(id)
    }

    /// Activates a deployment.
    pub async fn activate(&self, site: &str, deployment: &str) -> anyhow::Result<()> {
        let url = format!("{}/{deployment}/activate", self.deployments_of(site));
        done(self.client.post(url)).await.context("activate a deployment")?.bytes().await?;
        Ok(())
    }

    async fn put(&self, hash: &str, content: Option<&Vec<u8>>) -> anyhow::Result<()> {
        let content = content.context("boatramp asks for what was not declared")?.clone();
        let call = self.client.put(format!("{}/api/blobs/{hash}", self.base_url)).body(content);
        done(call).await.context("put a blob")?.bytes().await?;
        Ok(())
    }

    fn deployments_of(&self, site: &str) -> String {
        format!("{}/api/sites/{site}/deployments", self.base_url)
    }

    pub fn url_of(&self, site: &str) -> String {
        format!("{}/{SITES}/{site}/", self.base_url)
    }
}

async fn done(call: RequestBuilder) -> anyhow::Result<Response> {
    Ok(call.send().await?.error_for_status()?)
}

fn hash_of(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}
