//! Overload: accepted work is done in time, the rest is refused with a hint to retry, memory stays bounded,
//! and afterwards everything works as before.

mod connections;
mod load;
mod memory;
mod uploads;
mod wire;
