//! The published contents for the comparison, and how the edge serves them.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use domain::Chance;
use futures::future::try_join_all;
use reqwest::Client;
use reqwest::header::HeaderMap;

use crate::agent::Agent;
use crate::page::page;
use crate::system::Site;

pub const SITES: usize = 10_000;
const FILE_BYTES: usize = 100 * 1000;
/// A provisional account may store 20 MB.
const AGENTS: usize = 20;

/// A file as the edge serves it.
pub struct Sample {
    pub host: String,
    pub body: Vec<u8>,
    pub headers: HeaderMap,
}

impl Sample {
    /// The path of the large file in its site.
    pub const FILE: &'static str = "data.bin";
}

pub struct Stock {
    pub page: Sample,
    /// The same page in brotli.
    pub page_brotli: Vec<u8>,
    pub file: Sample,
    pub many: Vec<Sample>,
}

impl Stock {
    /// Publishes the page, the file and many more sites.
    pub async fn publish(site: &Site, sites: usize) -> anyhow::Result<Self> {
        let (base_url, edge) = (format!("http://{}", site.api), site.edge);
        let agent = Agent::sign_up(&base_url).await?;
        let chance = Chance::from_system();
        let page_host = agent.publish(page(&chance)).await?.host;
        let mut data = vec![];
        while data.len() < FILE_BYTES {
            data.extend_from_slice(&chance.bytes::<1000>());
        }
        let file_host = agent.publish_file(Sample::FILE, data.clone()).await?.host;
        let client = Client::builder().no_proxy().build()?;
        let probe = CacheProbe { client: &client, edge };
        let file = probe.at(&file_host, Sample::FILE, "identity").await?;
        ensure!(file.body == data, "the edge serves another file");
        Ok(Self {
            page: probe.at(&page_host, "", "identity").await?,
            page_brotli: probe.at(&page_host, "", "br").await?.body,
            file,
            many: publish_many(&base_url, &probe, sites).await?,
        })
    }
}

async fn publish_many(base_url: &str, probe: &CacheProbe<'_>, sites: usize) -> anyhow::Result<Vec<Sample>> {
    let agents = try_join_all((0..AGENTS).map(|_| Agent::sign_up(base_url))).await?;
    // Pages of claimed accounts are served before their scan, which waits long on a slow machine.
    try_join_all(agents.iter().map(Agent::claim)).await?;
    let published = try_join_all(agents.iter().map(async |agent| {
        let chance = Chance::from_system();
        let mut samples = Vec::new();
        for _ in 0..sites / AGENTS {
            let host = agent.publish(page(&chance)).await?.host;
            samples.push(probe.at(&host, "", "identity").await?);
        }
        anyhow::Ok(samples)
    }));
    Ok(published.await?.into_iter().flatten().collect())
}

struct CacheProbe<'a> {
    client: &'a Client,
    edge: SocketAddr,
}

impl CacheProbe<'_> {
    async fn at(&self, host: &str, path: &str, encoding: &str) -> anyhow::Result<Sample> {
        let url = format!("http://{}/site/{host}/{path}", self.edge);
        let call = self.client.get(url).header("accept-encoding", encoding);
        let answer = call.send().await?.error_for_status().context("read from the edge")?;
        let headers = answer.headers().clone();
        Ok(Sample { host: host.to_owned(), body: answer.bytes().await?.to_vec(), headers })
    }
}
