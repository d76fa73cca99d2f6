//! The door for the queue: jobs are kept, handed to workers, retried, buried and forgotten here.
//!
//! The queue itself is apalis, on SQLite (embedded) or on Postgres (production). No type of apalis or of a
//! database leaves this crate: others see [`Queues`] and the plain types beside it. A job may be delivered
//! more than once, so what it does must be idempotent; nothing here may assume that it ran only once.

mod attempt;
mod backend;
mod board;
mod connections;
mod copy;
mod database;
mod depth;
mod heartbeat;
mod hurry;
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
pub use depth::QueueDepth;
pub use jobs::handler;
pub use pool::PoolSettings;
pub use queues::{Opening, Queues};
pub use schedule::run_schedule;
pub use wake::OnPushed;
