//! How many requests are worked on at a time. More of them would not be done sooner, all of them would be late: so who
//! comes beyond that waits in a short line, and who finds the line full, or waits too long in it, is told to come again.
//! What is taken on is done fast, however much is asked for.
//!
//! There is a line for each kind of work that may be slow by itself, so that none of them holds up the others: publishes
//! wait for the workers, staged uploads for the blob store, passwords for their hashing, everything else for the database
//! at most. A request must hold its turn only while something is done for it: whoever sends a body slowly gives it back
//! until all has come, and whoever sends an upload goes on in another line than the one that it came by.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admission::Slots;
use domain::Refusal;
use poem::Request;
use tokio::time::Instant;

use crate::http::terms::PermitClass;

/// How much is taken on at a time.
#[derive(Clone, Copy, Debug)]
pub struct PermitLimits {
    /// Requests, but for what has a line of its own.
    pub requests_max: usize,
    pub sign_ins_max: usize,
    pub publishes_max: usize,
    /// Staged uploads that are put into the blob store, or fetched from it.
    pub uploads_max: usize,
    /// How many of each wait, and how long.
    pub waiting_max: usize,
    pub wait_max: Duration,
}

/// The lines of a process. Clones are the same.
#[derive(Clone)]
pub struct RequestPermits(Arc<PermitQueues>);

struct PermitQueues {
    requests: PermitQueue,
    sign_ins: PermitQueue,
    publishes: PermitQueue,
    uploads: PermitQueue,
}

struct PermitQueue {
    name: &'static str,
    /// What one of it is told that is not taken on.
    fault: &'static str,
    slots: Slots,
    wait_max: Duration,
}

/// The kinds of work, each with a line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkClass {
    Request,
    /// It may wait for ten seconds until its password is hashed.
    SignIn,
    /// What waits for the workers.
    Publish,
    /// What waits for the blob store beside them.
    Upload,
}

/// A request's turn, which may be given back and taken again. Clones are the same.
#[derive(Clone)]
pub struct RequestPermit(Option<Arc<HeldPermit>>);

struct HeldPermit {
    permits: RequestPermits,
    work: WorkClass,
    place: Mutex<Option<admission::Permit>>,
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
        let line = |name, fault, places_max: usize| PermitQueue {
            name,
            fault,
            slots: Slots::new(places_max.max(1), terms.waiting_max),
            wait_max: terms.wait_max,
        };
        Self(Arc::new(PermitQueues {
            requests: line(
                "requests",
                "the server is overloaded; your request was not processed",
                terms.requests_max,
            ),
            sign_ins: line(
                "sign_ins",
                "too many people are signing in; your request was not processed",
                terms.sign_ins_max,
            ),
            publishes: line(
                "publishes",
                "too many publishes are in progress; your request was not processed",
                terms.publishes_max,
            ),
            uploads: line(
                "uploads",
                "too many uploads are in progress; your request was not processed",
                terms.uploads_max,
            ),
        }))
    }

    /// A turn for a request that has come, once there is one.
    pub async fn take(&self, permit: PermitClass) -> Result<RequestPermit, Refusal> {
        let work = match permit {
            PermitClass::Free => return Ok(RequestPermit::free()),
            PermitClass::Request => WorkClass::Request,
            PermitClass::SignIn => WorkClass::SignIn,
        };
        let place = Mutex::new(Some(self.line(work).take().await?));
        Ok(RequestPermit(Some(Arc::new(HeldPermit { permits: self.clone(), work, place }))))
    }

    fn line(&self, work: WorkClass) -> &PermitQueue {
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
    /// Of something that need not wait.
    pub fn free() -> Self {
        Self(None)
    }

    pub fn of(request: &Request) -> Self {
        request.data().cloned().unwrap_or_else(Self::free)
    }

    /// Lets the next one in. Tells whether there was anything to give back.
    pub fn release(&self) -> bool {
        self.0.as_ref().is_some_and(|taken| taken.place().take().is_some())
    }

    /// Takes up again what was given back, in the line that the request came by.
    pub async fn reacquire(self) -> Result<(), Refusal> {
        let Some(taken) = &self.0 else { return Ok(()) };
        taken.take_in_line_of(taken.work).await
    }

    /// Refuses beforehand what would find the line of that work full: nobody shall send a site for nothing.
    pub fn refuse_if_full(&self, work: WorkClass) -> Result<(), Refusal> {
        match self.0.as_ref().map(|taken| taken.permits.line(work)) {
            Some(line) if line.is_full() => Err(line.shed()),
            _ => Ok(()),
        }
    }

    /// Goes over to the line of that work, for the rest of the request or until it goes on to another.
    pub async fn exchange_for(&self, work: WorkClass) -> Result<(), Refusal> {
        let Some(taken) = &self.0 else { return Ok(()) };
        self.release();
        taken.take_in_line_of(work).await
    }
}

impl HeldPermit {
    async fn take_in_line_of(&self, work: WorkClass) -> Result<(), Refusal> {
        let place = self.permits.line(work).take().await?;
        *self.place() = Some(place);
        Ok(())
    }

    fn place(&self) -> std::sync::MutexGuard<'_, Option<admission::Permit>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
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
    async fn who_comes_beyond_the_bound_waits_for_a_turn_and_not_for_ever() {
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
    async fn whether_the_process_lives_is_always_told() {
        let permits = RequestPermits::new(TERMS);
        let _taken = all_of(&permits).await;
        assert!(permits.take(PermitClass::Free).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn no_kind_of_work_holds_up_another() {
        let permits = RequestPermits::new(TERMS);
        let mut apart = Vec::new();
        for work in [WorkClass::Publish, WorkClass::Upload] {
            let first = permits.take(PermitClass::Request).await.unwrap();
            first.exchange_for(work).await.unwrap();
            apart.push(first);
            let second = permits.take(PermitClass::Request).await.unwrap();
            assert!(
                second.exchange_for(work).await.is_err(),
                "{work:?}: the workers, or the store, have enough to do"
            );
        }
        let mut signing = Vec::new();
        for _ in 0..TERMS.sign_ins_max {
            signing.push(permits.take(PermitClass::SignIn).await.unwrap());
        }
        assert!(permits.take(PermitClass::SignIn).await.is_err(), "enough passwords are hashed");
        assert_eq!(all_of(&permits).await.len(), TERMS.requests_max);
    }

    #[tokio::test(start_paused = true)]
    async fn what_would_be_turned_away_is_so_before_it_is_sent() {
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
    async fn a_turn_that_was_given_back_is_another_s_until_it_is_taken_again() {
        let permits = RequestPermits::new(TERMS);
        let mut taken = all_of(&permits).await;
        let slow = taken.pop().unwrap();
        assert!(slow.release());
        assert!(!slow.release(), "it has none any more");
        let other = permits.take(PermitClass::Request).await.unwrap();
        assert!(slow.clone().reacquire().await.is_err(), "all are taken");
        drop(other);
        slow.clone().reacquire().await.unwrap();
        assert!(permits.take(PermitClass::Request).await.is_err(), "it has one again");
    }
}
