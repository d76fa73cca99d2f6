//! The settings of Handbill: one typed tree, read from defaults, a file and the environment.
//!
//! Values are parsed here once, into types that the rest of the program trusts. All faults are collected and
//! reported, each with its key, its source and what is expected. The value of a secret is never shown,
//! neither in a fault nor in [`Settings::describe`].
//!
//! This crate does not read the process's environment, which is passed in, and must not start anything.

mod fault;
mod load;
mod reader;
mod same_site;
mod secret;
mod section;
mod signing;
mod value;

#[cfg(test)]
mod tests;

pub use fault::{Fault, Faults, Source};
pub use load::{Role, Settings, Sources, load, load_apart};
pub use reader::SettingLine;
pub use secret::{DatabaseUrl, RedisUrl, Secret};
pub use section::api::{Api, ApiLoad};
pub use section::card::Card;
pub use section::connections::ConnectionLimits;
pub use section::database::Database;
pub use section::edge::Edge;
pub use section::limits::Limits;
pub use section::log::{Log, LogFormat};
pub use section::ops::Ops;
pub use section::queue::Queue;
pub use section::redis::Redis;
pub use section::secrets::Secrets;
pub use section::service::Service;
pub use section::storage::{Bucket, Storage};
pub use section::traces::Traces;
pub use section::workers::Workers;
