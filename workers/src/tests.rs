//! Tests of the queue, each on SQLite and on Postgres.

mod acknowledging;
mod board;
mod board_plans;
mod copying;
mod counting;
mod crashes;
mod discarding;
mod failures;
mod fetching;
mod figures;
mod formats;
mod harness;
mod overtaken;
mod pauses;
mod pushing;
mod repeats;
mod schema;
mod stopping;
mod wakes;
