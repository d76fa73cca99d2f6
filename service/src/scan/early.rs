//! Scans small sites before they are published. The version is then stored with its verdict, so no visitor sees
//! the page unscanned, and the scan needs no job, no commit and no notice of its own.
//!
//! It is only an attempt. If it fails or does not end soon, the version is published as pending, and its scan
//! is queued.

use std::time::Duration;

use bytes::Bytes;
use domain::{EarlyVerdict, PublishOrder, SitePath};
use store::StoredVerdict;
use tokio::time::timeout;
use tracing::Instrument;

use super::computing::Files;
use super::{pass_or_wait, rules};
use crate::Service;

/// How long a publish waits for its scan, besides the time in which its files are stored. Most small sites
/// take a few milliseconds.
const EARLY_MAX: Duration = Duration::from_millis(100);

impl Service {
    /// The verdict on the files of a publish. `None` if they are too large, or if it takes too long.
    pub(crate) async fn scan_early(
        &self,
        order: &PublishOrder,
        files: &[(SitePath, Bytes)],
    ) -> Option<EarlyVerdict> {
        let is_provisional = order.is_provisional?;
        let files = Files::of_upload(files, is_provisional)?;
        let span = telemetry::spans::scan(order.version);
        let scanning = async {
            let permit = self.0.scans.gate.early_permit(order.account).await?;
            let verdict = files.compute_verdict(permit).await;
            Some(pass_or_wait("scan.before_judge").await.and(verdict))
        };
        match timeout(EARLY_MAX, scanning.instrument(span.clone())).await.ok()?? {
            Ok(StoredVerdict { status, evidence }) => {
                telemetry::spans::note_verdict(&span, status);
                Some(EarlyVerdict { status, evidence, rules: rules(), is_provisional })
            }
            Err(error) => {
                tracing::debug!(error = format!("{error:#}"), version.id = %order.version, "an early scan failed and is queued");
                None
            }
        }
    }
}
