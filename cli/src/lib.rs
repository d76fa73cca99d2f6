//! The program `handbill`: its commands, and the wiring of the crates into processes.
//!
//! The server's settings are loaded only here. No other crate reads them, except for the fault points of
//! debug builds (`faults`). A client command must not load them, and must start quickly: it is implemented in
//! `client`.

mod admin;
mod args;
mod backup;
mod backup_manifest;
mod command_line;
mod connections;
mod contents;
mod data_lock;
mod database_clock;
mod doctor;
mod help;
mod ledger;
mod listener;
mod load;
mod logging;
mod manual;
mod migrate_data;
mod open_files;
mod ops;
mod parts;
mod progress;
mod restore;
mod scrub;
mod serve;
mod size;
mod stop;
mod system;
mod usage;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use config::{Log, Settings, Sources};
use store::ScrubCare;
use telemetry::{TraceSettings, Traces};
use tokio::runtime::Handle;

use admin::Form;
use args::{Arguments, Command, LedgerCommand, ServerCommand};
use serve::Roles;

/// The exit code for wrong settings or a wrong command line.
const EXIT_USAGE: u8 = 2;

pub fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let Arguments { config, client, command } = match Arguments::read(&line) {
        Ok(arguments) => arguments,
        Err(refused) => return usage::refuse(&refused, &line),
    };
    match command {
        Command::Server(command) => operate(&command, Form::of(&client), config),
        Command::Client(command) => client::run(command, client),
        Command::Size(arguments) => {
            size::execute(&arguments, Form::of(&client)).unwrap_or_else(|error| exit_code(Err(error)))
        }
        Command::Completions { shell } => exit_code(manual::print_completions(shell)),
        Command::Man { folder: None } => exit_code(manual::print_page()),
        Command::Man { folder: Some(folder) } => exit_code(manual::write_pages(&folder)),
    }
}

fn operate(command: &ServerCommand, form: Form, file: Option<PathBuf>) -> ExitCode {
    // The data directory holds password hashes, codes and private pages, which other users of this machine
    // must not read.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // A variable that is not UTF-8 is not a setting; `std::env::vars` would panic over it.
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let settings = match config::load(Sources { file, env }) {
        Ok(settings) => settings,
        Err(faults) => return complain(&faults.to_string(), EXIT_USAGE),
    };
    if let Some(Err(faults)) = command.role().map(|role| settings.check_role(role)) {
        return complain(&faults.to_string(), EXIT_USAGE);
    }
    match run(command, form, &settings) {
        Ok(code) => code,
        Err(error) => complain(&format!("handbill: {error:#}"), 1),
    }
}

fn exit_code(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("handbill: {error:#}"), 1),
    }
}

fn run(command: &ServerCommand, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    // The TLS provider of every client in this process. The first installation cannot fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    let traces = open_traces(command, settings, runtime.handle())?;
    logging::start(&log_of(command, settings), traces.as_ref())?;
    let executed = runtime.block_on(execute(command, form, settings));
    if let Some(traces) = traces {
        runtime.block_on(traces.finish());
    }
    executed
}

async fn execute(command: &ServerCommand, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    match command {
        ServerCommand::Serve => serve::run(settings, Roles::all(settings)).await?,
        ServerCommand::Api => serve::run(settings, Roles::api()).await?,
        ServerCommand::Edge => serve::run(settings, Roles::edge()).await?,
        ServerCommand::Worker { queues, concurrency } => {
            serve::run(settings, Roles::worker(settings, queues, *concurrency)).await?;
        }
        ServerCommand::Migrate => migrate(settings).await?,
        ServerCommand::Config => show(settings),
        ServerCommand::Doctor => return doctor::examine(settings).await,
        ServerCommand::Backup { path } => return backup::take(path, settings).await,
        ServerCommand::Restore { path } => return restore::execute(path, settings).await,
        ServerCommand::Scrub { fix, sample } => {
            let care = if *fix { ScrubCare::Fix } else { ScrubCare::Report };
            return scrub::execute(&scrub::ScrubOptions { care, sample: *sample }, settings).await;
        }
        ServerCommand::Ledger(LedgerCommand::Check) => return ledger::check(settings).await,
        ServerCommand::Ledger(LedgerCommand::Show { account }) => {
            return ledger::show(account, form, settings).await;
        }
        ServerCommand::MigrateData { from, to } => return migrate_data::execute(from, to).await,
        ServerCommand::Admin(command) => return admin::execute(command, form, settings).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// The log of an operator's command has only warnings unless the settings choose a filter, because the command
/// prints by itself what it has done.
fn log_of(command: &ServerCommand, settings: &Settings) -> Log {
    let mut log = settings.log.clone();
    if matches!(command, ServerCommand::Admin(_)) && log.filter == Log::DEFAULT_FILTER {
        "warn".clone_into(&mut log.filter);
    }
    log
}

/// Only long-running processes have traces.
fn open_traces(
    command: &ServerCommand,
    settings: &Settings,
    runtime: &Handle,
) -> anyhow::Result<Option<Traces>> {
    let (Some(role), Some(otlp_url)) = (command.role(), &settings.traces.otlp_url) else { return Ok(None) };
    let traces = TraceSettings { otlp_url, sample: settings.traces.sample, role: role.name() };
    Traces::open(&traces, runtime.clone()).map(Some)
}

async fn migrate(settings: &Settings) -> anyhow::Result<()> {
    let store = parts::open_store(settings).await?;
    let queues = parts::open_queues(settings, &bus::Bus::local("migrate"), parts::clock()).await?;
    store.migrate().await?;
    queues.migrate().await?;
    say("The database and the queue have the newest schema.");
    Ok(())
}

fn show(settings: &Settings) {
    for line in settings.describe() {
        say(&format!("{} = {}   # {}", line.key, line.value, line.source));
    }
}

/// Prints to standard output, which is only for the result of a command. Formatting is for terminals only.
fn say(text: &str) {
    anstream::println!("{text}");
}

#[allow(clippy::print_stderr)]
fn complain(text: &str, code: u8) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(code)
}
