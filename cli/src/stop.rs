//! Turns stop signals into a cancellation. It must never end anything itself: each part finishes its own
//! work.

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels the token at SIGTERM or Ctrl-C.
pub(crate) fn on_signal(stop: &CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for Ctrl-C")?;
    let stop = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: finishing active work, accepting no more");
        stop.cancel();
    });
    Ok(())
}
