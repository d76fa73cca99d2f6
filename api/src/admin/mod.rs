//! The pages of the operator's people: the moderators' queue, who decided what, and the queue board. They come in by a password of their
//! own, or by the operator's secret; to anybody else it must look as if these pages were not there, or be the sign-in.
//!
//! A page here begins with a [`frame::Desk`]: who looks, and what stands around the page. A new page is a line in
//! the table of routes; who may call it stands there, and its guard follows.

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
mod words;

use poem::{Response, handler};

use crate::html::found_at;

/// The queue: where one lands.
pub const QUEUE: &str = "/admin/moderation";
pub const SIGN_IN: &str = "/admin/signin";

/// Leads to where one lands.
#[handler]
pub fn index() -> Response {
    found_at(QUEUE)
}
