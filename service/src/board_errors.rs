//! Groups of equal errors on the queue board.

use std::fmt;
use std::str::FromStr;

use domain::{BlobHash, OperatorName, Queue, Time};

use crate::job_state::JobState;
use crate::{Service, ServiceResult};

/// Identifies errors that differ only in their numbers and ids. All processes of a release compute the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorKey([u8; ErrorKey::BYTES]);

/// Jobs with equal errors.
#[derive(Clone, Debug)]
pub struct ErrorGroup {
    pub key: ErrorKey,
    /// The error of the newest job.
    pub error: String,
    pub jobs: u64,
    /// When the first and the last of them failed.
    pub first_at: Time,
    pub last_at: Time,
}

/// The errors of the newest jobs of a queue in one state.
#[derive(Clone, Debug, Default)]
pub struct ErrorGroups {
    /// The largest first.
    pub groups: Vec<ErrorGroup>,
    /// Groups beyond the limit of the list.
    pub groups_not_listed: u64,
    /// How many jobs were grouped.
    pub jobs: u64,
    /// Whether older jobs were not grouped.
    pub is_cut: bool,
}

#[derive(Debug)]
pub struct MalformedErrorKey;

impl ErrorKey {
    const BYTES: usize = 8;

    pub fn of(error: &str) -> Self {
        let hash = BlobHash::of(without_numbers(error).as_bytes()).to_string();
        hash.get(..2 * Self::BYTES).and_then(|start| start.parse().ok()).unwrap_or(Self([0; Self::BYTES]))
    }
}

/// Each word with a digit in it becomes `#`.
fn without_numbers(error: &str) -> String {
    let mut text = String::with_capacity(error.len());
    for word in error.split_inclusive(|end: char| !end.is_ascii_alphanumeric()) {
        if word.contains(|letter: char| letter.is_ascii_digit()) {
            text.push('#');
            text.extend(word.chars().last().filter(|last| !last.is_ascii_alphanumeric()));
        } else {
            text.push_str(word);
        }
    }
    text
}

impl fmt::Display for ErrorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ErrorKey {
    type Err = MalformedErrorKey;

    fn from_str(text: &str) -> Result<Self, MalformedErrorKey> {
        let is_hex = text.len() == 2 * Self::BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).map_err(|_| MalformedErrorKey)?;
        if is_hex { Ok(Self(number.to_be_bytes())) } else { Err(MalformedErrorKey) }
    }
}

impl Service {
    pub async fn job_errors(&self, queue: Queue, state: JobState) -> ServiceResult<ErrorGroups> {
        Ok(self.0.board.errors(queue, state).await?)
    }

    /// Returns how many jobs were requeued.
    pub async fn requeue_dead_with(
        &self,
        queue: Queue,
        error: ErrorKey,
        by: &OperatorName,
    ) -> ServiceResult<u64> {
        let jobs = self.0.board.requeue_dead_with(queue, error, by).await?;
        tracing::info!(jobs.requeued = jobs, queue.name = queue.name(), operator.name = %by, "an operator requeues dead jobs of one error");
        Ok(jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_differ_in_ids_and_numbers_are_equal() {
        let key = ErrorKey::of("storage: version 01KC4GZJ2Q8W5T7RXN3VB6M9DE took 12.5 s");
        assert_eq!(key, ErrorKey::of("storage: version 01KC4GZJ2Q8W5T7RXN3VB6M9DF took 3.25 s"));
        for other in ["storage: version 7 took 12.5 s at last", "scan: version 7 took 12.5 s", ""] {
            assert_ne!(key, ErrorKey::of(other), "{other}");
        }
    }

    #[test]
    fn key_of_a_group_survives_the_url() {
        let key = ErrorKey::of("the object store did not answer");
        assert_eq!(key.to_string().parse::<ErrorKey>().unwrap(), key);
        for odd in ["", "12", "+123456789abcdef", "zz23456789abcdef", "0123456789abcdef0"] {
            assert!(odd.parse::<ErrorKey>().is_err(), "{odd}");
        }
    }
}
