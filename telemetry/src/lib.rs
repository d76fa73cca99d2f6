//! The telemetry of a process for its operators: metrics (`meters`), spans of a publish ([`spans`]) and
//! health ([`Vitals`]).
//!
//! Telemetry must never delay the work that it observes. Counting is a few atomic additions, a span costs
//! nothing unless traces are set up, and every reading for a scrape or a probe has a timeout and is cached
//! for a second. Nothing here may contain what users publish or send: metric labels and span attributes are
//! defined in this crate alone, and each has few values or is an id.

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
