//! The servers under the production mode: a database and a Redis number for each world, an S3 server in the test
//! itself, and servers of a world's own where a test takes them away. In either mode, a card processor or a collector of traces for who asks.

pub mod cable;
pub mod card;
pub mod otlp;
pub mod outage;
pub mod postgres;
pub mod redis;
pub mod s3;
