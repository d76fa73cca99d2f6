//! What a process tells of itself to whoever looks after it: what it has counted (`meters`), where the
//! time of a publish went ([`spans`]), and whether it is well ([`Vitals`]).
//!
//! Telling must never hold up what is told of: counting is a few atomic additions, a span costs nothing unless traces
//! are set up, and whatever is asked for a scrape or a probe has a bound and is kept for a second. Nothing here may bear
//! what somebody publishes or calls with: the labels of metrics and the attributes of spans are listed in this crate
//! alone, and each has few values or is an id.

mod cached;
pub mod levels;
mod meters;
pub mod spans;
mod traces;
mod vitals;

pub use meters::{
    ConnectionMeter, Count, Cut, GONE, Lookups, RouteMeter, card_reversal_unbooked, checkout_uncredited,
    commit, job, published_bytes, redis_reconnected, request, served_bytes, shed, verdict, views,
};
pub use traces::{NOT_IN_LOG, TraceSettings, Traces};
pub use vitals::{Audience, HealthResponse, Part, Reading, Vitals, VitalsParts, WhenAway};
