//! A version's verdict: read what was published, have the scanner judge it, tell the edges what changed.
//!
//! The same content is judged once: its verdict is kept, in memory and with the version's in the database. What is not
//! known is computed behind the gate, which says whose turn it is.

mod computing;
mod gate;
mod given_up;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use domain::{AccountId, RescanJob, ScanJob, ScannedContent};
use faults::Fault;
use quick_cache::sync::Cache;
use store::{ScanSubject, ScanVerdict, StoredVerdict, VerdictResult};
use tokio::time::timeout;
use tracing::{Instrument, Span};

pub use gate::ScanTerms;

use crate::Service;
use gate::{NoPermit, Scan, ScanGate, ScanPermit};

/// The number of the rules that this program judges by. It rises with them, so older verdicts are told from newer ones.
const RULES: u32 = whole_number(scanner::SCANNER_VERSION);

/// How long a scan may read and compute. Waiting for a permit does not count.
const COMPUTE_MAX: Duration = Duration::from_secs(30);

/// Verdicts that a process remembers, so that it need not ask the database. Each takes a few kilobytes at most.
const VERDICTS_MAX: usize = 512;

/// What the scans of a process share.
#[derive(Debug)]
pub struct Scans {
    gate: ScanGate,
    /// By content and rules. A verdict that is being computed is waited for.
    verdicts: Cache<(ScannedContent, u32), Arc<StoredVerdict>>,
}

/// What came of asking for a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    Done,
    /// Nothing was done, since too many scans wait here. The job is to come again.
    NotNow {
        retry_after: Duration,
    },
}

/// What came of asking for a rescan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescanned {
    Done,
    /// Nothing was done: the rules of this process are older than those that were asked for, or its first scans leave no
    /// room. Somebody is to do it later.
    NotHere,
}

impl Scans {
    pub fn new(terms: ScanTerms) -> Self {
        Self { gate: ScanGate::new(terms), verdicts: Cache::new(VERDICTS_MAX) }
    }
}

impl Service {
    /// Judges a version again. An older program than the one that asked may not: what it said would be due again at once,
    /// and so on for as long as two releases run.
    pub async fn rescan(&self, job: &RescanJob) -> anyhow::Result<Rescanned> {
        if rules() < job.rules {
            return Ok(Rescanned::NotHere);
        }
        Ok(match self.judge(job.scan, Scan::Again).await? {
            Scanned::Done => Rescanned::Done,
            Scanned::NotNow { .. } => Rescanned::NotHere,
        })
    }

    /// Judges a version and tells the edges if that changes what they serve, or if they must not serve it. When it
    /// returns, a blocked page is off every edge. Idempotent: the same content gets the same verdict.
    pub async fn scan(&self, job: ScanJob) -> anyhow::Result<Scanned> {
        self.judge(job, Scan::First).await
    }

    async fn judge(&self, job: ScanJob, scan: Scan) -> anyhow::Result<Scanned> {
        let span = telemetry::spans::scan(job.version);
        self.judge_in(&span, job, scan).instrument(span.clone()).await
    }

    async fn judge_in(&self, span: &Span, job: ScanJob, scan: Scan) -> anyhow::Result<Scanned> {
        let Some(subject) = self.0.store.scans().find_subject(job.version).await? else {
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

    /// The verdict on a version's content: the one that is known, or a new one.
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
        // Small files are read beforehand, so that permits do not wait for the blob store. Large ones are read when there is
        // memory for them.
        let is_small = computing::is_small(&subject.manifest);
        let read_ahead = if is_small { Some(self.read_files(subject).await?) } else { None };
        let permit = match self.0.scans.gate.permit(account, scan).await {
            Ok(permit) => permit,
            Err(no_permit) => return Ok(Err(no_permit)),
        };
        let judging = async {
            let files = match read_ahead {
                Some(files) => files,
                None => self.read_files(subject).await?,
            };
            self.judge_once(permit, content, files).await
        };
        let judged = timeout(COMPUTE_MAX, judging).await;
        judged.with_context(|| format!("not judged after {COMPUTE_MAX:?} of computing"))?.map(Ok)
    }

    /// Two scans of the same content compute once: the later one waits for the verdict of the other.
    async fn judge_once(
        &self,
        permit: ScanPermit,
        content: ScannedContent,
        files: computing::Files,
    ) -> anyhow::Result<Arc<StoredVerdict>> {
        let computing = async { anyhow::Ok(Arc::new(files.judge(permit).await?)) };
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
        let kept = self.0.store.scans().find_content_verdict(content, rules()).await?.map(Arc::new);
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
                tracing::info!(version.id = %version, scan.rules = rules(), "newer rules have judged a version; this process has older ones");
            }
            VerdictResult::Noted { host: None } | VerdictResult::Gone => {}
        }
        Ok(())
    }
}

/// The rules' number, or the higher one that a test asks for.
pub(crate) fn rules() -> u32 {
    match faults::at("scan.rules") {
        Some(Fault::Instead(number)) => number,
        _ => RULES,
    }
}

/// A fault point whose pause holds up nobody else.
async fn pass_or_wait(point: &'static str) -> anyhow::Result<()> {
    match faults::at(point) {
        Some(Fault::Pause(wait)) => tokio::time::sleep(wait).await,
        _ => faults::pass(point)?,
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

/// Whether a test wants the scanner to see nothing. Such a verdict is not kept.
fn is_blind() -> bool {
    faults::at("scan.blind").is_some()
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
