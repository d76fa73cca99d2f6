//! Limits of concurrent work that is not served from memory. A flood of requests for uncached or nonexistent
//! pages must not exhaust the memory or starve publishes of the database. A slow store must not delay
//! requests that need another one.
//!
//! Only the request that reads needs a permit. Other requests for the same page wait for its result. The
//! queues are short, because the requests in a longer queue would time out anyway.

use std::time::Duration;

use anyhow::anyhow;

/// An edge's limits of concurrent work, and its timeouts for slow clients.
#[derive(Clone, Copy, Debug)]
pub struct LoadTerms {
    /// Concurrent route reads from the database.
    pub route_reads_max: usize,
    /// Concurrent reads of contents into memory.
    pub content_reads_max: usize,
    /// Concurrent streamed responses, which are too large for memory.
    pub streamed_answers_max: usize,
    /// The length of each queue. Requests beyond it are refused at once.
    pub waiting_max: usize,
    /// How long a request waits for a permit.
    pub wait_max: Duration,
    /// How long a streamed response may stall.
    pub rest_max: Duration,
    /// The minimum rate at which a client must read a streamed response. 0: no minimum.
    pub bytes_per_second_min: u32,
}

/// The work that a refused request was queued for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadQueue {
    RouteReads,
    ContentReads,
    StreamedAnswers,
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

impl LoadQueue {
    /// The name in metrics and settings.
    fn name(self) -> &'static str {
        match self {
            LoadQueue::RouteReads => "route_reads",
            LoadQueue::ContentReads => "content_reads",
            LoadQueue::StreamedAnswers => "streamed_answers",
        }
    }

    /// Counts a refused request. The visitor gets a 503.
    pub fn shed(self) -> anyhow::Error {
        telemetry::shed("edge", self.name());
        anyhow!(
            "overloaded: no permit of edge.{}_max in time, or the queue of edge.waiting_max is full",
            self.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shed_requests_are_counted_and_the_error_names_the_settings() {
        let error = LoadQueue::RouteReads.shed().to_string();
        assert!(error.contains("edge.route_reads_max") && error.contains("edge.waiting_max"), "{error}");
    }
}
