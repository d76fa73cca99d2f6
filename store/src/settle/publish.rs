//! Settles a publish. All rules that can refuse it are checked before the first row is made.

use anyhow::Context;
use domain::{
    AccountStatus, Activation, ArtifactId, EarlyVerdict, Host, Missing, MissingRight, ModeratedBy,
    ModerationStatus, Outcome, PublishCondition, PublishOperation, Published, Reason, Refusal, Target,
    Visibility,
};

use super::batch::BatchState;
use super::payment::pay;
use super::sites::Sites;
use super::{Terms, refused};
use crate::decisions::{Decision, NO_FINDINGS, row_of};
use crate::held_pages::HELD;
use crate::{blocked_contents, routes, rows};

/// Spec 9.2: the numbers of an artifact's versions begin at 1.
const FIRST_SEQ: i32 = 1;

/// Makes a version, charges for it and makes it live. A refusal changes nothing.
pub(super) fn settle(
    batch: &mut BatchState,
    sites: &mut Sites<'_>,
    operation: &PublishOperation,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    let account = batch.account_id()?;
    let existing = sites.artifact(account, &operation.order.slug);
    if let Some(refusal) = may_publish(batch, operation, existing, terms)? {
        return Ok(refused(refusal));
    }
    let added_bytes = sites.bytes_new_to(account, &operation.manifest);
    if let Some(refusal) = exceeds_storage(batch, added_bytes, terms) {
        return Ok(refused(refusal));
    }
    let settlement =
        match terms.tariff.settle_publish(batch.billing_state(), operation.order.payment.as_ref()) {
            Ok(settlement) => settlement,
            Err(challenge) => return Ok(refused(Refusal::PaymentRequired(challenge))),
        };
    // Last, as RFC 9110 requires: a condition applies only to a request that would otherwise succeed.
    if let Some(conflict) = sites.conflict_of(operation)? {
        return Ok(refused(conflict));
    }

    let artifact = match existing {
        Some(artifact) => moved(batch, operation, artifact),
        None => new_artifact(batch, operation, terms),
    };
    sites.put_artifact(account, &operation.order.slug, artifact.clone());
    let mut version = new_version(batch, operation, &artifact)?;
    // An account that was claimed meanwhile has other rules.
    let is_provisional = batch.status() == AccountStatus::Provisional;
    let verdict = operation.verdict.as_ref().filter(|verdict| verdict.is_provisional == is_provisional);
    moderate(sites, operation, &artifact, &mut version, verdict, terms)?;
    let has_verdict = version.scanned_by.is_some();
    let seq = u32::try_from(version.seq).context("a sequence number is negative")?;
    if operation.order.activation == Activation::Live {
        sites.point(routes::row(&batch.account, &artifact, &version, batch.now));
    }
    sites.add_version(operation, version)?;
    batch.count_publish();
    batch.add_storage(added_bytes);
    let receipt = pay(batch, settlement, operation.order.job(), &Reason::Publish(operation.order.version));
    Ok(Outcome::Published(Box::new(Published {
        account,
        artifact: rows::parse(&artifact.id, "an artifact id")?,
        host: rows::parse(&artifact.host, "a host")?,
        slug: operation.order.slug.clone(),
        version: operation.order.version,
        seq,
        free_publishes_left: terms.tariff.free_publishes_left(batch.billing_state()),
        balance: batch.balance(),
        expires_at: batch.account.expires_at.map(domain::Time::from_millis),
        visibility: rows::visibility(&artifact.visibility)?,
        link_generation: rows::link_generation(artifact.link_generation)?,
        receipt,
        has_verdict,
    })))
}

fn may_publish(
    batch: &BatchState,
    operation: &PublishOperation,
    existing: Option<&entity::artifact::Model>,
    terms: &Terms,
) -> anyhow::Result<Option<Refusal>> {
    if let Some(pin) = operation.order.pinned_to {
        let target =
            existing.map(|artifact| rows::parse::<ArtifactId>(&artifact.id, "an artifact id")).transpose()?;
        if target != Some(pin) {
            return Ok(Some(Refusal::InsufficientScope(MissingRight::OtherArtifact)));
        }
    }
    if existing.is_some() {
        return Ok(None);
    }
    match operation.order.target {
        Target::Existing => return Ok(Some(Refusal::NotFound(Missing::Artifact))),
        // Not met without an artifact, so none is made.
        Target::If(PublishCondition::LiveVersion(_) | PublishCondition::SlugExists) => return Ok(None),
        Target::NewOrExisting | Target::If(PublishCondition::SlugIsNew) => {}
    }
    let artifacts_max = terms.tariff.claimed_artifacts_max;
    let is_full = batch.status() == AccountStatus::Claimed
        && rows::count(batch.account.artifact_count) >= artifacts_max;
    Ok(is_full.then(|| Refusal::QuotaExceeded { limit: format!("{artifacts_max} artifacts") }))
}

fn exceeds_storage(batch: &BatchState, added_bytes: u64, terms: &Terms) -> Option<Refusal> {
    let bytes_max = terms.tariff.provisional_storage_bytes_max;
    let is_over = batch.status() == AccountStatus::Provisional
        && rows::count(batch.account.storage_bytes).saturating_add(added_bytes) > bytes_max;
    is_over.then(|| Refusal::TooLarge {
        limit: format!(
            "a provisional account stores at most {} MB; claiming it lifts this",
            bytes_max / 1_048_576
        ),
    })
}

fn new_artifact(
    batch: &mut BatchState,
    operation: &PublishOperation,
    terms: &Terms,
) -> entity::artifact::Model {
    batch.count_artifact();
    entity::artifact::Model {
        id: ArtifactId::new(terms.now, &terms.chance).to_string(),
        account_id: batch.account.id.clone(),
        slug: operation.order.slug.to_string(),
        // The host may be taken. Then the unique constraint makes the commit fail, and its retry generates
        // another one.
        host: Host::generate(&operation.order.slug, &terms.chance).to_string(),
        visibility: Visibility::Public.as_str().to_owned(),
        live_version_id: live_after(operation, None),
        last_seq: FIRST_SEQ,
        created_at: terms.now.millis(),
        updated_at: terms.now.millis(),
        deleted_at: None,
        versions_kept: None,
        versions_days: None,
        purged_at: None,
        link_generation: 0,
    }
}

/// Gives the version its number and, unless it is staged, makes it live.
fn moved(
    batch: &BatchState,
    operation: &PublishOperation,
    artifact: &entity::artifact::Model,
) -> entity::artifact::Model {
    entity::artifact::Model {
        last_seq: artifact.last_seq + 1,
        updated_at: batch.now.millis(),
        live_version_id: live_after(operation, artifact.live_version_id.clone()),
        ..artifact.clone()
    }
}

fn new_version(
    batch: &BatchState,
    operation: &PublishOperation,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<entity::version::Model> {
    Ok(entity::version::Model {
        id: operation.order.version.to_string(),
        artifact_id: artifact.id.clone(),
        account_id: batch.account.id.clone(),
        seq: artifact.last_seq,
        manifest: serde_json::to_string(&operation.manifest)?,
        total_bytes: rows::number(operation.manifest.total_bytes()),
        file_count: i32::try_from(operation.manifest.files().len()).unwrap_or(i32::MAX),
        created_via: operation.order.created_via.as_str().to_owned(),
        created_by: operation.order.created_by.map(|token| token.to_string()),
        message: operation.order.message.clone().map(String::from),
        moderation_status: ModerationStatus::Pending.as_str().to_owned(),
        moderated_by: ModeratedBy::Nobody.as_str().to_owned(),
        created_at: batch.now.millis(),
        scanned_by: None,
        scanned_at: None,
        rescan_asked_at: None,
        scan_tries: 0,
        scan_again_at: 0,
        title: operation.title.clone().map(String::from),
    })
}

/// A version of a held page waits for a moderator, whatever it contains. Any other version with a blocked
/// content begins as blocked, and is scanned later: by then the content may be unblocked. Otherwise the
/// verdict counts, if there is one.
fn moderate(
    sites: &mut Sites<'_>,
    operation: &PublishOperation,
    artifact: &entity::artifact::Model,
    version: &mut entity::version::Model,
    verdict: Option<&EarlyVerdict>,
    terms: &Terms,
) -> anyhow::Result<()> {
    let blocked = sites.blocked_in(&operation.manifest);
    let verdict = verdict.filter(|_| blocked.is_empty());
    let found = match verdict {
        Some(verdict) => Some((verdict.status, verdict.evidence.clone())),
        None if blocked.is_empty() => None,
        None => {
            let evidence = blocked_contents::evidence(NO_FINDINGS, &operation.manifest, &blocked)?;
            Some((ModerationStatus::Blocked, evidence))
        }
    };
    let by_scan = found.as_ref().map(|(status, _)| (*status, ModeratedBy::Scan));
    let decided = if sites.is_held_back(artifact) { Some(HELD) } else { by_scan };
    if let Some((status, by)) = decided {
        status.as_str().clone_into(&mut version.moderation_status);
        by.as_str().clone_into(&mut version.moderated_by);
    }
    if let Some(verdict) = verdict {
        version.scanned_by = Some(i32::try_from(verdict.rules)?);
        version.scanned_at = Some(version.created_at);
    }
    if let Some((status, evidence)) = found {
        let scanner_version = verdict.map(|verdict| verdict.rules.to_string());
        // A later scan produces the same, also for a held page.
        let decision = Decision::of_people(version, status, ModeratedBy::Scan, &terms.chance, terms.now);
        let decision =
            Decision { evidence: &evidence, scanner_version: scanner_version.as_deref(), ..decision };
        sites.add_decision(row_of(&decision));
    }
    Ok(())
}

fn live_after(operation: &PublishOperation, live_before: Option<String>) -> Option<String> {
    match operation.order.activation {
        Activation::Live => Some(operation.order.version.to_string()),
        Activation::Staged => live_before,
    }
}
