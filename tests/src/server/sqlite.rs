//! An SQLite database for each embedded world, copied from a template that is migrated once for each
//! build of the program. Migrations take half of the processor time of a start.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Executor};

/// The name of an embedded database in its data directory.
const FILE: &str = "handbill.db";

/// A migrated database beside the program. `migrate` migrates the database at a path to the newest schema.
/// It is called once for each build of the program, or more often by tests that start together.
pub async fn template(program: &str, migrate: impl AsyncFnOnce(&Path)) -> PathBuf {
    let template = Path::new(program).with_extension("db");
    let changed = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified());
    let built = changed(Path::new(program)).expect("the program under test");
    if !changed(&template).is_ok_and(|made| made > built) {
        let folder = template.parent().expect("the program is in a directory");
        let draft = tempfile::Builder::new().prefix("template-").tempdir_in(folder).expect("a directory");
        let path = draft.path().join(FILE);
        migrate(&path).await;
        write_log_into(&path).await;
        fs::rename(&path, &template).expect("the template can be moved");
    }
    template
}

/// A process that ends may leave changes in its write-ahead log.
async fn write_log_into(database: &Path) {
    let url = format!("sqlite://{}", database.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("a database");
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.expect("the log can be written");
    connection.close().await.expect("the database closes");
}

/// Puts a copy into a data directory, which is created as the program would create it.
pub fn copy(template: &Path, data_dir: &Path) {
    DirBuilder::new().recursive(true).mode(0o700).create(data_dir).expect("a data directory");
    fs::copy(template, data_dir.join(FILE)).expect("a copy of the template");
}
