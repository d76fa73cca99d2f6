//! Attempts that this process has begun and not acknowledged yet.
//!
//! If the queue's database refuses the acknowledgement, the row does not show that the attempt was made. A
//! pool that stops then records the attempt before it releases the job, so that the next worker knows that
//! there may be leftovers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An attempt that has begun.
#[derive(Clone)]
pub(crate) struct BegunAttempt {
    pub(crate) worker: String,
    pub(crate) number: u32,
}

/// By the job's id. Clones share the attempts. An attempt stays until its acknowledgement is written.
#[derive(Clone, Default)]
pub(crate) struct Unacknowledged(Arc<Mutex<HashMap<String, BegunAttempt>>>);

impl Unacknowledged {
    pub(crate) fn begin(&self, job: &str, begun: BegunAttempt) {
        self.attempts().insert(job.to_owned(), begun);
    }

    /// A later attempt at the job may have begun meanwhile. It stays.
    pub(crate) fn acknowledge(&self, job: &str, attempt: u32) {
        let mut attempts = self.attempts();
        if attempts.get(job).is_some_and(|begun| begun.number == attempt) {
            attempts.remove(job);
        }
    }

    pub(crate) fn take(&self) -> Vec<(String, BegunAttempt)> {
        self.attempts().drain().collect()
    }

    fn attempts(&self) -> MutexGuard<'_, HashMap<String, BegunAttempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
