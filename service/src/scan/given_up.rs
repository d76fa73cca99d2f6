//! First scans that fail. Until the next attempt, a provisional account's page is held back. After the last
//! one, a moderator decides.

use domain::{Host, ScanJob};
use store::GivenUpScan;

use crate::Service;

/// Shown to moderators in place of a finding.
const EVIDENCE: &str = r#"[{"rule":"scan_failed","file":"","field":"","words":[]}]"#;

impl Service {
    /// Makes the edges hold back the version of a failed scan until it has a verdict, if its account is
    /// provisional.
    pub async fn hold_back(&self, job: ScanJob) -> anyhow::Result<()> {
        let host = self.0.store.scans().hold_back(job.version, self.0.clock.now()).await?;
        self.notify_edges_of(host).await;
        Ok(())
    }

    /// Sends a version that could not be scanned to review, unless it has a verdict.
    pub async fn give_up_scan(&self, job: ScanJob) -> anyhow::Result<()> {
        let now = self.0.clock.now();
        let decision_id = self.0.chance.ulid(now).to_string();
        let given_up = GivenUpScan { job, decision_id, evidence: EVIDENCE.to_owned(), now };
        let host = self.0.store.scans().give_up(&given_up).await?;
        self.notify_edges_of(host).await;
        Ok(())
    }

    async fn notify_edges_of(&self, host: Option<Host>) {
        if let Some(host) = host {
            self.0.bus.notify_edges(std::slice::from_ref(&host)).await;
        }
    }
}
