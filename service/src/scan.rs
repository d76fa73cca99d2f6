//! A version's verdict: read what was published, have the scanner judge it, tell the edges what changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use domain::fault::{self, Fault};
use domain::{AccountId, AccountStatus, BlobHash, Manifest, ModerationStatus, RescanJob, ScanJob};
use scanner::{ScannedFile, Status, Terms, Verdict};
use store::{Judged, Judgement};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tracing::{Instrument, Span};

use crate::Service;
use crate::compute::compute;

/// The number of the rules that this program judges by. It rises with them, so older verdicts are told from newer ones.
const RULES: u32 = whole_number(scanner::SCANNER_VERSION);

/// A rescan that does not get its turn by then comes back later: it must not use up its attempt by waiting.
const RESCAN_TURN_WAIT: Duration = Duration::from_secs(10);

/// Lets scans compute: on half of the cores at a time, so that publishes always find one. First scans go before rescans.
#[derive(Clone, Debug)]
pub struct ScanGate {
    places: Arc<Semaphore>,
    /// First scans that wait for a place.
    first_waiting: Arc<watch::Sender<usize>>,
}

/// A place at which one scan computes.
type Turn = OwnedSemaphorePermit;

/// What a scan reads.
#[derive(Debug, Default)]
struct Content {
    files: Vec<ContentFile>,
    is_provisional: bool,
}

#[derive(Debug)]
struct ContentFile {
    path: String,
    /// As the edge sends it.
    content_type: String,
    bytes: Bytes,
}

impl Content {
    fn verdict(&self) -> anyhow::Result<Verdict> {
        let files: Vec<_> = self.files.iter().map(ContentFile::scanned).collect();
        let terms = Terms { is_provisional: self.is_provisional, ..Terms::default() };
        Ok(scanner::scan(&files, &terms)?)
    }
}

impl ContentFile {
    fn scanned(&self) -> ScannedFile<'_> {
        ScannedFile { path: &self.path, bytes: &self.bytes, content_type: &self.content_type }
    }
}

/// Which scan of a version it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scan {
    First,
    /// The version has a verdict, so this one can wait.
    Again,
}

/// What came of asking for a rescan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescanned {
    Done,
    /// Nothing was done: the rules of this process are older than those that were asked for, or its first scans leave no
    /// room. Somebody is to do it later.
    NotHere,
}

impl Default for ScanGate {
    fn default() -> Self {
        Self::with_places(places_of(available_parallelism().map_or(1, usize::from)))
    }
}

impl ScanGate {
    fn with_places(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), first_waiting: Arc::new(watch::Sender::new(0)) }
    }

    /// None: a rescan does not get its turn in time.
    async fn judge(&self, scan: Scan, content: Content) -> anyhow::Result<Option<Verdict>> {
        let turn = match scan {
            Scan::First => self.first_turn().await?,
            Scan::Again => match timeout(RESCAN_TURN_WAIT, self.later_turn()).await {
                Ok(turn) => turn?,
                Err(_) => return Ok(None),
            },
        };
        let content_bytes = content.files.iter().map(|file| file.bytes.len() as u64).sum();
        let judge = move || content.verdict();
        let verdict = in_turn(turn, content_bytes, judge).await??;
        Ok(Some(verdict))
    }

    async fn first_turn(&self) -> anyhow::Result<Turn> {
        let _waiting = FirstWaiting::counted(&self.first_waiting);
        self.places.clone().acquire_owned().await.context("the scans are closed")
    }

    /// Waits until no first scan does. A place that comes while one does is left to it: it stands behind us in the line.
    async fn later_turn(&self) -> anyhow::Result<Turn> {
        let mut first_waiting = self.first_waiting.subscribe();
        loop {
            first_waiting.wait_for(|waiting| *waiting == 0).await.context("the scans are closed")?;
            let turn = self.places.clone().acquire_owned().await.context("the scans are closed")?;
            if *first_waiting.borrow() == 0 {
                return Ok(turn);
            }
        }
    }
}

/// Counts a first scan for as long as it waits.
struct FirstWaiting<'a>(&'a watch::Sender<usize>);

impl<'a> FirstWaiting<'a> {
    fn counted(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|count| *count += 1);
        Self(waiting)
    }
}

impl Drop for FirstWaiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Computes on its turn. Whoever stops waiting frees no place before the computing has ended.
async fn in_turn<T: Send + 'static>(
    turn: Turn,
    bytes: u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    let work = move || {
        let done = work();
        drop(turn);
        done
    };
    compute(bytes, work).await.context("scan a version")
}

/// Half of the cores, but always one.
fn places_of(cores: usize) -> usize {
    (cores / 2).max(1)
}

impl Service {
    /// Judges a version again. An older program than the one that asked may not: what it said would be due again at once,
    /// and so on for as long as two releases run.
    pub async fn rescan(&self, job: &RescanJob) -> anyhow::Result<Rescanned> {
        if rules() < job.rules {
            return Ok(Rescanned::NotHere);
        }
        let span = telemetry::spans::scan(job.scan.version);
        self.judge(job.scan, Scan::Again, &span).instrument(span.clone()).await
    }

    /// Judges a version and tells the edges if that changes what they serve, or if they must not serve it. When it
    /// returns, a blocked page is off every edge. Idempotent: the same content gets the same verdict.
    pub async fn scan(&self, job: ScanJob) -> anyhow::Result<()> {
        let span = telemetry::spans::scan(job.version);
        self.judge(job, Scan::First, &span).instrument(span.clone()).await.map(|_| ())
    }

    async fn judge(&self, job: ScanJob, scan: Scan, span: &Span) -> anyhow::Result<Rescanned> {
        let version = job.version;
        let Some(manifest) = self.0.store.manifest(version).await? else { return Ok(Rescanned::Done) };
        let content = self.content(job.account, &manifest).await?;
        let Some(verdict) = self.0.scan_gate.judge(scan, content).await? else {
            return Ok(Rescanned::NotHere);
        };
        let status = status_of(verdict.status);
        pass_or_wait("scan.before_judge").await?;
        let now = self.0.clock.now();
        let judgement = Judgement {
            account: job.account,
            version,
            decision_id: self.0.chance.ulid(now).to_string(),
            status,
            evidence: serde_json::to_string(&verdict.findings)?,
            rules: rules(),
            now,
        };
        let judged = self.0.verdicts.write(judgement).await?;
        pass_or_wait("scan.after_judge").await?;
        telemetry::verdict(status);
        telemetry::spans::note_verdict(span, status);
        match judged {
            Judged::Noted { host: Some(host) } => {
                self.0.bus.notify_edges(std::slice::from_ref(&host)).await;
                tracing::info!(artifact.host = %host, version.id = %version, moderation.status = status.as_str(), "version scanned");
            }
            Judged::Outdated => {
                tracing::info!(version.id = %version, scan.rules = rules(), "newer rules have judged a version; this process has older ones");
            }
            Judged::Noted { host: None } | Judged::Gone => {}
        }
        Ok(Rescanned::Done)
    }

    /// Every file with its bytes. The same content under two names is read once and judged under both: a name has a
    /// say in what a browser makes of it.
    async fn content(&self, account: AccountId, manifest: &Manifest) -> anyhow::Result<Content> {
        if fault::at("scan.blind").is_some() {
            return Ok(Content::default());
        }
        let mut read: HashMap<BlobHash, Bytes> = HashMap::new();
        let mut files = Vec::new();
        for file in manifest.files() {
            let bytes = match read.get(&file.hash) {
                Some(bytes) => bytes.clone(),
                None => self.0.blobs.read(file.hash, 0..file.size_bytes).await?,
            };
            read.insert(file.hash, bytes.clone());
            let (path, content_type) = (file.path.to_string(), file.content_type.clone());
            files.push(ContentFile { path, content_type, bytes });
        }
        let account = self.0.store.account(account).await?;
        let is_provisional = account.is_some_and(|account| account.status == AccountStatus::Provisional);
        Ok(Content { files, is_provisional })
    }
}

fn status_of(status: Status) -> ModerationStatus {
    match status {
        Status::Pass => ModerationStatus::Pass,
        Status::Review => ModerationStatus::Review,
        Status::Blocked => ModerationStatus::Blocked,
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
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use tokio::task::JoinHandle;

    use super::*;

    #[test]
    fn a_version_of_the_rules_is_a_number_that_can_be_compared() {
        assert_eq!((whole_number("9"), whole_number("10"), whole_number("207")), (9, 10, 207));
        assert_eq!(RULES.to_string(), scanner::SCANNER_VERSION);
    }

    #[test]
    fn scans_compute_on_half_of_the_cores_and_always_on_one() {
        assert_eq!([1, 2, 3, 8].map(places_of), [1, 1, 1, 4]);
        let cores = available_parallelism().unwrap().get();
        assert_eq!(ScanGate::default().places.available_permits(), places_of(cores));
    }

    /// So many that the computing has a thread of its own.
    const MANY_BYTES: u64 = 1 << 20;

    /// Computing that begins and ends by hand.
    struct Computing {
        has_begun: Receiver<()>,
        end: Sender<()>,
        done: JoinHandle<anyhow::Result<()>>,
    }

    impl Computing {
        fn at(gate: &ScanGate) -> Self {
            Self::of(Scan::First, gate)
        }

        fn of(scan: Scan, gate: &ScanGate) -> Self {
            let ((began, has_begun), (end, is_to_end)) = (channel(), channel::<()>());
            let gate = gate.clone();
            let work = move || {
                began.send(()).unwrap();
                let _ = is_to_end.recv();
            };
            let done = tokio::spawn(async move {
                let turn = match scan {
                    Scan::First => gate.first_turn().await?,
                    Scan::Again => gate.later_turn().await?,
                };
                in_turn(turn, MANY_BYTES, work).await
            });
            Self { has_begun, end, done }
        }

        /// Long enough that whoever has a place would have begun.
        fn waits(&self) -> bool {
            self.has_begun.recv_timeout(Duration::from_millis(200)).is_err()
        }

        fn begins(&self) {
            self.has_begun.recv_timeout(Duration::from_secs(20)).unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_scans_compute_at_a_time_than_there_are_places() {
        let gate = ScanGate::with_places(2);
        let first = [Computing::at(&gate), Computing::at(&gate)];
        first.iter().for_each(Computing::begins);
        let third = Computing::at(&gate);
        assert!(third.waits());
        let [one, _two] = first;
        one.end.send(()).unwrap();
        one.done.await.unwrap().unwrap();
        third.begins();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn first_scans_go_before_rescans_whoever_came_first() {
        let gate = ScanGate::with_places(1);
        let running = Computing::at(&gate);
        running.begins();
        let rescan = Computing::of(Scan::Again, &gate);
        assert!(rescan.waits());
        // One after the other: tasks begin in no order of their own.
        let one = Computing::at(&gate);
        assert!(one.waits());
        let two = Computing::at(&gate);
        assert!(two.waits());
        running.end.send(()).unwrap();
        one.begins();
        assert!(rescan.waits());
        one.end.send(()).unwrap();
        two.begins();
        assert!(rescan.waits());
        two.end.send(()).unwrap();
        rescan.begins();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_first_scan_that_stops_waiting_holds_up_no_rescan() {
        let gate = ScanGate::with_places(1);
        let running = Computing::at(&gate);
        running.begins();
        let (gone, rescan) = (Computing::at(&gate), Computing::of(Scan::Again, &gate));
        assert!(gone.waits());
        gone.done.abort();
        running.end.send(()).unwrap();
        rescan.begins();
    }

    #[tokio::test(start_paused = true)]
    async fn a_rescan_that_does_not_get_its_turn_is_not_judged() {
        let gate = ScanGate::with_places(1);
        let turn = gate.first_turn().await.unwrap();
        assert!(gate.judge(Scan::Again, Content::default()).await.unwrap().is_none());
        drop(turn);
        assert!(gate.judge(Scan::Again, Content::default()).await.unwrap().is_some());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_stops_waiting_frees_no_place_before_the_computing_has_ended() {
        let gate = ScanGate::with_places(1);
        let first = Computing::at(&gate);
        first.begins();
        first.done.abort();
        assert!(first.done.await.unwrap_err().is_cancelled());
        let second = Computing::at(&gate);
        assert!(second.waits());
        first.end.send(()).unwrap();
        second.begins();
    }
}
