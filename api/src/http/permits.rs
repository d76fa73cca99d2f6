//! A limit on the number of requests that are processed at once. More concurrency would not finish them
//! sooner, it would make all of them late. Requests beyond the limit wait in a short queue. When the queue is
//! full, or the wait too long, the request is refused and the client should retry.
//!
//! Each kind of work that may be slow has a queue of its own, so that none holds up the others: publishes
//! wait for the workers, staged uploads for the blob store, passwords for hashing, and everything else only
//! for the database. A request must hold its permit only while it is being processed. While a body arrives
//! slowly, the permit is released, and an upload switches to the queue of the work that follows it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admission::Slots;
use domain::Refusal;
use poem::Request;
use tokio::time::Instant;

use crate::http::terms::PermitClass;

/// The limits on concurrent work.
#[derive(Clone, Copy, Debug)]
pub struct PermitLimits {
    /// Requests that have no queue of their own.
    pub requests_max: usize,
    pub sign_ins_max: usize,
    pub publishes_max: usize,
    /// Staged uploads that are being written to the blob store or read from it.
    pub uploads_max: usize,
    /// The length of each queue.
    pub waiting_max: usize,
    pub wait_max: Duration,
}

/// The queues of a process. Clones share them.
#[derive(Clone)]
pub struct RequestPermits(Arc<PermitQueues>);

struct PermitQueues {
    /// Responses that wait for a verdict. They have no queue, because they can be sent without it.
    verdict_waits: Slots,
    requests: PermitQueue,
    sign_ins: PermitQueue,
    publishes: PermitQueue,
    uploads: PermitQueue,
}

struct PermitQueue {
    name: &'static str,
    /// The message of the refusal when the queue is full.
    fault: &'static str,
    slots: Slots,
    wait_max: Duration,
}

/// The kinds of work, each with a queue of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkClass {
    Request,
    /// A password is hashed, which may wait for ten seconds.
    SignIn,
    /// Waits for the workers.
    Publish,
    /// Waits for the blob store.
    Upload,
}

/// A request's permit, which may be released and acquired again. Clones share it.
#[derive(Clone)]
pub struct RequestPermit(Option<Arc<HeldPermit>>);

struct HeldPermit {
    permits: RequestPermits,
    work: WorkClass,
    permit: Mutex<Option<admission::Permit>>,
}

impl Default for PermitLimits {
    fn default() -> Self {
        Self {
            requests_max: 256,
            sign_ins_max: 64,
            publishes_max: 128,
            uploads_max: 64,
            waiting_max: 256,
            wait_max: Duration::from_secs(2),
        }
    }
}

impl RequestPermits {
    pub fn new(terms: PermitLimits) -> Self {
        let queue = |name, fault, slots_max: usize| PermitQueue {
            name,
            fault,
            slots: Slots::new(slots_max.max(1), terms.waiting_max),
            wait_max: terms.wait_max,
        };
        Self(Arc::new(PermitQueues {
            verdict_waits: Slots::new(terms.publishes_max.max(1), 0),
            requests: queue(
                "requests",
                "the server is overloaded; your request was not processed",
                terms.requests_max,
            ),
            sign_ins: queue(
                "sign_ins",
                "too many people are signing in; your request was not processed",
                terms.sign_ins_max,
            ),
            publishes: queue(
                "publishes",
                "too many publishes are in progress; your request was not processed",
                terms.publishes_max,
            ),
            uploads: queue(
                "uploads",
                "too many uploads are in progress; your request was not processed",
                terms.uploads_max,
            ),
        }))
    }

    /// Waits for a permit for a new request.
    pub async fn take(&self, permit: PermitClass) -> Result<RequestPermit, Refusal> {
        let work = match permit {
            PermitClass::Free => return Ok(RequestPermit::free()),
            PermitClass::Request => WorkClass::Request,
            PermitClass::SignIn => WorkClass::SignIn,
        };
        let permit = Mutex::new(Some(self.queue(work).take().await?));
        Ok(RequestPermit(Some(Arc::new(HeldPermit { permits: self.clone(), work, permit }))))
    }

    fn queue(&self, work: WorkClass) -> &PermitQueue {
        match work {
            WorkClass::Request => &self.0.requests,
            WorkClass::SignIn => &self.0.sign_ins,
            WorkClass::Publish => &self.0.publishes,
            WorkClass::Upload => &self.0.uploads,
        }
    }
}

impl PermitQueue {
    async fn take(&self) -> Result<admission::Permit, Refusal> {
        self.slots.acquire(Instant::now() + self.wait_max).await.map_err(|_| self.shed())
    }

    fn is_full(&self) -> bool {
        self.slots.is_full()
    }

    fn shed(&self) -> Refusal {
        telemetry::shed("api", self.name);
        Refusal::overloaded(self.fault)
    }
}

impl RequestPermit {
    /// For a request that needs no permit.
    pub fn free() -> Self {
        Self(None)
    }

    pub fn of(request: &Request) -> Self {
        request.data().cloned().unwrap_or_else(Self::free)
    }

    /// Releases the permit. Returns whether one was held.
    pub fn release(&self) -> bool {
        self.0.as_ref().is_some_and(|taken| taken.permit().take().is_some())
    }

    /// Acquires the permit again, in the queue of the request's first class.
    pub async fn reacquire(self) -> Result<(), Refusal> {
        let Some(taken) = &self.0 else { return Ok(()) };
        taken.acquire(taken.work).await
    }

    /// Refuses early when the queue for this work is full, so that no client uploads a site in vain.
    pub fn refuse_if_full(&self, work: WorkClass) -> Result<(), Refusal> {
        match self.0.as_ref().map(|taken| taken.permits.queue(work)) {
            Some(queue) if queue.is_full() => Err(queue.shed()),
            _ => Ok(()),
        }
    }

    /// Releases the permit and takes one of those for responses that wait for a verdict. `None` if as many
    /// wait already as publishes may run.
    pub async fn exchange_for_verdict_wait(&self) -> Option<admission::Permit> {
        self.release();
        let taken = self.0.as_ref()?;
        taken.permits.0.verdict_waits.acquire(Instant::now()).await.ok()
    }

    /// Switches to the queue for this work, for the rest of the request or until the next switch.
    pub async fn exchange_for(&self, work: WorkClass) -> Result<(), Refusal> {
        let Some(taken) = &self.0 else { return Ok(()) };
        self.release();
        taken.acquire(work).await
    }
}

impl HeldPermit {
    async fn acquire(&self, work: WorkClass) -> Result<(), Refusal> {
        let permit = self.permits.queue(work).take().await?;
        *self.permit() = Some(permit);
        Ok(())
    }

    fn permit(&self) -> std::sync::MutexGuard<'_, Option<admission::Permit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: PermitLimits = PermitLimits {
        requests_max: 8,
        sign_ins_max: 2,
        publishes_max: 1,
        uploads_max: 1,
        waiting_max: 2,
        wait_max: Duration::from_secs(2),
    };

    async fn all_of(permits: &RequestPermits) -> Vec<RequestPermit> {
        let mut taken = Vec::new();
        for _ in 0..TERMS.requests_max {
            taken.push(permits.take(PermitClass::Request).await.unwrap());
        }
        taken
    }

    #[tokio::test(start_paused = true)]
    async fn request_above_the_limit_waits_for_a_permit_with_a_timeout() {
        let permits = RequestPermits::new(TERMS);
        let mut taken = all_of(&permits).await;
        let began_at = Instant::now();
        let refusal = permits.take(PermitClass::Request).await.err().unwrap();
        assert_eq!((refusal.code(), refusal.retry_after_seconds()), ("overloaded", Some(2)));
        assert_eq!(began_at.elapsed(), TERMS.wait_max);
        let next = tokio::spawn({
            let permits = permits.clone();
            async move { permits.take(PermitClass::Request).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        taken.pop();
        assert!(next.await.unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn liveness_probe_needs_no_permit() {
        let permits = RequestPermits::new(TERMS);
        let _taken = all_of(&permits).await;
        assert!(permits.take(PermitClass::Free).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn permit_classes_do_not_block_each_other() {
        let permits = RequestPermits::new(TERMS);
        let mut apart = Vec::new();
        for work in [WorkClass::Publish, WorkClass::Upload] {
            let first = permits.take(PermitClass::Request).await.unwrap();
            first.exchange_for(work).await.unwrap();
            apart.push(first);
            let second = permits.take(PermitClass::Request).await.unwrap();
            assert!(second.exchange_for(work).await.is_err(), "{work:?}: the limit is reached");
        }
        let mut signing = Vec::new();
        for _ in 0..TERMS.sign_ins_max {
            signing.push(permits.take(PermitClass::SignIn).await.unwrap());
        }
        assert!(permits.take(PermitClass::SignIn).await.is_err(), "the limit of sign-ins is reached");
        assert_eq!(all_of(&permits).await.len(), TERMS.requests_max);
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_waits_for_a_verdict_holds_no_publish_permit() {
        let permits = RequestPermits::new(TERMS);
        let first = permits.take(PermitClass::Request).await.unwrap();
        first.exchange_for(WorkClass::Publish).await.unwrap();
        let waiting = first.exchange_for_verdict_wait().await.unwrap();
        let second = permits.take(PermitClass::Request).await.unwrap();
        second.exchange_for(WorkClass::Publish).await.unwrap();
        assert!(second.exchange_for_verdict_wait().await.is_none(), "the limit is reached");
        drop(waiting);
        assert!(second.exchange_for_verdict_wait().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn full_work_queue_is_refused_before_the_upload() {
        let permits = RequestPermits::new(PermitLimits { waiting_max: 1, ..TERMS });
        let first = permits.take(PermitClass::Request).await.unwrap();
        first.refuse_if_full(WorkClass::Publish).unwrap();
        first.exchange_for(WorkClass::Publish).await.unwrap();
        let second = permits.take(PermitClass::Request).await.unwrap();
        second.refuse_if_full(WorkClass::Publish).unwrap();
        let waiting = tokio::spawn(async move { second.exchange_for(WorkClass::Publish).await });
        tokio::task::yield_now().await;
        let third = permits.take(PermitClass::Request).await.unwrap();
        assert_eq!(third.refuse_if_full(WorkClass::Publish).unwrap_err().code(), "overloaded");
        third.refuse_if_full(WorkClass::Upload).unwrap();
        assert!(first.release());
        waiting.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn released_permit_is_available_to_others_until_reacquired() {
        let permits = RequestPermits::new(TERMS);
        let mut taken = all_of(&permits).await;
        let slow = taken.pop().unwrap();
        assert!(slow.release());
        assert!(!slow.release(), "it no longer holds a permit");
        let other = permits.take(PermitClass::Request).await.unwrap();
        assert!(slow.clone().reacquire().await.is_err(), "no permit is free");
        drop(other);
        slow.clone().reacquire().await.unwrap();
        assert!(permits.take(PermitClass::Request).await.is_err(), "the permit is held again");
    }
}
