//! Admission control: how much work a process takes on at a time, and what happens to the rest.
//!
//! [`Slots`] bounds concurrency: work beyond the bound waits in a short queue until a deadline. [`FairShare`] divides a
//! budget between clients, so that a client that fills its share and stalls does not block the others. Both return
//! [`Shed`] rather than queue without end. The caller counts that and chooses the response.

mod fair_share;
mod slots;

pub use fair_share::{FairShare, Share};
pub use slots::{Permit, Slots};

/// The work is not taken on: the queue is full, or the deadline has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shed;
