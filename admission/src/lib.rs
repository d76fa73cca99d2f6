//! Admission control: bounds on the work that a process accepts at a time.
//!
//! [`Slots`] bounds concurrency: work beyond the bound waits in a short queue until a deadline. [`FairShare`]
//! divides a budget between clients, so that a client that fills its share and stalls does not block the
//! others. Both return [`Shed`] rather than queue without end. The caller counts that and chooses the
//! response.

mod fair_share;
mod slots;

pub use fair_share::{FairShare, Share};
pub use slots::{Permit, Slots};

/// The work was not admitted: the queue is full, or the deadline has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shed;
