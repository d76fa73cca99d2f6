//! The settling of a publish: every rule that can refuse it comes before the first row is made.

use anyhow::Context;
use domain::{
    AccountStatus, Activation, ArtifactId, Host, Missing, MissingRight, ModeratedBy, ModerationStatus,
    Outcome, PublishDeed, Published, Reason, Refusal, Target, Visibility,
};

use super::book::Book;
use super::payment::pay;
use super::sites::Sites;
use super::{Terms, refused};
use crate::decisions::{Decision, NO_FINDINGS, row_of};
use crate::held_pages::HELD;
use crate::{blocked_contents, routes, rows};

/// Spec 9.2: the numbers of an artifact's versions begin at 1.
const FIRST_SEQ: i32 = 1;

/// Makes a version, pays for it and makes it live; or refuses and changes nothing.
pub(super) fn settle(
    book: &mut Book,
    sites: &mut Sites<'_>,
    deed: &PublishDeed,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    let account = book.account_id()?;
    let existing = sites.artifact(account, &deed.order.slug);
    if let Some(refusal) = may_publish(book, deed, existing, terms)? {
        return Ok(refused(refusal));
    }
    let added_bytes = sites.bytes_new_to(account, &deed.manifest);
    if let Some(refusal) = exceeds_storage(book, added_bytes, terms) {
        return Ok(refused(refusal));
    }
    let settlement = match terms.tariff.settle_publish(book.standing(), deed.order.payment.as_ref()) {
        Ok(settlement) => settlement,
        Err(challenge) => return Ok(refused(Refusal::PaymentRequired(challenge))),
    };

    let artifact = match existing {
        Some(artifact) => moved(book, deed, artifact),
        None => new_artifact(book, deed, terms),
    };
    sites.put_artifact(account, &deed.order.slug, artifact.clone());
    let mut version = new_version(book, deed, &artifact)?;
    moderate(sites, deed, &artifact, &mut version, terms)?;
    let seq = u32::try_from(version.seq).context("a sequence number is negative")?;
    if deed.order.activation == Activation::Live {
        sites.point(routes::row(&book.account, &artifact, &version, book.now));
    }
    sites.add_version(deed, version)?;
    book.count_publish();
    book.add_storage(added_bytes);
    let receipt = pay(book, settlement, deed.order.job(), &Reason::Publish(deed.order.version));
    Ok(Outcome::Published(Box::new(Published {
        account,
        artifact: rows::parse(&artifact.id, "an artifact id")?,
        host: rows::parse(&artifact.host, "a host")?,
        slug: deed.order.slug.clone(),
        version: deed.order.version,
        seq,
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
    if let Some(pin) = deed.order.pinned_to {
        let target =
            existing.map(|artifact| rows::parse::<ArtifactId>(&artifact.id, "an artifact id")).transpose()?;
        if target != Some(pin) {
            return Ok(Some(Refusal::InsufficientScope(MissingRight::OtherArtifact)));
        }
    }
    if existing.is_some() {
        return Ok(None);
    }
    if deed.order.target == Target::Existing {
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

fn new_artifact(book: &mut Book, deed: &PublishDeed, terms: &Terms) -> entity::artifact::Model {
    book.count_artifact();
    entity::artifact::Model {
        id: ArtifactId::new(terms.now, &terms.chance).to_string(),
        account_id: book.account.id.clone(),
        slug: deed.order.slug.to_string(),
        // Somebody may have this host; then the unique constraint fails the commit, and its retry draws again.
        host: Host::generate(&deed.order.slug, &terms.chance).to_string(),
        visibility: Visibility::Public.as_str().to_owned(),
        live_version_id: live_after(deed, None),
        last_seq: FIRST_SEQ,
        created_at: terms.now.millis(),
        updated_at: terms.now.millis(),
        deleted_at: None,
    }
}

/// The artifact takes the next number; the pointer moves to the new version unless that is staged.
fn moved(book: &Book, deed: &PublishDeed, artifact: &entity::artifact::Model) -> entity::artifact::Model {
    entity::artifact::Model {
        last_seq: artifact.last_seq + 1,
        updated_at: book.now.millis(),
        live_version_id: live_after(deed, artifact.live_version_id.clone()),
        ..artifact.clone()
    }
}

fn new_version(
    book: &Book,
    deed: &PublishDeed,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<entity::version::Model> {
    Ok(entity::version::Model {
        id: deed.order.version.to_string(),
        artifact_id: artifact.id.clone(),
        account_id: book.account.id.clone(),
        seq: artifact.last_seq,
        manifest: serde_json::to_string(&deed.manifest)?,
        total_bytes: rows::number(deed.manifest.total_bytes()),
        file_count: i32::try_from(deed.manifest.files().len()).unwrap_or(i32::MAX),
        created_via: deed.order.created_via.as_str().to_owned(),
        created_by: deed.order.created_by.map(|token| token.to_string()),
        message: deed.order.message.clone().map(String::from),
        moderation_status: ModerationStatus::Pending.as_str().to_owned(),
        moderated_by: ModeratedBy::Nobody.as_str().to_owned(),
        created_at: book.now.millis(),
        scanned_by: None,
        scanned_at: None,
        rescan_asked_at: None,
        scan_tries: 0,
        scan_again_at: 0,
    })
}

/// A version of a page that a moderator holds back waits for a moderator, whatever it brings. Any other one that brings
/// a blocked content begins as blocked.
fn moderate(
    sites: &mut Sites<'_>,
    deed: &PublishDeed,
    artifact: &entity::artifact::Model,
    version: &mut entity::version::Model,
    terms: &Terms,
) -> anyhow::Result<()> {
    let (blocked, is_held) = (sites.blocked_in(&deed.manifest), sites.is_held_back(artifact));
    let (status, by) = match (blocked.is_empty(), is_held) {
        (true, false) => return Ok(()),
        (_, true) => HELD,
        (false, false) => (ModerationStatus::Blocked, ModeratedBy::Scan),
    };
    status.as_str().clone_into(&mut version.moderation_status);
    by.as_str().clone_into(&mut version.moderated_by);
    if !blocked.is_empty() {
        let evidence = blocked_contents::evidence(NO_FINDINGS, &deed.manifest, &blocked)?;
        // What its scan will say as well, also where the page is held back.
        let (verdict, scan) = (ModerationStatus::Blocked, ModeratedBy::Scan);
        let decision = Decision::of_people(version, verdict, scan, &terms.chance, terms.now);
        sites.add_decision(row_of(&Decision { evidence: &evidence, ..decision }));
    }
    Ok(())
}

fn live_after(deed: &PublishDeed, live_before: Option<String>) -> Option<String> {
    match deed.order.activation {
        Activation::Live => Some(deed.order.version.to_string()),
        Activation::Staged => live_before,
    }
}
