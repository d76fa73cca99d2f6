//! How a command prints: texts for people, or with `--json` one JSON document for the result and one for an
//! error. Results go to standard output, everything else to standard error. A closed pipe is not an error.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use client::ApiError;
use config::{Fault, Faults};
use serde_json::{Value, json};

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    People,
    Json,
}

impl Form {
    pub(crate) fn of(options: &client::Options) -> Self {
        if options.json { Form::Json } else { Form::People }
    }

    /// Prints the result in this format.
    pub(crate) fn print<J: Display>(self, people: impl FnOnce() -> String, json: impl FnOnce() -> J) {
        match self {
            Form::People => say(&people()),
            Form::Json => say(&json().to_string()),
        }
    }

    /// Prints a part of the result for people. The JSON document has it in another form.
    pub(crate) fn say(self, text: impl FnOnce() -> String) {
        if self == Form::People {
            say(&text());
        }
    }

    /// Prints why nothing was done, and how to go on.
    pub(crate) fn refuse(self, message: &str, code: &str, hint: &str) -> ExitCode {
        match self {
            Form::People => complain(&format!("handbill: {message}\n  {hint}"), 1),
            Form::Json => complain(&ApiError::new(code, message, hint).json(), 1),
        }
    }

    /// Prints why a command failed.
    pub(crate) fn fail(self, error: &anyhow::Error) -> ExitCode {
        let message = format!("{error:#}");
        match self {
            Form::People => complain(&format!("handbill: {message}"), 1),
            Form::Json => self.refuse(
                &message,
                client::LOCAL_ERROR,
                "fix the cause and run the command again; `handbill doctor` checks the installation",
            ),
        }
    }

    /// Prints all faults in the settings.
    pub(crate) fn refuse_settings(self, faults: &Faults) -> ExitCode {
        match self {
            Form::People => complain(&faults.to_string(), EXIT_USAGE),
            Form::Json => complain(&faults_json(faults).to_string(), EXIT_USAGE),
        }
    }
}

/// The exit code for wrong settings or a wrong command line.
pub(crate) const EXIT_USAGE: u8 = 2;

fn faults_json(faults: &Faults) -> Value {
    let each = |fault: &Fault| {
        json!({
            "key": fault.key,
            "source": fault.source.to_string(),
            "message": fault.fault,
            "expected": fault.expected,
        })
    };
    json!({
        "code": "invalid_settings",
        "message": faults.to_string(),
        "hint": "correct each setting at its source",
        "faults": faults.0.iter().map(each).collect::<Vec<_>>(),
    })
}

/// Prints to standard output, which is only for the result of a command. Formatting is for terminals only.
pub(crate) fn say(text: &str) {
    client::write_result(text);
}

/// A command whose result could not be written, such as to a full disk, has failed.
pub(crate) fn with_write_error(code: ExitCode, form: Form) -> ExitCode {
    match client::write_error() {
        Some(error) if code == ExitCode::SUCCESS => {
            form.fail(&anyhow::anyhow!("write to standard output: {error}"))
        }
        _ => code,
    }
}

pub(crate) fn complain(text: &str, code: u8) -> ExitCode {
    let _ = writeln!(anstream::stderr(), "{text}");
    ExitCode::from(code)
}
