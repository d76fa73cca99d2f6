//! The result of a change: made, refused, or failed.

use domain::Refusal;
use sea_orm::DbErr;

/// A change that was refused or has failed has changed nothing.
pub type Decided<T> = Result<T, Undone>;

/// Why a change was not made.
#[derive(Debug)]
pub enum Undone {
    /// Refused under the lock.
    Refused(Refusal),
    Failed(anyhow::Error),
}

impl From<Refusal> for Undone {
    fn from(refusal: Refusal) -> Self {
        Undone::Refused(refusal)
    }
}

impl From<anyhow::Error> for Undone {
    fn from(error: anyhow::Error) -> Self {
        Undone::Failed(error)
    }
}

impl From<DbErr> for Undone {
    fn from(error: DbErr) -> Self {
        Undone::Failed(error.into())
    }
}
