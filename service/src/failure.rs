//! Why an operation did not do what was asked: an expected no, or a bug.

use domain::Refusal;

/// What an operation answers.
pub type Answer<T> = Result<T, Failure>;

/// Why an operation did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// An expected no.
    Refused(Box<Refusal>),
    /// A bug, to be logged once where it is answered.
    Bug(anyhow::Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(Box::new(refusal))
    }
}

impl From<anyhow::Error> for Failure {
    /// A part that does not answer is no bug: the caller is told when to try again.
    fn from(error: anyhow::Error) -> Self {
        if store::is_outage(&error) {
            tracing::error!(error = format!("{error:#}"), "a part of the service does not answer");
            return Refusal::overloaded("a part of the service does not answer at present").into();
        }
        Failure::Bug(error)
    }
}
