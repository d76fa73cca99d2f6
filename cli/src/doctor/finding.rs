//! A result of the doctor, printed in a line or two.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) part: &'static str,
    pub(super) state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Sound(String),
    /// The service works, but somebody should look into it.
    Warning {
        what: String,
        remedy: Cow<'static, str>,
    },
    Fault {
        what: String,
        remedy: &'static str,
    },
    /// Something that it depends on is faulty.
    Unknown(&'static str),
}

impl Finding {
    pub(super) fn sound(part: &'static str, what: impl Into<String>) -> Self {
        Self { part, state: State::Sound(what.into()) }
    }

    pub(super) fn warning(
        part: &'static str,
        what: impl Into<String>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { part, state: State::Warning { what: what.into(), remedy: remedy.into() } }
    }

    pub(super) fn fault(part: &'static str, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { part, state: State::Fault { what: what.into(), remedy } }
    }

    pub(super) fn unknown(part: &'static str, what: &'static str) -> Self {
        Self { part, state: State::Unknown(what) }
    }

    pub(super) fn is_sound(&self) -> bool {
        matches!(self.state, State::Sound(_))
    }

    pub(super) fn is_fault(&self) -> bool {
        matches!(self.state, State::Fault { .. })
    }
}

impl Finding {
    pub(super) fn json(&self) -> Value {
        let (state, what, remedy) = match &self.state {
            State::Sound(what) => ("ok", what.as_str(), None),
            State::Warning { what, remedy } => ("warning", what.as_str(), Some(remedy.as_ref())),
            State::Fault { what, remedy } => ("fault", what.as_str(), Some(*remedy)),
            State::Unknown(what) => ("unknown", *what, None),
        };
        json!({ "part": self.part, "state": state, "message": what, "hint": remedy })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part;
        match &self.state {
            State::Sound(what) => write!(f, "ok    {part}: {what}"),
            State::Warning { what, remedy } => write!(f, "WARN  {part}: {what}\n      fix: {remedy}"),
            State::Fault { what, remedy } => write!(f, "FAULT {part}: {what}\n      fix: {remedy}"),
            State::Unknown(what) => write!(f, "?     {part}: {what}"),
        }
    }
}
