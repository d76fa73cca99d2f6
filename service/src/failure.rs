//! Why an operation failed: an expected refusal, an outage or a bug.

use actors::LedgerError;
use anyhow::anyhow;
use domain::{Outcome, Refusal};
use store::{ChangeError, Outage};

/// The result of an operation.
pub type ServiceResult<T> = Result<T, Failure>;

/// Why an operation failed.
#[derive(Debug)]
pub enum Failure {
    /// An expected error response.
    Refused(Box<Refusal>),
    /// A part of the service does not respond. The caller gets the refusal; the error is logged by
    /// [`Failure::handle`].
    Outage { refusal: Box<Refusal>, error: anyhow::Error },
    /// A bug, to be logged once where it is handled.
    Bug(anyhow::Error),
}

impl Failure {
    /// The refusal that the caller gets, or the bug. Logs an outage, so it is called once, where the failure
    /// ends.
    pub fn handle(self) -> Result<Box<Refusal>, anyhow::Error> {
        match self {
            Failure::Refused(refusal) => Ok(refusal),
            Failure::Outage { refusal, error } => {
                tracing::error!(error = format!("{error:#}"), "a part of the service does not respond");
                Ok(refusal)
            }
            Failure::Bug(bug) => Err(bug),
        }
    }

    /// The failure behind an outcome that is not the expected success.
    pub(crate) fn behind(outcome: Outcome) -> Self {
        match outcome {
            // No operation checks the size of a request, so "too large" means too large for the account. The
            // outcome is stored in the form that earlier releases read.
            Outcome::Refused(refusal) => Failure::Refused(match *refusal {
                Refusal::TooLarge { limit } => Box::new(Refusal::StorageFull { limit }),
                _ => refusal,
            }),
            other => Failure::Bug(anyhow!("an operation has an outcome of another kind: {other:?}")),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(Box::new(refusal))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match store::outage(&error) {
            Some(outage) => Failure::Outage { refusal: Box::new(refusal_for(outage)), error },
            None => Failure::Bug(error),
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(undone: ChangeError) -> Self {
        match undone {
            ChangeError::Refused(refusal) => refusal.into(),
            ChangeError::Failed(error) => error.into(),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let refusal = match &error {
            LedgerError::Outage { of, .. } => refusal_for(*of),
            LedgerError::Unknown => Refusal::overloaded("the account's ledger did not respond in time"),
            LedgerError::Bug(_) => return Failure::Bug(error.into()),
        };
        Failure::Outage { refusal: Box::new(refusal), error: error.into() }
    }
}

fn refusal_for(outage: Outage) -> Refusal {
    Refusal::overloaded(match outage {
        Outage::Database => "the database is unavailable",
        Outage::FileStore => "the file store is unavailable",
        Outage::DiskFull => "the disk is full",
    })
}
