//! The artifacts that the operations of a commit publish to, and the versions, contents and routes that it
//! writes. Contents are written in the order of their hashes, so that two commits with the same contents take
//! their locks in the same order.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use anyhow::Context;
use domain::{
    AccountId, BlobHash, LedgerOperation, Manifest, PublishOperation, Refusal, Slug, SweepNumber, Target,
    Time, WrittenBundle,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveModelTrait, DatabaseTransaction, IntoActiveModel};

use super::Batch;
use super::conditions::LiveVersions;
use crate::erasures::{self, ErasureKind};
use crate::many::known_pairs;
use crate::script::Script;
use crate::{blob_index, blob_sweep, blocked_contents, bundle_rows, held_pages, routes, rows};

pub(super) struct Sites<'a> {
    artifacts: HashMap<(AccountId, Slug), StoredSite>,
    live_versions: LiveVersions,
    /// Which of the published contents each account stores already.
    held: HashSet<(AccountId, BlobHash)>,
    /// Which of the published contents are blocked.
    blocked: HashSet<BlobHash>,
    /// The artifacts that are held, and since when.
    held_artifacts: HashMap<String, i64>,
    versions: Vec<entity::version::ActiveModel>,
    /// Why versions begin with a status other than pending.
    decisions: Vec<entity::moderation_decision::ActiveModel>,
    bundles: Vec<WrittenBundle>,
    contents: BTreeMap<String, entity::blob::ActiveModel>,
    refs: Vec<entity::blob_ref::ActiveModel>,
    /// By host. Of several routes of a host in one commit, only the last is written.
    routes: BTreeMap<String, entity::route::Model>,
    refused: Vec<&'a PublishOperation>,
    /// The oldest check for contents that a version of this commit relies on.
    as_of: Option<SweepNumber>,
    now: Time,
}

/// An artifact in memory, and whether the database has the same values.
struct StoredSite {
    row: entity::artifact::Model,
    has_changed: bool,
}

impl<'a> Sites<'a> {
    /// Reads the artifacts that the operations name, and which of their contents the accounts store.
    pub(super) async fn open(
        transaction: &DatabaseTransaction,
        batches: &[Batch<'a>],
        now: Time,
    ) -> anyhow::Result<Self> {
        let publishes: Vec<&PublishOperation> =
            batches.iter().flat_map(|batch| batch.operations).filter_map(publish_of).collect();
        let artifacts = artifacts(transaction, &publishes).await?;
        let conditional = live_under_conditions(&publishes, &artifacts);
        let known = artifacts.values().map(|site| site.row.id.clone()).collect();
        let published_contents =
            publishes.iter().flat_map(|operation| blocked_contents::hashes_of(&operation.manifest));
        Ok(Self {
            live_versions: LiveVersions::read(transaction, conditional).await?,
            held: held(transaction, &publishes).await?,
            blocked: blocked_contents::find_listed(transaction, published_contents).await?,
            held_artifacts: held_pages::held_since(transaction, known).await?,
            artifacts,
            versions: Vec::new(),
            decisions: Vec::new(),
            bundles: Vec::new(),
            contents: BTreeMap::new(),
            refs: Vec::new(),
            routes: BTreeMap::new(),
            refused: Vec::new(),
            as_of: None,
            now,
        })
    }

    /// The artifact with this slug.
    pub(super) fn artifact(&self, account: AccountId, slug: &Slug) -> Option<&entity::artifact::Model> {
        self.artifacts.get(&(account, slug.clone())).map(|site| &site.row)
    }

    /// The refusal if the publish has a condition that the live version does not meet. Earlier publishes of
    /// this commit count.
    pub(super) fn conflict_of(&self, operation: &PublishOperation) -> anyhow::Result<Option<Refusal>> {
        let order = &operation.order;
        self.live_versions.refusal_of(operation, self.artifact(order.account, &order.slug))
    }

    pub(super) fn is_held_back(&self, artifact: &entity::artifact::Model) -> bool {
        self.held_artifacts.contains_key(&artifact.id)
    }

    /// The contents of a manifest that are blocked.
    pub(super) fn blocked_in(&self, manifest: &Manifest) -> HashSet<BlobHash> {
        blocked_contents::hashes_of(manifest).filter(|hash| self.blocked.contains(hash)).collect()
    }

    /// Adds the reason why a version begins with a status other than pending.
    pub(super) fn add_decision(&mut self, row: entity::moderation_decision::Model) {
        self.decisions.push(entity::moderation_decision::ActiveModel::from(row).reset_all());
    }

    /// Inserts an artifact, or replaces the one with this slug.
    pub(super) fn put_artifact(&mut self, account: AccountId, slug: &Slug, row: entity::artifact::Model) {
        self.artifacts.insert((account, slug.clone()), StoredSite { row, has_changed: true });
    }

    /// Applies a change of an artifact that a separate statement has written.
    pub(super) fn set_visibility(&mut self, account: AccountId, slug: &Slug, visibility: &str) {
        if let Some(site) = self.artifacts.get_mut(&(account, slug.clone())) {
            visibility.clone_into(&mut site.row.visibility);
            site.row.updated_at = self.now.millis();
        }
    }

    /// The size of the contents of a manifest that the account does not store yet.
    pub(super) fn bytes_new_to(&self, account: AccountId, manifest: &Manifest) -> u64 {
        let sizes: HashMap<BlobHash, u64> =
            manifest.files().iter().map(|file| (file.hash, file.size_bytes)).collect();
        sizes.iter().filter(|(hash, _)| !self.held.contains(&(account, **hash))).map(|(_, size)| size).sum()
    }

    pub(super) fn add_version(
        &mut self,
        operation: &PublishOperation,
        row: entity::version::Model,
    ) -> anyhow::Result<()> {
        self.add_contents(operation)?;
        let hashes: HashSet<BlobHash> = operation.manifest.files().iter().map(|file| file.hash).collect();
        self.refs.extend(hashes.iter().map(|hash| entity::blob_ref::ActiveModel {
            version_id: Set(row.id.clone()),
            hash: Set(hash.to_string()),
            account_id: Set(row.account_id.clone()),
        }));
        self.held.extend(hashes.into_iter().map(|hash| (operation.order.account, hash)));
        self.as_of =
            Some(self.as_of.map_or(operation.blobs_as_of, |oldest| oldest.min(operation.blobs_as_of)));
        self.live_versions.add(&row)?;
        self.versions.push(row.into_active_model());
        Ok(())
    }

    pub(super) fn point(&mut self, route: entity::route::Model) {
        self.routes.insert(route.host.clone(), route);
    }

    /// Records the contents of a refused publish. Otherwise no sweep would ever find them, because a caller
    /// that reads the refusal does not continue.
    pub(super) fn record_refused(&mut self, operation: &'a PublishOperation) {
        self.refused.push(operation);
    }

    /// Writes artifacts, versions and routes that have changed since they were read or last written.
    pub(super) fn write(&mut self, script: &mut Script) -> anyhow::Result<()> {
        self.write_artifacts(script)?;
        script.insert::<entity::version::Entity>(std::mem::take(&mut self.versions), None)?;
        let decisions = std::mem::take(&mut self.decisions);
        script.insert::<entity::moderation_decision::Entity>(decisions, None)?;
        routes::point(script, std::mem::take(&mut self.routes).into_values(), self.now)
    }

    /// Writes everything that is left and the contents, with all statements of the commit in order. Returns
    /// the sweep number that must still be current afterwards.
    pub(super) async fn close(
        mut self,
        transaction: &DatabaseTransaction,
        script: &mut Script,
    ) -> anyhow::Result<Option<SweepNumber>> {
        self.write(script)?;
        self.add_refused(transaction).await?;
        bundle_rows::insert(script, self.bundles, self.now)?;
        blob_index::insert(script, self.contents)?;
        script.insert::<entity::blob_ref::Entity>(self.refs, None)?;
        Ok(self.as_of)
    }

    fn write_artifacts(&mut self, script: &mut Script) -> anyhow::Result<()> {
        use entity::artifact::Column;
        let rows: Vec<_> = self
            .artifacts
            .values_mut()
            .filter_map(|site| std::mem::take(&mut site.has_changed).then(|| site.row.clone()))
            .map(IntoActiveModel::into_active_model)
            .collect();
        // If a new artifact's host is taken, the whole statement fails.
        let mut change = OnConflict::column(Column::Id);
        change.update_columns([Column::LastSeq, Column::LiveVersionId, Column::UpdatedAt]);
        script.insert::<entity::artifact::Entity>(rows, Some(change))
    }

    /// Adds the contents of refused publishes. If an immediate sweep or a purge ran in the meantime, they may
    /// be deleted, and a row must not claim otherwise. Then an erasure deletes the objects without a row.
    async fn add_refused(&mut self, transaction: &DatabaseTransaction) -> anyhow::Result<()> {
        if self.refused.is_empty() {
            return Ok(());
        }
        let number = blob_sweep::exclude_sweeps(transaction).await?;
        let mut unrecorded = BTreeSet::new();
        for operation in std::mem::take(&mut self.refused) {
            if operation.blobs_as_of == number {
                self.add_contents(operation)?;
            } else {
                unrecorded.extend(operation.manifest.files().iter().map(|file| file.hash.to_string()));
            }
        }
        erasures::request(transaction, ErasureKind::Content, unrecorded).await
    }

    fn add_contents(&mut self, operation: &PublishOperation) -> anyhow::Result<()> {
        self.bundles.extend(operation.bundle);
        self.contents.extend(blob_index::rows_of(&operation.manifest, self.now)?);
        Ok(())
    }
}

fn publish_of(operation: &LedgerOperation) -> Option<&PublishOperation> {
    match operation {
        LedgerOperation::Publish(operation) => Some(operation),
        _ => None,
    }
}

async fn artifacts(
    transaction: &DatabaseTransaction,
    publishes: &[&PublishOperation],
) -> anyhow::Result<HashMap<(AccountId, Slug), StoredSite>> {
    let named =
        publishes.iter().map(|operation| (operation.order.account, operation.order.slug.clone())).collect();
    let found = rows::artifact::live_among(transaction, named).await?;
    found
        .into_iter()
        .map(|row| {
            let key = (rows::parse(&row.account_id, "an account id")?, rows::parse(&row.slug, "a slug")?);
            Ok((key, StoredSite { row, has_changed: false }))
        })
        .collect()
}

/// The live versions of the artifacts that are published to under a condition.
fn live_under_conditions(
    publishes: &[&PublishOperation],
    artifacts: &HashMap<(AccountId, Slug), StoredSite>,
) -> Vec<String> {
    let orders = publishes.iter().map(|operation| &operation.order);
    let conditional = orders.filter(|order| matches!(order.target, Target::If(_)));
    let named = conditional.filter_map(|order| artifacts.get(&(order.account, order.slug.clone())));
    named.filter_map(|site| site.row.live_version_id.clone()).collect()
}

/// Spec 2.3: files are content-addressed, so contents that an account has already add no storage.
async fn held(
    transaction: &DatabaseTransaction,
    publishes: &[&PublishOperation],
) -> anyhow::Result<HashSet<(AccountId, BlobHash)>> {
    use entity::blob_ref::Column;
    let wanted: BTreeSet<(AccountId, String)> = publishes
        .iter()
        .flat_map(|operation| {
            operation.manifest.files().iter().map(|file| (operation.order.account, file.hash.to_string()))
        })
        .collect();
    let wanted = wanted.into_iter().map(|(account, hash)| (account.to_string(), hash));
    let found =
        known_pairs::<entity::blob_ref::Entity>(transaction, (Column::AccountId, Column::Hash), wanted)
            .await
            .context("find stored contents")?;
    found
        .into_iter()
        .map(|(account, hash)| {
            Ok((rows::parse(&account, "an account id")?, rows::parse(&hash, "a blob hash")?))
        })
        .collect()
}
