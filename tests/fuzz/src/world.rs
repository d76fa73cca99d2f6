//! The whole control plane in one process behind its real HTTP API: a database in a directory, a ledger, and
//! a worker that runs each job as soon as it is queued. Only the queue is replaced.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actors::{LedgerTerms, Ledgers};
use anyhow::{Context, bail};
use async_trait::async_trait;
use bus::Bus;
use card::CardPayments;
use domain::link::{Addresses, UrlStyle};
use domain::signing_key::{LinkKey, SigningKey};
use domain::{Chance, Clock, ContentPolicy, Job, JobEnvelope, JobId, OperatorName, Queue, Tariff, Time};
use poem::endpoint::BoxEndpoint;
use poem::{Request, Response};
use service::{
    Board, BoardFigures, ClientDocuments, ErrorGroups, ErrorKey, FileStoreWatch, JobActionResult, JobDetail,
    JobFilter, JobInfo, JobList, JobQueue, JobState, Planned, PublishBounds, PublishTask, Push, PushResult,
    Rules, ScanTerms, Scans, Service, ServiceDependencies, TokenUses, VerdictCommits,
};
use store::{Blobs, DiskRoom, Store};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::Receiver;

/// A fixed time at which nothing expires.
const NOW: Time = Time::from_millis(1_790_000_000_000);
const TEN_YEARS: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// A limit so high that earlier inputs never cause a refusal.
const PLENTY: u64 = 1_000_000;
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A control plane with one account.
pub struct World {
    runtime: Runtime,
    api_routes: BoxEndpoint<'static>,
    token: String,
    parts: Opened,
    // Dropped last, because everything else uses it.
    _folder: TempDir,
}

struct Opened {
    store: Store,
    ledgers: Ledgers,
}

impl World {
    pub fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (service, parts) = runtime.block_on(open(folder.path())).expect("a world");
        let signed_up = runtime.block_on(service.sign_up(ADDRESS)).expect("an account");
        let token = signed_up.token.reveal();
        let api_routes = api::routes(service, api::ApiSettings::default());
        Self { runtime, api_routes, token, parts, _folder: folder }
    }

    /// Sends a request of the account. Returns the response and its body.
    pub fn ask(&self, mut request: Request) -> (Response, Vec<u8>) {
        let bearer = format!("Bearer {}", self.token).parse().unwrap();
        request.headers_mut().insert(poem::http::header::AUTHORIZATION, bearer);
        self.runtime.block_on(async {
            let mut answer =
                self.api_routes.call(request).await.expect("the API turns every error into a response");
            let body = answer.take_body().into_vec().await.unwrap();
            (answer, body)
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.runtime.block_on(async {
            self.parts.ledgers.stop().await;
            // Errors while closing do not matter, because the world is discarded.
            self.parts.store.close().await.ok();
        });
    }
}

async fn open(folder: &Path) -> anyhow::Result<(Service, Opened)> {
    let (clock, chance) = (Clock::manual(NOW), Chance::seeded(9));
    let store = Store::open(&format!("sqlite://{}/handbill.db", folder.display())).await?;
    store.migrate().await?;
    let rules = rules();
    let terms = LedgerTerms {
        tariff: rules.tariff.clone(),
        chance: chance.clone(),
        clock: clock.clone(),
        idle_after: LedgerTerms::IDLE_AFTER,
    };
    let ledgers = Ledgers::start(store.clone(), terms).await?;
    let (queue, pushes) = JobQueue::new();
    let service = Service::new(ServiceDependencies {
        store: store.clone(),
        blobs: Blobs::local(&folder.join("blobs"))?,
        file_store: FileStoreWatch::default(),
        disk: DiskRoom::default(),
        ledgers: ledgers.clone(),
        queue,
        board: Arc::new(NoBoard),
        bus: Bus::local("judge"),
        clock,
        chance,
        token_uses: TokenUses::default(),
        publish_bounds: PublishBounds::default(),
        scans: Scans::start(store.clone(), ScanTerms { permits: 1, quota: None }),
        verdicts: VerdictCommits::start(store.clone()),
        card: CardPayments::default(),
        client_documents: ClientDocuments::default(),
        rules,
    });
    tokio::spawn(work(service.clone(), pushes));
    Ok((service, Opened { store, ledgers }))
}

fn rules() -> Rules {
    Rules {
        tariff: Tariff {
            provisional_lifetime: TEN_YEARS,
            provisional_free_publishes: PLENTY,
            provisional_storage_bytes_max: u64::MAX >> 1,
            claimed_artifacts_max: PLENTY,
            ..Tariff::default()
        },
        addresses: Addresses {
            base_url: "http://127.0.0.1:8080".to_owned(),
            serve_url: "http://127.0.0.1:8081".to_owned(),
            edge_domain: "localhost".to_owned(),
            url_style: UrlStyle::Path,
        },
        signing_key: SigningKey::new("the signing secret of the judge's world"),
        link_key: LinkKey::new("the link secret of the judge's world"),
        content_policy: ContentPolicy::default(),
        operator_password: None,
        operators: Vec::new(),
        is_dev_mode: true,
        is_public_dev_allowed: false,
        signups_per_minute: 10,
        logins_per_minute: 10,
        registrations_per_minute: 10,
        reports_per_minute: 10,
        claims_per_person: 0,
        claims_per_address_per_day: 0,
        publishes_per_minute: 0,
        are_bundles_written: true,
        purge_grace: TEN_YEARS,
    }
}

async fn work(service: Service, mut pushes: Receiver<Push>) {
    while let Some(Push { envelope, kept, .. }) = pushes.recv().await {
        // The sender may have gone away. The job runs nevertheless.
        kept.send(Ok(PushResult::Queued)).ok();
        let service = service.clone();
        tokio::spawn(async move { carry_out(&service, &envelope).await.expect("a job comes to its end") });
    }
}

async fn carry_out(service: &Service, envelope: &JobEnvelope) -> anyhow::Result<()> {
    match &envelope.job {
        Job::Publish(job) => {
            let reply_to = envelope.reply_to.as_deref();
            service
                .execute_publish(&PublishTask { job, reply_to, is_redelivery: false, takes_scans: false })
                .await
        }
        Job::Scan(job) => service.scan(*job).await.context("scan").map(|_| ()),
        other => bail!("not requested here: {other:?}"),
    }
}

/// A queue board without data, because nobody reads the queues of this world.
struct NoBoard;

#[async_trait]
impl Board for NoBoard {
    async fn figures(&self) -> anyhow::Result<BoardFigures> {
        bail!("no board")
    }

    async fn jobs(&self, _wanted: JobFilter) -> anyhow::Result<JobList> {
        bail!("no board")
    }

    async fn job(&self, _queue: Queue, _id: JobId) -> anyhow::Result<Option<JobDetail>> {
        bail!("no board")
    }

    async fn find_job(&self, _id: JobId) -> anyhow::Result<Option<Queue>> {
        bail!("no board")
    }

    async fn search(&self, _terms: &[Vec<String>]) -> anyhow::Result<Vec<JobInfo>> {
        bail!("no board")
    }

    async fn errors(&self, _queue: Queue, _state: JobState) -> anyhow::Result<ErrorGroups> {
        bail!("no board")
    }

    async fn requeue_dead_with(
        &self,
        _queue: Queue,
        _error: ErrorKey,
        _by: &OperatorName,
    ) -> anyhow::Result<u64> {
        bail!("no board")
    }

    async fn has_begun(&self, _id: JobId) -> anyhow::Result<bool> {
        Ok(false)
    }

    async fn find_known(&self, _ids: &[JobId]) -> anyhow::Result<HashSet<JobId>> {
        bail!("no board")
    }

    fn is_format_shared(&self) -> bool {
        true
    }

    async fn retry(&self, _queue: Queue, _id: JobId, _by: &OperatorName) -> anyhow::Result<JobActionResult> {
        bail!("no board")
    }

    async fn cancel(&self, _queue: Queue, _id: JobId, _by: &OperatorName) -> anyhow::Result<JobActionResult> {
        bail!("no board")
    }

    async fn discard(
        &self,
        _queue: Queue,
        _id: JobId,
        _by: &OperatorName,
    ) -> anyhow::Result<JobActionResult> {
        bail!("no board")
    }

    async fn discard_dead(&self, _queue: Queue, _by: &OperatorName) -> anyhow::Result<u64> {
        bail!("no board")
    }

    async fn requeue_dead(&self, _queue: Queue, _by: &OperatorName) -> anyhow::Result<u64> {
        bail!("no board")
    }

    async fn is_paused(&self, _queue: Queue) -> bool {
        false
    }

    async fn pause(&self, _queue: Queue, _by: &OperatorName) -> anyhow::Result<()> {
        bail!("no board")
    }

    async fn resume(&self, _queue: Queue) -> anyhow::Result<bool> {
        bail!("no board")
    }

    fn schedules(&self, _now: Time) -> anyhow::Result<Vec<Planned>> {
        bail!("no board")
    }
}
