//! The client commands, such as `handbill publish` and `handbill list`, which call any Handbill server over
//! HTTP.
//!
//! This crate uses the service only through its API, as any other program does: `domain` is the only other
//! crate of the workspace that it may depend on. It reads its own few settings (`HANDBILL_URL`,
//! `HANDBILL_TOKEN`, the user's profile) and none of the server's, so that a command starts quickly. A token
//! is never an argument and never in a message or a log.

mod browser;
mod command;
mod commands;
mod console;
mod context;
mod echo;
mod exit;
mod failure;
mod hints;
mod oauth;
mod options;
mod parse;
mod payment;
mod profile;
mod reply;
mod request;
mod retry;
mod server;
pub mod show;
mod state;
mod table;
mod upload;
mod wire;

use std::process::ExitCode;
use std::sync::atomic::Ordering;

pub use command::Command;
pub use console::{write_error, write_result};
pub use context::DEFAULT_URL;
pub use exit::HELP;
pub use failure::{ApiError, LOCAL_ERROR};
pub use options::Options;

use tokio::signal::unix::{SignalKind, signal};

use console::Console;
use context::Context;
use exit::INTERRUPTED;
use failure::Failure;

/// Runs a command until it ends or Ctrl-C is pressed.
pub fn run(command: Command, options: Options) -> ExitCode {
    let console = Console::new(&options);
    match in_runtime(command, options, &console) {
        Ok(Ended::Done(code)) => code,
        Ok(Ended::Interrupted) => {
            console.print_interrupted();
            ExitCode::from(INTERRUPTED)
        }
        Err(failure) => {
            console.fail(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Reads a secret: typed without echo in a terminal, else the first line of standard input. `None` if it
/// cannot be read.
pub async fn read_secret(prompt: &str) -> Option<String> {
    echo::read_secret(&Console::plain(), prompt).await.ok()
}

enum Ended {
    Done(ExitCode),
    Interrupted,
}

fn interrupted(context: &Context) -> Ended {
    if context.is_watching.load(Ordering::Relaxed) {
        context.console.note("Stopped watching.");
        return Ended::Done(ExitCode::SUCCESS);
    }
    Ended::Interrupted
}

/// A command needs only one thread, which starts quickly.
fn in_runtime(command: Command, options: Options, console: &Console) -> Result<Ended, Failure> {
    let context = Context::new(options, console.clone())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::of_this_machine(format!("could not start: {error}")))?;
    let ended = runtime.block_on(async {
        // Listens for Ctrl-C before anything changes that must be restored.
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|error| Failure::of_this_machine(format!("could not listen for Ctrl-C: {error}")))?;
        // Dropping the command restores the terminal: it removes the progress bar and turns the echo on.
        tokio::select! {
            done = commands::run(command, &context) => done.map(Ended::Done),
            _ = interrupts.recv() => Ok(interrupted(&context)),
        }
    });
    // A thread that still waits for input must not delay the exit.
    runtime.shutdown_background();
    ended
}
