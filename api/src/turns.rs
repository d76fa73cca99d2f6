//! How many requests are worked on at a time. More of them would not be done sooner, all of them would be late: so who
//! comes beyond that waits in a short line, and who finds the line full, or waits too long in it, is told to come again.
//! What is taken on is done fast, however much is asked for.
//!
//! There is a line for each kind of work that may be slow by itself, so that none of them holds up the others: publishes
//! wait for the workers, passwords for their hashing, everything else for the database at most. A request must hold its
//! turn only while something is done for it: whoever sends a body slowly gives it back until all has come.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::Refusal;
use poem::Request;
use poem::http::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How much is taken on at a time.
#[derive(Clone, Copy, Debug)]
pub struct TurnTerms {
    /// Requests, but for publishes.
    pub requests_max: usize,
    pub publishes_max: usize,
    /// How many of either wait, and how long.
    pub waiting_max: usize,
    pub wait_max: Duration,
}

/// The part of the requests that passwords may be: a sign-in may wait for ten seconds to be hashed.
const SIGN_IN_SHARE: usize = 4;

/// Where people's passwords come in; see also the claims.
const SIGN_IN_PATHS: [&str; 5] =
    ["/auth/login", "/auth/register", "/signin", "/you/password", "/admin/signin"];
const CLAIM_PATHS: &str = "/claim/";

/// Who asks for this asks whether the process lives, and shall hear of it above all when it is busy. Nothing else is
/// asked for it.
const ALWAYS_ANSWERED: &str = "/v1/status";

/// The lines of a process. Clones are the same.
#[derive(Clone)]
pub struct Turns(Arc<Lines>);

struct Lines {
    requests: Line,
    sign_ins: Line,
    publishes: Line,
}

struct Line {
    name: &'static str,
    /// What one of it is told that is not taken on.
    fault: &'static str,
    places: Arc<Semaphore>,
    waiting: Semaphore,
    wait_max: Duration,
}

#[derive(Clone, Copy)]
enum Work {
    Request,
    SignIn,
}

/// A request's turn, which may be given back and taken again. Clones are the same.
#[derive(Clone)]
pub struct Turn(Option<Arc<Taken>>);

struct Taken {
    turns: Turns,
    work: Work,
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Default for TurnTerms {
    fn default() -> Self {
        Self { requests_max: 256, publishes_max: 128, waiting_max: 256, wait_max: Duration::from_secs(2) }
    }
}

impl Turns {
    pub fn new(terms: TurnTerms) -> Self {
        let line = |name, fault, places_max: usize| Line {
            name,
            fault,
            places: Arc::new(Semaphore::new(places_max.max(1))),
            waiting: Semaphore::new(terms.waiting_max),
            wait_max: terms.wait_max,
        };
        Self(Arc::new(Lines {
            requests: line(
                "requests",
                "more is asked for than can be answered in time; nothing was done of this",
                terms.requests_max,
            ),
            sign_ins: line(
                "sign_ins",
                "more people sign in than can at a time; nothing was done of this",
                terms.requests_max / SIGN_IN_SHARE,
            ),
            publishes: line(
                "publishes",
                "more is published than can be in time; nothing was done of this",
                terms.publishes_max,
            ),
        }))
    }

    /// A turn for a request that has come, once there is one.
    pub async fn take(&self, request: &Request) -> Result<Turn, Refusal> {
        let Some(work) = Work::of(request) else { return Ok(Turn::free()) };
        let place = Mutex::new(Some(self.line(work).take().await?));
        Ok(Turn(Some(Arc::new(Taken { turns: self.clone(), work, place }))))
    }

    fn line(&self, work: Work) -> &Line {
        match work {
            Work::Request => &self.0.requests,
            Work::SignIn => &self.0.sign_ins,
        }
    }
}

impl Work {
    fn of(request: &Request) -> Option<Self> {
        let path = request.uri().path();
        if path == ALWAYS_ANSWERED {
            return None;
        }
        let may_hash = SIGN_IN_PATHS.contains(&path) || path.starts_with(CLAIM_PATHS);
        Some(if may_hash && request.method() == Method::POST { Self::SignIn } else { Self::Request })
    }
}

impl Line {
    async fn take(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Ok(place);
        }
        let Ok(_in_line) = self.waiting.try_acquire() else { return Err(self.shed()) };
        match timeout(self.wait_max, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(self.shed()),
        }
    }

    fn is_full(&self) -> bool {
        self.places.available_permits() == 0 && self.waiting.available_permits() == 0
    }

    fn shed(&self) -> Refusal {
        telemetry::shed("api", self.name);
        Refusal::overloaded(self.fault)
    }
}

impl Turn {
    /// Of something that need not wait.
    pub fn free() -> Self {
        Self(None)
    }

    pub fn of(request: &Request) -> Self {
        request.data().cloned().unwrap_or_else(Self::free)
    }

    pub fn is_held(&self) -> bool {
        self.0.as_ref().is_none_or(|taken| taken.place().is_some())
    }

    /// Lets the next one in.
    pub fn give_back(&self) {
        if let Some(taken) = &self.0 {
            taken.place().take();
        }
    }

    /// Takes up again what was given back.
    pub async fn take_again(self) -> Result<(), Refusal> {
        let Some(taken) = &self.0 else { return Ok(()) };
        let place = taken.turns.line(taken.work).take().await?;
        *taken.place() = Some(place);
        Ok(())
    }

    /// Refuses a publish beforehand that would find its line full: nobody shall send a site for nothing.
    pub fn foresee_publish(&self) -> Result<(), Refusal> {
        match &self.0 {
            Some(taken) if taken.publishes().is_full() => Err(taken.publishes().shed()),
            _ => Ok(()),
        }
    }

    /// Goes over to the line of the publishes, for the rest of the request.
    pub async fn begin_publish(&self) -> Result<(), Refusal> {
        let Some(taken) = &self.0 else { return Ok(()) };
        self.give_back();
        let place = taken.publishes().take().await?;
        *taken.place() = Some(place);
        Ok(())
    }
}

impl Taken {
    fn publishes(&self) -> &Line {
        &self.turns.0.publishes
    }

    fn place(&self) -> std::sync::MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const TERMS: TurnTerms =
        TurnTerms { requests_max: 8, publishes_max: 1, waiting_max: 2, wait_max: Duration::from_secs(2) };

    fn asking_for(path: &'static str) -> Request {
        Request::builder().uri(poem::http::Uri::from_static(path)).finish()
    }

    fn signing_in() -> Request {
        Request::builder().method(Method::POST).uri(poem::http::Uri::from_static("/claim/abc")).finish()
    }

    async fn all_of(turns: &Turns) -> Vec<Turn> {
        let mut taken = Vec::new();
        for _ in 0..TERMS.requests_max {
            taken.push(turns.take(&asking_for("/v1/usage")).await.unwrap());
        }
        taken
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_beyond_the_bound_waits_for_a_turn_and_not_for_ever() {
        let turns = Turns::new(TERMS);
        let mut taken = all_of(&turns).await;
        let began_at = Instant::now();
        let refusal = turns.take(&asking_for("/v1/usage")).await.err().unwrap();
        assert_eq!((refusal.code(), refusal.retry_after_seconds()), ("overloaded", Some(2)));
        assert_eq!(began_at.elapsed(), TERMS.wait_max);
        let next = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take(&asking_for("/v1/usage")).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        taken.pop();
        assert!(next.await.unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_the_line_full_hears_so_at_once() {
        let turns = Turns::new(TERMS);
        let _taken = all_of(&turns).await;
        for _ in 0..TERMS.waiting_max {
            let turns = turns.clone();
            tokio::spawn(async move { turns.take(&asking_for("/v1/usage")).await });
        }
        tokio::task::yield_now().await;
        let began_at = Instant::now();
        assert!(turns.take(&asking_for("/v1/usage")).await.is_err());
        assert_eq!(began_at.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn whether_the_process_lives_is_always_told() {
        let turns = Turns::new(TERMS);
        let _taken = all_of(&turns).await;
        assert!(turns.take(&asking_for("/v1/status")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn no_kind_of_work_holds_up_another() {
        let turns = Turns::new(TERMS);
        let publishing = turns.take(&asking_for("/v1/publish")).await.unwrap();
        publishing.begin_publish().await.unwrap();
        let second = turns.take(&asking_for("/v1/publish")).await.unwrap();
        assert!(second.begin_publish().await.is_err(), "the workers have enough to do");
        let mut signing = Vec::new();
        for _ in 0..TERMS.requests_max / SIGN_IN_SHARE {
            signing.push(turns.take(&signing_in()).await.unwrap());
        }
        assert!(turns.take(&signing_in()).await.is_err(), "enough passwords are hashed");
        assert_eq!(all_of(&turns).await.len(), TERMS.requests_max);
    }

    #[tokio::test(start_paused = true)]
    async fn a_publish_that_would_be_turned_away_is_so_before_it_is_sent() {
        let turns = Turns::new(TurnTerms { waiting_max: 1, ..TERMS });
        let first = turns.take(&asking_for("/v1/publish")).await.unwrap();
        first.foresee_publish().unwrap();
        first.begin_publish().await.unwrap();
        let second = turns.take(&asking_for("/v1/publish")).await.unwrap();
        second.foresee_publish().unwrap();
        let waiting = tokio::spawn(async move { second.begin_publish().await });
        tokio::task::yield_now().await;
        let third = turns.take(&asking_for("/v1/publish")).await.unwrap();
        assert_eq!(third.foresee_publish().unwrap_err().code(), "overloaded");
        first.give_back();
        waiting.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_was_given_back_is_another_s_until_it_is_taken_again() {
        let turns = Turns::new(TERMS);
        let mut taken = all_of(&turns).await;
        let slow = taken.pop().unwrap();
        slow.give_back();
        assert!(!slow.is_held());
        let other = turns.take(&asking_for("/v1/usage")).await.unwrap();
        assert!(slow.clone().take_again().await.is_err(), "all are taken");
        drop(other);
        slow.clone().take_again().await.unwrap();
        assert!(slow.is_held());
    }
}
