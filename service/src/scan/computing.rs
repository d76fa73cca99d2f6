//! Computes a verdict on a blocking thread, until it is done or nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use bytes::Bytes;
use domain::{Manifest, ManifestFile, ModerationStatus, SitePath, content_type_of};
use scanner::{ScannedFile, Status, Terms, Verdict};
use store::{ScanSubject, StoredVerdict};
use tokio::task::spawn_blocking;

use super::gate::ScanPermit;
use super::{is_blind, pass_or_wait};
use crate::Service;

/// Versions up to this size are read before their scan has a permit.
const SMALL_BYTES_MAX: u64 = 256 * 1024;

/// The input of a scan.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<FileToScan>,
    is_provisional: bool,
}

#[derive(Debug)]
struct FileToScan {
    path: String,
    /// As the edge sends it.
    content_type: String,
    bytes: Bytes,
}

/// Stops the computation when dropped, because nobody waits for the result any more.
#[derive(Default)]
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) fn is_small(manifest: &Manifest) -> bool {
    manifest.total_bytes() <= SMALL_BYTES_MAX
}

impl Service {
    /// Reads all files. Equal content under two names is read once and scanned under both, because browsers
    /// interpret it by its name.
    pub(super) async fn read_files(&self, subject: &ScanSubject) -> anyhow::Result<Files> {
        if is_blind() {
            return Ok(Files::default());
        }
        let files = subject.manifest.files();
        let contents = self.contents().read_all(files).await?;
        let to_scan = |(file, bytes): (&ManifestFile, Bytes)| FileToScan {
            path: file.path.to_string(),
            content_type: file.content_type.clone(),
            bytes,
        };
        let files = files.iter().zip(contents).map(to_scan).collect();
        Ok(Files { files, is_provisional: subject.is_provisional })
    }
}

impl Files {
    /// The files of a site that is not stored yet. `None` if they are too large to be read before their scan
    /// has a permit.
    pub(super) fn of_upload(files: &[(SitePath, Bytes)], is_provisional: bool) -> Option<Self> {
        let total_bytes: u64 = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        if total_bytes > SMALL_BYTES_MAX {
            return None;
        }
        if is_blind() {
            return Some(Self::default());
        }
        let to_scan = |(path, bytes): &(SitePath, Bytes)| FileToScan {
            path: path.to_string(),
            content_type: content_type_of(path),
            bytes: bytes.clone(),
        };
        let mut files: Vec<FileToScan> = files.iter().map(to_scan).collect();
        // As in the manifest, so that a later scan gets the same input.
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Some(Self { files, is_provisional })
    }

    /// Computes the verdict. The permit is released when the computation ends, which is soon after the last
    /// caller has stopped waiting.
    pub(super) async fn compute_verdict(self, permit: ScanPermit) -> anyhow::Result<StoredVerdict> {
        pass_or_wait("scan.compute").await?;
        let stop = StopWhenDropped::default();
        let is_cancelled = stop.0.clone();
        let compute = move || {
            let verdict = self.verdict(&is_cancelled);
            drop(permit);
            verdict
        };
        // Never inline: a few kilobytes can take long to scan.
        let verdict = spawn_blocking(compute).await.context("scan a version")??;
        let evidence = serde_json::to_string(&verdict.findings)?;
        Ok(StoredVerdict { status: status_of(verdict.status), evidence })
    }

    fn verdict(&self, is_cancelled: &AtomicBool) -> anyhow::Result<Verdict> {
        let files: Vec<_> = self.files.iter().map(FileToScan::scanned).collect();
        let terms = Terms { is_provisional: self.is_provisional, is_cancelled, ..Terms::default() };
        Ok(scanner::scan(&files, &terms)?)
    }
}

impl FileToScan {
    fn scanned(&self) -> ScannedFile<'_> {
        ScannedFile { path: &self.path, bytes: &self.bytes, content_type: &self.content_type }
    }
}

fn status_of(status: Status) -> ModerationStatus {
    match status {
        Status::Pass => ModerationStatus::Pass,
        Status::Review => ModerationStatus::Review,
        Status::Blocked => ModerationStatus::Blocked,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{AccountId, Chance, Time};
    use tokio::time::timeout;

    use super::*;
    use crate::scan::gate::{Scan, ScanGate, ScanTerms};

    /// Generous: it takes a fraction of a second on an idle machine.
    const SOON: Duration = Duration::from_secs(30);

    fn large_page() -> Files {
        let bytes = "<label>PIN<input></label>".repeat(400_000).into();
        let file = FileToScan { path: "index.html".into(), content_type: "text/html".into(), bytes };
        Files { files: vec![file], is_provisional: false }
    }

    #[test]
    fn cancelled_scan_stops_without_a_verdict() {
        let stop = StopWhenDropped::default();
        let is_cancelled = stop.0.clone();
        assert!(!is_cancelled.load(Ordering::Relaxed));
        drop(stop);
        assert!(is_cancelled.load(Ordering::Relaxed));
        assert!(large_page().verdict(&is_cancelled).is_err());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn abandoned_scan_returns_its_permit() {
        let gate = ScanGate::new(ScanTerms { permits: 1, quota: None });
        let account = AccountId::new(Time::from_millis(0), &Chance::seeded(1));
        let permit = gate.permit(account, Scan::First).await.unwrap();
        let given_up = timeout(Duration::from_millis(50), large_page().compute_verdict(permit)).await;
        assert!(given_up.is_err(), "the scan was done before it could be given up");
        timeout(SOON, gate.permit(account, Scan::First)).await.expect("the permit is back").unwrap();
    }
}
