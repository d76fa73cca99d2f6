//! Messages about what was done on the board, carried by a redirect's query. Only fixed texts are shown.

use domain::Queue;
use poem::Request;
use serde::Deserialize;

use super::{BOARD, path_of};

/// What was done. The redirect leads back to the page of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    Paused(Queue),
    Resumed(Queue),
    /// The number of dead jobs that were queued again.
    Requeued(Queue, u64),
    /// The number of dead jobs that were discarded.
    DiscardedDead(Queue, u64),
    Retried,
    Cancelled,
    Discarded,
    /// The schedule, and the queue of its job.
    Ran(String, Queue),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ActionQuery {
    done: String,
    queue: String,
    schedule: String,
    jobs: u64,
}

impl Done {
    /// The path to redirect to: the form's page, or the board for what was done there.
    pub fn path(&self, page: &str) -> String {
        match self {
            Done::Paused(queue) => format!("{}?done=paused&queue={}", path_of(*queue), queue.name()),
            Done::Resumed(queue) => format!("{}?done=resumed&queue={}", path_of(*queue), queue.name()),
            Done::Requeued(queue, jobs) => {
                format!("{}?done=requeued&queue={}&jobs={jobs}", path_of(*queue), queue.name())
            }
            Done::DiscardedDead(queue, jobs) => {
                format!("{}?done=discarded-dead&queue={}&jobs={jobs}", path_of(*queue), queue.name())
            }
            Done::Retried => format!("{page}?done=retried"),
            Done::Cancelled => format!("{page}?done=cancelled"),
            Done::Discarded => format!("{page}?done=discarded"),
            Done::Ran(schedule, queue) => {
                format!("{BOARD}?done=ran&schedule={schedule}&queue={}", queue.name())
            }
        }
    }

    /// Reads a request's query.
    pub fn of(request: &Request) -> Option<Self> {
        let query: ActionQuery = request.params().ok()?;
        let queue = Queue::parse(&query.queue);
        match query.done.as_str() {
            "paused" => queue.map(Done::Paused),
            "resumed" => queue.map(Done::Resumed),
            "requeued" => Some(Done::Requeued(queue?, query.jobs)),
            "discarded-dead" => Some(Done::DiscardedDead(queue?, query.jobs)),
            "retried" => Some(Done::Retried),
            "cancelled" => Some(Done::Cancelled),
            "discarded" => Some(Done::Discarded),
            "ran" if is_name(&query.schedule) => Some(Done::Ran(query.schedule, queue?)),
            _ => None,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Done::Paused(queue) => format!(
                "Queue {} paused. Workers stop starting its jobs within two seconds. Running jobs finish.",
                queue.name()
            ),
            Done::Resumed(queue) => format!("Queue {} resumed.", queue.name()),
            Done::Requeued(_, 0) => "No dead jobs to retry.".to_owned(),
            Done::Requeued(queue, 1) => format!("1 dead job of {} queued again.", queue.name()),
            Done::Requeued(queue, jobs) => {
                format!("{jobs} dead jobs of {} queued again.", queue.name())
            }
            Done::DiscardedDead(_, 0) => "No dead jobs to discard.".to_owned(),
            Done::DiscardedDead(queue, 1) => {
                format!("1 dead job of {} discarded. It can be retried for 48 hours.", queue.name())
            }
            Done::DiscardedDead(queue, jobs) => {
                format!("{jobs} dead jobs of {} discarded. Each can be retried for 48 hours.", queue.name())
            }
            Done::Retried => "Job queued again with all its attempts.".to_owned(),
            Done::Cancelled => "Job cancelled. It can be retried for 48 hours.".to_owned(),
            Done::Discarded => "Job discarded. It can be retried for 48 hours.".to_owned(),
            Done::Ran(schedule, queue) => format!("Schedule {schedule} queued in {}.", queue.name()),
        }
    }
}

/// Whether the text could be the name of a schedule. Anything else must not be shown.
fn is_name(text: &str) -> bool {
    const LENGTH_MAX: usize = 40;
    (1..=LENGTH_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str) -> Option<Done> {
        Done::of(&Request::builder().uri_str(address).finish())
    }

    #[test]
    fn queue_board_results_survive_the_redirect_url() {
        for done in [
            Done::Paused(Queue::Scan),
            Done::Resumed(Queue::Scan),
            Done::Requeued(Queue::Views, 3),
            Done::DiscardedDead(Queue::Views, 3),
            Done::Retried,
            Done::Cancelled,
            Done::Discarded,
            Done::Ran("sweep-records".into(), Queue::Upkeep),
        ] {
            assert_eq!(read(&done.path("/admin/queues/scan/01")), Some(done));
        }
    }

    #[test]
    fn unknown_result_parameters_show_no_message() {
        for nothing in [
            "",
            "done=burnt",
            "done=paused",
            "done=paused&queue=%3Cb%3E",
            "done=requeued&jobs=3",
            "done=ran&queue=upkeep",
            "done=ran&queue=upkeep&schedule=Call+0900",
        ] {
            assert_eq!(read(&format!("/admin/queues?{nothing}")), None, "{nothing}");
        }
    }
}
