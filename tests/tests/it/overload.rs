//! More than can be done: what is taken on is done in time, the rest is told to come again, memory stays bounded, and
//! when it is over all is as before.

mod connections;
mod load;
mod memory;
mod uploads;
mod wire;
