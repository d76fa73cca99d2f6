//! The waiters for jobs in this process. A reply without a waiter is dropped, because the outcome's row has
//! it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{JobId, Outcome};
use tokio::sync::watch;
use tokio::time::timeout;

type ReplySender = watch::Sender<Option<Outcome>>;

#[derive(Default)]
pub(crate) struct Replies {
    expected: Mutex<HashMap<JobId, ReplySender>>,
}

/// Waits for the reply to one job. Dropping it ends the registration.
pub struct ReplyWaiter {
    replies: Arc<Replies>,
    job: JobId,
    reply: watch::Receiver<Option<Outcome>>,
}

impl Replies {
    pub(crate) fn expect(self: &Arc<Self>, job: JobId) -> ReplyWaiter {
        let reply = self.lock().entry(job).or_insert_with(|| watch::channel(None).0).subscribe();
        ReplyWaiter { replies: self.clone(), job, reply }
    }

    pub(crate) fn deliver(&self, job: JobId, outcome: Outcome) {
        if let Some(reply) = self.lock().get(&job) {
            reply.send_replace(Some(outcome));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, ReplySender>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReplyWaiter {
    /// Returns the outcome, or `None` if no reply came in time. The caller then reads the outcome's row.
    pub async fn wait(&mut self, at_most: Duration) -> Option<Outcome> {
        let reply = timeout(at_most, self.reply.wait_for(Option::is_some)).await;
        reply.ok()?.ok()?.clone()
    }
}

impl Drop for ReplyWaiter {
    fn drop(&mut self) {
        let mut expected = self.replies.lock();
        // The count still includes this receiver.
        if expected.get(&self.job).is_some_and(|reply| reply.receiver_count() <= 1) {
            expected.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Chance, Micro, Moved, Time};

    fn outcome() -> Outcome {
        Outcome::Moved(Moved { balance: Micro::default(), is_new: true })
    }

    fn job(seed: u64) -> JobId {
        JobId::new(Time::from_millis(0), &Chance::seeded(seed))
    }

    #[tokio::test]
    async fn every_waiter_of_a_job_gets_the_reply_and_may_wait_again() {
        let replies = Arc::new(Replies::default());
        let (mut one, mut other) = (replies.expect(job(1)), replies.expect(job(1)));
        replies.deliver(job(1), outcome());
        for waiter in [&mut one, &mut other] {
            assert_eq!(waiter.wait(Duration::from_secs(1)).await, Some(outcome()));
            assert_eq!(waiter.wait(Duration::ZERO).await, Some(outcome()));
        }
    }

    #[tokio::test]
    async fn a_reply_that_does_not_come_ends_the_wait_in_time() {
        let replies = Arc::new(Replies::default());
        let mut waiter = replies.expect(job(1));
        replies.deliver(job(2), outcome());
        assert_eq!(waiter.wait(Duration::from_millis(20)).await, None);
    }

    #[test]
    fn reply_entry_is_removed_with_its_last_waiter() {
        let replies = Arc::new(Replies::default());
        let (one, other) = (replies.expect(job(1)), replies.expect(job(1)));
        drop(one);
        assert_eq!(replies.lock().len(), 1);
        drop(other);
        assert_eq!(replies.lock().len(), 0);
    }
}
