//! The harness: real processes of the program, driven over HTTP, as the people who use it drive it.
//!
//! A test gets a [`World`] of its own: the program in one process ([`Mode::Embedded`]), or its roles as processes of
//! their own over Postgres, Redis and an S3 server ([`Mode::Production`]). It acts through personas: an [`Agent`]
//! publishes, a [`Visitor`] reads pages, a [`Human`] has cookies, an [`Operator`] has the secret, a [`Processor`] tells
//! of card payments. When a test fails, the logs of its processes are printed; when it passes, they must hold no secret
//! and no panic.
//!
//! The harness must never reach into a part of the program: what it cannot see over HTTP, in a log or in an exit
//! code, no user can see either. The two exceptions only read a database: the ledger and the queue's jobs, which no
//! route shows yet. The servers come from `scripts/test`, by `HANDBILL_TEST_POSTGRES` and `HANDBILL_TEST_REDIS`.
//! Without them a test in production mode is skipped: see `test-servers`.

// A harness is test code: what it cannot do ends the test, and what it says goes to the terminal.
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
pub use server::card::{CardServer, Mood, Order, SECRET_KEY, WEBHOOK_SECRET};
pub use server::has_servers;
pub use server::otlp::{Collector, TracedSpan};
pub use server::outage::OwnServer;
pub use server::s3::{Health, S3};
pub use world::{Mode, Setup, World};
