//! Every operation, implemented once. All entry points, and the jobs that they queue, call the same
//! functions.
//!
//! Reads go to the store. Writes that move money or use allowance go to the account's ledger; other writes
//! are one short transaction of the store. This crate does not know HTTP and names no table.

mod account;
mod appeals;
mod archive;
mod artifact;
mod audit;
mod blocked_contents;
mod board;
mod board_errors;
mod board_figures;
mod board_health;
mod board_search;
mod bulk;
mod caller;
mod casework;
mod checkout;
mod claim;
mod closed;
mod compute;
mod conditions;
mod content;
mod credits;
mod deadline;
mod deploys;
mod differences;
mod duplicates;
mod edits;
mod execute;
mod export;
mod export_texts;
mod failure;
mod findings;
mod first_publish;
mod idempotency;
mod insights;
mod inspect;
mod job_state;
mod limits;
mod lost;
mod metering;
mod moderation;
mod moderation_notice;
mod oauth;
mod objection;
mod operators;
mod page_glance;
mod people;
mod price;
mod private_links;
mod publish;
mod publish_bounds;
mod publish_request;
mod purge;
mod queue;
mod rehearsal;
mod rescan;
mod retention;
mod review;
mod scan;
mod site_plan;
mod site_sources;
mod storing;
mod suspension;
mod team;
mod token_uses;
mod tokens;
mod unified_diff;
mod upkeep;
mod uploads;
mod verdict_wait;
mod verdicts;
mod version_files;
mod visibility;
mod webhook;

pub use account::{ClaimLink, SignUpPermit, SignedUp};
pub use appeals::AppealTaken;
pub use archive::{ArchiveFormat, SiteArchive};
pub use artifact::ArtifactDetail;
pub use blocked_contents::BlockedContentList;
pub use board::{
    Board, JOBS_SEARCHED_MAX, JOBS_SHOWN_MAX, JobActionResult, JobDetail, JobEvent, JobEventKind, JobFilter,
    JobInfo, JobList, Planned, ScheduleInfo,
};
pub use board_errors::{ErrorGroup, ErrorGroups, ErrorKey};
pub use board_figures::{
    BoardFigures, HISTORY_MINUTES, JobCounts, Paused, ProcessInfo, QueueFigures, QueueMinute, RunningJob,
};
pub use board_search::{FoundJobs, JobSubject};
pub use bulk::{CHANGES_MAX, ChangedPage, PageChange, PlannedChange};
pub use caller::{Caller, CallerIdentity, Person, SESSION_KEPT, TokenHolder};
pub use casework::{AccountHistoryPage, BULK_MAX, BulkOutcome, CasesAround};
pub use checkout::{Checkout, CheckoutRequest};
pub use claim::{Claimable, ClaimablePage, ClaimedPage};
pub use closed::FileStoreWatch;
pub use credits::{CreditGrant, CreditRequest, Granted};
pub use deploys::{Deploy, DeployEnd, DeployFiles, DeployState};
pub use differences::{Differences, FileDifference};
pub use duplicates::{BegunDuplicate, DuplicateRequest};
pub use edits::{EDITS_MAX, EditRequest};
pub use execute::PublishTask;
pub use export::BegunExport;
pub use failure::{Failure, ServiceResult};
pub use findings::Finding;
pub use first_publish::FirstPublish;
pub use insights::{DayViews, MonthReport, PageViews, RecentViews};
pub use job_state::JobState;
pub use limits::{LimitState, report_limits, reporting_limits};
pub use metering::Metered;
pub use moderation::{DecisionMade, DecisionRequest, Moderated, ReportTaken};
pub use moderation_notice::{ModerationNotice, RULES, rule_description};
pub use oauth::{
    AuthorizationParameters, AuthorizationRequest, BadAuthorization, ClientDocuments, ClientSource,
    DeviceParameters, DeviceSignIn, DevicesOnly, IssuedTokens, NewAccountGrant, OAuthClient, OAuthCode,
    OAuthError, OAuthFailure, OAuthResult, RegisteredClient, RegistrationRequest, TokenParameters,
    WaitingDevice,
};
pub use objection::first_document;
pub use operators::OperatorAccess;
pub use page_glance::PageGlance;
pub use people::{Client, Credentials, PasswordUpdate, SignedIn};
pub use publish::{Addressed, Publication};
pub use publish_bounds::PublishBounds;
pub use publish_request::PublishRequest;
pub use purge::{DeletedArtifact, PurgedPage};
pub use queue::{IfKnown, JobQueue, Push, PushResult};
pub use rehearsal::{Rehearsal, SiteChanges};
pub use rescan::{RescanScope, ScanState};
pub use review::{
    DECISIONS_BESIDE_MAX, DecisionList, DecisionShown, ELSEWHERE_MAX, ReviewItem, ReviewQueuePage,
    ReviewedVersion, SameContent, ShownFile, WaitingPages, text_of,
};
pub use scan::{Rescanned, ScanTerms, Scanned, Scans};
pub use site_plan::{
    Derivation, FileSource, LiveBase, PlannedFile, SiteBase, SitePlan, StoredContent, UploadedFile,
};
pub use site_sources::LocatedPublish;
pub use team::{InviteOffer, Joined, Team};
pub use token_uses::TokenUses;
pub use tokens::{MintRequest, Minted, Revoked};
pub use upkeep::CleanedUp;
pub use uploads::{KeptUpload, StagedUpload, WAITING_MAX as WAITING_UPLOADS_MAX};
pub use verdicts::VerdictCommits;
pub use version_files::{VersionFile, VersionFiles};
pub use visibility::{ShownArtifact, VisibilityRequest};
pub use webhook::CardCall;

use std::sync::Arc;
use std::time::Duration;

use actors::Ledgers;
use bus::Bus;
use card::CardPayments;
use domain::link::Addresses;
use domain::signing_key::{LinkKey, SigningKey};
use domain::{Chance, Clock, ContentPolicy, OperatorAccount, OperatorPassword, Tariff};
use store::{Blobs, ContentReader, DiskRoom, Store};

pub use store::{
    AccountReport, AccountSettings, AgentJoin, AppealState, BlockedContent, BlockedContentCursor,
    COUNTED_MAX, DecisionFilter, HISTORY_SHOWN_MAX, Member, Membership, REPORTS_SHOWN_MAX, ReviewFilter,
    SamePage, ScanCounts, Seen, SessionInfo, Sessions, StoredAppeal, StoredDecision, StoredReport, StuckScan,
    SuspensionSet, TokenFate, WaitingCursor, WaitingFor, encode,
};

/// The dependencies of the operations.
pub struct ServiceDependencies {
    pub store: Store,
    pub blobs: Blobs,
    pub file_store: FileStoreWatch,
    pub disk: DiskRoom,
    pub ledgers: Ledgers,
    pub queue: JobQueue,
    /// The same queues, for the operations of operators.
    pub board: Arc<dyn Board>,
    pub bus: Bus,
    pub clock: Clock,
    pub chance: Chance,
    /// When tokens were last used, buffered until it is written.
    pub token_uses: TokenUses,
    pub publish_bounds: PublishBounds,
    pub scans: Scans,
    pub verdicts: VerdictCommits,
    pub card: CardPayments,
    /// The metadata documents of OAuth clients.
    pub client_documents: ClientDocuments,
    pub rules: Rules,
}

/// The settings that the operations depend on.
#[derive(Clone, Debug)]
pub struct Rules {
    pub tariff: Tariff,
    pub addresses: Addresses,
    pub signing_key: SigningKey,
    pub link_key: LinkKey,
    /// What published pages may load from other hosts.
    pub content_policy: ContentPolicy,
    /// Opens `/admin`. Without it, `/admin` is open to this machine in dev mode and otherwise disabled.
    pub operator_password: Option<OperatorPassword>,
    /// Operators with passwords of their own.
    pub operators: Vec<OperatorAccount>,
    pub is_dev_mode: bool,
    /// Whether the features of dev mode may be used from other machines.
    pub is_public_dev_allowed: bool,
    pub signups_per_minute: u32,
    /// Per address, and per username.
    pub logins_per_minute: u32,
    pub registrations_per_minute: u32,
    /// Abuse reports, per address.
    pub reports_per_minute: u32,
    /// Accounts that a person may own through claims. 0: unlimited.
    pub claims_per_person: u32,
    /// 0: unlimited.
    pub claims_per_address_per_day: u32,
    /// Per account. 0: unlimited.
    pub publishes_per_minute: u32,
    /// Whether a publish stores its small contents in one object. Older releases cannot read it.
    pub are_bundles_written: bool,
    /// How long an expired account stays before it is purged, so that visitors see why.
    pub purge_grace: Duration,
}

/// The operations.
#[derive(Clone)]
pub struct Service(Arc<ServiceDependencies>);

impl Service {
    pub fn new(parts: ServiceDependencies) -> Self {
        Self(Arc::new(parts))
    }

    pub fn addresses(&self) -> &Addresses {
        &self.0.rules.addresses
    }

    pub fn tariff(&self) -> &Tariff {
        &self.0.rules.tariff
    }

    pub fn is_dev_mode(&self) -> bool {
        self.0.rules.is_dev_mode
    }

    pub fn is_public_dev_allowed(&self) -> bool {
        self.0.rules.is_public_dev_allowed
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// A text with a signature, for a client to keep. `purpose` says what the text is for.
    pub fn sign(&self, purpose: &str, text: &str) -> String {
        self.0.rules.signing_key.sign(purpose, text)
    }

    /// The text that [`Self::sign`] signed for the same purpose.
    pub fn verified<'t>(&self, purpose: &str, signed: &'t str) -> Option<&'t str> {
        self.0.rules.signing_key.verified(purpose, signed)
    }

    /// Reads contents of versions.
    pub(crate) fn contents(&self) -> ContentReader {
        ContentReader::new(self.0.store.clone(), self.0.blobs.clone())
    }

    pub fn chance(&self) -> &Chance {
        &self.0.chance
    }
}
