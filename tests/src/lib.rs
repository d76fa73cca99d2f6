//! The test harness: real processes of the program, used over HTTP as its users do.
//!
//! A test gets a [`World`] of its own: the program in one process ([`Mode::Embedded`]), or one process for
//! each role with Postgres, Redis and an S3 server ([`Mode::Production`]). The test acts through personas: an
//! [`Agent`] publishes, a [`Visitor`] reads pages, a [`Human`] has cookies, an [`Operator`] has the secret, a
//! [`Processor`] reports card payments. When a test fails, the logs of its processes are printed. When it
//! passes, they must contain no secret and no panic.
//!
//! The harness must never call into the program. It sees what users see: HTTP, logs and exit codes. The two
//! exceptions only read a database: the ledger and the queue's jobs, which no route shows yet. `scripts/test`
//! provides the servers through `HANDBILL_TEST_POSTGRES` and `HANDBILL_TEST_REDIS`. Without them a test in
//! production mode is skipped: see `test-servers`.

// This is test code: a failure ends the test, and messages go to the terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod browser;
mod call;
mod clock;
mod crowd;
mod eventually;
mod inspection;
mod jobs;
mod ledger;
mod modes;
mod persona;
mod port;
mod process;
mod reply;
mod server;
mod tools;
mod world;

pub use browser::{Browser, Scheme, Screen, Scripts};
pub use call::Call;
pub use clock::system_time;
pub use eventually::{PATIENCE, eventually};
pub use jobs::JobRow;
pub use ledger::{AccountLedger, LedgerEntry};
pub use persona::agent::Agent;
pub use persona::human::Human;
pub use persona::operator::Operator;
pub use persona::processor::{Processor, sign};
pub use persona::visitor::Visitor;
pub use port::Port;
pub use process::{Finished, Process, Stopped};
pub use reply::{Reply, fields_of};
pub use reqwest::Method;
pub use serde_json::{Value, json};
pub use server::cable::Cable;
pub use server::card::{CardBehaviour, CardServer, Order, SECRET_KEY, WEBHOOK_SECRET};
pub use server::has_servers;
pub use server::otlp::{Collector, TracedSpan};
pub use server::outage::OwnServer;
pub use server::s3::{Health, S3};
pub use tools::installed;
pub use world::{Mode, Setup, World};
