//! Search for jobs by what their payloads name, such as an account. No index leads there, so a search reads
//! the newest jobs only.

use anyhow::Context;
use service::{JOBS_SEARCHED_MAX, JOBS_SHOWN_MAX, JobInfo};

use super::index::{JobRow, KIND_BYTES_MAX, read};
use crate::Queues;
use crate::sql::on_either;

/// The beginning of each payload that is searched. An account, a version and a slug are in it. Only a publish
/// with many files, or views of many hosts, have more.
const SEARCHED_BYTES_MAX: i64 = 4_096;

impl Queues {
    /// The newest jobs of all queues whose payloads contain every text of one of the terms.
    pub(super) async fn newest_with(&self, terms: &[Vec<String>]) -> anyhow::Result<Vec<JobInfo>> {
        let terms = serde_json::to_string(terms)?;
        let (searched, shown) = (i64::try_from(JOBS_SEARCHED_MAX)?, i64::try_from(JOBS_SHOWN_MAX)?);
        let rows: Vec<JobRow> = on_either!(&self.database, sql, pool => {
            let search = sqlx::query_as(sql::SEARCH).bind(&terms).bind(KIND_BYTES_MAX);
            search.bind(searched).bind(SEARCHED_BYTES_MAX).bind(shown).fetch_all(pool).await
        })
        .context("searching jobs")?;
        Ok(rows.into_iter().filter_map(read).collect())
    }
}
