//! What is said to whoever runs the command: the result on standard output and nothing else there; all other words on
//! standard error. Colours come on terminals alone, and a reader that went away is no failure.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::options::Options;
use crate::reply::Reply;
use crate::show::harmless;

/// An answer or a token is far shorter.
const LINE_BYTES_MAX: u64 = 4096;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// The two streams, and how much may be said on them.
#[derive(Clone, Debug)]
pub struct Console {
    form: Form,
    volume: Volume,
    /// Whether a prompt stands there without its answer.
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

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLine {
    Yes,
    No,
    /// Nobody is there to answer.
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

    /// For people, with no options.
    pub fn plain() -> Self {
        Self { form: Form::People, volume: Volume::Normal, is_asking: Arc::default() }
    }

    /// Whether notes and progress are welcome.
    pub fn takes_notes(&self) -> bool {
        self.form == Form::People && self.volume == Volume::Normal
    }

    /// The result of a command: the API's own JSON, or what people make of it.
    pub fn answer<T: DeserializeOwned>(
        &self,
        reply: &Reply,
        api_error: impl FnOnce(T) -> String,
    ) -> Result<(), Failure> {
        match self.form {
            Form::Json => self.print(&reply.body),
            Form::People => self.print(&api_error(reply.read()?)),
        }
        Ok(())
    }

    /// The result of a command that is more than one answer of the API.
    pub fn answer_with(&self, json: &serde_json::Value, api_error: impl FnOnce() -> String) {
        match self.form {
            Form::Json => self.print(&json.to_string()),
            Form::People => self.print(&api_error()),
        }
    }

    /// A line of the result.
    pub fn print(&self, text: &str) {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            let _ = writeln!(anstream::stdout(), "{text}");
        }
    }

    /// A word beside the result; not for machines, nor where quiet was asked for.
    pub fn note(&self, text: &str) {
        if self.takes_notes() {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// A word that must be heard, by people.
    pub fn warn(&self, text: &str) {
        if self.form == Form::People {
            let _ = writeln!(anstream::stderr(), "{YELLOW}handbill:{PLAIN} {text}");
        }
    }

    /// The last word after Ctrl-C.
    pub fn tell_it_was_stopped(&self) {
        if self.is_asking.load(Ordering::Relaxed) {
            let _ = writeln!(anstream::stderr());
        }
        self.warn("stopped");
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

    /// Asks, if somebody sits at a terminal. The answer is no unless it is clearly yes.
    pub async fn ask(&self, question: &str) -> Result<ConsoleLine, Failure> {
        let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
        if self.form == Form::Json || !is_attended {
            return Ok(ConsoleLine::Nothing);
        }
        let answer = self.prompt(&format!("{BOLD}{question}{PLAIN} [y/N] ")).await?;
        let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        Ok(if is_yes { ConsoleLine::Yes } else { ConsoleLine::No })
    }

    /// The line that is typed behind these words.
    pub async fn prompt(&self, words: &str) -> Result<String, Failure> {
        let _ = write!(anstream::stderr(), "{words}");
        let _ = anstream::stderr().flush();
        self.is_asking.store(true, Ordering::Relaxed);
        let line = read_line().await;
        self.is_asking.store(false, Ordering::Relaxed);
        line
    }
}

/// A line of standard input, read beside the runtime so that Ctrl-C is heard meanwhile.
pub async fn read_line() -> Result<String, Failure> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line).map(|_| line)
    });
    match read.await {
        Ok(Ok(line)) => Ok(line),
        Ok(Err(error)) => Err(Failure::of_this_machine(format!("standard input cannot be read: {error}"))),
        Err(error) => Err(Failure::of_this_machine(format!("standard input was not read: {error}"))),
    }
}
