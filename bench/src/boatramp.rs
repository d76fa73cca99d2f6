//! boatramp, what somebody would take instead to publish pages from programs on a machine of their own. It runs as its
//! documentation has it: `boatramp serve`, blobs in files and the rest in SlateDB, both synced to the disk.
//!
//! It is published to by its HTTP API, in the fastest way that this has: the files are declared with their hashes, those
//! that it lacks are put several at a time, and the deployment is activated. Its own `sync` puts one file after the
//! other, and two encodings of each.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, RequestBuilder, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::page::SiteFile;
use crate::program::{Launch, Program, free_address, is_installed};

pub const BOATRAMP: &str = "boatramp";
/// Below this path it serves sites by their names.
pub const SITES: &str = "_sites";
/// Says that it runs.
pub const HEALTH: &str = "/healthz";

const PUTS_AT_ONCE: usize = 8;

/// A running boatramp, which ends with this.
pub struct Boatramp {
    pub address: SocketAddr,
    pub program: Program,
}

impl Boatramp {
    /// None where it is not installed.
    pub async fn start(folder: &Path) -> anyhow::Result<Option<Self>> {
        if !is_installed(BOATRAMP) {
            return Ok(None);
        }
        let address = free_address()?;
        let mut program = launch(folder, address).start()?;
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

/// One who publishes to it, on connections of its own.
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

    /// Publishes a site's next deployment, and tells which it is.
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

    /// Makes a deployment the live one.
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
