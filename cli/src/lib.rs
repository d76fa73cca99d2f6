//! The program `handbill`: its commands, and the one place that wires the crates into processes.
//!
//! Settings are loaded here and nowhere else; no other crate reads the environment or the settings file, but for the
//! fault points of debug builds (`domain::fault`).

mod args;
mod connections;
mod doctor;
mod house;
mod logging;
mod parts;
mod serve;
mod stop;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use config::{Settings, Sources};

use args::{Arguments, Command};
use serve::Roles;

/// What a process exits with when the settings or the command line are wrong.
const EXIT_USAGE: u8 = 2;

pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // A variable that is no text is no setting of ours; `std::env::vars` would panic over it.
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let sources = Sources { file: arguments.config.clone(), env };
    let settings = match config::load(sources) {
        Ok(settings) => settings,
        Err(faults) => return complain(&faults.to_string(), EXIT_USAGE),
    };
    if let Err(faults) = settings.check_role(arguments.command.role()) {
        return complain(&faults.to_string(), EXIT_USAGE);
    }
    match run(&arguments.command, &settings) {
        Ok(code) => code,
        Err(error) => complain(&format!("handbill: {error:#}"), 1),
    }
}

fn run(command: &Command, settings: &Settings) -> anyhow::Result<ExitCode> {
    logging::start(&settings.log)?;
    // The rustls of every client in this process; it is installed once and cannot fail at the first time.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    runtime.block_on(async {
        match command {
            Command::Serve => serve::run(settings, Roles::all(settings)).await?,
            Command::Api => serve::run(settings, Roles::api()).await?,
            Command::Edge => serve::run(settings, Roles::edge()).await?,
            Command::Worker { queues, concurrency } => {
                serve::run(settings, Roles::worker(settings, queues, *concurrency)).await?;
            }
            Command::Migrate => migrate(settings).await?,
            Command::Config => show(settings),
            Command::Doctor => return doctor::examine(settings).await,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn migrate(settings: &Settings) -> anyhow::Result<()> {
    let store = parts::open_store(settings).await?;
    let queues = parts::open_queues(settings, &bus::Bus::local("migrate")).await?;
    store.migrate().await?;
    queues.migrate().await?;
    say("the database and the queue have the newest schema");
    Ok(())
}

fn show(settings: &Settings) {
    for line in settings.describe() {
        say(&format!("{} = {}   # {}", line.key, line.value, line.source));
    }
}

/// What a command prints is its product, so it goes to standard output.
#[allow(clippy::print_stdout)]
fn say(text: &str) {
    println!("{text}");
}

#[allow(clippy::print_stderr)]
fn complain(text: &str, code: u8) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(code)
}
