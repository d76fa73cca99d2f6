//! Deletes versions for good: the rows, the references, and by `erasures` the contents.
//!
//! A version that a moderator has to keep as evidence stays, with its contents. Every change here holds the
//! lock of the account's row, as publishes, activations, verdicts and decisions of moderators do.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context;
use domain::{
    AccountId, ArtifactId, BundleId, Host, Manifest, Missing, ModerationStatus, Refusal, Slug, Time,
};
use entity::artifact::Column;
use sea_orm::ActiveValue::Set;
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use crate::artifacts::take_down;
use crate::change::{Begun, Change};
use crate::change_result::ChangeResult;
use crate::erasures::{self, ErasureKind};
use crate::handles::ArtifactStore;
use crate::held_pages::{self, status_for_edge};
use crate::many::among;
use crate::rows::artifact::{find_by_id, find_even_deleted};
use crate::version_deletion::delete_versions;
use crate::{blocked_contents, rows};

/// For this long after its deletion, an artifact can be restored, and also purged.
pub const RESTORABLE_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Versions that are read at a time, because a manifest can be long.
const VERSIONS_PAGE: u64 = 200;

/// A purged artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgedArtifact {
    pub slug: Slug,
    pub host: Host,
    /// The versions that are kept as evidence, oldest first.
    pub held: Vec<u32>,
}

impl ArtifactStore<'_> {
    /// Deletes an artifact, unless it is deleted already, and all of its versions that are not evidence.
    /// `None` if there is no such artifact, or if it was deleted too long ago.
    pub async fn purge(
        self,
        change: &Change<'_>,
        artifact: ArtifactId,
    ) -> ChangeResult<Option<PurgedArtifact>> {
        let Begun { transaction, account: mut owner } = change.begin(self.0).await?;
        let found = find_even_deleted(&transaction, &artifact.to_string()).await?;
        let Some(row) = found.filter(|row| row.account_id == owner.id && may_be_purged(row, change.now))
        else {
            return Ok(None);
        };
        if row.deleted_at.is_none() {
            take_down(&transaction, &mut owner, &row, change.now).await?;
        }
        held_pages::release(&transaction, &row.id).await?;
        let mut held = Vec::new();
        let (mut after, mut is_any_deleted) = (0, false);
        loop {
            let page = versions_after(&transaction, &row.id, after).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            let (kept, purged) = split_by_hold(&transaction, page).await?;
            held.extend(kept.iter().map(|version| version.seq));
            is_any_deleted |= !purged.is_empty();
            remove(&transaction, &mut owner, &purged).await?;
        }
        if row.purged_at.is_some() && held.is_empty() && !is_any_deleted {
            return Ok(None);
        }
        mark_purged(&transaction, &row, change.now).await?;
        change.note(&transaction, "artifact.purged", &row.host, kept_as_evidence(&held)).await?;
        transaction.commit().await.context("commit a purge of an artifact")?;
        let held = held.into_iter().map(|seq| u32::try_from(seq).unwrap_or(0)).collect();
        let (slug, host) = (rows::parse(&row.slug, "a slug")?, rows::parse(&row.host, "a host")?);
        Ok(Some(PurgedArtifact { slug, host, held }))
    }

    /// Deletes a version that is not live. Returns the host, or `None` if there is no such artifact.
    pub async fn delete_version(
        self,
        change: &Change<'_>,
        artifact: ArtifactId,
        seq: u32,
    ) -> ChangeResult<Option<Host>> {
        let Begun { transaction, account: mut owner } = change.begin(self.0).await?;
        let Some(row) = find_by_id(&transaction, change.account, artifact).await? else { return Ok(None) };
        let version = rows::version::version_of(&transaction, &row.id, seq).await?;
        let version = version.ok_or(Refusal::NotFound(Missing::Version))?;
        if row.live_version_id.as_ref() == Some(&version.id) {
            return Err(Refusal::VersionLive { seq }.into());
        }
        let (kept, purged) = split_by_hold(&transaction, vec![version]).await?;
        if !kept.is_empty() {
            return Err(Refusal::VersionHeld { seq }.into());
        }
        remove(&transaction, &mut owner, &purged).await?;
        change.note(&transaction, "version.deleted", &row.host, format!("version {seq}")).await?;
        transaction.commit().await.context("commit a deletion of a version")?;
        Ok(Some(rows::parse(&row.host, "a host")?))
    }

    /// The artifact with this slug that was deleted last, if that is not too long ago. If it is purged
    /// already, no older one is found, so that a repeated purge never deletes another artifact.
    pub async fn find_purgeable(
        self,
        account: AccountId,
        slug: &Slug,
        now: Time,
    ) -> anyhow::Result<Option<ArtifactId>> {
        self.last_deleted(account, slug, now, Condition::all()).await
    }

    /// The artifact with this slug that was deleted last, if that is not too long ago and it was not purged.
    pub async fn find_deleted(
        self,
        account: AccountId,
        slug: &Slug,
        now: Time,
    ) -> anyhow::Result<Option<ArtifactId>> {
        self.last_deleted(account, slug, now, Condition::all().add(Column::PurgedAt.is_null())).await
    }

    /// The one with this host.
    pub async fn find_deleted_at(
        self,
        account: AccountId,
        slug: &Slug,
        host: &Host,
        now: Time,
    ) -> anyhow::Result<Option<ArtifactId>> {
        let found = rows::artifact::deleted_since(account, now.minus(RESTORABLE_FOR))
            .filter(Column::Slug.eq(slug.as_str()))
            .filter(Column::Host.eq(host.as_str()))
            .filter(Column::PurgedAt.is_null())
            .one(&self.0.database.reader)
            .await?;
        found.map(|row| rows::parse(&row.id, "an artifact id")).transpose()
    }

    async fn last_deleted(
        self,
        account: AccountId,
        slug: &Slug,
        now: Time,
        is_it: Condition,
    ) -> anyhow::Result<Option<ArtifactId>> {
        let found = rows::artifact::deleted_since(account, now.minus(RESTORABLE_FOR))
            .filter(Column::Slug.eq(slug.as_str()))
            .filter(is_it)
            .limit(1)
            .one(&self.0.database.reader)
            .await?;
        found.map(|row| rows::parse(&row.id, "an artifact id")).transpose()
    }
}

fn may_be_purged(row: &entity::artifact::Model, now: Time) -> bool {
    let oldest = now.minus(RESTORABLE_FOR).millis();
    row.deleted_at.is_none_or(|deleted_at| deleted_at > oldest)
}

async fn versions_after(
    transaction: &DatabaseTransaction,
    artifact: &str,
    seq: i32,
) -> anyhow::Result<Vec<entity::version::Model>> {
    use entity::version::Column;
    let versions = entity::version::Entity::find()
        .filter(Column::ArtifactId.eq(artifact))
        .filter(Column::Seq.gt(seq))
        .order_by_asc(Column::Seq)
        .limit(VERSIONS_PAGE);
    versions.all(transaction).await.context("read the versions of an artifact")
}

/// The versions that are evidence, and the others. Evidence is a version that a moderator keeps from being
/// served, that is blocked, or that has a content which a moderator has blocked for all pages.
async fn split_by_hold(
    transaction: &DatabaseTransaction,
    versions: Vec<entity::version::Model>,
) -> anyhow::Result<(Vec<entity::version::Model>, Vec<entity::version::Model>)> {
    let ids: Vec<String> = versions.iter().map(|version| version.id.clone()).collect();
    let listed = blocked_contents::find_matches(transaction, &ids).await?;
    let is_held = |version: &entity::version::Model| {
        status_for_edge(version) == ModerationStatus::Blocked.as_str() || listed.contains_key(&version.id)
    };
    Ok(versions.into_iter().partition(is_held))
}

/// Deletes versions, and requests the erasure of their contents. Whether other accounts refer to them is
/// decided by the erasure: another purge may be about to delete their last other reference.
async fn remove(
    transaction: &DatabaseTransaction,
    owner: &mut entity::account::Model,
    versions: &[entity::version::Model],
) -> anyhow::Result<()> {
    if versions.is_empty() {
        return Ok(());
    }
    let mut bundles = BTreeSet::new();
    for version in versions {
        bundles.extend(bundles_of(version, &rows::manifest(&version.manifest)?)?);
    }
    let ids = versions.iter().map(|version| version.id.clone()).collect();
    let contents = delete_versions(transaction, owner, ids).await?;
    bundles.extend(current_bundles(transaction, contents.iter().cloned()).await?);
    erasures::request(transaction, ErasureKind::Content, contents).await?;
    erasures::request(transaction, ErasureKind::Bundle, bundles).await
}

/// Where the contents were at the publish. The publish's own bundle may have contents that the manifest
/// lists elsewhere, if an earlier attempt has written it.
fn bundles_of(version: &entity::version::Model, manifest: &Manifest) -> anyhow::Result<BTreeSet<String>> {
    let own: domain::VersionId = rows::parse(&version.id, "a version id")?;
    let listed = manifest.files().iter().filter_map(|file| file.bundled).map(|at| at.bundle);
    Ok(listed.chain([BundleId::from(own)]).map(|id| id.to_string()).collect())
}

/// Where the contents are now.
async fn current_bundles(
    transaction: &DatabaseTransaction,
    hashes: impl IntoIterator<Item = String>,
) -> anyhow::Result<Vec<String>> {
    use entity::blob::Column;
    let found: Vec<Option<String>> = entity::blob::Entity::find()
        .select_only()
        .column(Column::Bundle)
        .distinct()
        .filter(among(transaction, Column::Hash, hashes))
        .into_tuple()
        .all(transaction)
        .await
        .context("find the bundles of purged contents")?;
    Ok(found.into_iter().flatten().collect())
}

/// The row stays, so that a repeated purge finds that it is done.
async fn mark_purged(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
    now: Time,
) -> anyhow::Result<()> {
    let purged = entity::artifact::ActiveModel {
        id: Set(artifact.id.clone()),
        live_version_id: Set(None),
        purged_at: Set(Some(artifact.purged_at.unwrap_or(now.millis()))),
        ..Default::default()
    };
    entity::artifact::Entity::update(purged).exec_without_returning(transaction).await?;
    Ok(())
}

fn kept_as_evidence(held: &[i32]) -> String {
    if held.is_empty() {
        return String::new();
    }
    let held: Vec<String> = held.iter().map(i32::to_string).collect();
    format!("kept as evidence: {}", held.join(", "))
}
