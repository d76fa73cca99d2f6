//! The operator's pages: the review queue, the audit log of decisions and the queue board. Access needs the
//! operator's password or secret. To anyone else they must look as if they did not exist, or show the
//! sign-in.
//!
//! A page begins with a [`frame::Frame`]: who is signed in, and what surrounds the page. A new page is a line
//! in the table of routes. That line states who may call it, and its guard follows from that.

pub mod audit;
pub mod bulk;
pub mod case;
pub mod contents;
mod cookie;
pub mod decision;
mod frame;
pub mod guard;
mod hints;
mod history;
mod labels;
mod list;
mod log;
pub mod preview;
pub mod queue;
pub mod queues;
mod reasons;
mod seen;
pub mod signin;
pub mod suspension;
#[cfg(test)]
pub mod tests;

use poem::{Response, handler};

use crate::html::found_at;

/// The review queue, which is the operator's start page.
pub const QUEUE: &str = "/admin/moderation";
pub const SIGN_IN: &str = "/admin/signin";

/// Redirects to the start page.
#[handler]
pub fn index() -> Response {
    found_at(QUEUE)
}
