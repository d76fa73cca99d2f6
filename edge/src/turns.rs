//! Turns: how much is done at a time of what cannot be answered from memory. A flood of pages that nobody has asked for
//! before, or that are not there, must neither fill the memory nor take the database away from those who publish, and
//! where one store is slow, what needs the other must not wait for it.
//!
//! Only whoever really reads takes a turn: those who wait for the same page wait for them. What is in memory needs none.
//! A line is short: more than may wait in it could not be answered in time either, and hear so at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// How much an edge does at a time, and for how long it bears with those who are slow.
#[derive(Clone, Copy, Debug)]
pub struct LoadTerms {
    /// Looks at the database for a host.
    pub route_reads_max: usize,
    /// Contents that are read into memory.
    pub content_reads_max: usize,
    /// Answers that are sent while they are read, because they are too large for memory.
    pub streamed_answers_max: usize,
    /// How many visitors wait in each of these lines; one more hears at once that there is no turn.
    pub waiting_max: usize,
    /// How long a visitor waits for a turn.
    pub wait_max: Duration,
    /// How long a streamed answer may rest without anything being taken of it.
    pub rest_max: Duration,
    /// The least pace at which a streamed answer must be taken. 0: any will do.
    pub bytes_per_second_min: u32,
}

/// What is told to come again when there is no turn for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    RouteReads,
    ContentReads,
    StreamedAnswers,
}

/// The turns of one line.
pub struct Turns {
    places: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Default for LoadTerms {
    fn default() -> Self {
        Self {
            route_reads_max: 64,
            content_reads_max: 64,
            streamed_answers_max: 1024,
            waiting_max: 256,
            wait_max: Duration::from_secs(1),
            rest_max: Duration::from_secs(75),
            bytes_per_second_min: 1024,
        }
    }
}

impl Line {
    /// As the metrics and the settings call it.
    fn name(self) -> &'static str {
        match self {
            Line::RouteReads => "route_reads",
            Line::ContentReads => "content_reads",
            Line::StreamedAnswers => "streamed_answers",
        }
    }

    /// That there is no turn is trouble, which the visitor is told as 503.
    pub fn shed(self) -> anyhow::Error {
        telemetry::shed("edge", self.name());
        anyhow!("more is wanted at a time than edge.{}_max and edge.waiting_max allow", self.name())
    }
}

impl Turns {
    pub fn new(at_a_time_max: usize, waiting_max: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(at_a_time_max)), waiting: Semaphore::new(waiting_max) }
    }

    /// A turn, as long as it is held; none when there is none in time, or too many wait already.
    pub async fn take(&self, until: Instant) -> Option<OwnedSemaphorePermit> {
        if let Ok(turn) = self.places.clone().try_acquire_owned() {
            return Some(turn);
        }
        let _in_line = self.waiting.try_acquire().ok()?;
        timeout_at(until, self.places.clone().acquire_owned()).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_gets_no_turn_in_time_hears_so_and_who_is_late_gets_what_is_free() {
        let turns = Turns::new(1, 1);
        let until = Instant::now() + Duration::from_secs(1);
        let held = turns.take(until).await.unwrap();
        assert!(turns.take(until).await.is_none());
        assert_eq!(Instant::now(), until);
        drop(held);
        assert!(turns.take(until).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_the_line_full_hears_so_at_once_and_who_waits_keeps_the_turn_that_comes() {
        let turns = Arc::new(Turns::new(1, 2));
        let since = Instant::now();
        let until = since + Duration::from_secs(1);
        let held = turns.take(until).await.unwrap();
        let wait = || {
            let turns = turns.clone();
            tokio::spawn(async move { turns.take(until).await.is_some() })
        };
        let waiting = [wait(), wait()];
        tokio::task::yield_now().await;
        assert!(turns.take(until).await.is_none());
        assert_eq!(since.elapsed(), Duration::ZERO);
        drop(held);
        for waited in waiting {
            assert!(waited.await.unwrap());
        }
        assert_eq!(since.elapsed(), Duration::ZERO);
    }

    #[test]
    fn who_is_told_to_come_again_is_counted_and_the_log_names_the_settings() {
        let told = Line::RouteReads.shed().to_string();
        assert!(told.contains("edge.route_reads_max") && told.contains("edge.waiting_max"), "{told}");
    }
}
