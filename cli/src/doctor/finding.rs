//! A result of the doctor, printed in a line or two.

use std::borrow::Cow;
use std::fmt;

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

    pub(super) fn is_sound(&self) -> bool {
        matches!(self.state, State::Sound(_))
    }

    pub(super) fn is_fault(&self) -> bool {
        matches!(self.state, State::Fault { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part;
        match &self.state {
            State::Sound(what) => write!(f, "ok    {part}: {what}"),
            State::Warning { what, remedy } => write!(f, "WARN  {part}: {what}\n      fix: {remedy}"),
            State::Fault { what, remedy } => write!(f, "FAULT {part}: {what}\n      fix: {remedy}"),
        }
    }
}
