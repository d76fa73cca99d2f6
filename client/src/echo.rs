//! Hides what is typed in a terminal. The terminal must be restored however the command ends.

use std::io::{self, IsTerminal};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::console::{Console, read_line};
use crate::failure::Failure;

/// Disables the echo until it is dropped.
struct Unechoed {
    before: Termios,
}

impl Unechoed {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self { before })
    }
}

impl Drop for Unechoed {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Reads a secret: typed without echo in a terminal, else the first line of standard input.
pub async fn read_secret(console: &Console, prompt: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Ok(read_line().await?.trim().to_owned());
    }
    let fault = |error| Failure::of_this_machine(format!("could not turn off the terminal's echo: {error}"));
    let _unechoed = Unechoed::begin().map_err(fault)?;
    Ok(console.prompt(prompt).await?.trim().to_owned())
}
