//! How long a person waits for `handbill publish page.html`: from the start of the process to the URL.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::Chance;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::Bench;
use crate::house::House;
use crate::latencies::Latencies;
use crate::page::page;
use crate::table::{NO_GOAL, Table};

const RUNS: usize = 50;
/// The first runs find the program on disk and the server cold.
const WARM_UP_RUNS: usize = 5;

/// One who sits at a command line, with a profile of their own.
struct Person<'a> {
    program: &'a Path,
    folder: PathBuf,
    url: String,
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let house = House::embedded(bench, "cli").await?;
    let folder = bench.folder.path().join("cli-person");
    std::fs::create_dir_all(&folder)?;
    let person = Person { program: &bench.arguments.program, folder, url: house.api_url.clone() };
    person.first_line_of(&["signup", "--quiet"]).await.context("handbill signup")?;
    let chance = Chance::from_system();
    let (mut published, mut started) = (Vec::new(), Vec::new());
    for run in 0..WARM_UP_RUNS + RUNS {
        std::fs::write(person.folder.join("page.html"), page(&chance))?;
        let (took_published, line) = person.first_line_of(&["publish", "page.html"]).await?;
        ensure!(line.starts_with("http://"), "no URL was printed: {line}");
        let (took_started, _) = person.first_line_of(&["--version"]).await?;
        if run >= WARM_UP_RUNS {
            published.push(took_published);
            started.push(took_started);
        }
    }
    let (published, started) = (Latencies::of(published), Latencies::of(started));
    let p99 = format!("p99 of {} {}", published.count(), published.percentile(99));
    table.add("handbill publish page.html, p50", published.percentile(50).to_string(), "≤ 30 ms", p99);
    let p99 = format!("p99 {}", started.percentile(99));
    table.add("handbill --version, p50", started.percentile(50).to_string(), NO_GOAL, p99);
    Ok(())
}

impl Person<'_> {
    /// From the start of the process to its first line; it is waited for, but not timed, to its end.
    async fn first_line_of(&self, arguments: &[&str]) -> anyhow::Result<(Duration, String)> {
        let begun = Instant::now();
        let mut child = Command::new(self.program)
            .args(arguments)
            .env_clear()
            .env("XDG_CONFIG_HOME", &self.folder)
            .env("HANDBILL_URL", &self.url)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("the program has no output")?;
        BufReader::new(stdout).read_line(&mut line).await?;
        let took = begun.elapsed();
        let status = child.wait().await?;
        ensure!(status.success(), "handbill {} ended with {status}", arguments.join(" "));
        Ok((took, line))
    }
}
