//! The domain rules, without side effects: what a slug is, what a publish costs, what a refusal says.
//!
//! Every crate may use this one. It knows no database, no queue and no HTTP. It reads no clock and generates
//! no randomness: callers pass in a [`Clock`] and a [`Chance`].

mod accept_encoding;
mod account;
mod account_name;
mod account_summary;
mod archive_kind;
mod artifact;
mod artifact_filter;
mod audit;
mod bundle;
mod chance;
mod checkout;
mod clock;
mod common_password;
mod content_digest;
mod content_policy;
mod edit_mismatch;
mod file_set;
mod handle;
mod id;
mod invisible;
mod invite;
mod job;
mod leak;
mod ledger_entry;
mod ledger_operation;
mod link_generation;
mod loopback;
mod maker;
mod manifest;
mod message;
mod moderation;
mod money;
mod month_charges;
pub mod oauth;
mod operator;
mod page;
mod page_title;
mod password;
mod payment;
mod publish_condition;
mod publish_order;
mod reason;
mod refusal;
mod retention;
mod role;
mod scanned_content;
mod scope;
mod secret;
mod service_links;
pub mod signing_key;
mod site_label;
mod site_path;
pub mod site_rules;
mod slug;
mod suspension;
mod tariff;
mod text_edit;
mod time;
mod token;
mod upload_ticket;
mod username;
mod version_choice;
mod warning;

pub mod link;

pub use accept_encoding::choose_encoding;
pub use account::{Account, AccountStatus, DayUse, StoredBytes};
pub use account_name::{AccountName, MalformedAccountName};
pub use account_summary::{AccountSummary, MonthlyUse};
pub use archive_kind::ArchiveKind;
pub use artifact::{Artifact, LiveVersion, ModerationStatus, Route, Version, Visibility};
pub use artifact_filter::{ArtifactFilter, ArtifactOrder, ArtifactState};
pub use audit::{AuditEntry, CalledBy, Origin, Via};
pub use bundle::{BundledAt, WrittenBundle};
pub use chance::Chance;
pub use checkout::CheckoutAmount;
pub use clock::{Clock, ClockReading, TestShift};
pub use common_password::is_common_password;
pub use content_digest::{ContentDigest, ContentDigester};
pub use content_policy::{ContentPolicy, ResourceKind};
pub use edit_mismatch::{EditMismatch, NearestLine};
pub use file_set::FileSet;
pub use handle::is_handle;
pub use id::{
    AccountId, AppealId, ArtifactId, AuditId, BlobHash, BlobHasher, BundleId, DecisionId, JobId, MalformedId,
    ReportId, TokenId, UploadId, UserId, VersionId,
};
pub use invite::{Invite, InviteCode, InviteTerms, MalformedCode};
pub use job::{
    Content, Job, JobEnvelope, PublishJob, Queue, RescanJob, ScanJob, SpooledFile, ViewCount, ViewsJob,
};
pub use leak::{LeakedSecret, LeakedToken, Leaks, find_leaks};
pub use ledger_entry::LedgerEntry;
pub use ledger_operation::{
    CardPayment, CardReversal, CardReversalOperation, ChargeOperation, CreditOperation, CreditSource,
    EarlyVerdict, GrantOperation, LedgerOperation, Moved, Outcome, PaymentMethod, PublishOperation,
    Published, ReversalExtent, SweepNumber, TopUpOperation, ToppedUp, VisibilityOperation, VisibilitySet,
};
pub use link_generation::LinkGeneration;
pub use loopback::is_loopback_host;
pub use maker::Maker;
pub use manifest::{AtPath, Encoding, Manifest, ManifestFile, Variant, content_type_of};
pub use message::{MalformedMessage, Message};
pub use moderation::{
    AppealMessage, MalformedReason, ModeratedBy, ModerationDecision, Moderator, ReportCategory, ReportReason,
    RulingNote,
};
pub use money::Micro;
pub use month_charges::MonthCharges;
pub use operator::{
    MalformedOperator, OperatorAccount, OperatorKey, OperatorName, OperatorPassword, OperatorSession,
    PreviewTicket,
};
pub use page::{Cursor, List, MalformedCursor, Page, PageStart, Paged};
pub use page_title::PageTitle;
pub use password::{Password, PasswordHash};
pub use payment::{Accept, CardTerms, Challenge, DevPaymentTerms, Payment, PaymentMethods, Receipt};
pub use publish_condition::{CurrentVersion, ExistingSlug, PublishCondition};
pub use publish_order::{Activation, CreatedVia, PublishOrder, Target};
pub use reason::Reason;
pub use refusal::{Crowd, Missing, MissingRight, Refusal, RefusalEntry, RefusalKind, Repeating};
pub use retention::{Retention, RetentionChange};
pub use role::{Role, UnknownRole};
pub use scanned_content::ScannedContent;
pub use scope::{Scope, Scopes, UnknownScope};
pub use secret::{TokenSecret, hash_secret};
pub use service_links::ServiceLinks;
pub use site_label::{SiteLabel, VersionTag};
pub use site_path::{MalformedPath, SitePath};
pub use slug::{ArtifactName, Host, Slug};
pub use suspension::{Suspension, SuspensionReason, has_expired, must_take_writes};
pub use tariff::{BillingState, Settlement, Tariff};
pub use text_edit::TextEdit;
pub use time::{Day, Month, Time};
pub use token::{AskedRights, MalformedTokenName, Rights, Token, TokenName};
pub use upload_ticket::UploadTicket;
pub use username::{MalformedUsername, Username};
pub use version_choice::{MalformedVersionChoice, VersionChoice};
pub use warning::{Warning, WarningCode};
