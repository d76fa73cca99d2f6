//! A client that publishes to Handbill or to boatramp, and reads what is served.

use std::time::{Duration, Instant};

use anyhow::ensure;
use reqwest::{Client, StatusCode};

use crate::agent::Agent;
use crate::boatramp::{Boatramp, Publisher};
use crate::page::SiteFile;

/// Content that is not served after this time is lost.
const SEEN_WITHIN: Duration = Duration::from_secs(10);

pub struct Racer {
    system: ServerUnderTest,
    visitor: Client,
}

enum ServerUnderTest {
    Handbill(Agent),
    Boatramp(Publisher),
}

pub struct Version {
    site: String,
    url: String,
    id: Id,
}

enum Id {
    Seq(u32),
    Deployment(String),
}

impl Racer {
    /// With a claimed account: its storage has no limit, and its pages are served without a badge.
    pub async fn handbill(api_url: &str) -> anyhow::Result<Self> {
        let agent = Agent::sign_up(api_url).await?;
        agent.claim().await?;
        Self::of(ServerUnderTest::Handbill(agent))
    }

    /// With a provisional account: its pages are served with a badge.
    pub async fn provisional(api_url: &str) -> anyhow::Result<Self> {
        Self::of(ServerUnderTest::Handbill(Agent::sign_up(api_url).await?))
    }

    pub fn boatramp(boatramp: &Boatramp) -> anyhow::Result<Self> {
        Self::of(ServerUnderTest::Boatramp(Publisher::new(boatramp.address)?))
    }

    fn of(system: ServerUnderTest) -> anyhow::Result<Self> {
        Ok(Self { system, visitor: Client::builder().no_proxy().build()? })
    }

    /// Publishes the site's next version, which may be its first, and reads the response.
    pub async fn publish(&self, site: &str, files: &[SiteFile]) -> anyhow::Result<Version> {
        let (url, id) = match &self.system {
            ServerUnderTest::Handbill(agent) => {
                let published = agent.publish_site(site, files).await?;
                (published.url, Id::Seq(published.version))
            }
            ServerUnderTest::Boatramp(publisher) => {
                (publisher.url_of(site), Id::Deployment(publisher.publish(site, files).await?))
            }
        };
        Ok(Version { site: site.to_owned(), url, id })
    }

    /// Activates a version, and reads the response.
    pub async fn activate(&self, version: &Version) -> anyhow::Result<()> {
        match (&self.system, &version.id) {
            (ServerUnderTest::Handbill(agent), Id::Seq(seq)) => agent.activate(&version.site, *seq).await,
            (ServerUnderTest::Boatramp(publisher), Id::Deployment(id)) => {
                publisher.activate(&version.site, id).await
            }
            _ => anyhow::bail!("a version of another system"),
        }
    }

    /// Waits until the site's front page is served as in this version.
    pub async fn see(&self, version: &Version, index: &[u8]) -> anyhow::Result<()> {
        let started = Instant::now();
        loop {
            let answer = self.visitor.get(&version.url).send().await?;
            let is_served = answer.status() == StatusCode::OK;
            if answer.bytes().await? == index && is_served {
                return Ok(());
            }
            let site = &version.site;
            ensure!(started.elapsed() < SEEN_WITHIN, "{site} was not served within {SEEN_WITHIN:?}");
        }
    }
}
