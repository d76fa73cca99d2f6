//! A hot page, by the edge and by nginx: each alone on one core, the load from the other, taking turns.

use std::time::Duration;

use anyhow::{Context, ensure};
use domain::Chance;
use reqwest::header::HeaderMap;
use tokio::process::Command;

use crate::Bench;
use crate::agent::Agent;
use crate::house::House;
use crate::page::page;
use crate::table::{NO_GOAL, Table};
use crate::web_server::WebServer;

const SERVER_CORE: u8 = 0;
const LOAD_CORE: u8 = 1;
const CONNECTIONS: u32 = 64;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(5);
const WARM_UP: Duration = Duration::from_secs(1);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let house = House::embedded(bench, "serving", Some(SERVER_CORE)).await?;
    let agent = Agent::sign_up(&house.api_url).await?;
    let url = agent.publish(page(&Chance::from_system())).await?.url;
    let (body, headers) = look(&url).await?;
    let nginx = WebServer::start(&bench.folder.path().join("nginx"), &body, &headers, SERVER_CORE).await?;
    let (same_body, _) = look(&nginx.url).await?;
    ensure!(body == same_body, "nginx serves another body");

    load(&url, WARM_UP).await?;
    load(&nginx.url, WARM_UP).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(Round { edge: load(&url, ROUND).await?, nginx: load(&nginx.url, ROUND).await? });
    }
    rounds.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let median = &rounds[ROUNDS / 2];
    table.add("serve a hot page, nginx, one core", format!("{:.0} /s", median.nginx), NO_GOAL, "");
    table.add("serve a hot page, edge, one core", format!("{:.0} /s", median.edge), NO_GOAL, "");
    let spread = format!("{:.2} to {:.2} in {ROUNDS} rounds", rounds[0].ratio(), rounds[ROUNDS - 1].ratio());
    table.add("serve a hot page, edge to nginx", format!("{:.2} ×", median.ratio()), "≥ 1.0 ×", spread);
    Ok(())
}

/// Requests per second of both, one after the other.
struct Round {
    edge: f64,
    nginx: f64,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.edge / self.nginx
    }
}

async fn look(url: &str) -> anyhow::Result<(Vec<u8>, HeaderMap)> {
    let answer = reqwest::Client::builder().no_proxy().build()?.get(url).send().await?.error_for_status()?;
    let headers = answer.headers().clone();
    Ok((answer.bytes().await?.to_vec(), headers))
}

/// Requests per second as wrk counts them; an answer that is no 200 spoils the round.
async fn load(url: &str, time: Duration) -> anyhow::Result<f64> {
    let output = Command::new("taskset")
        .args(["-c", &LOAD_CORE.to_string(), "wrk", "-t1"])
        .arg(format!("-c{CONNECTIONS}"))
        .arg(format!("-d{}s", time.as_secs()))
        .arg(url)
        .output()
        .await
        .context("run wrk")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && !said.contains("Non-2xx"), "wrk could not load {url}:\n{said}");
    let figure =
        said.lines().find_map(|line| line.strip_prefix("Requests/sec:")).context("wrk counted nothing")?;
    Ok(figure.trim().parse()?)
}
