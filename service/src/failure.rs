//! Why an operation did not do what was asked: an expected no, or a bug.

use actors::LedgerError;
use anyhow::anyhow;
use domain::{Outcome, Refusal};
use store::{Outage, Undone};

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

impl Failure {
    /// Why an outcome is not the success that its deed has.
    pub(crate) fn behind(outcome: Outcome) -> Self {
        match outcome {
            // No deed measures a request: what is too large for one is too large for the account. It is kept in the form
            // that releases before this one read.
            Outcome::Refused(refusal) => Failure::Refused(match *refusal {
                Refusal::TooLarge { limit } => Box::new(Refusal::StorageFull { limit }),
                _ => refusal,
            }),
            other => Failure::Bug(anyhow!("a deed has the outcome of another: {other:?}")),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(Box::new(refusal))
    }
}

impl From<anyhow::Error> for Failure {
    /// A part that does not answer is no bug: the caller is told when to try again.
    fn from(error: anyhow::Error) -> Self {
        let Some(outage) = store::outage(&error) else { return Failure::Bug(error) };
        tracing::error!(error = format!("{error:#}"), "a part of the service does not answer");
        refusal_for(outage).into()
    }
}

impl From<Undone> for Failure {
    fn from(undone: Undone) -> Self {
        match undone {
            Undone::Refused(refusal) => refusal.into(),
            Undone::Failed(error) => error.into(),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Outage { of, .. } => {
                tracing::error!(error = %error, "a ledger cannot settle at present");
                refusal_for(of).into()
            }
            LedgerError::Unknown => {
                tracing::error!(error = %error, "a ledger did not answer in time");
                Refusal::overloaded("the account's ledger did not respond in time").into()
            }
            LedgerError::Bug(_) => Failure::Bug(error.into()),
        }
    }
}

fn refusal_for(outage: Outage) -> Refusal {
    Refusal::overloaded(match outage {
        Outage::Database => "the database is unavailable",
        Outage::FileStore => "the file store is unavailable",
        Outage::DiskFull => "the disk is full",
    })
}
