//! What moderators see: a page with its records, other pages with the same content, and earlier decisions.
//! This module only reads; `moderation` writes decisions.
//!
//! Moderators see pages of all accounts, so the finders here take no account.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use domain::{
    Account, AccountId, Artifact, ArtifactId, BlobHash, DecisionId, Host, Manifest, ModeratedBy,
    ModerationStatus, Time, VersionId,
};
use sea_orm::sea_query::{Expr, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::appeals::StoredAppeal;
use crate::decisions::{DecisionFilter, StoredDecision, StoredScan, newest_decision};
use crate::handles::{ArtifactStore, ModerationStore};
use crate::reports::StoredReport;
use crate::rows;

/// A page with everything that a moderator needs to decide on it.
#[derive(Clone, Debug)]
pub struct ReviewCase {
    pub artifact: Artifact,
    pub account: Account,
    /// The live version, or the newest one while none is live. `None` if there are no versions.
    pub version: Option<VersionCase>,
    pub reports: Vec<StoredReport>,
    /// Newest first.
    pub appeals: Vec<StoredAppeal>,
}

/// A version with its records.
#[derive(Clone, Debug)]
pub struct VersionCase {
    pub id: VersionId,
    /// Otherwise visitors see it only at its own address.
    pub is_live: bool,
    pub seq: u32,
    pub status: ModerationStatus,
    pub moderated_by: ModeratedBy,
    pub published_at: Time,
    pub manifest: Manifest,
    /// The last scan, as stored.
    pub scan: Option<StoredScan>,
    /// The newest decision on the version, or an older one. It is never newer than the other fields.
    pub newest_decision: Option<DecisionId>,
}

/// A query for other pages with some of these contents.
#[derive(Clone, Copy, Debug)]
pub struct SameContentQuery<'a> {
    pub contents: &'a [BlobHash],
    pub but: ArtifactId,
    /// `None` means all pages.
    pub among: Option<&'a [Host]>,
    pub at_most: u64,
}

/// Another live page with one of the contents.
#[derive(Clone, Debug)]
pub struct SamePage {
    pub artifact: ArtifactId,
    pub account: AccountId,
    pub account_handle: String,
    pub host: Host,
    pub version: VersionId,
    pub status: ModerationStatus,
    /// Whether a moderator has passed it.
    pub is_passed_by_moderator: bool,
    /// The first of its files with one of the contents.
    pub file: String,
}

impl ModerationStore<'_> {
    /// The page of a host with its records. `None` if there is no such page.
    pub async fn find_case(self, host: &Host) -> anyhow::Result<Option<ReviewCase>> {
        let Some(artifact) = self.0.artifacts().find_at(host).await? else { return Ok(None) };
        let Some(account) = self.0.accounts().find(artifact.account).await? else { return Ok(None) };
        let id = match &artifact.live {
            Some(live) => Some(live.id.to_string()),
            None => rows::version::newest_id(&self.0.database.reader, &artifact.id.to_string()).await?,
        };
        let version = match id {
            Some(id) => self.find_version_case(id, artifact.live.is_some()).await?,
            None => None,
        };
        let reports = self.0.reports().list_on(artifact.id).await?;
        let appeals = self.list_appeals_on(artifact.id).await?;
        Ok(Some(ReviewCase { artifact, account, version, reports, appeals }))
    }

    /// Other live pages of any account with one of these contents that are not blocked.
    pub async fn list_same_content(self, wanted: SameContentQuery<'_>) -> anyhow::Result<Vec<SamePage>> {
        if wanted.contents.is_empty() {
            return Ok(Vec::new());
        }
        let reader = &self.0.database.reader;
        let holders = Query::select()
            .column(entity::blob_ref::Column::VersionId)
            .from(entity::blob_ref::Entity)
            .and_where(entity::blob_ref::Column::Hash.is_in(wanted.contents.iter().map(BlobHash::to_string)))
            .to_owned();
        let mut query = entity::route::Entity::find()
            .filter(entity::route::Column::VersionId.in_subquery(holders))
            .filter(entity::route::Column::ArtifactId.ne(wanted.but.to_string()))
            .filter(entity::route::Column::ModerationStatus.ne(ModerationStatus::Blocked.as_str()))
            .order_by_asc(entity::route::Column::Host)
            .limit(wanted.at_most);
        if let Some(hosts) = wanted.among {
            query = query.filter(entity::route::Column::Host.is_in(hosts.iter().map(Host::as_str)));
        }
        let found = query.all(reader).await?;
        let accounts = entity::account::Entity::find()
            .filter(entity::account::Column::Id.is_in(found.iter().map(|route| route.account_id.as_str())))
            .all(reader)
            .await?;
        let handles: HashMap<_, _> =
            accounts.into_iter().map(|account| (account.id, account.handle)).collect();
        let passed = self.passed_by_moderators(found.iter().map(|route| route.version_id.as_str())).await?;
        let page = |route| same_page(route, wanted.contents, &handles, &passed);
        found.into_iter().map(page).collect()
    }

    /// Decisions, newest first.
    pub async fn list_decisions(
        self,
        wanted: &DecisionFilter,
        at_most: u64,
    ) -> anyhow::Result<Vec<StoredDecision>> {
        use entity::moderation_decision::Column;
        let reader = &self.0.database.reader;
        let mut query = entity::moderation_decision::Entity::find().order_by_desc(Column::Id).limit(at_most);
        if let Some(host) = &wanted.host {
            // A deleted page keeps its decisions.
            let artifact = rows::artifact::ids_even_deleted()
                .and_where(entity::artifact::Column::Host.eq(host.as_str()))
                .to_owned();
            query = query.filter(Column::ArtifactId.in_subquery(artifact));
        }
        if wanted.by_moderators {
            // Must match the condition of the index `moderation_decisions_by_people` literally.
            query = query.filter(Expr::cust("source = 'moderator'"));
        }
        if let Some(before) = &wanted.before {
            query = query.filter(Column::Id.lt(before.to_string()));
        }
        let mut decisions = self.with_names(query.all(reader).await?).await?;
        // Moderators' decisions outlive the purge of their pages as rulings.
        let known: HashSet<DecisionId> = decisions.iter().map(|decision| decision.id).collect();
        let rulings = self.list_rulings(wanted, at_most).await?;
        decisions.extend(rulings.into_iter().filter(|ruling| !known.contains(&ruling.id)));
        decisions.sort_by_key(|decision| Reverse(decision.id));
        decisions.truncate(usize::try_from(at_most).unwrap_or(usize::MAX));
        Ok(decisions)
    }

    async fn find_version_case(self, id: String, is_live: bool) -> anyhow::Result<Option<VersionCase>> {
        let reader = &self.0.database.reader;
        // Read first, so that it is never newer than the fields that are read after it.
        let newest_decision = newest_decision(reader, &id).await?;
        let Some(version) = entity::version::Entity::find_by_id(id).one(reader).await? else {
            return Ok(None);
        };
        let mut scans = self.find_last_scans(vec![version.id.clone()]).await?;
        Ok(Some(VersionCase {
            newest_decision,
            id: rows::parse(&version.id, "a version id")?,
            is_live,
            seq: u32::try_from(version.seq).unwrap_or(0),
            status: rows::moderation(&version.moderation_status)?,
            moderated_by: rows::moderated_by(&version)?,
            published_at: Time::from_millis(version.created_at),
            manifest: rows::manifest(&version.manifest)?,
            scan: scans.remove(&version.id),
        }))
    }

    /// Decisions with host, version number and name of the person.
    pub(crate) async fn with_names(
        self,
        decisions: Vec<entity::moderation_decision::Model>,
    ) -> anyhow::Result<Vec<StoredDecision>> {
        let reader = &self.0.database.reader;
        let hosts =
            rows::artifact::hosts_even_deleted(reader, decisions.iter().map(|row| row.artifact_id.as_str()))
                .await?;
        let seqs = rows::version::seqs(reader, decisions.iter().map(|row| row.version_id.as_str())).await?;
        let usernames =
            rows::user::usernames(reader, decisions.iter().filter_map(|row| row.decided_by.as_deref()))
                .await?;
        let read = |(row, host): (entity::moderation_decision::Model, &String)| {
            let person = row.decided_by.map(|id| usernames.get(&id).cloned().unwrap_or(id));
            Ok(StoredDecision {
                host: rows::parse(host, "a host")?,
                seq: seqs.get(&row.version_id).and_then(|seq| u32::try_from(*seq).ok()).unwrap_or(0),
                status: rows::moderation(&row.status)?,
                source: rows::moderator_of(&row.source)?,
                decided_by: row.operator.or(person),
                note: row.note,
                evidence: row.evidence,
                scanner_version: row.scanner_version,
                at: Time::from_millis(row.created_at),
                id: rows::parse(&row.id, "a decision id")?,
            })
        };
        // A decision is left out if its account is being purged. A moderator's decision is still among the
        // rulings.
        let named =
            decisions.into_iter().filter_map(|row| hosts.get(&row.artifact_id).map(|host| (row, host)));
        named.map(read).collect()
    }

    /// Which of these versions a moderator has passed.
    async fn passed_by_moderators(
        self,
        versions: impl Iterator<Item = &str>,
    ) -> anyhow::Result<HashSet<String>> {
        use entity::version::Column;
        let found: Vec<String> = entity::version::Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::Id.is_in(versions))
            .filter(Column::ModeratedBy.eq(ModeratedBy::Moderator.as_str()))
            .filter(Column::ModerationStatus.eq(ModerationStatus::Pass.as_str()))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        Ok(found.into_iter().collect())
    }
}

impl ArtifactStore<'_> {
    /// The manifest of any version of a host's page, whether or not it is or was live.
    pub async fn find_manifest_at(self, host: &Host, seq: u32) -> anyhow::Result<Option<Manifest>> {
        let Some(artifact) = self.find_at(host).await? else { return Ok(None) };
        self.find_manifest(artifact.id, seq).await
    }
}

fn same_page(
    route: entity::route::Model,
    contents: &[BlobHash],
    handles: &HashMap<String, String>,
    passed: &HashSet<String>,
) -> anyhow::Result<SamePage> {
    let manifest = rows::manifest(&route.manifest)?;
    let shared = manifest.files().iter().find(|file| contents.contains(&file.hash));
    Ok(SamePage {
        file: shared.map(|file| file.path.to_string()).unwrap_or_default(),
        is_passed_by_moderator: passed.contains(&route.version_id),
        artifact: rows::parse(&route.artifact_id, "an artifact id")?,
        account_handle: handles.get(&route.account_id).cloned().unwrap_or_default(),
        account: rows::parse(&route.account_id, "an account id")?,
        host: rows::parse(&route.host, "a host")?,
        version: rows::parse(&route.version_id, "a version id")?,
        status: rows::moderation(&route.moderation_status)?,
    })
}
