//! Starts the log of the process, and its traces if configured. It must never write to standard output, which
//! is for results of commands, nor log the message of a panic, which may quote published content.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use anyhow::Context;
use config::{Log, LogFormat, Settings, Source};
use telemetry::Traces;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::output::Form;

/// Libraries whose `info` messages repeat ours. rmcp warns of every refusal that it sends to a client, such
/// as of a protocol version.
const QUIET: &str = "sea_orm_migration=warn,poem=warn,apalis_core=warn,rmcp=warn,rmcp::service=error";

/// Logs go to standard error, because standard output is for the result of a command.
pub(crate) fn start(log: &Log, traces: Option<&Traces>) -> anyhow::Result<()> {
    let layers = std::iter::once(lines(log)?).chain(traces.map(Traces::layer));
    tracing_subscriber::registry()
        .with(layers.collect::<Vec<_>>())
        .try_init()
        .map_err(|error| anyhow::anyhow!("start logging: {error}"))?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Whether a person sees the results and the log in one terminal. A container may have a terminal whose log
/// is collected as JSON.
pub(crate) fn is_at_terminal(form: Form, settings: &Settings) -> bool {
    let is_for_people = form == Form::People && settings.log.format == LogFormat::Text;
    is_for_people && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether the settings choose a level, even if it is the default.
pub(crate) fn is_level_set(settings: &Settings) -> bool {
    settings.source_of("log") != Source::Default
}

/// Logs the location and the thread of a panic, which are enough to find it.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map_or_else(|| "an unknown location".to_owned(), ToString::to_string);
    let thread = std::thread::current();
    tracing::error!(thread.name = thread.name().unwrap_or("unnamed"), "panicked at {location}");
}

/// The log's layer. The filter belongs to this layer only and does not affect traces.
fn lines(log: &Log) -> anyhow::Result<Box<dyn Layer<Registry> + Send + Sync>> {
    let filter = EnvFilter::try_new(format!("{QUIET},{},{}", log.filter, telemetry::NOT_IN_LOG))
        .with_context(|| format!("parse the log filter {:?}", log.filter))?;
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    Ok(match log.format {
        LogFormat::Text => layer.with_filter(filter).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
    })
}
