//! The traps of the queue, each on SQLite and on Postgres.

mod bed;
mod counting;
mod crashes;
mod failures;
mod pushing;
mod repeats;
mod schema;
mod stopping;
mod wakes;
