//! The rules of the trade, pure: what a slug is, what a publish costs, what a refusal says.
//!
//! Everyone may use this crate. It knows no database, no queue and no HTTP; it reads no clock and rolls no
//! dice of its own: time and chance are handed in as [`Clock`] and [`Chance`]. The one thing in it that is not pure is
//! [`fault`], which exists for tests and is empty in release builds.

mod account;
mod artifact;
mod chance;
mod clock;
mod deed;
mod file_set;
mod id;
mod job;
mod manifest;
mod money;
mod payment;
mod refusal;
mod role;
mod scope;
mod secret;
mod site_path;
mod slug;
mod tariff;

pub mod fault;
pub mod link;

pub use account::{Account, AccountStatus, AccountSummary, MonthlyUse, has_expired};
pub use artifact::{Artifact, LiveVersion, ModerationStatus, Route, Version, Visibility};
pub use chance::Chance;
pub use clock::{Clock, Month, Time};
pub use deed::{
    Activation, ChargeDeed, CreditDeed, Deed, Moved, Outcome, PublishDeed, Published, Rail, Target,
};
pub use file_set::FileSet;
pub use id::{AccountId, ArtifactId, BlobHash, JobId, MalformedId, TokenId, UserId, VersionId};
pub use job::{Content, Job, JobEnvelope, PublishJob, Queue, ScanJob, SpooledFile, ViewCount, ViewsJob};
pub use manifest::{Encoding, Manifest, ManifestFile, Variant, content_type_of};
pub use money::Micro;
pub use payment::{Accept, Challenge, Payment, Receipt};
pub use refusal::{Missing, MissingRight, Refusal};
pub use role::{Role, UnknownRole};
pub use scope::{Scope, Scopes, UnknownScope};
pub use secret::{TokenSecret, hash_secret};
pub use site_path::{MalformedPath, SitePath};
pub use slug::{Host, Slug};
pub use tariff::{Settlement, Standing, Tariff};
