//! Load limits: how much is done at a time that cannot be answered from memory. A flood of requests for pages that are not
//! cached, or do not exist, must neither fill the memory nor take the database away from publishes. A slow store must not
//! delay what needs another one.
//!
//! Only the request that reads needs a permit: others for the same page wait for its result. The queues are short, because
//! longer ones could not be served in time either.

use std::time::Duration;

use anyhow::anyhow;

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
    /// As the metrics and the settings call it.
    fn name(self) -> &'static str {
        match self {
            LoadQueue::RouteReads => "route_reads",
            LoadQueue::ContentReads => "content_reads",
            LoadQueue::StreamedAnswers => "streamed_answers",
        }
    }

    /// That there is no turn is trouble, which the visitor is told as 503.
    pub fn shed(self) -> anyhow::Error {
        telemetry::shed("edge", self.name());
        anyhow!("more is wanted at a time than edge.{}_max and edge.waiting_max allow", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_told_to_come_again_is_counted_and_the_log_names_the_settings() {
        let told = LoadQueue::RouteReads.shed().to_string();
        assert!(told.contains("edge.route_reads_max") && told.contains("edge.waiting_max"), "{told}");
    }
}
