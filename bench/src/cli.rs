//! How long a person waits for `handbill publish page.html`, and for a site of which one file changed, from
//! the start of the process to the URL.
//! Compared with `boatramp sync`, which publishes a folder, in alternation.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::Chance;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::Bench;
use crate::boatramp::{BOATRAMP, Boatramp};
use crate::figure::Goal;
use crate::latencies::Latencies;
use crate::page::page;
use crate::system::BenchSystem;
use crate::table::{Row, Table};

const RUNS: usize = 50;
/// During the first runs the program is not in the page cache and the server is cold.
const WARM_UP_RUNS: usize = 5;
/// The folder that boatramp publishes, and the name of its site.
const SITE: &str = "site";
/// The folder of many files, one of which changes before each publish, and the name of its site.
const LARGE_SITE: &str = "large-site";
const LARGE_SITE_FILES: usize = 50;

/// A user of a command line with a profile of their own.
struct Person {
    program: PathBuf,
    folder: PathBuf,
    /// The name and the value of the variable with the server's address.
    server: (&'static str, String),
}

/// The times of all runs.
#[derive(Default)]
struct CommandTime {
    published: Vec<Duration>,
    /// One file of the large site had changed.
    updated: Vec<Duration>,
    started: Vec<Duration>,
    synced: Vec<Duration>,
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let system = BenchSystem::embedded(bench, "cli").await?;
    let boatramp = Boatramp::start(bench, "cli-boatramp").await?;
    let folder = bench.folder.path().join("cli-person");
    std::fs::create_dir_all(folder.join(SITE))?;
    let person = Person {
        program: bench.arguments.program.clone(),
        folder: folder.clone(),
        server: ("HANDBILL_URL", system.api_url.clone()),
    };
    let other = boatramp.as_ref().map(|boatramp| Person {
        program: BOATRAMP.into(),
        folder,
        server: ("BOATRAMP_SERVER", format!("http://{}", boatramp.address)),
    });
    person.first_line_of(&["signup", "--quiet"]).await.context("handbill signup")?;
    person.write_large_site()?;
    let mut taken = CommandTime::default();
    for run in 0..WARM_UP_RUNS + bench.extent().runs(RUNS) {
        if run == WARM_UP_RUNS {
            taken = CommandTime::default();
        }
        taken.add(&person, other.as_ref()).await?;
    }
    add_rows(table, taken);
    Ok(())
}

fn add_rows(table: &mut Table, taken: CommandTime) {
    let (published, started) = (Latencies::of(taken.published), Latencies::of(taken.started));
    let synced = (!taken.synced.is_empty()).then(|| Latencies::of(taken.synced).percentile(50));
    let row = Row::of("handbill publish page.html, p50", published.percentile(50));
    let p99 = format!("p99 of {} {}", published.count(), published.percentile(99));
    table.add(row.beside_any("boatramp sync", synced).goal(Goal::AtMost(30.0)).note(p99));
    let updated = Latencies::of(taken.updated);
    let row = Row::of("handbill publish, 1 of 50 files changed, p50", updated.percentile(50));
    table.add(row.note(format!("p99 of {} {}", updated.count(), updated.percentile(99))));
    let row = Row::of("handbill --version, p50", started.percentile(50));
    table.add(row.note(format!("p99 {}", started.percentile(99))));
}

impl CommandTime {
    async fn add(&mut self, person: &Person, other: Option<&Person>) -> anyhow::Result<()> {
        let html = page(&Chance::from_system());
        std::fs::write(person.folder.join("page.html"), &html)?;
        let (took, line) = person.first_line_of(&["publish", "page.html"]).await?;
        ensure!(line.starts_with("http://"), "no URL was printed: {line}");
        self.published.push(took);
        std::fs::write(person.folder.join(LARGE_SITE).join("index.html"), &html)?;
        let (took, line) = person.first_line_of(&["publish", LARGE_SITE, "--slug", LARGE_SITE]).await?;
        ensure!(line.starts_with("http://"), "no URL was printed: {line}");
        self.updated.push(took);
        self.started.push(person.first_line_of(&["--version"]).await?.0);
        let Some(other) = other else { return Ok(()) };
        std::fs::write(other.folder.join(SITE).join("index.html"), &html)?;
        // Its last line says that the site is live.
        let (took, line) = other.first_line_of(&["sync", SITE, "--site", SITE]).await?;
        ensure!(line.contains(SITE), "boatramp did not say what it published: {line}");
        self.synced.push(took);
        Ok(())
    }
}

impl Person {
    fn write_large_site(&self) -> anyhow::Result<()> {
        let folder = self.folder.join(LARGE_SITE);
        std::fs::create_dir_all(&folder)?;
        for number in 1..LARGE_SITE_FILES {
            std::fs::write(folder.join(format!("{number}.html")), page(&Chance::from_system()))?;
        }
        Ok(())
    }

    /// The time from the start of the process to its first line. Waits for the end of the process, which is
    /// not part of the time.
    async fn first_line_of(&self, arguments: &[&str]) -> anyhow::Result<(Duration, String)> {
        let started = Instant::now();
        let mut child = self.command().args(arguments).spawn()?;
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().context("the program has no output")?);
        stdout.read_line(&mut line).await?;
        let took = started.elapsed();
        // The rest of the output is read so that the process does not block.
        tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await?;
        let status = child.wait().await?;
        ensure!(status.success(), "{} {} ended with {status}", self.program.display(), arguments.join(" "));
        Ok((took, line))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("XDG_CONFIG_HOME", &self.folder)
            .env(self.server.0, &self.server.1)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command
    }
}
