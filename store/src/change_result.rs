//! The result of a change: made, refused, or failed.

use domain::Refusal;
use sea_orm::DbErr;

/// A change that was refused or has failed has changed nothing.
pub type ChangeResult<T> = Result<T, ChangeError>;

/// Why a change was not made.
#[derive(Debug)]
pub enum ChangeError {
    /// Refused under the lock.
    Refused(Refusal),
    Failed(anyhow::Error),
}

impl From<Refusal> for ChangeError {
    fn from(refusal: Refusal) -> Self {
        ChangeError::Refused(refusal)
    }
}

impl From<anyhow::Error> for ChangeError {
    fn from(error: anyhow::Error) -> Self {
        ChangeError::Failed(error)
    }
}

impl From<DbErr> for ChangeError {
    fn from(error: DbErr) -> Self {
        ChangeError::Failed(error.into())
    }
}
