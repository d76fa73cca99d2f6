//! The types of requests and responses, as the specification defines them. They are made from domain types
//! and must not contain business rules.

mod account;
mod artifact;
mod audit;
mod blocked_contents;
mod checkout;
mod credits;
mod decision;
mod deletion;
mod differences;
mod error;
mod files;
mod grant;
mod internal;
mod jobs;
mod ledger;
mod listed_artifact;
mod moderation;
mod people;
mod publish;
mod queues;
mod rehearsal;
mod retention;
mod review;
mod suspension;
mod team;
mod text;
mod token;
mod upload;
mod usage;
mod value;

pub use account::{Account, AccountDetail, AccountWithMembers, SignUp};
pub use artifact::{
    Activate, Appeal, AppealTaken, Artifact, ArtifactChange, ArtifactDetail, ChangeArtifact, ShownArtifact,
    Version, read_appeal,
};
pub use audit::AuditEntry;
pub use blocked_contents::{BlockedContents, ContentUnblocked};
pub use checkout::{CardEvent, Checkout, EventTaken, OpenCheckout};
pub use credits::{CreditBought, CreditPurchase, Purchasable};
pub use decision::{Decide, DecisionMade};
pub use deletion::{Deleted, DeletedVersion};
pub use differences::Differences;
pub use error::{Challenge, EditMismatch, Error, VersionConflict};
pub use files::{FileText, VersionFile, VersionFiles};
pub use grant::{CreditGranted, GrantCredit};
pub use internal::{CleanedUp, CountView, Metered, RunMetering, ViewCounted};
pub use jobs::{JobCancelled, JobDetail, JobDiscarded, JobList, JobRetried, JobState};
pub use ledger::LedgerEntry;
pub use listed_artifact::ListedArtifact;
pub use moderation::{Moderate, Moderated, Report, ReportTaken, ReportWritten, read_report};
pub use people::{Claimed, Credentials, Me, RoleName, SignedIn, SignedOut};
pub use publish::PublishResult;
pub use queues::{DeadDiscarded, DeadRequeued, QueueBoard, QueueSteered, Schedule, ScheduleRun};
pub use rehearsal::{PublishOrRehearsal, RehearsalResult};
pub use review::{DecisionLog, Queue, QueueStatus, ReviewItem};
pub use suspension::{AccountSuspension, SuspendAccount, Suspension};
pub use team::{
    ChangeAccount, ClaimLink, CreateInvite, CreatedInvite, Invite, Join, Joined, RemovedMember,
    RevokedInvite, Team,
};
pub use token::{LeakTaken, LeakedToken, MintToken, MintedToken, RevokedToken, Token};
pub use upload::{KeptUpload, StagedUpload};
pub use usage::Usage;
pub use value::{Amount, Timestamp, Usd};

use domain::List;

/// A row of a paged list. A cursor of another list is refused.
pub trait ListedRow {
    const LISTS: &'static [List];
}

macro_rules! listed {
    ($($row:ty: $($list:ident),+;)+) => {$(
        impl ListedRow for $row {
            const LISTS: &'static [List] = &[$(List::$list),+];
        }
    )+};
}

listed! {
    Artifact: Artifacts;
    Version: Versions;
    Token: Tokens;
    Invite: Invites;
    Team: Members, Tokens;
    LedgerEntry: Ledger;
    AuditEntry: Audit;
}

#[cfg(test)]
mod tests;
