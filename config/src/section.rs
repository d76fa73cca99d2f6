//! One file per section of the settings: its fields, how they are read, and the constraints among them.

pub mod api;
pub mod card;
pub mod connections;
pub mod database;
pub mod edge;
pub mod limits;
pub mod log;
pub(crate) mod mode;
pub mod ops;
pub mod queue;
pub mod redis;
pub mod secrets;
pub mod service;
pub mod storage;
pub mod traces;
pub mod workers;
