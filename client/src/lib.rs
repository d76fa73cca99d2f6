//! The commands of those who publish: `handbill publish`, `handbill list` and so on, over HTTP to any Handbill.
//!
//! This crate knows the service as every other program does, by its API, and must never reach behind it: it depends on
//! `domain` for the words of the trade and on no other crate of ours. It reads its own few settings (`HANDBILL_URL`,
//! `HANDBILL_TOKEN`, the user's profile) and none of the server's, so that a command starts at once. A token is never
//! an argument, never in a message and never in a log.

mod browser;
mod command;
mod commands;
mod console;
mod context;
mod echo;
mod exit;
mod failure;
mod hints;
mod options;
mod parse;
mod payment;
mod profile;
mod reply;
mod request;
mod retry;
mod server;
pub mod show;
mod upload;
mod wire;

use std::process::ExitCode;

pub use command::Command;
pub use exit::HELP;
pub use options::Options;

use tokio::signal::unix::{SignalKind, signal};

use console::Console;
use context::Context;
use exit::INTERRUPTED;
use failure::Failure;

/// Runs a command to its end, or until Ctrl-C.
pub fn run(command: Command, options: Options) -> ExitCode {
    let console = Console::new(&options);
    match in_runtime(command, options, &console) {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => {
            console.tell_it_was_stopped();
            ExitCode::from(INTERRUPTED)
        }
        Err(failure) => {
            console.fail(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Asks for a secret: typed unseen at a terminal, else the first line of standard input. None when it cannot be read.
pub async fn read_secret(prompt: &str) -> Option<String> {
    echo::read_secret(&Console::plain(), prompt).await.ok()
}

enum Ended {
    Done,
    Interrupted,
}

/// One thread is all that a command needs, and it starts at once.
fn in_runtime(command: Command, options: Options, console: &Console) -> Result<Ended, Failure> {
    let context = Context::new(options, console.clone())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::of_this_machine(format!("the program cannot start: {error}")))?;
    let ended = runtime.block_on(async {
        // Ctrl-C is listened for before anything is touched that has to be put back.
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|error| Failure::of_this_machine(format!("Ctrl-C cannot be listened for: {error}")))?;
        // What is dropped here puts the terminal back as it was: the bar goes, the echo returns.
        tokio::select! {
            done = commands::run(command, &context) => done.map(|()| Ended::Done),
            _ = interrupts.recv() => Ok(Ended::Interrupted),
        }
    });
    // A thread that still waits for a key must not hold up the end.
    runtime.shutdown_background();
    ended
}
