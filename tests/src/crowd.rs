//! Writes many rows directly to the database, because creating them by calls would take minutes. Only lists
//! show them: none of them is live or has content.

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

use crate::{Mode, World};

impl World {
    /// Adds this many artifacts to an account, `page-00001` and so on, the last one the newest.
    pub async fn crowd_with_artifacts(&self, handle: &str, count: u32) {
        self.write_rows(&format!(
            "{}
             INSERT INTO artifacts (id, account_id, slug, host, visibility, last_seq, created_at, updated_at)
             SELECT '01AA0000000000000000' || digits, accounts.id, 'page-' || digits, 'page-' || digits || '-a1b2',
                'public', 0, accounts.created_at + n / 10, accounts.created_at
             FROM accounts, numbers WHERE accounts.handle = '{handle}'",
            numbers(count)
        ))
        .await;
    }

    /// Adds views of crowded artifacts, on each of the last days.
    pub async fn crowd_with_views(&self, handle: &str, days: u32) {
        self.write_rows(&format!(
            "{}
             INSERT INTO daily_views (host, day, account_id, views)
             SELECT artifacts.host, artifacts.created_at / 86400000 + 1 - n, artifacts.account_id,
                1 + artifacts.updated_at % 97 + n
             FROM artifacts, accounts, numbers
             WHERE accounts.handle = '{handle}' AND artifacts.account_id = accounts.id",
            numbers(days)
        ))
        .await;
    }

    /// Adds this many versions to an artifact, numbered from 10.
    pub async fn crowd_with_versions(&self, host: &str, count: u32) {
        self.write_rows(&format!(
            "{}
             INSERT INTO versions (id, artifact_id, account_id, seq, manifest, total_bytes, file_count, created_via,
                moderation_status, moderated_by, created_at, scanned_by)
             SELECT '01AB0000000000000000' || digits, artifacts.id, artifacts.account_id, n + 9, '[]', 0, 0, 'api',
                'pass', 'scan', artifacts.created_at, 1000
             FROM artifacts, numbers WHERE artifacts.host = '{host}'",
            numbers(count)
        ))
        .await;
    }

    async fn write_rows(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match self.mode() {
            Mode::Embedded => {
                let path = self.folder().join("data/handbill.db");
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.expect("the database opens");
                sqlx::query(sql).execute(&mut connection).await.expect("rows are written");
            }
            Mode::Production => {
                let url = self.setting("HANDBILL_DATABASE__URL");
                let mut connection = PgConnection::connect(url).await.expect("the database opens");
                sqlx::query(sql).execute(&mut connection).await.expect("rows are written");
            }
        }
    }
}

/// The numbers from 1 to `count`, each also as a text of six digits.
fn numbers(count: u32) -> String {
    format!(
        "WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}),
         numbers AS (SELECT n, substr(CAST(1000000 + n AS TEXT), 2) AS digits FROM counted)"
    )
}
