//! Turns: how much is done at a time of what cannot be answered from memory. A flood of pages that nobody has asked for
//! before, or that are not there, must neither fill the memory nor take the database away from those who publish, and
//! where one store is slow, what needs the other must not wait for it.
//!
//! Only whoever really reads takes a turn: those who wait for the same page wait for them. What is in memory needs none.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
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
    /// How long a visitor waits for a turn.
    pub wait_max: Duration,
    /// How long a streamed answer may rest without anything being taken of it.
    pub rest_max: Duration,
    /// The least pace at which a streamed answer must be taken. 0: any will do.
    pub bytes_per_second_min: u32,
}

/// What there is a turn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    RouteReads,
    ContentReads,
    StreamedAnswers,
}

/// The turns of one line. Clones are the same.
#[derive(Clone)]
pub struct Turns {
    line: Line,
    places: Arc<Semaphore>,
}

impl Default for LoadTerms {
    fn default() -> Self {
        Self {
            route_reads_max: 64,
            content_reads_max: 64,
            streamed_answers_max: 1024,
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
}

impl Turns {
    pub fn new(line: Line, at_a_time_max: usize) -> Self {
        Self { line, places: Arc::new(Semaphore::new(at_a_time_max)) }
    }

    /// A turn, as long as it is held. That there is none in time is trouble, which the visitor is told as 503.
    pub async fn take(&self, until: Instant) -> anyhow::Result<OwnedSemaphorePermit> {
        if let Ok(Ok(turn)) = timeout_at(until, self.places.clone().acquire_owned()).await {
            return Ok(turn);
        }
        telemetry::shed("edge", self.line.name());
        bail!("more is wanted at a time than edge.{}_max allows", self.line.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_gets_no_turn_in_time_hears_so_and_who_is_late_gets_what_is_free() {
        let turns = Turns::new(Line::RouteReads, 1);
        let until = Instant::now() + Duration::from_secs(1);
        let held = turns.take(until).await.unwrap();
        let refused = turns.take(until).await.unwrap_err();
        assert!(refused.to_string().contains("edge.route_reads_max"), "{refused}");
        assert_eq!(Instant::now(), until);
        drop(held);
        assert!(turns.take(until).await.is_ok());
    }
}
