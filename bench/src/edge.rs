//! The edge compared with nginx, static-web-server and boatramp: each alone on one core in alternation, with
//! the load from another core.

mod contest;
mod load;
mod rivals;
mod stock;

use std::collections::HashSet;

use anyhow::Context;

use crate::Bench;
use crate::extent::Extent;
use crate::figure::Goal::{RatioAtLeast, RatioAtMost};
use crate::program::{Launch, Program};
use crate::system::Site;
use crate::table::Table;
use contest::{Contest, Goal};
use load::{RequestVariant, Visit};
use stock::{Sample, Stock};

/// The core of the server under load. The load runs on [`load::CORE`].
const SERVER_CORE: u8 = 0;

const NGINX: &str = "nginx";
/// The path below which the edge serves sites by host.
const SITES: &str = "site";

/// A server in the comparison, and how to restart it with cold caches.
pub struct Entrant {
    pub name: &'static str,
    pub address: std::net::SocketAddr,
    /// The address at which it serves sites by name, if it can.
    pub by_name: Option<std::net::SocketAddr>,
    /// The path below which it serves all sites.
    pub mount: &'static str,
    /// The sites that it has, or all sites if unset.
    pub hosts: Option<HashSet<String>>,
    launch: Launch,
    program: Option<Program>,
}

impl Entrant {
    pub async fn start(&mut self) -> anyhow::Result<()> {
        if let Some(running) = self.program.take() {
            running.kill().await?;
        }
        let mut program = self.launch.start()?;
        program.answers(self.address, "/").await.context(self.name)?;
        self.program = Some(program);
        Ok(())
    }
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let site = Site::new(bench, "edge")?;
    let mut edge = Entrant {
        name: "edge",
        address: site.edge,
        by_name: Some(site.edge),
        mount: SITES,
        hosts: None,
        launch: Launch { core: Some(SERVER_CORE), ..site.launch("serve") },
        program: None,
    };
    edge.start().await?;
    let sites = match bench.extent() {
        Extent::Full => stock::SITES,
        Extent::Quick => 0,
    };
    let stock = Stock::publish(&site, sites).await?;
    let rivals = rivals::prepare(bench, &stock, SERVER_CORE).await?;
    let mut contest = Contest::new(edge, rivals, bench.extent());
    contest.start_rivals().await?;
    run_all(&mut contest, &stock, table).await
}

async fn run_all(contest: &mut Contest, stock: &Stock, table: &mut Table) -> anyhow::Result<()> {
    let page = &stock.page;
    let hot = Goal { rate: Some(RatioAtLeast(1.2)), p99: Some(RatioAtMost(1.0)) };
    let hot_page = [Visit::by_path(&page.host, "")];
    contest.warm("hot page, 4.6 KB, by path", hot, &hot_page, RequestVariant::Plainly, table).await?;
    let by_name = [Visit::by_name(&page.host, "")];
    contest.warm("hot page, 4.6 KB, by name", Goal::NONE, &by_name, RequestVariant::Plainly, table).await?;
    let file = [Visit::by_path(&stock.file.host, Sample::FILE)];
    let as_fast = Goal { rate: Some(RatioAtLeast(1.0)), p99: None };
    contest.warm("file of 100 KB", as_fast, &file, RequestVariant::Plainly, table).await?;
    if stock.many.is_empty() {
        return Ok(());
    }
    contest.warm("304 to If-None-Match", as_fast, &hot_page, RequestVariant::IfChanged, table).await?;
    contest.warm("hot page in brotli", Goal::NONE, &hot_page, RequestVariant::InBrotli, table).await?;

    let many: Vec<_> = stock.many.iter().map(|sample| Visit::by_path(&sample.host, "")).collect();
    let warm = Goal { rate: Some(RatioAtLeast(1.0)), p99: Some(RatioAtMost(1.0)) };
    contest.warm("10,000 sites, warm, by path", warm, &many, RequestVariant::Plainly, table).await?;
    let many_by_name: Vec<_> = stock.many.iter().map(|sample| Visit::by_name(&sample.host, "")).collect();
    contest.warm("10,000 sites, warm, by name", warm, &many_by_name, RequestVariant::Plainly, table).await?;
    let cold = Goal { rate: Some(RatioAtLeast(0.6)), p99: Some(RatioAtMost(1.0)) };
    contest.cold("10,000 sites, cold, by path", cold, &many, table).await
}
