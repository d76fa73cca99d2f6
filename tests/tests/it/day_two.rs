//! Operations: backups that can be restored, scrubs of everything that is stored, ledgers that balance, and a
//! migration from one machine to many without loss.

mod backups;
mod bundles;
mod doctors;
mod dumps;
mod ledgers;
mod moving;
mod scrubs;

use std::path::{Path, PathBuf};

use handbill_tests::{Agent, Finished, Human, Mode, Reply, World};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};

use crate::expectations::page_saying;
use crate::teams::claimed_by;

/// Large enough for the spool, because small contents are stored in the job.
fn large_page(words: &str) -> String {
    page_saying(&format!("{words} ").repeat(40_000))
}

/// A person whose pages are permanent.
async fn keeper(world: &World) -> (Agent, Human) {
    claimed_by(world, "keeper").await
}

#[track_caller]
pub fn succeeded(finished: Finished) -> String {
    assert!(finished.status.success(), "{finished:?}");
    finished.output
}

/// The output of a command that found a fault or refused.
#[track_caller]
fn failed(finished: Finished) -> String {
    assert_eq!(finished.status.code(), Some(1), "{finished:?}");
    finished.output
}

/// The directory of a world's objects.
pub fn objects_of(world: &World) -> PathBuf {
    match world.mode() {
        Mode::Embedded => world.folder().join("data/blobs/blobs"),
        Mode::Production => world.folder().join("s3/handbill/blobs/blobs"),
    }
}

/// The file of a content.
pub fn object_of(objects: &Path, content: &str) -> PathBuf {
    let hash = domain::BlobHash::of(content.as_bytes()).to_string();
    objects.join(&hash[..2]).join(hash)
}

/// Writes directly to a world's database.
pub async fn tamper(world: &World, sql: &str) {
    let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    match world.mode() {
        Mode::Embedded => {
            let path = world.folder().join("data/handbill.db");
            let mut connection =
                SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
            connection.execute(sql).await.unwrap();
        }
        Mode::Production => {
            let mut connection =
                PgConnection::connect(world.setting("HANDBILL_DATABASE__URL")).await.unwrap();
            connection.execute(sql).await.unwrap();
        }
    }
}

fn host_of(published: &Reply) -> String {
    published.string("host")
}
