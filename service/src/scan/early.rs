//! Scans small sites before they are published. The version is then stored with its verdict. The scan needs
//! no job, no commit and no notice of its own, and nobody gets the page before.
//!
//! This is only an attempt. If it fails or does not end soon, the version is published as pending, and its
//! scan is queued.

use bytes::Bytes;
use domain::{EarlyVerdict, PublishOrder, SitePath};
use store::StoredVerdict;
use tokio::sync::oneshot;
use tracing::Instrument;

use super::computing::Files;
use super::{pass_or_wait, rules};
use crate::Service;

impl Service {
    /// The verdict on the files of a publish. `None` if they are too large, if their scan fails, if it does
    /// not begin soon after they are `stored`, or if the account's queued scans are not served promptly.
    pub(crate) async fn scan_early(
        &self,
        order: &PublishOrder,
        files: &[(SitePath, Bytes)],
        stored: oneshot::Receiver<()>,
    ) -> Option<EarlyVerdict> {
        faults::pass("scan.early").ok()?;
        let is_provisional = order.is_provisional?;
        let files = Files::of_upload(files, is_provisional)?;
        let span = telemetry::spans::scan(order.version);
        let scanning = async {
            let permit = self.0.scans.gate.early_permit(order.account, stored).await?;
            let verdict = files.compute_verdict(permit).await;
            Some(pass_or_wait("scan.before_judge").await.and(verdict))
        };
        match scanning.instrument(span.clone()).await? {
            Ok(StoredVerdict { status, evidence }) => {
                telemetry::spans::note_verdict(&span, status);
                Some(EarlyVerdict { status, evidence, rules: rules(), is_provisional })
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::debug!(error, version.id = %order.version, "an early scan failed and is queued");
                None
            }
        }
    }
}
