//! Starts the log of the process, once. It must never write to standard output, which belongs to what a command
//! prints.

use std::io::IsTerminal;

use anyhow::Context;
use config::{Log, LogFormat};
use tracing_subscriber::EnvFilter;

/// What the libraries say at `info` repeats what our own lines say better.
const QUIET: &str = "sea_orm_migration=warn,poem=warn,apalis_core=warn,rmcp=warn";

/// Logs go to standard error, so that what a command prints stays clean.
pub(crate) fn start(log: &Log) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(format!("{QUIET},{}", log.filter))
        .with_context(|| format!("the log filter {:?}", log.filter))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("start logging: {error}"))
}
