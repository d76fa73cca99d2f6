//! A publish from the caller's side: accept it, queue it, wait for its outcome.

use std::time::Duration;

use domain::link::VersionLinks;
use domain::{
    Content, Job, JobEnvelope, JobId, Missing, Outcome, Payment, PublishJob, Published, Refusal, Repeating,
    Scope, SitePath, Slug, UploadTicket, VersionId, Warning,
};
use store::KeyUse;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::Instrument;

use crate::conditions::is_version_conflict;
use crate::content::{self, INLINE_BYTES_MAX};
use crate::deadline::{Awaited, Deadline, failure_before, may_retry, repeating, response_deadline};
use crate::idempotency::{Begun, KeyedRequest, publish_hash};
use crate::inspect::Inspected;
use crate::publish_request::{OrderId, PublishRequest};
use crate::uploads::key_of_upload;
use crate::{Caller, Failure, Service, ServiceResult, SitePlan};

/// How often a caller without a reply polls the outcome. This bounds the delay after a lost reply.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// A slower query is given up and repeated, so that a reply is not missed meanwhile.
const POLL_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a site is made from the live version, if others publish at the same time.
const TRIES_MAX: usize = 30;

/// The target of a publish, as far as it is known before its body is read.
#[derive(Clone, Copy, Debug)]
pub enum Addressed<'a> {
    /// The body names it.
    ByBody,
    /// The artifact in the path, which must exist.
    Existing(&'a Slug),
    /// The artifact in the path, by a request that may have a condition. If there is no such artifact, the
    /// condition decides between 404 and 412.
    Conditional(&'a Slug),
}

/// A successful publish, with warnings about its files.
#[derive(Clone, Debug)]
pub struct Publication {
    pub published: Published,
    pub warnings: Vec<Warning>,
    /// The file to open first, if the site has no front page.
    pub entry_page: Option<SitePath>,
    pub version_links: VersionLinks,
}

impl Service {
    /// A cheap check before the body is read. It refuses what would surely be refused later, and takes one
    /// publish from the account's rate limit. A request whose key is held may already have a response, so it
    /// passes. If it has one, it takes from the limit of repeats instead.
    pub async fn check_publish(
        &self,
        caller: &Caller,
        addressed: Addressed<'_>,
        payment: Option<&Payment>,
        idempotency_key: Option<&str>,
    ) -> ServiceResult<()> {
        caller.may(Scope::ArtifactsWrite)?;
        let now = self.0.clock.now();
        if let Some(key) = idempotency_key {
            let key_use = self.0.store.outcomes().key_use(caller.account, key, now).await;
            match key_use.map_err(|error| failure_before(Repeating::WithTheSameKey, error))? {
                KeyUse::Unused => {}
                KeyUse::Pending => return self.take_publish(caller.account).await,
                KeyUse::Answered => return self.take_repeat(caller.account).await,
            }
        }
        caller.may_write(Scope::ArtifactsWrite, now)?;
        self.check_addressed(caller, addressed).await?;
        let standing =
            self.0.store.accounts().billing_state(caller.account, now).await?.ok_or(Refusal::Unauthorized)?;
        self.tariff().settle_publish(standing, payment).map_err(Refusal::PaymentRequired)?;
        match self.closed().await {
            Some(refusal) => Err(refusal.into()),
            None => self.take_publish(caller.account).await,
        }
    }

    async fn check_addressed(&self, caller: &Caller, addressed: Addressed<'_>) -> ServiceResult<()> {
        let (Addressed::Existing(slug) | Addressed::Conditional(slug)) = addressed else { return Ok(()) };
        match self.find(caller, slug).await {
            Err(Failure::Refused(refusal))
                if matches!(addressed, Addressed::Conditional(_))
                    && *refusal == Refusal::NotFound(Missing::Artifact) =>
            {
                Ok(())
            }
            found => found.map(drop),
        }
    }

    /// Publishes: queues the content and waits for the outcome.
    pub async fn publish(&self, caller: &Caller, request: PublishRequest) -> ServiceResult<Publication> {
        let publish = async {
            let mut request = request;
            let mut tries = 1;
            loop {
                let unmade = request.unmade().filter(|_| tries < TRIES_MAX);
                match (Box::pin(self.inspect_and_take_on(caller, request)).await, unmade) {
                    (Err(Failure::Refused(refusal)), Some((unmade, plan)))
                        if is_version_conflict(&refusal) =>
                    {
                        // Boxed, because every publish would carry its size otherwise.
                        request = Box::pin(self.remade(caller, unmade, plan)).await?;
                    }
                    (result, _) => return result,
                }
                tries += 1;
            }
        };
        publish.instrument(telemetry::spans::publish()).await
    }

    /// Makes a site again from the version that is live now.
    async fn remade(
        &self,
        caller: &Caller,
        request: PublishRequest,
        plan: SitePlan,
    ) -> ServiceResult<PublishRequest> {
        let located = self.locate_publish(caller, request, plan).await?;
        self.load_publish(located).await
    }

    /// Files are inspected before an `Idempotency-Key` is claimed, so that a refused publish leaves its key
    /// free. A repeat has the same files, and so the same warnings.
    async fn inspect_and_take_on(
        &self,
        caller: &Caller,
        request: PublishRequest,
    ) -> ServiceResult<Publication> {
        caller.may(Scope::ArtifactsWrite)?;
        let (account, upload) = (caller.account, request.upload);
        let Inspected { warnings, entry_page } = self.inspect(&request, request.repeating()).await?;
        let published = self.take_on(caller, request).await?;
        if let Some(upload) = upload {
            self.end_upload(UploadTicket { account, upload }).await;
        }
        Ok(self.publication(published, warnings, entry_page))
    }

    pub(crate) fn publication(
        &self,
        published: Published,
        warnings: Vec<Warning>,
        entry_page: Option<SitePath>,
    ) -> Publication {
        let version_links = self.version_links_of(&published);
        Publication { published, warnings, entry_page, version_links }
    }

    /// Publishes, or shares the attempt of an earlier request with the same key. If that attempt is refused
    /// by its deadline, this request starts a new one in its remaining time.
    pub(crate) async fn take_on(&self, caller: &Caller, request: PublishRequest) -> ServiceResult<Published> {
        let until = response_deadline();
        let begun = self.begin_publish(caller, &request).await?;
        let kept = matches!(begun, Begun::Earlier(_)).then(|| request.clone());
        let response = self.attempt(caller, begun, request, until).await;
        match kept {
            Some(request) if may_retry(&response, until) => {
                let begun = self.begin_publish(caller, &request).await?;
                self.attempt(caller, begun, request, until).await
            }
            _ => response,
        }
    }

    async fn attempt(
        &self,
        caller: &Caller,
        begun: Begun,
        request: PublishRequest,
        until: Instant,
    ) -> ServiceResult<Published> {
        let repeating = request.repeating();
        let (Begun::Fresh(job) | Begun::Earlier(job)) = begun;
        let awaited = Awaited { account: caller.account, job, kind: "publish", repeating };
        if let Begun::Earlier(_) = begun {
            if request.derivation.is_some() {
                // The base may have changed since, so this request's files are not those of the job.
                return self.respond_late(self.outlast(&awaited).await?).await;
            }
            let outcome = self.0.store.outcomes().find(awaited.job).await;
            if let Some(outcome) = outcome.map_err(|error| failure_before(repeating, error))? {
                return self.respond_late(outcome).await;
            }
            if self.is_past_deadline(awaited.job) {
                return self.refuse_for_good(&awaited, Refusal::past_deadline()).await;
            }
        }
        let refusal = self.condition_refusal(caller, &request).await;
        if let Some(refusal) = refusal.map_err(|error| failure_before(repeating, error))? {
            // Stored, so that the key is free for a request with another condition.
            return self.refuse_for_good(&awaited, refusal).await;
        }
        // The job of a publish has the id of the version that it creates.
        let version = VersionId::from_ulid(job.ulid());
        let prepared = match self.prepare(caller, version, request, until).await {
            Ok(prepared) => prepared,
            Err(failure) if matches!(begun, Begun::Earlier(_)) => {
                let refusal = failure.handle().map_err(Failure::Bug)?;
                // The earlier request is refused along with this one. Otherwise its job could still be
                // executed.
                return self.refuse_for_good(&awaited, *refusal).await;
            }
            Err(failure) => return Err(failure),
        };
        self.execute(&awaited, prepared).await
    }

    /// Queues a publish for a worker, and waits for its outcome until the deadline.
    async fn execute(&self, awaited: &Awaited, prepared: Prepared) -> ServiceResult<Published> {
        let Prepared { envelope, deadline } = prepared;
        let mut reply = self.0.bus.expect_reply(awaited.job);
        if let Err(refusal) = self.enqueue(envelope, deadline).await? {
            return self.refuse_for_good(awaited, refusal).await;
        }
        while Instant::now() < deadline.until {
            let at_most = POLL_INTERVAL.min(deadline.until.saturating_duration_since(Instant::now()));
            if let Some(outcome) = reply.wait(at_most).await {
                return published_in(outcome);
            }
            // A reply can be lost, an outcome cannot. If the database is unavailable, the caller keeps
            // waiting.
            if let Ok(Ok(Some(outcome))) =
                timeout(POLL_TIMEOUT, self.0.store.outcomes().find(awaited.job)).await
            {
                return self.respond_late(outcome).await;
            }
            // If this fails, the deadline decides.
            if let Ok(Some(refusal)) = timeout_at(deadline.until, self.closed_meanwhile()).await
                && let Ok(outcome) = self.give_up(awaited, refusal).await
            {
                return self.respond_late(outcome).await;
            }
        }
        self.refuse_for_good(awaited, Refusal::past_deadline()).await
    }

    /// Waits for the outcome of an earlier request's job, until the job's deadline.
    pub(crate) async fn outlast(&self, awaited: &Awaited) -> ServiceResult<Outcome> {
        loop {
            let outcome = self.0.store.outcomes().find(awaited.job).await;
            if let Some(outcome) = outcome.map_err(|error| failure_before(awaited.repeating, error))? {
                return Ok(outcome);
            }
            if self.is_past_deadline(awaited.job) {
                return self.give_up(awaited, Refusal::past_deadline()).await;
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Responds with the refusal, unless the publish succeeded at the last moment.
    async fn refuse_for_good(&self, awaited: &Awaited, refusal: Refusal) -> ServiceResult<Published> {
        let outcome = self.give_up(awaited, refusal).await?;
        self.respond_late(outcome).await
    }

    /// An outcome from the database may be visible before the worker has notified the edges. The caller must
    /// not get its response before the edges are notified.
    async fn respond_late(&self, outcome: Outcome) -> ServiceResult<Published> {
        if let Outcome::Published(published) = &outcome {
            self.0.bus.notify_edges(std::slice::from_ref(&published.host)).await;
        }
        published_in(outcome)
    }

    async fn begin_publish(&self, caller: &Caller, request: &PublishRequest) -> ServiceResult<Begun> {
        let Some(key) = request.key() else { return Ok(self.begin()) };
        self.begin_keyed(request.keyed(caller, &key)).await
    }

    /// Everything that can fail before the job may be in the queue.
    async fn prepare(
        &self,
        caller: &Caller,
        version: VersionId,
        request: PublishRequest,
        until: Instant,
    ) -> ServiceResult<Prepared> {
        if let Some(refusal) = self.closed().await {
            return Err(refusal.into());
        }
        let deadline = self.deadline(until).await?;
        faults::pass("publish.before_spool").map_err(anyhow::Error::from)?;
        let slug = request.slug.clone().unwrap_or_else(|| Slug::generate(&self.0.chance));
        let order = request.order(caller, OrderId { version, slug, deadline: Some(deadline.at) });
        let files = content::file_list(&request.files);
        let bytes = content::joined(request.files);
        let content = if bytes.len() <= INLINE_BYTES_MAX {
            Content::Inline(content::encode(&bytes))
        } else {
            self.0.blobs.spool(version, bytes).await?;
            Content::Spooled
        };
        faults::pass("publish.before_push").map_err(anyhow::Error::from)?;
        let job = PublishJob { order, files, content };
        let envelope = JobEnvelope {
            id: JobId::from(version),
            reply_to: Some(self.0.bus.instance().to_owned()),
            trace: None,
            job: Job::Publish(Box::new(job)),
        };
        Ok(Prepared { envelope, deadline })
    }

    /// A refusal means that the queue has not confirmed the job. It may be queued nevertheless.
    async fn enqueue(&self, envelope: JobEnvelope, deadline: Deadline) -> ServiceResult<Result<(), Refusal>> {
        let error = match timeout_at(deadline.until, self.0.queue.push(envelope)).await {
            Ok(Ok(())) => {
                faults::pass("publish.after_push").map_err(anyhow::Error::from)?;
                return Ok(Ok(()));
            }
            Ok(Err(error)) => format!("{error:#}"),
            Err(_) => "no response before the deadline".to_owned(),
        };
        tracing::error!(error, "a publish could not be queued");
        Ok(Err(Refusal::overloaded("the queue accepts no jobs now; your request was not processed")))
    }
}

impl PublishRequest {
    /// The key under which it runs at most once: the caller's, or the upload's own.
    pub(crate) fn key(&self) -> Option<String> {
        self.idempotency_key.clone().or_else(|| self.upload.map(key_of_upload))
    }

    /// The request under its key.
    pub(crate) fn keyed<'k>(&self, caller: &Caller, key: &'k str) -> KeyedRequest<'k> {
        KeyedRequest {
            account: caller.account,
            key,
            hash: publish_hash(caller.pinned_to(), self),
            repeating: self.repeating(),
            conflict: match self.upload {
                Some(_) => Refusal::NotFound(Missing::LapsedUpload),
                None => Refusal::IdempotencyConflict,
            },
        }
    }

    pub(crate) fn repeating(&self) -> Repeating {
        match (&self.idempotency_key, self.upload) {
            (None, Some(_)) => Repeating::AsItIs,
            (key, _) => repeating(key.as_deref()),
        }
    }
}

/// A publish that is ready for the queue.
struct Prepared {
    envelope: JobEnvelope,
    deadline: Deadline,
}

fn published_in(outcome: Outcome) -> ServiceResult<Published> {
    match outcome {
        Outcome::Published(published) => Ok(*published),
        outcome => Err(Failure::behind(outcome)),
    }
}
