//! Starts the log of the process, once, and beside it the traces, if there are any. It must never write to standard
//! output, which belongs to what a command prints; nor the words of a panic, which may quote what somebody publishes.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use anyhow::Context;
use config::{Log, LogFormat};
use telemetry::Traces;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// What the libraries say at `info` repeats what our own lines say better. rmcp warns of every refusal that it sends to a
/// client, such as of a protocol version.
const QUIET: &str = "sea_orm_migration=warn,poem=warn,apalis_core=warn,rmcp=warn,rmcp::service=error";

/// Logs go to standard error, so that what a command prints stays clean.
pub(crate) fn start(log: &Log, traces: Option<&Traces>) -> anyhow::Result<()> {
    let layers = std::iter::once(lines(log)?).chain(traces.map(Traces::layer));
    tracing_subscriber::registry()
        .with(layers.collect::<Vec<_>>())
        .try_init()
        .map_err(|error| anyhow::anyhow!("start logging: {error}"))?;
    std::panic::set_hook(Box::new(tell_of_panic));
    Ok(())
}

/// Where it was, and on which thread. That is enough to find it.
fn tell_of_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let thread = std::thread::current();
    tracing::error!(thread.name = thread.name().unwrap_or("unnamed"), "panicked at {place}");
}

/// The lines of the log. The filter is the layer's own: what is traced is none of its business.
fn lines(log: &Log) -> anyhow::Result<Box<dyn Layer<Registry> + Send + Sync>> {
    let filter = EnvFilter::try_new(format!("{QUIET},{},{}", log.filter, telemetry::NOT_IN_LOG))
        .with_context(|| format!("the log filter {:?}", log.filter))?;
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    Ok(match log.format {
        LogFormat::Text => layer.with_filter(filter).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
    })
}
