//! The entry point for the queue: stores jobs, hands them to workers, retries them, buries and deletes them.
//!
//! The queue itself is apalis, on SQLite (embedded) or on Postgres (production). No type of apalis or of a
//! database leaves this crate: others see [`Queues`] and plain types. A job may be delivered more than once,
//! so its operation must be idempotent, and no code here may assume that it ran only once.

mod acknowledgements;
mod attempt;
mod backend;
mod board;
mod connections;
mod copy;
mod database;
mod expedite;
mod heartbeat;
mod job_counts;
mod jobs;
mod pauses;
mod persistence;
mod pool;
mod push;
mod queues;
mod rates;
mod retention;
mod schedule;
mod schema;
mod slots;
mod sql;
mod unacknowledged;
mod wake;

#[cfg(test)]
mod tests;

pub use attempt::{Attempt, GiveUp, Handler, LeftToAnother};
pub use board::Presence;
pub use copy::{CopiedJobs, SpooledPage};
pub use jobs::handler;
pub use pool::PoolSettings;
pub use queues::{Opening, Queues};
pub use schedule::run_schedule;
pub use wake::OnPushed;
