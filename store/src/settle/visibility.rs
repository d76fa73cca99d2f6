//! Settles a change of visibility. The artifact, its route and the charge change together. Only the change
//! from public to another visibility is charged, once per artifact and month.

use domain::{
    Artifact, Missing, MissingRight, Outcome, Reason, Refusal, Settlement, Visibility, VisibilityOperation,
    VisibilitySet,
};
use sea_orm::ActiveValue::Set;
use sea_orm::{DatabaseTransaction, EntityTrait};

use super::batch::BatchState;
use super::payment::pay;
use super::sites::Sites;
use super::{Terms, refused};
use crate::{routes, rows};

/// Changes the visibility of an artifact and charges for it. A refusal changes nothing.
pub(super) async fn settle(
    transaction: &DatabaseTransaction,
    batch: &mut BatchState,
    sites: &mut Sites<'_>,
    operation: &VisibilityOperation,
    terms: &Terms,
) -> anyhow::Result<Outcome> {
    let found = rows::artifact::find(transaction, operation.account, &operation.slug).await?;
    // A pinned token must not learn which other slugs exist.
    if let Some(pin) = operation.pinned_to
        && found.as_ref().is_none_or(|row| row.id != pin.to_string())
    {
        return Ok(refused(Refusal::InsufficientScope(MissingRight::OtherArtifact)));
    }
    let Some(row) = found else { return Ok(refused(Refusal::NotFound(Missing::Artifact))) };
    let artifact = rows::artifact::with_live_version(transaction, row).await?;
    let month = Reason::Visibility(artifact.id, batch.now.month());
    // Spec 3.2: the change from public is charged once a month, whether by this call or by metering.
    let leaves_the_public = artifact.visibility == Visibility::Public && operation.to != Visibility::Public;
    let is_paid = leaves_the_public && !batch.has_used(transaction, &month).await?;
    let quote = if is_paid {
        terms.tariff.settle_visibility(batch.balance(), operation.payment.as_ref())
    } else {
        Ok(Settlement::FREE)
    };
    let settlement = match quote {
        Ok(settlement) => settlement,
        Err(challenge) => return Ok(refused(Refusal::PaymentRequired(challenge))),
    };

    let has_changed = artifact.visibility != operation.to;
    let artifact = write_visibility(transaction, batch, artifact, operation.to).await?;
    sites.set_visibility(operation.account, &operation.slug, operation.to.as_str());
    let receipt = pay(batch, settlement, operation.job, &month);
    Ok(Outcome::VisibilitySet(Box::new(VisibilitySet { artifact, has_changed, receipt })))
}

/// Updates the artifact and its route. An artifact with only staged versions has no route yet.
async fn write_visibility(
    transaction: &DatabaseTransaction,
    batch: &BatchState,
    mut artifact: Artifact,
    to: Visibility,
) -> anyhow::Result<Artifact> {
    if artifact.visibility == to {
        return Ok(artifact);
    }
    (artifact.visibility, artifact.updated_at) = (to, batch.now);
    let change = entity::artifact::ActiveModel {
        id: Set(artifact.id.to_string()),
        visibility: Set(to.as_str().to_owned()),
        updated_at: Set(batch.now.millis()),
        ..Default::default()
    };
    entity::artifact::Entity::update(change).exec_without_returning(transaction).await?;
    routes::show(transaction, &artifact.host, to, batch.now).await?;
    Ok(artifact)
}
