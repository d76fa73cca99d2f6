//! Rescans that operators request, and progress figures. This module only marks and counts versions;
//! `scans_due` finds the marked ones. The time of each call is bounded for any number of versions, except for
//! the rescan of everything, which runs in chunks.

use std::collections::BTreeMap;

use anyhow::Context;
use domain::{BlobHash, Host, ModeratedBy, ModerationStatus, Time, VersionId};
use sea_orm::sea_query::{Expr, ExprTrait, LockType, Query, SimpleExpr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QuerySelect,
};

use crate::handles::ScanStore;
use crate::many::among;
use crate::rows;
use crate::scans_due::WITHOUT_VERDICT;
use entity::version::{Column, Entity};

/// Counting stops here. A higher number means "more than this".
pub const COUNTED_MAX: u64 = 10_000;
/// Versions that one statement marks, so that no statement locks many rows for long.
const MARKED_AT_ONCE: u64 = 5_000;
/// Must match the condition of the index `versions_tried` literally.
const TRIED: &str = "scan_tries > 0";

/// Which versions an operator wants to be scanned again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RescanTarget {
    /// Versions that older rules than these have scanned. They are due anyway; the request resets their
    /// failed attempts.
    Older {
        rules: u32,
    },
    Everything,
    /// Every version of the artifact at this host.
    Host(Host),
    /// Versions with a content that was blocked at this time, if they were published since. They may have
    /// been settled and scanned before the list was committed.
    BlockedAt(Time),
}

/// The progress of scans. Counting stops at [`COUNTED_MAX`] plus one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    /// Versions without a verdict.
    pub unscanned: u64,
    /// Versions with a verdict for which an operator requested a rescan.
    pub asked_again: u64,
    /// Versions by the rules version of their verdict. It is 0 if the process that wrote the verdict recorded
    /// none.
    pub judged_by: BTreeMap<u32, u64>,
}

/// A version whose scan was started repeatedly without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckScan {
    pub version: VersionId,
    pub host: Host,
    pub tries: u32,
    pub again_at: Time,
}

#[derive(FromQueryResult)]
struct StuckRow {
    id: String,
    host: String,
    scan_tries: i32,
    scan_again_at: i64,
}

impl ScanStore<'_> {
    /// Marks the versions of a request and returns their number. It counts up to [`COUNTED_MAX`] plus one if
    /// the versions are due anyway. `None` if there is no such host.
    pub async fn request_rescans(self, scope: &RescanTarget, now: Time) -> anyhow::Result<Option<u64>> {
        let has_verdict = Column::ScannedBy.is_not_null();
        match scope {
            RescanTarget::Older { rules } => {
                let has_failed = Expr::cust(TRIED).and(Column::ScannedBy.lt(*rules));
                self.mark_in_chunks(has_failed, None).await?;
                Ok(Some(self.count_up_to(&format!("scanned_by < {rules}")).await?))
            }
            RescanTarget::Everything => {
                let marked = self.mark_in_chunks(has_verdict, Some(now)).await?;
                // Restarts the walk, so that live pages are scanned first.
                entity::rescan_walk::Entity::delete_many().exec(&self.0.database.writer).await?;
                Ok(Some(marked))
            }
            RescanTarget::Host(host) => {
                let found = rows::artifact::find_at(&self.0.database.reader, host).await?;
                let Some(artifact) = found else { return Ok(None) };
                let is_its = Column::ArtifactId.eq(artifact.id);
                Ok(Some(self.mark_in_chunks(is_its.and(has_verdict), Some(now)).await?))
            }
            RescanTarget::BlockedAt(at) => {
                let listed = Query::select()
                    .column(entity::blocked_content::Column::Hash)
                    .from(entity::blocked_content::Entity)
                    .and_where(entity::blocked_content::Column::CreatedAt.eq(at.millis()))
                    .to_owned();
                let holds_one = holds(entity::blob_ref::Column::Hash.in_subquery(listed));
                let which = holds_one.and(Column::CreatedAt.gte(at.millis())).and(is_undecided());
                Ok(Some(self.mark_in_chunks(which, Some(now)).await?))
            }
        }
    }

    pub async fn counts(self) -> anyhow::Result<ScanCounts> {
        let mut counts = ScanCounts {
            unscanned: self.count_up_to(WITHOUT_VERDICT).await?,
            asked_again: self.count_up_to("rescan_asked_at IS NOT NULL").await?,
            judged_by: BTreeMap::new(),
        };
        let mut below = -1;
        while let Some(rules) = self.rules_above(below).await? {
            let count = self.count_up_to(&format!("scanned_by = {rules}")).await?;
            counts.judged_by.insert(u32::try_from(rules)?, count);
            below = rules;
        }
        Ok(counts)
    }

    /// Versions whose scan was started at least this often, most attempts first.
    pub async fn list_stuck(self, tries_min: u32, at_most: u64) -> anyhow::Result<Vec<StuckScan>> {
        let sql = format!(
            "SELECT versions.id, artifacts.host, versions.scan_tries, versions.scan_again_at
             FROM versions JOIN artifacts ON artifacts.id = versions.artifact_id
             WHERE versions.{TRIED} AND versions.scan_tries >= $1
             ORDER BY versions.scan_tries DESC, versions.id LIMIT $2"
        );
        let values = [i32::try_from(tries_min)?.into(), rows::number(at_most).into()];
        let found: Vec<StuckRow> =
            self.0.database.find(sql, values).await.context("find scans without a verdict")?;
        let read = |row: StuckRow| {
            Ok(StuckScan {
                version: rows::parse(&row.id, "a version id")?,
                host: rows::parse(&row.host, "a host")?,
                tries: u32::try_from(row.scan_tries)?,
                again_at: Time::from_millis(row.scan_again_at),
            })
        };
        found.into_iter().map(read).collect()
    }

    /// The next higher rules version that any verdict has.
    async fn rules_above(self, below: i32) -> anyhow::Result<Option<i32>> {
        #[derive(FromQueryResult)]
        struct Lowest {
            rules: Option<i32>,
        }
        let sql = format!("SELECT MIN(scanned_by) AS rules FROM versions WHERE scanned_by > {below}");
        let found: Vec<Lowest> = self.0.database.find(sql, []).await.context("find the rules of verdicts")?;
        Ok(found.first().and_then(|lowest| lowest.rules))
    }

    async fn count_up_to(self, which: &str) -> anyhow::Result<u64> {
        #[derive(FromQueryResult)]
        struct Counted {
            versions: i64,
        }
        let sql = format!(
            "SELECT COUNT(*) AS versions FROM (SELECT id FROM versions WHERE {which} LIMIT {}) AS counted",
            COUNTED_MAX + 1
        );
        let found: Vec<Counted> = self.0.database.find(sql, []).await.context("count versions")?;
        Ok(found.first().map_or(0, |counted| rows::count(counted.versions)))
    }

    /// Marks versions as due, in the order of their ids, so that a version that gets a verdict in the
    /// meantime is not marked twice.
    async fn mark_in_chunks(self, which: SimpleExpr, requested_at: Option<Time>) -> anyhow::Result<u64> {
        let (mut after, mut marked) = (String::new(), 0);
        loop {
            let ids: Vec<String> = Entity::find()
                .select_only()
                .column(Column::Id)
                .filter(which.clone())
                .filter(Column::Id.gt(after.as_str()))
                .order_by_asc(Column::Id)
                .limit(MARKED_AT_ONCE)
                .into_tuple()
                .all(&self.0.database.reader)
                .await?;
            let Some(last) = ids.last().cloned() else { return Ok(marked) };
            let which = Column::Id.is_in(ids).and(which.clone());
            marked += mark(&self.0.database.writer, which, requested_at).await?;
            after = last;
        }
    }
}

/// Marks versions that these contents may have blocked, after they were removed from the list. These are
/// versions that a scan has blocked, and versions whose running scan has read the old list.
pub(crate) async fn request_rescans_of_holders(
    transaction: &DatabaseTransaction,
    contents: &[BlobHash],
    now: Time,
) -> anyhow::Result<()> {
    let hashes = contents.iter().map(BlobHash::to_string);
    let may_be_blocked = Column::ModerationStatus
        .eq(ModerationStatus::Blocked.as_str())
        .or(Column::ModeratedBy.eq(ModeratedBy::Nobody.as_str()));
    let holds_one = holds(among(transaction, entity::blob_ref::Column::Hash, hashes));
    mark(transaction, holds_one.and(may_be_blocked).and(is_undecided()), Some(now)).await?;
    Ok(())
}

/// A version with a content that meets this condition.
fn holds(content: SimpleExpr) -> SimpleExpr {
    let holders = Query::select()
        .column(entity::blob_ref::Column::VersionId)
        .from(entity::blob_ref::Entity)
        .and_where(content)
        .to_owned();
    Column::Id.in_subquery(holders)
}

/// A version without a moderator's decision. Scans change no other.
fn is_undecided() -> SimpleExpr {
    Column::ModeratedBy.ne(ModeratedBy::Moderator.as_str())
}

/// Rows are locked in the order of their ids, as in every statement that locks several.
async fn mark(
    connection: &impl ConnectionTrait,
    which: SimpleExpr,
    requested_at: Option<Time>,
) -> anyhow::Result<u64> {
    let locked = Query::select()
        .column(Column::Id)
        .from(Entity)
        .and_where(which)
        .order_by(Column::Id, sea_orm::Order::Asc)
        .lock(LockType::NoKeyUpdate)
        .to_owned();
    let mut update = Entity::update_many()
        .col_expr(Column::ScanTries, Expr::value(0))
        .col_expr(Column::ScanAgainAt, Expr::value(0_i64))
        .filter(Column::Id.in_subquery(locked));
    if let Some(requested_at) = requested_at {
        update = update.col_expr(Column::RescanAskedAt, Expr::value(requested_at.millis()));
    }
    let marked = update.exec(connection).await.context("mark versions to be scanned again")?;
    Ok(marked.rows_affected)
}
