//! Distinguishes outages and write collisions from bugs.

use std::error::Error;
use std::io::ErrorKind;

use sea_orm::{DbErr, RuntimeErr, SqlErr};

const SQLITE_FULL: &str = "13";
const POSTGRES_DISK_FULL: &str = "53100";

/// A dependency that is unavailable at present. This is not a bug, and the caller may retry later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    Database,
    FileStore,
    DiskFull,
}

/// The outage behind an error. `None` means that the error is a bug.
pub fn outage(error: &anyhow::Error) -> Option<Outage> {
    if error.chain().any(is_disk_full) {
        return Some(Outage::DiskFull);
    }
    error.chain().find_map(|cause| {
        let is_database = cause.downcast_ref::<DbErr>().is_some_and(database_is_out)
            || cause.downcast_ref::<sqlx::Error>().is_some_and(driver_is_out);
        let is_file_store = cause.downcast_ref::<object_store::Error>().is_some_and(objects_are_out)
            || cause.is::<std::io::Error>();
        let file_store = is_file_store.then_some(Outage::FileStore);
        if is_database { Some(Outage::Database) } else { file_store }
    })
}

pub fn is_outage(error: &anyhow::Error) -> bool {
    outage(error).is_some()
}

fn is_disk_full(cause: &(dyn Error + 'static)) -> bool {
    if let Some(error) = cause.downcast_ref::<std::io::Error>() {
        return matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    }
    let driver = match cause.downcast_ref::<DbErr>() {
        Some(DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) => {
            Some(&**error)
        }
        _ => cause.downcast_ref::<sqlx::Error>(),
    };
    let Some(sqlx::Error::Database(error)) = driver else { return false };
    matches!(error.code().as_deref(), Some(SQLITE_FULL | POSTGRES_DISK_FULL))
}

fn database_is_out(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) => true,
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => driver_is_out(error),
        _ => false,
    }
}

fn driver_is_out(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_)
        | sqlx::Error::Tls(_) => true,
        // PostgreSQL: 08 connection, 53 resources, 57 operator intervention. SQLite: busy, I/O error, full.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            let is_postgres =
                code.len() == 5 && ["08", "53", "57"].iter().any(|class| code.starts_with(class));
            let primary = code.parse::<u32>().map(|code| code & 0xff);
            is_postgres || (code.len() < 5 && matches!(primary, Ok(5 | 10 | 13 | 14)))
        }),
        _ => false,
    }
}

fn objects_are_out(error: &object_store::Error) -> bool {
    matches!(
        error,
        object_store::Error::Generic { .. }
            | object_store::Error::JoinError { .. }
            | object_store::Error::Unauthenticated { .. }
    )
}

/// Whether the error is a collision of two writers, so that a retry helps: both wanted the same unique value,
/// or they were in a deadlock or serialization conflict (PostgreSQL's 40P01 and 40001).
pub fn is_collision(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<DbErr>().is_some_and(|error| {
            matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) || is_deadlock(error)
        })
    })
}

fn is_deadlock(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return false;
    };
    let sqlx::Error::Database(error) = &**error else { return false };
    matches!(error.code().as_deref(), Some("40P01" | "40001"))
}
