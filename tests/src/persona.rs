//! Who uses the service: each persona calls it as such a one does, and sees no more than such a one sees.

mod calls;

pub mod agent;
pub mod human;
pub mod operator;
pub mod processor;
pub mod visitor;
