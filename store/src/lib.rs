//! The only crate that uses SQL or object storage. Its interface consists of domain types.
//!
//! Only this crate opens transactions. They are short, lock the account's row first, and contain no network
//! call and no blob. Finders take the tenant. The database enforces uniqueness.

mod account_history;
mod accounts;
mod appeals;
mod artifact_search;
mod artifacts;
mod audit;
mod blob_index;
mod blob_state;
mod blob_sweep;
mod blobs;
mod blocked_contents;
mod bundle;
mod bundle_orphans;
mod bundle_rows;
mod bundle_sweep;
mod bundles;
mod cached_file;
mod change;
mod change_result;
mod claims;
mod content_reader;
mod content_verdicts;
mod database;
mod decision_rows;
mod decisions;
mod deploy_part;
mod deploys;
mod disk;
mod early_reversals;
mod erasures;
mod examine;
mod former_versions;
mod gather;
mod handles;
mod held_contents;
mod held_pages;
mod insights;
mod invites;
mod ledger_check;
mod many;
mod members;
mod memberships;
mod metering;
mod moderation;
mod monthly_limits;
mod oauth;
mod objects;
mod outage;
mod outcomes;
mod owner_settings;
mod owner_storage;
mod pack;
mod pages;
mod pools;
mod private_links;
mod purges;
mod queue_position;
mod read_batch;
mod reading;
mod renames;
mod reports;
mod restores;
mod retention;
mod review;
mod revocations;
mod route_changes;
mod routes;
mod rows;
mod scan_progress;
mod scans;
mod scans_asked;
mod scans_due;
mod schedules;
mod script;
mod scrub;
mod sessions;
mod settle;
mod silence;
mod snapshot;
mod suspensions;
mod sweep;
mod tables;
mod tokens;
mod unscanned;
mod users;
mod version_deletion;
mod version_views;
mod views;
mod waiting;

#[cfg(test)]
mod tests;

pub use account_history::{AccountHistory, AccountReport, HISTORY_SHOWN_MAX};
pub use appeals::{AcceptedAppeal, AppealState, LiveModeration, NewAppeal, StoredAppeal};
pub use artifact_search::Searched;
pub use artifacts::{ActivationResult, SlugOwner};
pub use blob_index::{StoredBlobs, SweptBlobs};
pub use blobs::{Blobs, KnownBlob, S3Settings};
pub use blocked_contents::{BLOCKED_CONTENT, BlockedContent, BlockedContentCursor};
pub use bundle::{BUNDLE_CONTENTS_MAX, BUNDLED_BYTES_MAX, NewContent, StoredBundle};
pub use bundles::CopiedBundle;
pub use change::Change;
pub use change_result::{ChangeError, ChangeResult};
pub use claims::{Claimed, Claimer};
pub use content_reader::{ContentAddress, ContentReader};
pub use content_verdicts::{ScanReader, ScanSubject, StoredVerdict};
pub use decisions::{DecisionFilter, StoredDecision, StoredScan};
pub use deploy_part::DeployPart;
pub use deploys::DeployObjects;
pub use disk::DiskRoom;
pub use examine::BlobFault;
pub use former_versions::FormerVersion;
pub use gather::{Gathered, Gathering, WriteBatch};
pub use handles::{
    AccountStore, ArtifactStore, AuditStore, BlobIndex, BlockedContentStore, IntegrityChecks, InviteStore,
    LedgerStore, MemberStore, MeteringStore, ModerationStore, OAuthStore, OutcomeStore, ReportStore,
    ReviewQueue, RouteStore, ScanStore, ScheduleStore, SessionStore, Tables, TokenStore, Upkeep, UserStore,
    ViewStore,
};
pub use held_contents::{HeldContent, Holder};
pub use invites::{JoinedAgent, JoiningAgent, JoiningPerson, OpenedInvite};
pub use ledger_check::{LedgerFault, LedgerFaultKind, LedgerNews, LedgerProgress, LedgerTerms};
pub use members::Member;
pub use memberships::Membership;
pub use metering::{MeterPage, MeteredAccount};
pub use moderation::{DecisionResult, ModeratorDecision, Seen};
pub use oauth::{Device, DeviceDecision, GrantPath, NewDevice, NewGrant, Renewal, StoredGrant};
pub use objects::{Copied, ObjectKind, StoredObject};
pub use outage::{Outage, is_collision, is_outage, outage};
pub use outcomes::{KeyClaim, KeyHolder, KeyUse, Refused};
pub use owner_settings::{AccountSettings, AgentJoin};
pub use pack::{Layout, encode};
pub use purges::{PurgedArtifact, RESTORABLE_FOR};
pub use queue_position::ReviewFilter;
pub use reports::{NewReport, REPORTS_SHOWN_MAX, ReportResult, StoredReport};
pub use retention::OutdatedVersions;
pub use review::{ReviewCase, SameContentQuery, SamePage, VersionCase};
pub use revocations::{AlsoRevoked, RevocationScope, TokenFate};
pub use route_changes::{RouteLogPosition, RouteLogRead};
pub use routes::RouteReader;
pub use rows::token::{NewToken, Reach};
pub use scans::{ScanVerdict, VerdictResult};
pub use scans_asked::{COUNTED_MAX, RescanTarget, ScanCounts, StuckScan};
pub use scans_due::DueScan;
pub use scrub::{
    Damage, DamageFault, Harmed, MalformedManifest, ORPHAN_GRACE, Orphan, OrphanFate, Scrub, ScrubCare,
    ScrubNews, ScrubProgress,
};
pub use sessions::{Ending, NewSession, SessionGrant, SessionInfo, Sessions};
pub use settle::{Batch, Rehearsed, Terms};
pub use snapshot::sqlite_file;
pub use suspensions::{SuspensionChange, SuspensionSet};
pub use sweep::Purged;
pub use tables::{LedgerTotals, TABLES, TableCount};
pub use tokens::{TokenGrant, TokenRotation, TokenUse};
pub use unscanned::GivenUpScan;
pub use users::{PasswordChange, User};
pub use waiting::{Backlog, WaitingArtifact, WaitingCursor, WaitingFor};

use std::sync::Arc;

use anyhow::Context;
use database::Database;
use domain::Time;
use tokio::sync::Semaphore;

/// The default for PostgreSQL.
const CONNECTIONS_MAX: u32 = 24;
/// How many refusals are written at a time. Each waits for its account's row lock. If the database is slow,
/// all callers reach their deadlines together, and their refusals must not take every connection of the pool.
const REFUSALS_AT_ONCE: usize = 4;

/// The database of the service. Queries and changes are methods of its handles, such as [`Store::artifacts`].
#[derive(Clone, Debug)]
pub struct Store {
    database: Database,
    refusals: Arc<Semaphore>,
}

impl Store {
    /// Opens the database with the default number of connections.
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        Self::open_with(url, CONNECTIONS_MAX).await
    }

    /// The maximum applies to PostgreSQL only.
    pub async fn open_with(url: &str, connections_max: u32) -> anyhow::Result<Self> {
        let database = Database::open(url, connections_max).await?;
        Ok(Self { database, refusals: Arc::new(Semaphore::new(REFUSALS_AT_ONCE)) })
    }

    /// Migrates the schema to the newest version.
    pub async fn migrate(&self) -> anyhow::Result<()> {
        migration::migrate(&self.database.writer).await.context("migrate the database")
    }

    pub async fn is_current(&self) -> anyhow::Result<bool> {
        migration::is_current(&self.database.writer).await.context("read the schema's history")
    }

    /// The time of the database's clock.
    pub async fn now(&self) -> anyhow::Result<Time> {
        self.database.now().await
    }

    /// Closes the pools. SQLite then writes its write-ahead log back into the database file.
    pub async fn close(&self) -> anyhow::Result<()> {
        self.database.writer.clone().close().await?;
        self.database.reader.clone().close().await?;
        Ok(())
    }
}
