//! A version's verdict: read what was published, have the scanner judge it, tell the edges what changed.

use std::collections::HashMap;

use anyhow::Context;
use bytes::Bytes;
use domain::fault::{self, Fault};
use domain::{BlobHash, Manifest, ScanJob};
use scanner::ScannedFile;
use store::{Judged, Judgement};
use tokio::task::spawn_blocking;

use crate::Service;

impl Service {
    /// Judges a version and tells the edges if that changes what they serve. Idempotent: the same content gets the
    /// same verdict.
    pub async fn scan(&self, job: ScanJob) -> anyhow::Result<()> {
        let version = job.version;
        let Some(manifest) = self.0.store.manifest(version).await? else { return Ok(()) };
        let files = self.contents(&manifest).await?;
        let verdict = spawn_blocking(move || {
            let scanned: Vec<_> = files.iter().map(|(path, bytes)| ScannedFile { path, bytes }).collect();
            scanner::scan(&scanned)
        })
        .await
        .context("scan a version")?;
        if let Some(Fault::Pause(wait)) = fault::at("scan.before_judge") {
            tokio::time::sleep(wait).await;
        }
        let now = self.0.clock.now();
        let judgement = Judgement {
            account: job.account,
            version,
            decision_id: self.0.chance.ulid(now).to_string(),
            status: verdict.status,
            evidence: serde_json::to_string(&verdict.findings)?,
            scanner_version: scanner::SCANNER_VERSION.to_owned(),
            now,
        };
        if let Judged::Noted { host: Some(host) } = self.0.store.judge(&judgement).await? {
            self.0.bus.notify_edges(std::slice::from_ref(&host)).await;
            tracing::info!(artifact.host = %host, version.id = %version, moderation.status = verdict.status.as_str(), "version scanned");
        }
        Ok(())
    }

    /// Every file with its bytes. The same content under two names is read once and judged under both: a name has a
    /// say in what a browser makes of it.
    async fn contents(&self, manifest: &Manifest) -> anyhow::Result<Vec<(String, Bytes)>> {
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
