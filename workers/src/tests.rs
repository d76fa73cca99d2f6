//! The traps of the queue, each on SQLite and on Postgres.

mod bed;
mod counting;
mod crashes;
mod failures;
mod pushing;
mod schema;
mod stopping;
mod wakes;
