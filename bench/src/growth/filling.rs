//! Fills a system without publishing a hundred thousand times. It publishes one page, and copies every row of
//! it in bulk under other names, with their accounts, tokens and ledgers.
//!
//! The contents of the pages that will be visited are stored. The jobs of the publishes are not, because a
//! system deletes those after two days.

mod rows;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::Chance;

use super::database::Database;
use super::pair::RUNS;
use crate::agent::Agent;
use crate::page::page;
use crate::system::BenchSystem;
use rows::{ADD_UP, Copied, TEMPLATE_SLUG};

const VERDICT_WAIT_MAX: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A system that is being filled.
pub struct Filling {
    /// The publisher: the owner of the template, and of a share of the rest.
    pub agent: Agent,
    pub edge_url: String,
    /// The content of every copied page.
    pub page: String,
    /// Pages without a visit so far.
    pub unvisited: Vec<String>,
    database: Database,
    blobs: PathBuf,
    hash: String,
    accounts: usize,
    artifacts: usize,
}

impl Filling {
    pub async fn begin(system: &BenchSystem, accounts: usize) -> anyhow::Result<Self> {
        let agent = Agent::sign_up(&system.api_url).await?;
        agent.claim().await?;
        let page = page(&Chance::from_system());
        let published = agent.publish_as(TEMPLATE_SLUG, page.clone()).await?;
        wait_for_verdict(&agent).await?;
        let mut database = Database::open(&system.database_url()).await?;
        let hash =
            database.texts("SELECT hash FROM blob_refs").await?.pop().context("the template has no blob")?;
        let edge_url = published.url.replace(&format!("{}/", published.host), "");
        let blobs = system.blobs();
        let mut filling =
            Self { agent, edge_url, page, unvisited: vec![], database, blobs, hash, accounts, artifacts: 0 };
        filling.copy_accounts().await?;
        Ok(filling)
    }

    /// Adds artifacts up to this number.
    pub async fn grow_to(&mut self, artifacts: usize) -> anyhow::Result<()> {
        for copied in rows::of_artifacts(self.accounts, &self.hash) {
            self.copy(&copied, self.artifacts + 1..=artifacts).await?;
        }
        let entries = rows::entries(self.accounts, &(self.artifacts + 1..=artifacts));
        self.database.run(&entries).await?;
        self.database.run(ADD_UP).await?;
        self.unvisited = self.put_contents(self.artifacts + 1..=artifacts)?;
        self.artifacts = artifacts;
        self.database.settle().await
    }

    async fn copy_accounts(&mut self) -> anyhow::Result<()> {
        for copied in rows::of_accounts() {
            self.copy(&copied, 1..=self.accounts - 1).await?;
        }
        self.database.run(&rows::top_up()).await
    }

    async fn copy(&mut self, copied: &Copied, numbers: RangeInclusive<usize>) -> anyhow::Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let columns = self.database.columns(copied.table).await?;
        ensure!(!columns.is_empty(), "there is no table {}", copied.table);
        let value = |column: &String| match copied.other.iter().find(|(name, _)| name == column) {
            Some((_, value)) => value.clone(),
            None => format!("template.{column}"),
        };
        let values: Vec<_> = columns.iter().map(value).collect();
        let sql = format!(
            "{} INSERT INTO {table} ({}) SELECT {} FROM {table} AS template CROSS JOIN numbers WHERE {}",
            rows::numbered(&numbers),
            columns.join(", "),
            values.join(", "),
            copied.template,
            table = copied.table,
        );
        self.database.run(&sql).await
    }

    /// Stores the contents of the pages that will be visited, spread evenly over these numbers.
    fn put_contents(&self, numbers: RangeInclusive<usize>) -> anyhow::Result<Vec<String>> {
        let (first, count) = (*numbers.start(), numbers.count());
        let content = std::fs::read(self.path_of(&self.hash)).context("read the template's content")?;
        let mut hosts = vec![];
        for index in 0..RUNS.min(count) {
            let spread = rows::spread(first + index * count / RUNS.min(count));
            let path = self.path_of(&format!("{spread}{}", &self.hash[spread.len()..]));
            std::fs::create_dir_all(path.parent().context("a content lies nowhere")?)?;
            std::fs::write(path, &content)?;
            hosts.push(format!("page-{spread}-grow"));
        }
        Ok(hosts)
    }

    fn path_of(&self, hash: &str) -> PathBuf {
        self.blobs.join(&hash[..2]).join(hash)
    }
}

/// Waits for the verdict of the template, which is copied with it.
async fn wait_for_verdict(agent: &Agent) -> anyhow::Result<()> {
    let started = Instant::now();
    while agent.moderation_status(TEMPLATE_SLUG).await? == "pending" {
        ensure!(started.elapsed() < VERDICT_WAIT_MAX, "the template has no verdict");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}
