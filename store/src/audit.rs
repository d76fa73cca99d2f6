//! The trail of who changed what. It outlives the account that it speaks of; a secret must never stand in it.

use anyhow::Context;
use domain::{AccountId, Chance, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::{ConnectionTrait, EntityTrait};

/// One line of the trail.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub account: Option<AccountId>,
    /// Who did it: a user's id, a token's id, or the name of a part of the service.
    pub actor: String,
    /// What was done, as the glossary has it: `account.claimed`, `invite.revoked`.
    pub action: &'static str,
    /// The id of what it was done to.
    pub subject: &'a str,
    /// What else one would ask, in words.
    pub detail: String,
}

/// Writes a line within the transaction of what it tells.
pub(crate) async fn note(
    transaction: &impl ConnectionTrait,
    chance: &Chance,
    now: Time,
    entry: Entry<'_>,
) -> anyhow::Result<()> {
    let row = entity::audit::ActiveModel {
        id: Set(chance.ulid(now).to_string()),
        account_id: Set(entry.account.map(|account| account.to_string())),
        actor: Set(entry.actor),
        action: Set(entry.action.to_owned()),
        subject: Set(entry.subject.to_owned()),
        detail: Set(entry.detail),
        created_at: Set(now.millis()),
    };
    entity::audit::Entity::insert(row)
        .exec_without_returning(transaction)
        .await
        .context("write the audit trail")?;
    Ok(())
}
