//! The shapes that cross the wire, as the specification writes them. They are made from domain types and must never
//! hold a rule: a field here is a field there.

mod account;
mod artifact;
mod error;
mod publish;
mod usage;
mod value;

pub use account::{AccountDetail, SignUp};
pub use artifact::{Activate, Artifact, ArtifactDetail, Deleted};
pub use error::{Challenge, Error};
pub use publish::PublishResult;
pub use usage::Usage;
pub use value::{Timestamp, Usd};

#[cfg(test)]
mod tests;
