//! The settling of a publish: every rule that can refuse it comes before the first row is written.

use std::collections::BTreeMap;

use anyhow::Context;
use domain::{
    AccountStatus, Activation, ArtifactId, Host, ManifestFile, Missing, MissingRight, ModeratedBy,
    ModerationStatus, Outcome, PublishDeed, Published, Reason, Refusal, Target, Visibility,
};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect};

use super::book::Book;
use super::payment::pay;
use super::{Terms, refuse};
use crate::{artifacts, blob_index, routes, rows};

/// Spec 9.2: the numbers of an artifact's versions begin at 1.
const FIRST_SEQ: i32 = 1;

/// Writes a version, pays for it and makes it live; or refuses and changes nothing.
pub(super) async fn settle(
    transaction: &DatabaseTransaction,
    book: &mut Book,
    deed: &PublishDeed,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    if book.is_expired() {
        return refuse(Refusal::AccountExpired);
    }
    let account = book.account_id()?;
    let existing = artifacts::find(transaction, account, &deed.slug).await?;
    if let Some(refusal) = may_publish(book, deed, existing.as_ref(), terms)? {
        return refuse(refusal);
    }
    let added_bytes = bytes_new_to_account(transaction, book, deed).await?;
    if let Some(refusal) = exceeds_storage(book, added_bytes, terms) {
        return refuse(refusal);
    }
    let settlement = match terms.tariff.settle_publish(book.standing(), deed.payment.as_ref()) {
        Ok(settlement) => settlement,
        Err(challenge) => return refuse(Refusal::PaymentRequired(challenge)),
    };

    let artifact = match existing {
        Some(artifact) => move_pointer(transaction, book, deed, artifact).await?,
        None => insert_artifact(transaction, book, deed, terms).await?,
    };
    let version = insert_version(transaction, book, deed, &artifact).await?;
    if deed.activation == Activation::Live {
        routes::point(transaction, &book.account, &artifact, &version, book.now).await?;
    }
    book.count_on_blobs(deed.blobs_as_of);
    book.count_publish();
    book.add_storage(added_bytes);
    let receipt = pay(book, settlement, deed.job(), &Reason::Publish(deed.version));
    Ok(Outcome::Published(Box::new(Published {
        account,
        artifact: rows::parse(&artifact.id, "an artifact id")?,
        host: rows::parse(&artifact.host, "a host")?,
        slug: deed.slug.clone(),
        version: deed.version,
        seq: u32::try_from(version.seq).context("a sequence number is negative")?,
        free_publishes_left: terms.tariff.free_publishes_left(book.standing()),
        balance: book.balance(),
        expires_at: book.account.expires_at.map(domain::Time::from_millis),
        visibility: rows::visibility(&artifact.visibility)?,
        receipt,
    })))
}

fn may_publish(
    book: &Book,
    deed: &PublishDeed,
    existing: Option<&entity::artifact::Model>,
    terms: &Terms,
) -> anyhow::Result<Option<Refusal>> {
    if let Some(pin) = deed.pinned_to {
        let target =
            existing.map(|artifact| rows::parse::<ArtifactId>(&artifact.id, "an artifact id")).transpose()?;
        if target != Some(pin) {
            return Ok(Some(Refusal::InsufficientScope(MissingRight::OtherArtifact)));
        }
    }
    if existing.is_some() {
        return Ok(None);
    }
    if deed.target == Target::Existing {
        return Ok(Some(Refusal::NotFound(Missing::Artifact)));
    }
    let artifacts_max = terms.tariff.claimed_artifacts_max;
    let is_full =
        book.status() == AccountStatus::Claimed && rows::count(book.account.artifact_count) >= artifacts_max;
    Ok(is_full.then(|| Refusal::QuotaExceeded { limit: format!("{artifacts_max} artifacts") }))
}

fn exceeds_storage(book: &Book, added_bytes: u64, terms: &Terms) -> Option<Refusal> {
    let bytes_max = terms.tariff.provisional_storage_bytes_max;
    let is_over = book.status() == AccountStatus::Provisional
        && rows::count(book.account.storage_bytes).saturating_add(added_bytes) > bytes_max;
    is_over.then(|| Refusal::TooLarge {
        limit: format!(
            "a provisional account stores at most {} MB; claiming it lifts this",
            bytes_max / 1_048_576
        ),
    })
}

/// Spec 2.3: files are content-addressed, so what the account has already adds no storage.
async fn bytes_new_to_account(
    transaction: &DatabaseTransaction,
    book: &Book,
    deed: &PublishDeed,
) -> anyhow::Result<u64> {
    let blobs = distinct_blobs(deed);
    if blobs.is_empty() {
        return Ok(0);
    }
    let known: Vec<String> = entity::blob_ref::Entity::find()
        .select_only()
        .column(entity::blob_ref::Column::Hash)
        .distinct()
        .filter(entity::blob_ref::Column::Hash.is_in(blobs.keys().cloned().collect::<Vec<_>>()))
        .filter(entity::blob_ref::Column::AccountId.eq(book.account.id.as_str()))
        .into_tuple()
        .all(transaction)
        .await?;
    let total: u64 = blobs.values().map(|file| file.size_bytes).sum();
    let known: u64 = known.iter().filter_map(|hash| blobs.get(hash)).map(|file| file.size_bytes).sum();
    Ok(total - known)
}

/// One file for each content: a site may hold the same bytes under two names.
fn distinct_blobs(deed: &PublishDeed) -> BTreeMap<String, &ManifestFile> {
    deed.manifest.files().iter().map(|file| (file.hash.to_string(), file)).collect()
}

async fn insert_artifact(
    transaction: &DatabaseTransaction,
    book: &mut Book,
    deed: &PublishDeed,
    terms: &Terms,
) -> anyhow::Result<entity::artifact::Model> {
    let row = entity::artifact::Model {
        id: ArtifactId::new(terms.now, &terms.chance).to_string(),
        account_id: book.account.id.clone(),
        slug: deed.slug.to_string(),
        // Somebody may have this host; then the unique constraint fails the batch, and its retry draws again.
        host: Host::generate(&deed.slug, &terms.chance).to_string(),
        visibility: Visibility::Public.as_str().to_owned(),
        live_version_id: live_after(deed, None),
        last_seq: FIRST_SEQ,
        created_at: terms.now.millis(),
        updated_at: terms.now.millis(),
        deleted_at: None,
    };
    entity::artifact::Entity::insert(row.clone().into_active_model())
        .exec_without_returning(transaction)
        .await
        .context("insert an artifact")?;
    book.count_artifact();
    Ok(row)
}

async fn insert_version(
    transaction: &DatabaseTransaction,
    book: &Book,
    deed: &PublishDeed,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<entity::version::Model> {
    let row = entity::version::Model {
        id: deed.version.to_string(),
        artifact_id: artifact.id.clone(),
        account_id: book.account.id.clone(),
        seq: artifact.last_seq,
        manifest: serde_json::to_string(&deed.manifest)?,
        total_bytes: rows::number(deed.manifest.total_bytes()),
        file_count: i32::try_from(deed.manifest.files().len()).unwrap_or(i32::MAX),
        created_via: deed.created_via.clone(),
        created_by: deed.created_by.map(|token| token.to_string()),
        message: deed.message.clone().map(String::from),
        moderation_status: ModerationStatus::Pending.as_str().to_owned(),
        moderated_by: ModeratedBy::Nobody.as_str().to_owned(),
        created_at: book.now.millis(),
        scanned_by: None,
        scanned_at: None,
        rescan_asked_at: None,
        scan_tries: 0,
        scan_again_at: 0,
    };
    entity::version::Entity::insert(row.clone().into_active_model())
        .exec_without_returning(transaction)
        .await
        .context("insert a version")?;
    insert_blobs(transaction, book, deed).await?;
    Ok(row)
}

async fn insert_blobs(
    transaction: &DatabaseTransaction,
    book: &Book,
    deed: &PublishDeed,
) -> anyhow::Result<()> {
    let blobs = distinct_blobs(deed);
    blob_index::insert(transaction, &deed.manifest, book.now).await?;
    let refs = blobs.keys().map(|hash| entity::blob_ref::ActiveModel {
        version_id: Set(deed.version.to_string()),
        hash: Set(hash.clone()),
        account_id: Set(book.account.id.clone()),
    });
    entity::blob_ref::Entity::insert_many(refs)
        .exec_without_returning(transaction)
        .await
        .context("insert what refers to the blobs")?;
    Ok(())
}

/// The artifact takes the next number; the pointer moves to the new version unless that is staged.
async fn move_pointer(
    transaction: &DatabaseTransaction,
    book: &Book,
    deed: &PublishDeed,
    mut artifact: entity::artifact::Model,
) -> anyhow::Result<entity::artifact::Model> {
    artifact.last_seq += 1;
    artifact.updated_at = book.now.millis();
    artifact.live_version_id = live_after(deed, artifact.live_version_id);
    let change = entity::artifact::ActiveModel {
        id: Set(artifact.id.clone()),
        last_seq: Set(artifact.last_seq),
        live_version_id: Set(artifact.live_version_id.clone()),
        updated_at: Set(artifact.updated_at),
        ..Default::default()
    };
    entity::artifact::Entity::update(change)
        .exec_without_returning(transaction)
        .await
        .context("move an artifact's pointer")?;
    Ok(artifact)
}

fn live_after(deed: &PublishDeed, live_before: Option<String>) -> Option<String> {
    match deed.activation {
        Activation::Live => Some(deed.version.to_string()),
        Activation::Staged => live_before,
    }
}
