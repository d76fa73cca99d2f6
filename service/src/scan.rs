//! A version's verdict: read what was published, have the scanner judge it, tell the edges what changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::Context;
use bytes::Bytes;
use domain::fault::{self, Fault};
use domain::{BlobHash, Manifest, ScanJob};
use scanner::{ScannedFile, Verdict};
use store::{Judged, Judgement};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::Service;

/// The number of the rules that this program judges by. It rises with them, so older verdicts are told from newer ones.
const RULES: u32 = whole_number(scanner::SCANNER_VERSION);

/// Lets scans compute: on half of the cores at a time, so that publishes always find one.
#[derive(Clone, Debug)]
pub struct ScanGate(Arc<Semaphore>);

impl Default for ScanGate {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new((cores / 2).max(1))))
    }
}

impl ScanGate {
    /// Judges these files when it is their turn. Whoever stops waiting frees no place before the computing has ended.
    async fn judge(&self, files: Vec<(String, Bytes)>) -> anyhow::Result<Verdict> {
        let turn = self.0.clone().acquire_owned().await.context("the scans are closed")?;
        spawn_blocking(move || {
            let scanned: Vec<_> = files.iter().map(|(path, bytes)| ScannedFile { path, bytes }).collect();
            let verdict = scanner::scan(&scanned);
            drop(turn);
            verdict
        })
        .await
        .context("scan a version")
    }
}

impl Service {
    /// Judges a version and tells the edges if that changes what they serve, or if they must not serve it. When it
    /// returns, a blocked page is off every edge. Idempotent: the same content gets the same verdict.
    pub async fn scan(&self, job: ScanJob) -> anyhow::Result<()> {
        let version = job.version;
        let Some(manifest) = self.0.store.manifest(version).await? else { return Ok(()) };
        let verdict = self.0.scan_gate.judge(self.contents(&manifest).await?).await?;
        pass_or_wait("scan.before_judge").await?;
        let now = self.0.clock.now();
        let judgement = Judgement {
            account: job.account,
            version,
            decision_id: self.0.chance.ulid(now).to_string(),
            status: verdict.status,
            evidence: serde_json::to_string(&verdict.findings)?,
            rules: rules(),
            now,
        };
        let judged = self.0.store.judge(&judgement).await?;
        pass_or_wait("scan.after_judge").await?;
        match judged {
            Judged::Noted { host: Some(host) } => {
                self.0.bus.notify_edges(std::slice::from_ref(&host)).await;
                tracing::info!(artifact.host = %host, version.id = %version, moderation.status = verdict.status.as_str(), "version scanned");
            }
            Judged::Outdated => {
                tracing::info!(version.id = %version, scan.rules = judgement.rules, "newer rules have judged a version; this process has older ones");
            }
            Judged::Noted { host: None } | Judged::Gone => {}
        }
        Ok(())
    }

    /// Every file with its bytes. The same content under two names is read once and judged under both: a name has a
    /// say in what a browser makes of it.
    async fn contents(&self, manifest: &Manifest) -> anyhow::Result<Vec<(String, Bytes)>> {
        if fault::at("scan.blind").is_some() {
            return Ok(Vec::new());
        }
        let mut read: HashMap<BlobHash, Bytes> = HashMap::new();
        let mut files = Vec::new();
        for file in manifest.files() {
            let bytes = match read.get(&file.hash) {
                Some(bytes) => bytes.clone(),
                None => self.0.blobs.read(file.hash, 0..file.size_bytes).await?,
            };
            read.insert(file.hash, bytes.clone());
            files.push((file.path.to_string(), bytes));
        }
        Ok(files)
    }
}

/// The rules' number, or the higher one that a test asks for.
pub(crate) fn rules() -> u32 {
    match fault::at("scan.rules") {
        Some(Fault::Instead(number)) => number,
        _ => RULES,
    }
}

/// A fault point whose pause holds up nobody else.
async fn pass_or_wait(point: &'static str) -> anyhow::Result<()> {
    match fault::at(point) {
        Some(Fault::Pause(wait)) => tokio::time::sleep(wait).await,
        _ => fault::pass(point)?,
    }
    Ok(())
}

/// Reads the scanner's version while this is compiled: one that is no number could not be compared.
const fn whole_number(text: &str) -> u32 {
    let (digits, mut at, mut number) = (text.as_bytes(), 0, 0);
    assert!(!digits.is_empty(), "the scanner's version is a whole number, from 1");
    while at < digits.len() {
        assert!(digits[at].is_ascii_digit(), "the scanner's version is a whole number, from 1");
        number = number * 10 + (digits[at] - b'0') as u32;
        at += 1;
    }
    assert!(number > 0 && number <= i32::MAX as u32, "the scanner's version is a whole number, from 1");
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_the_rules_is_a_number_that_can_be_compared() {
        assert_eq!((whole_number("9"), whole_number("10"), whole_number("207")), (9, 10, 207));
        assert_eq!(RULES.to_string(), scanner::SCANNER_VERSION);
    }
}
