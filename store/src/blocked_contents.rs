//! The contents of pages that moderators have blocked. No new version may contain them.
//!
//! A version is compared with the list when it is settled, when it is made live again, with each of its
//! scans, and while it is not live, when somebody opens its own address. A version that a moderator has
//! passed is never compared.

mod holders;
mod shared;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use anyhow::Context;
use domain::{
    BlobHash, Chance, Host, Manifest, ManifestFile, ModeratedBy, ModerationStatus, OperatorName, Origin,
    SitePath, Time, Via,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{OnConflict, Query};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, FromQueryResult, QueryFilter,
    QuerySelect, Statement,
};
use serde_json::{Value, json};

use crate::audit::{self, Entry};
use crate::decisions::{Decision, last_findings, note};
use crate::handles::BlockedContentStore;
use crate::many::{among, insert_rows};
use crate::rows;
use crate::scans_asked::request_rescans_of_holders;
pub(crate) use holders::find_pages_with;
use shared::used_by_others;

/// The rule in the evidence of a version that contains a blocked content.
pub const BLOCKED_CONTENT: &str = "blocked_content";

/// An entry of the list.
#[derive(Clone, Debug)]
pub struct BlockedContent {
    pub hash: BlobHash,
    /// The path of the file on the blocked page.
    pub path: String,
    pub size_bytes: u64,
    /// The blocked page.
    pub host: Host,
    /// The moderator who blocked it.
    pub blocked_by: String,
    pub blocked_at: Time,
    /// Live versions with this content, whether or not they are blocked.
    pub live_versions: u64,
}

/// A position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedContentCursor {
    pub blocked_at: Time,
    pub hash: BlobHash,
}

impl BlockedContentCursor {
    pub fn of(content: &BlockedContent) -> Self {
        Self { blocked_at: content.blocked_at, hash: content.hash }
    }
}

impl fmt::Display for BlockedContentCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.blocked_at.millis(), self.hash)
    }
}

impl FromStr for BlockedContentCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (blocked_at, hash) = text.split_once('.').ok_or(())?;
        let blocked_at = Time::from_millis(blocked_at.parse().map_err(|_| ())?);
        Ok(Self { blocked_at, hash: hash.parse().map_err(|_| ())? })
    }
}

/// When a content of a version was added to the list.
pub(crate) struct BlockedMatch {
    hash: BlobHash,
    blocked_at: i64,
}

/// The effect of a block on the list.
pub(crate) struct Blocked {
    /// Contents that were not on the list before.
    pub added: Vec<BlobHash>,
    /// Files that are not blocked because other accounts use them too.
    pub left_out: Vec<SitePath>,
}

/// What a moderator objects to on a page.
pub(crate) struct Objection<'a> {
    pub host: &'a str,
    pub contents: &'a [BlobHash],
    /// The moderator, in the form of an actor of the audit log.
    pub blocked_by: String,
    pub now: Time,
}

#[derive(FromQueryResult)]
struct ListedRow {
    hash: String,
    path: String,
    size_bytes: i64,
    host: String,
    blocked_by: String,
    created_at: i64,
    live_versions: i64,
}

impl BlockedContentStore<'_> {
    /// The list, newest first.
    pub async fn list(
        self,
        after: Option<&BlockedContentCursor>,
        at_most: u64,
    ) -> anyhow::Result<Vec<BlockedContent>> {
        let reader = &self.0.database.reader;
        let sql = "SELECT blocked.*, (
                SELECT COUNT(*) FROM blob_refs JOIN routes ON routes.version_id = blob_refs.version_id
                WHERE blob_refs.hash = blocked.hash
            ) AS live_versions
            FROM blocked_contents AS blocked
            WHERE blocked.created_at < $1 OR (blocked.created_at = $1 AND blocked.hash < $2)
            ORDER BY blocked.created_at DESC, blocked.hash DESC LIMIT $3";
        let (at, hash) = after
            .map_or((i64::MAX, String::new()), |place| (place.blocked_at.millis(), place.hash.to_string()));
        let values = [at.into(), hash.into(), rows::number(at_most).into()];
        let statement = Statement::from_sql_and_values(reader.get_database_backend(), sql, values);
        let found =
            ListedRow::find_by_statement(statement).all(reader).await.context("list blocked contents")?;
        found.into_iter().map(ListedRow::read).collect()
    }

    /// Which of these contents are on the list.
    pub async fn find_among(self, hashes: &[BlobHash]) -> anyhow::Result<HashSet<BlobHash>> {
        find_listed(&self.0.database.reader, hashes.iter().copied()).await
    }

    /// Removes a content from the list on behalf of an operator, and requests scans of the versions that it
    /// has blocked. Returns the pages that have it in any version, or `None` if it was not on the list.
    pub async fn unblock(
        self,
        hash: BlobHash,
        operator: &OperatorName,
        now: Time,
        chance: &Chance,
    ) -> anyhow::Result<Option<Vec<Host>>> {
        let transaction = self.0.database.begin().await?;
        lock(&transaction).await?;
        let found = entity::blocked_content::Entity::find_by_id(hash.to_string()).one(&transaction).await?;
        let Some(content) = found else { return Ok(None) };
        entity::blocked_content::Entity::delete_by_id(hash.to_string()).exec(&transaction).await?;
        request_rescans_of_holders(&transaction, &[hash], now).await?;
        let affected = find_pages_with(&transaction, [hash], None).await?;
        let entry = Entry {
            actor: audit::operator(operator.as_str()),
            origin: Some(Origin { via: Via::Operator, address: None }),
            action: "content.unblocked",
            subject: content.hash.into(),
            detail: format!("{} of {}", content.path, content.host),
            ..Entry::default()
        };
        audit::note(&transaction, chance, now, entry).await?;
        transaction.commit().await.context("remove a content from the list of blocked contents")?;
        Ok(Some(affected))
    }
}

impl ListedRow {
    fn read(self) -> anyhow::Result<BlockedContent> {
        Ok(BlockedContent {
            hash: rows::parse(&self.hash, "a blob hash")?,
            path: self.path,
            size_bytes: rows::count(self.size_bytes),
            host: rows::parse(&self.host, "a host")?,
            blocked_by: audit::name_of(&self.blocked_by).to_owned(),
            blocked_at: Time::from_millis(self.created_at),
            live_versions: rows::count(self.live_versions),
        })
    }
}

/// Serializes changes of the list. Otherwise two concurrent blocks could each leave out a file because the
/// other's page uses it too. A caller takes this lock before any other. SQLite has one writer at a time
/// anyway.
pub(crate) async fn lock(transaction: &DatabaseTransaction) -> anyhow::Result<()> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let sql = "LOCK TABLE blocked_contents IN SHARE ROW EXCLUSIVE MODE";
        transaction.execute_unprepared(sql).await.context("lock the list of blocked contents")?;
    }
    Ok(())
}

/// Blocks the files of a version that the moderator objects to, and its other documents and scripts. It
/// leaves out files that other accounts use too, because a shared library must not block the next versions of
/// their pages. Empty files are never blocked.
pub(crate) async fn block(
    transaction: &DatabaseTransaction,
    objection: &Objection<'_>,
    version: &entity::version::Model,
) -> anyhow::Result<Blocked> {
    let manifest = rows::manifest(&version.manifest)?;
    let is_objected_to = |file: &ManifestFile| objection.contents.contains(&file.hash);
    let may_be_blocked = |file: &&ManifestFile| {
        file.size_bytes > 0 && (is_objected_to(file) || file.runs_as_document_or_script())
    };
    let mut files: Vec<&ManifestFile> = manifest.files().iter().filter(may_be_blocked).collect();
    files.sort_by_key(|file| file.hash);
    files.dedup_by_key(|file| file.hash);
    let others = files.iter().filter(|file| !is_objected_to(file)).map(|file| file.hash);
    let shared = used_by_others(transaction, others, &version.account_id, objection.now).await?;
    let (left_out, new): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| shared.contains(&file.hash.to_string()));
    let before = find_listed(transaction, new.iter().map(|file| file.hash)).await?;
    let added = new.iter().map(|file| file.hash).filter(|hash| !before.contains(hash)).collect();
    let rows = new.into_iter().map(|file| entity::blocked_content::ActiveModel {
        hash: Set(file.hash.to_string()),
        path: Set(file.path.to_string()),
        size_bytes: Set(rows::number(file.size_bytes)),
        host: Set(objection.host.to_owned()),
        blocked_by: Set(objection.blocked_by.clone()),
        created_at: Set(objection.now.millis()),
    });
    let mut keep_existing = OnConflict::column(entity::blocked_content::Column::Hash);
    keep_existing.do_nothing();
    insert_rows::<entity::blocked_content::Entity>(transaction, rows, Some(keep_existing))
        .await
        .context("block the contents of a page")?;
    Ok(Blocked { added, left_out: left_out.into_iter().map(|file| file.path.clone()).collect() })
}

/// Removes a version's contents from the list and requests scans of the versions that they have blocked.
/// Returns the contents that were on the list.
pub(crate) async fn unblock(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
    now: Time,
) -> anyhow::Result<Vec<BlobHash>> {
    let manifest = rows::manifest(&version.manifest)?;
    let listed: Vec<BlobHash> = find_listed(transaction, hashes_of(&manifest)).await?.into_iter().collect();
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    entity::blocked_content::Entity::delete_many()
        .filter(entity::blocked_content::Column::Hash.is_in(listed.iter().map(BlobHash::to_string)))
        .exec(transaction)
        .await
        .context("remove the contents of a page from the list of blocked contents")?;
    request_rescans_of_holders(transaction, &listed, now).await?;
    Ok(listed)
}

/// The contents that are compared with the list: every file of a manifest, whatever its name.
pub(crate) fn hashes_of(manifest: &Manifest) -> impl Iterator<Item = BlobHash> + '_ {
    manifest.files().iter().map(|file| file.hash)
}

/// Which of these contents are on the list.
pub(crate) async fn find_listed(
    connection: &impl ConnectionTrait,
    hashes: impl IntoIterator<Item = BlobHash>,
) -> anyhow::Result<HashSet<BlobHash>> {
    use entity::blocked_content::Column;
    let hashes: BTreeSet<String> = hashes.into_iter().map(|hash| hash.to_string()).collect();
    if hashes.is_empty() {
        return Ok(HashSet::new());
    }
    let found: Vec<String> = entity::blocked_content::Entity::find()
        .select_only()
        .column(Column::Hash)
        .filter(among(connection, Column::Hash, hashes))
        .into_tuple()
        .all(connection)
        .await
        .context("find blocked contents")?;
    found.iter().map(|hash| rows::parse(hash, "a blob hash")).collect()
}

/// Whether a version that is not live would be blocked when it is made live.
pub(crate) async fn is_closed_by_list(
    connection: &impl ConnectionTrait,
    moderated_by: &str,
    manifest: &Manifest,
) -> anyhow::Result<bool> {
    if moderated_by == ModeratedBy::Moderator.as_str() {
        return Ok(false);
    }
    Ok(!find_listed(connection, hashes_of(manifest)).await?.is_empty())
}

/// Which contents of these versions are on the list, by version.
pub(crate) async fn find_matches(
    transaction: &DatabaseTransaction,
    versions: &[String],
) -> anyhow::Result<HashMap<String, Vec<BlockedMatch>>> {
    use entity::blob_ref::Column;
    let listed = Query::select()
        .column(entity::blocked_content::Column::Hash)
        .from(entity::blocked_content::Entity)
        .to_owned();
    let references = entity::blob_ref::Entity::find()
        .filter(among(transaction, Column::VersionId, versions.to_vec()))
        .filter(Column::Hash.in_subquery(listed))
        .all(transaction)
        .await
        .context("find blocked contents in versions")?;
    if references.is_empty() {
        return Ok(HashMap::new());
    }
    let hashes = references.iter().map(|one| one.hash.clone());
    let listed = entity::blocked_content::Entity::find()
        .filter(entity::blocked_content::Column::Hash.is_in(hashes))
        .all(transaction)
        .await?;
    let since: HashMap<String, i64> = listed.into_iter().map(|one| (one.hash, one.created_at)).collect();
    let mut matches: HashMap<String, Vec<BlockedMatch>> = HashMap::new();
    for one in references {
        let Some(blocked_at) = since.get(&one.hash).copied() else { continue };
        let hash = rows::parse(&one.hash, "a blob hash")?;
        matches.entry(one.version_id).or_default().push(BlockedMatch { hash, blocked_at });
    }
    Ok(matches)
}

/// The contents that count against a version: those that were listed before it was published, or that have
/// already blocked it. A content that was listed after the version was published does not block it; a
/// moderator sees the version beside the blocked page.
pub(crate) fn counting(matches: &[BlockedMatch], version: &entity::version::Model) -> HashSet<BlobHash> {
    let is_blocked_by_scan = version.moderation_status == ModerationStatus::Blocked.as_str()
        && version.moderated_by == ModeratedBy::Scan.as_str();
    let counts = |one: &&BlockedMatch| is_blocked_by_scan || version.created_at >= one.blocked_at;
    matches.iter().filter(counts).map(|one| one.hash).collect()
}

/// Blocks a version that is about to be made live if it contains a blocked content.
pub(crate) async fn block_if_listed(
    transaction: &DatabaseTransaction,
    version: &mut entity::version::Model,
    chance: &Chance,
    now: Time,
) -> anyhow::Result<()> {
    let status = rows::moderation(&version.moderation_status)?;
    let is_decided = rows::moderated_by(version)? == ModeratedBy::Moderator;
    if is_decided || status == ModerationStatus::Blocked {
        return Ok(());
    }
    let manifest = rows::manifest(&version.manifest)?;
    let listed = find_listed(transaction, hashes_of(&manifest)).await?;
    if listed.is_empty() {
        return Ok(());
    }
    let findings = last_findings(transaction, &version.id).await?;
    let evidence = evidence(&findings, &manifest, &listed)?;
    let (blocked, by) = (ModerationStatus::Blocked, ModeratedBy::Scan);
    let decision = Decision { evidence: &evidence, ..Decision::of_people(version, blocked, by, chance, now) };
    note(transaction, &decision).await?;
    blocked.as_str().clone_into(&mut version.moderation_status);
    by.as_str().clone_into(&mut version.moderated_by);
    let change = entity::version::ActiveModel {
        id: Set(version.id.clone()),
        moderation_status: Set(version.moderation_status.clone()),
        moderated_by: Set(version.moderated_by.clone()),
        ..Default::default()
    };
    entity::version::Entity::update(change).exec_without_returning(transaction).await?;
    Ok(())
}

/// The findings of a scan, preceded by one finding for each blocked file.
pub(crate) fn evidence(
    findings: &str,
    manifest: &Manifest,
    blocked: &HashSet<BlobHash>,
) -> anyhow::Result<String> {
    let findings: Vec<Value> = serde_json::from_str(findings).context("read the findings of a scan")?;
    let files = manifest.files().iter().filter(|file| blocked.contains(&file.hash));
    let blocked_findings =
        files.map(|file| json!({ "rule": BLOCKED_CONTENT, "file": file.path, "field": "", "words": [] }));
    // The findings of an earlier comparison are replaced.
    let found = findings.into_iter().filter(|finding| finding["rule"] != BLOCKED_CONTENT);
    let all: Vec<Value> = blocked_findings.chain(found).collect();
    Ok(serde_json::to_string(&all)?)
}
