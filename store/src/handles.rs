//! The handles of the store, one for each subject. A handle borrows the store. Its methods are the queries
//! and changes of its subject; they are implemented in the modules that import the handle.

use crate::Store;

impl Store {
    pub fn accounts(&self) -> AccountStore<'_> {
        AccountStore(self)
    }

    pub fn artifacts(&self) -> ArtifactStore<'_> {
        ArtifactStore(self)
    }

    pub fn audit(&self) -> AuditStore<'_> {
        AuditStore(self)
    }

    pub fn blob_index(&self) -> BlobIndex<'_> {
        BlobIndex(self)
    }

    pub fn blocked_contents(&self) -> BlockedContentStore<'_> {
        BlockedContentStore(self)
    }

    pub fn integrity(&self) -> IntegrityChecks<'_> {
        IntegrityChecks(self)
    }

    pub fn invites(&self) -> InviteStore<'_> {
        InviteStore(self)
    }

    pub fn ledger(&self) -> LedgerStore<'_> {
        LedgerStore(self)
    }

    pub fn members(&self) -> MemberStore<'_> {
        MemberStore(self)
    }

    pub fn metering(&self) -> MeteringStore<'_> {
        MeteringStore(self)
    }

    pub fn moderation(&self) -> ModerationStore<'_> {
        ModerationStore(self)
    }

    pub fn oauth(&self) -> OAuthStore<'_> {
        OAuthStore(self)
    }

    pub fn outcomes(&self) -> OutcomeStore<'_> {
        OutcomeStore(self)
    }

    pub fn reports(&self) -> ReportStore<'_> {
        ReportStore(self)
    }

    pub fn review_queue(&self) -> ReviewQueue<'_> {
        ReviewQueue(self)
    }

    pub fn routes(&self) -> RouteStore<'_> {
        RouteStore(self)
    }

    pub fn scans(&self) -> ScanStore<'_> {
        ScanStore(self)
    }

    pub fn schedules(&self) -> ScheduleStore<'_> {
        ScheduleStore(self)
    }

    pub fn sessions(&self) -> SessionStore<'_> {
        SessionStore(self)
    }

    pub fn tables(&self) -> Tables<'_> {
        Tables(self)
    }

    pub fn tokens(&self) -> TokenStore<'_> {
        TokenStore(self)
    }

    pub fn upkeep(&self) -> Upkeep<'_> {
        Upkeep(self)
    }

    pub fn users(&self) -> UserStore<'_> {
        UserStore(self)
    }

    pub fn views(&self) -> ViewStore<'_> {
        ViewStore(self)
    }
}

/// Accounts: their creation, claim, suspension and settings.
#[derive(Clone, Copy, Debug)]
pub struct AccountStore<'s>(pub(crate) &'s Store);

/// Artifacts and their versions, by account or host.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactStore<'s>(pub(crate) &'s Store);

/// The audit log of accounts and people.
#[derive(Clone, Copy, Debug)]
pub struct AuditStore<'s>(pub(crate) &'s Store);

/// Which file contents the blob store holds, and the sweeps that delete unreferenced ones.
#[derive(Clone, Copy, Debug)]
pub struct BlobIndex<'s>(pub(crate) &'s Store);

/// The contents that no new version may contain.
#[derive(Clone, Copy, Debug)]
pub struct BlockedContentStore<'s>(pub(crate) &'s Store);

/// Checks of stored contents, manifests and objects.
#[derive(Clone, Copy, Debug)]
pub struct IntegrityChecks<'s>(pub(crate) &'s Store);

/// Invites to an account, and joining by one.
#[derive(Clone, Copy, Debug)]
pub struct InviteStore<'s>(pub(crate) &'s Store);

/// Reads and checks of the ledger. Only [`Store::settle`] and [`Store::settle_together`] insert entries.
#[derive(Clone, Copy, Debug)]
pub struct LedgerStore<'s>(pub(crate) &'s Store);

/// The people on an account.
#[derive(Clone, Copy, Debug)]
pub struct MemberStore<'s>(pub(crate) &'s Store);

/// The figures that the monthly charges are computed from.
#[derive(Clone, Copy, Debug)]
pub struct MeteringStore<'s>(pub(crate) &'s Store);

/// Moderation decisions and appeals, and the pages that they concern.
#[derive(Clone, Copy, Debug)]
pub struct ModerationStore<'s>(pub(crate) &'s Store);

/// Grants to OAuth clients, and sign-ins of devices.
#[derive(Clone, Copy, Debug)]
pub struct OAuthStore<'s>(pub(crate) &'s Store);

/// Outcomes of ledger operations, and idempotency keys.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeStore<'s>(pub(crate) &'s Store);

/// Visitors' reports of abusive pages.
#[derive(Clone, Copy, Debug)]
pub struct ReportStore<'s>(pub(crate) &'s Store);

/// The live pages that wait for a moderator.
#[derive(Clone, Copy, Debug)]
pub struct ReviewQueue<'s>(pub(crate) &'s Store);

/// What the edge serves at each host.
#[derive(Clone, Copy, Debug)]
pub struct RouteStore<'s>(pub(crate) &'s Store);

/// Verdicts of scans, and the versions that are due for one.
#[derive(Clone, Copy, Debug)]
pub struct ScanStore<'s>(pub(crate) &'s Store);

/// The last fire time of each schedule.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleStore<'s>(pub(crate) &'s Store);

/// People's signed-in browsers.
#[derive(Clone, Copy, Debug)]
pub struct SessionStore<'s>(pub(crate) &'s Store);

/// All rows of all tables, for backups and copies.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'s>(pub(crate) &'s Store);

/// Bearer tokens.
#[derive(Clone, Copy, Debug)]
pub struct TokenStore<'s>(pub(crate) &'s Store);

/// Deletion of expired accounts and old records.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep<'s>(pub(crate) &'s Store);

/// User accounts: usernames and passwords.
#[derive(Clone, Copy, Debug)]
pub struct UserStore<'s>(pub(crate) &'s Store);

/// Views and publishes by day and page.
#[derive(Clone, Copy, Debug)]
pub struct ViewStore<'s>(pub(crate) &'s Store);
