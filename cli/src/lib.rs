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
mod output;
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
use config::{Log, LogFormat, SettingLine, Settings, Sources};
use serde_json::{Value, json};
use store::ScrubCare;
use telemetry::{TraceSettings, Traces};
use tokio::runtime::Handle;

use args::{Arguments, Command, LedgerCommand, ServerCommand};
use output::Form;
use serve::Roles;

// In the library, so that every program that starts `main` has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let Arguments { config, client, command } = match Arguments::read(&line) {
        Ok(arguments) => arguments,
        Err(refused) => return usage::refuse(&refused, &line),
    };
    let form = Form::of(&client);
    let code_of =
        |done: anyhow::Result<()>| done.map_or_else(|error| form.fail(&error), |()| ExitCode::SUCCESS);
    let code = match command {
        Command::Server(command) => operate(&command, form, config),
        Command::Client(command) => client::run(command, client),
        Command::Size(arguments) => code_of(size::execute(&arguments, form)),
        Command::Completions { shell } => code_of(manual::print_completions(shell, form)),
        Command::Man { folder: None } => code_of(manual::print_page(form)),
        Command::Man { folder: Some(folder) } => code_of(manual::write_pages(&folder, form)),
    };
    output::with_write_error(code, form)
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
        Err(faults) => return form.refuse_settings(&faults),
    };
    if let Some(Err(faults)) = command.role().map(|role| settings.check_role(role)) {
        return form.refuse_settings(&faults);
    }
    match run(command, form, &settings) {
        Ok(code) => code,
        Err(error) => form.fail(&error),
    }
}

fn run(command: &ServerCommand, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    // The TLS provider of every client in this process. The first installation cannot fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    let traces = open_traces(command, settings, runtime.handle())?;
    logging::start(&log_of(command, form, settings), traces.as_ref())?;
    let executed = runtime.block_on(execute(command, form, settings));
    if let Some(traces) = traces {
        runtime.block_on(traces.finish());
    }
    executed
}

async fn execute(command: &ServerCommand, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    match command {
        ServerCommand::Serve => serve::run(settings, Roles::all(settings), form).await?,
        ServerCommand::Api => serve::run(settings, Roles::api(), form).await?,
        ServerCommand::Edge => serve::run(settings, Roles::edge(), form).await?,
        ServerCommand::Worker { queues, concurrency } => {
            serve::run(settings, Roles::worker(settings, queues, *concurrency), form).await?;
        }
        ServerCommand::Migrate => migrate(settings, form).await?,
        ServerCommand::Config => show(settings, form),
        ServerCommand::Doctor => return Ok(doctor::examine(settings, form).await),
        ServerCommand::Backup { path } => return backup::take(path, form, settings).await,
        ServerCommand::Restore { path } => return restore::execute(path, form, settings).await,
        ServerCommand::Scrub { fix, sample } => {
            let care = if *fix { ScrubCare::Fix } else { ScrubCare::Report };
            let options = scrub::ScrubOptions { care, sample: *sample };
            return scrub::execute(&options, form, settings).await;
        }
        ServerCommand::Ledger(LedgerCommand::Check) => return ledger::check(form, settings).await,
        ServerCommand::Ledger(LedgerCommand::Show { account }) => {
            return ledger::show(account, form, settings).await;
        }
        ServerCommand::MigrateData { from, to } => return migrate_data::execute(from, to, form).await,
        ServerCommand::Admin(command) => return admin::execute(command, form, settings).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Unless the settings choose a filter, only warnings are logged by a command that ends by itself, because it
/// prints what it has done, and by `handbill serve` at a terminal, where the log would bury the banner. With
/// `--json`, standard error has only JSON, and commands that end by themselves log only errors.
fn log_of(command: &ServerCommand, form: Form, settings: &Settings) -> Log {
    let mut log = settings.log.clone();
    let is_banner_shown = matches!(command, ServerCommand::Serve) && logging::is_at_terminal(form, settings);
    if !logging::is_level_set(settings) && (command.role().is_none() || is_banner_shown) {
        let filter = if form == Form::Json { "error" } else { "warn" };
        filter.clone_into(&mut log.filter);
    }
    if form == Form::Json {
        log.format = LogFormat::Json;
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

async fn migrate(settings: &Settings, form: Form) -> anyhow::Result<()> {
    let store = parts::open_store(settings).await?;
    let queues = parts::open_queues(settings, &bus::Bus::local("migrate"), parts::clock()).await?;
    store.migrate().await?;
    queues.migrate().await?;
    let schema = store.schema().await?;
    form.print(
        || "The database and the queue have the newest schema.".to_owned(),
        || json!({ "migrated": true, "schema": schema }),
    );
    Ok(())
}

fn show(settings: &Settings, form: Form) {
    let lines = settings.describe();
    let line = |line: &SettingLine| format!("{} = {}   # {}", line.key, line.value, line.source);
    let entry = |line: &SettingLine| {
        let source = line.source.to_string();
        json!({ "key": line.key, "value": line.value, "source": source })
    };
    form.print(
        || lines.iter().map(line).collect::<Vec<_>>().join("\n"),
        || lines.iter().map(entry).collect::<Value>(),
    );
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn filter_of(command: &ServerCommand, form: Form, file: &Path, set: &[(&str, &str)]) -> String {
        let env = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = config::load(Sources { file: Some(file.to_owned()), env }).unwrap();
        log_of(command, form, &settings).filter
    }

    #[test]
    fn commands_that_end_log_only_warnings_unless_a_level_is_set() {
        let no_file = Path::new("/dev/null");
        let filter = |form, set: &[(&str, &str)]| filter_of(&ServerCommand::Migrate, form, no_file, set);
        assert_eq!(filter(Form::People, &[]), "warn");
        assert_eq!(filter(Form::Json, &[]), "error");
        // The default, when it is asked for, is a choice like any other.
        for form in [Form::People, Form::Json] {
            assert_eq!(filter(form, &[("HANDBILL_LOG", "info")]), "info");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("handbill.toml");
        std::fs::write(&file, "log = \"info\"").unwrap();
        assert_eq!(filter_of(&ServerCommand::Migrate, Form::People, &file, &[]), "info");
    }

    #[test]
    fn server_that_shows_no_banner_logs_as_usual() {
        let no_file = Path::new("/dev/null");
        assert_eq!(filter_of(&ServerCommand::Serve, Form::Json, no_file, &[]), "info");
        let json = [("HANDBILL_LOG_FORMAT", "json")];
        assert_eq!(filter_of(&ServerCommand::Serve, Form::People, no_file, &json), "info");
        assert_eq!(filter_of(&ServerCommand::Edge, Form::People, no_file, &[]), "info");
    }
}
