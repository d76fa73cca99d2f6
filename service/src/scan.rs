//! Scans: read a published version, compute its verdict, notify the edges of changes.
//!
//! Equal content is scanned once. Its verdict is cached in memory, and stored with the version's in the
//! database. The gate orders the computations.

mod computing;
mod early;
mod gate;
mod given_up;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use domain::{AccountId, RescanJob, ScanJob, ScannedContent};
use faults::Fault;
use quick_cache::sync::Cache;
use store::{ScanReader, ScanSubject, ScanVerdict, Store, StoredVerdict, VerdictResult};
use tokio::time::timeout;
use tracing::{Instrument, Span};

pub use gate::ScanTerms;

use crate::Service;
use gate::{NoPermit, Scan, ScanGate, ScanPermit};

/// The rules version of this program. It rises with every change of the rules, so that older verdicts are
/// recognizable.
const RULES: u32 = whole_number(scanner::SCANNER_VERSION);

/// How long a scan may read and compute. Waiting for a permit does not count.
const COMPUTE_MAX: Duration = Duration::from_secs(30);

/// Cached verdicts, which save database queries. Each takes a few kilobytes at most.
const VERDICTS_MAX: usize = 512;

/// State that the scans of a process share.
#[derive(Debug)]
pub struct Scans {
    gate: ScanGate,
    reader: ScanReader,
    /// By content and rules version. A lookup waits for a verdict that is being computed.
    verdicts: Cache<(ScannedContent, u32), Arc<StoredVerdict>>,
}

/// The result of a scan job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    Done,
    /// Too many scans wait in this process, so nothing was done. The job must be retried.
    NotNow {
        retry_after: Duration,
    },
}

/// The result of a rescan job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescanned {
    Done,
    /// Nothing was done: the rules of this process are older than the requested ones, or it is busy with
    /// first scans. The job must be retried.
    NotHere,
}

impl Scans {
    pub fn start(store: Store, terms: ScanTerms) -> Self {
        let (gate, reader) = (ScanGate::new(terms), ScanReader::start(store));
        Self { gate, reader, verdicts: Cache::new(VERDICTS_MAX) }
    }
}

impl Service {
    /// Scans a version again. A process with older rules than requested must not: its verdict would be due
    /// for a rescan at once, and so on while two releases run.
    pub async fn rescan(&self, job: &RescanJob) -> anyhow::Result<Rescanned> {
        if rules() < job.rules {
            return Ok(Rescanned::NotHere);
        }
        Ok(match self.scan_as(job.scan, Scan::Again).await? {
            Scanned::Done => Rescanned::Done,
            Scanned::NotNow { .. } => Rescanned::NotHere,
        })
    }

    /// Scans a version, and notifies the edges if that changes what they serve, or if they must not serve it.
    /// Once this returns, no edge serves a blocked page. Idempotent: equal content gets the same verdict.
    pub async fn scan(&self, job: ScanJob) -> anyhow::Result<Scanned> {
        self.scan_as(job, Scan::First).await
    }

    async fn scan_as(&self, job: ScanJob, scan: Scan) -> anyhow::Result<Scanned> {
        let span = telemetry::spans::scan(job.version);
        self.scan_in_span(&span, job, scan).instrument(span.clone()).await
    }

    async fn scan_in_span(&self, span: &Span, job: ScanJob, scan: Scan) -> anyhow::Result<Scanned> {
        let Some(subject) = self.0.scans.reader.find_subject(job.version).await? else {
            return Ok(Scanned::Done);
        };
        let content = ScannedContent::of(&subject.manifest, subject.is_provisional);
        let verdict = match self.verdict(job.account, scan, content, &subject).await? {
            Ok(verdict) => verdict,
            Err(NoPermit { retry_after }) => return Ok(Scanned::NotNow { retry_after }),
        };
        pass_or_wait("scan.before_judge").await?;
        self.write_verdict(span, job, content, &verdict).await?;
        Ok(Scanned::Done)
    }

    /// The verdict on a version's content, known or new.
    async fn verdict(
        &self,
        account: AccountId,
        scan: Scan,
        content: ScannedContent,
        subject: &ScanSubject,
    ) -> anyhow::Result<Result<Arc<StoredVerdict>, NoPermit>> {
        if let Some(verdict) = self.known_verdict(content).await? {
            return Ok(Ok(verdict));
        }
        // Small files are read first, so that permits do not wait for the blob store. Large ones are read
        // once there is memory for them.
        let is_small = computing::is_small(&subject.manifest);
        let read_ahead = if is_small { Some(self.read_files(subject).await?) } else { None };
        let permit = match self.0.scans.gate.permit(account, scan).await {
            Ok(permit) => permit,
            Err(no_permit) => return Ok(Err(no_permit)),
        };
        let computing = async {
            let files = match read_ahead {
                Some(files) => files,
                None => self.read_files(subject).await?,
            };
            self.compute_once(permit, content, files).await
        };
        let computed = timeout(COMPUTE_MAX, computing).await;
        computed.with_context(|| format!("not scanned after {COMPUTE_MAX:?} of computing"))?.map(Ok)
    }

    /// Two concurrent scans of equal content compute once. The later one waits for the verdict.
    async fn compute_once(
        &self,
        permit: ScanPermit,
        content: ScannedContent,
        files: computing::Files,
    ) -> anyhow::Result<Arc<StoredVerdict>> {
        let computing = async { anyhow::Ok(Arc::new(files.compute_verdict(permit).await?)) };
        if is_blind() {
            return computing.await;
        }
        self.0.scans.verdicts.get_or_insert_async(&(content, rules()), computing).await
    }

    async fn known_verdict(&self, content: ScannedContent) -> anyhow::Result<Option<Arc<StoredVerdict>>> {
        if is_blind() {
            return Ok(None);
        }
        let key = (content, rules());
        if let Some(verdict) = self.0.scans.verdicts.get(&key) {
            return Ok(Some(verdict));
        }
        let kept = self.0.scans.reader.find_content_verdict(content, rules()).await?.map(Arc::new);
        if let Some(verdict) = &kept {
            self.0.scans.verdicts.insert(key, verdict.clone());
        }
        Ok(kept)
    }

    async fn write_verdict(
        &self,
        span: &Span,
        job: ScanJob,
        content: ScannedContent,
        verdict: &StoredVerdict,
    ) -> anyhow::Result<()> {
        let ScanJob { account, version } = job;
        let StoredVerdict { status, evidence } = verdict.clone();
        let now = self.0.clock.now();
        let judgement = ScanVerdict {
            account,
            version,
            decision_id: self.0.chance.ulid(now).to_string(),
            status,
            evidence,
            rules: rules(),
            content: (!is_blind()).then_some(content),
            now,
        };
        let judged = self.0.verdicts.write(judgement).await?;
        pass_or_wait("scan.after_judge").await?;
        telemetry::verdict(status);
        telemetry::spans::note_verdict(span, status);
        match judged {
            VerdictResult::Noted { host: Some(host) } => {
                self.0.bus.notify_edges(std::slice::from_ref(&host)).await;
                tracing::info!(artifact.host = %host, version.id = %version, moderation.status = status.as_str(), "version scanned");
            }
            VerdictResult::Outdated => {
                tracing::info!(version.id = %version, scan.rules = rules(), "a version was scanned with newer rules than this process has");
            }
            VerdictResult::Noted { host: None } | VerdictResult::Gone => {}
        }
        Ok(())
    }
}

/// The rules version, or the higher one that a test sets.
pub(crate) fn rules() -> u32 {
    match faults::at("scan.rules") {
        Some(Fault::Instead(number)) => number,
        _ => RULES,
    }
}

/// A fault point whose pause blocks no thread.
async fn pass_or_wait(point: &'static str) -> anyhow::Result<()> {
    match faults::at(point) {
        Some(Fault::Pause(wait)) => tokio::time::sleep(wait).await,
        _ => faults::pass(point)?,
    }
    Ok(())
}

/// Parses the scanner's version at compile time, because versions must be numbers to be comparable.
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

/// Whether a test makes the scanner find nothing. Such a verdict is not stored.
fn is_blind() -> bool {
    faults::at("scan.blind").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_version_is_a_comparable_number() {
        assert_eq!((whole_number("9"), whole_number("10"), whole_number("207")), (9, 10, 207));
        assert_eq!(RULES.to_string(), scanner::SCANNER_VERSION);
    }
}
