//! Output: only the result goes to standard output, everything else to standard error. Colors are for
//! terminals only, and a closed pipe is not an error.

use std::io::{self, BufRead, ErrorKind, IsTerminal, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::options::Options;
use crate::reply::Reply;
use crate::show::harmless;

/// Longer than any answer or token.
const LINE_BYTES_MAX: u64 = 4096;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// The first write to standard output that failed.
static WRITE_ERROR: OnceLock<io::Error> = OnceLock::new();

/// The two streams, and how much is printed to them.
#[derive(Clone, Debug)]
pub struct Console {
    form: Form,
    volume: Volume,
    /// Whether a prompt is waiting for its answer.
    is_asking: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    People,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Volume {
    Normal,
    Quiet,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLine {
    Yes,
    No,
    /// The command cannot ask, because it does not run in a terminal.
    Nothing,
}

impl Console {
    pub fn new(options: &Options) -> Self {
        Self {
            form: if options.json { Form::Json } else { Form::People },
            volume: if options.quiet { Volume::Quiet } else { Volume::Normal },
            is_asking: Arc::default(),
        }
    }

    /// For people, without options.
    pub fn plain() -> Self {
        Self { form: Form::People, volume: Volume::Normal, is_asking: Arc::default() }
    }

    /// Whether notes and progress are printed.
    pub fn prints_notes(&self) -> bool {
        self.form == Form::People && self.volume == Volume::Normal
    }

    /// Prints the result of a command: the API's own JSON, or a text for people.
    pub fn print_reply<T: DeserializeOwned>(
        &self,
        reply: &Reply,
        render: impl FnOnce(T) -> String,
    ) -> Result<(), Failure> {
        match self.form {
            Form::Json => self.print(&reply.body),
            Form::People => self.print(&render(reply.read()?)),
        }
        Ok(())
    }

    /// Prints a result that is made of several API responses.
    pub fn print_result(&self, json: &serde_json::Value, render: impl FnOnce() -> String) {
        match self.form {
            Form::Json => self.print(&json.to_string()),
            Form::People => self.print(&render()),
        }
    }

    /// Prints a line of the result.
    pub fn print(&self, text: &str) {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            write_result(text);
        }
    }

    /// Prints a note to standard error, unless the output is JSON or quiet.
    pub fn note(&self, text: &str) {
        if self.prints_notes() {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// Prints what a person must read to go on, whatever the options.
    pub fn announce(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{text}");
    }

    /// Prints a warning to people, even in quiet mode.
    pub fn warn(&self, text: &str) {
        if self.form == Form::People {
            let _ = writeln!(anstream::stderr(), "{YELLOW}warning:{PLAIN} {text}");
        }
    }

    /// Printed after Ctrl-C.
    pub fn print_interrupted(&self) {
        if self.is_asking.load(Ordering::Relaxed) {
            let _ = writeln!(anstream::stderr());
        }
        if self.form == Form::People {
            let _ = writeln!(anstream::stderr(), "{YELLOW}handbill:{PLAIN} interrupted");
        }
    }

    pub fn fail(&self, failure: &Failure) {
        let (message, hint) = (harmless(&failure.api_error.message), harmless(&failure.api_error.hint));
        let _ = match self.form {
            Form::Json => writeln!(anstream::stderr(), "{}", failure.json()),
            Form::People => {
                writeln!(anstream::stderr(), "{RED}handbill:{PLAIN} {message}\n  {hint}")
            }
        };
    }

    /// Asks a yes-or-no question in a terminal. Anything other than a clear yes is a no.
    pub async fn ask(&self, question: &str) -> Result<ConsoleLine, Failure> {
        let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
        if self.form == Form::Json || !is_attended {
            return Ok(ConsoleLine::Nothing);
        }
        let answer = self.prompt(&format!("{BOLD}{question}{PLAIN} [y/N] ")).await?;
        let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        Ok(if is_yes { ConsoleLine::Yes } else { ConsoleLine::No })
    }

    /// Prints a prompt and reads a line.
    pub async fn prompt(&self, text: &str) -> Result<String, Failure> {
        let _ = write!(anstream::stderr(), "{text}");
        let _ = anstream::stderr().flush();
        self.is_asking.store(true, Ordering::Relaxed);
        let line = read_line().await;
        self.is_asking.store(false, Ordering::Relaxed);
        line
    }
}

/// Writes a part of a result to standard output, and a line end. An error is kept for the end of the command,
/// which then fails.
pub fn write_result(text: &str) {
    if let Err(error) = writeln!(anstream::stdout(), "{text}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        // Only the first error is kept. Later ones have the same cause.
        let _ = WRITE_ERROR.set(error);
    }
}

/// Why a part of the result could not be written.
pub fn write_error() -> Option<&'static io::Error> {
    WRITE_ERROR.get()
}

/// Reads a line of standard input on another thread, so that Ctrl-C works meanwhile.
pub async fn read_line() -> Result<String, Failure> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line).map(|_| line)
    });
    match read.await {
        Ok(Ok(line)) => Ok(line),
        Ok(Err(error)) => Err(Failure::of_this_machine(format!("could not read standard input: {error}"))),
        Err(error) => Err(Failure::of_this_machine(format!("could not read standard input: {error}"))),
    }
}
