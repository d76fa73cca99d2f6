//! Converts rows to domain types. A malformed row is an error, never a panic: it is caused by a bug or a
//! manual edit.
//!
//! The modules below contain the finders, locks and writes that several features share. They import no
//! feature.

pub(crate) mod account;
pub(crate) mod artifact;
pub(crate) mod member;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod version;

use anyhow::{Context, anyhow};
use domain::{
    Account, AccountStatus, Artifact, CreatedVia, LedgerEntry, LinkGeneration, LiveVersion, Maker, Manifest,
    Micro, ModeratedBy, ModerationStatus, PageTitle, Retention, Route, Suspension, Time, Visibility,
};
use std::str::FromStr;

pub(crate) fn parse<T: FromStr>(text: &str, what: &'static str) -> anyhow::Result<T> {
    text.parse().map_err(|_| anyhow!("{what} in the database is malformed"))
}

pub(crate) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(crate) fn visibility(text: &str) -> anyhow::Result<Visibility> {
    [Visibility::Public, Visibility::Unlisted, Visibility::Private]
        .into_iter()
        .find(|visibility| visibility.as_str() == text)
        .context("unknown visibility in the database")
}

pub(crate) fn created_via(text: &str) -> anyhow::Result<CreatedVia> {
    let found = CreatedVia::ALL.into_iter().find(|via| via.as_str() == text);
    found.context("unknown interface of a version in the database")
}

pub(crate) fn moderation(text: &str) -> anyhow::Result<ModerationStatus> {
    [ModerationStatus::Pending, ModerationStatus::Review, ModerationStatus::Pass, ModerationStatus::Blocked]
        .into_iter()
        .find(|status| status.as_str() == text)
        .context("unknown moderation status in the database")
}

pub(crate) fn moderated_by(version: &entity::version::Model) -> anyhow::Result<ModeratedBy> {
    moderator_of(&version.moderated_by)
}

pub(crate) fn moderator_of(text: &str) -> anyhow::Result<ModeratedBy> {
    ModeratedBy::ALL.into_iter().find(|by| by.as_str() == text).context("unknown moderator in the database")
}

pub(crate) fn manifest(text: &str) -> anyhow::Result<Manifest> {
    serde_json::from_str(text).context("malformed manifest in the database")
}

pub(crate) fn account(row: entity::account::Model) -> anyhow::Result<Account> {
    let status = match row.status.as_str() {
        "provisional" => AccountStatus::Provisional,
        "claimed" => AccountStatus::Claimed,
        _ => return Err(anyhow!("unknown account status in the database")),
    };
    let suspension = suspension(&row)?;
    Ok(Account {
        id: parse(&row.id, "an account id")?,
        handle: row.handle,
        name: row.name.map(|name| parse(&name, "the name of an account")).transpose()?,
        status,
        expires_at: row.expires_at.map(Time::from_millis),
        claim_code: row.claim_code,
        balance: Micro::new(row.balance_micro),
        allow_agent_join: row.allow_agent_join,
        provisional_publishes: count(row.provisional_publishes),
        storage_bytes: count(row.storage_bytes),
        created_at: Time::from_millis(row.created_at),
        suspension,
        retention: retention(row.versions_kept, row.versions_days),
    })
}

pub(crate) fn suspension(row: &entity::account::Model) -> anyhow::Result<Option<Suspension>> {
    let Some(at) = row.suspended_at.map(Time::from_millis) else { return Ok(None) };
    let reason = row.suspension_reason.as_deref().unwrap_or_default();
    Ok(Some(Suspension { at, reason: parse(reason, "the reason of a suspension")? }))
}

/// The live version of an artifact, as a list shows it.
#[derive(Clone, Debug)]
pub(crate) struct ShownVersion {
    pub(crate) live: LiveVersion,
    pub(crate) title: Option<PageTitle>,
}

pub(crate) fn artifact(
    row: entity::artifact::Model,
    shown: Option<ShownVersion>,
) -> anyhow::Result<Artifact> {
    let (live, title) = shown.map(|shown| (shown.live, shown.title)).unzip();
    Ok(Artifact {
        id: parse(&row.id, "an artifact id")?,
        account: parse(&row.account_id, "an account id")?,
        slug: parse(&row.slug, "a slug")?,
        host: parse(&row.host, "a host")?,
        visibility: visibility(&row.visibility)?,
        link_generation: link_generation(row.link_generation)?,
        live,
        title: title.flatten(),
        created_at: Time::from_millis(row.created_at),
        updated_at: Time::from_millis(row.updated_at),
        retention: retention(row.versions_kept, row.versions_days),
    })
}

pub(crate) fn link_generation(number: i32) -> anyhow::Result<LinkGeneration> {
    Ok(LinkGeneration::new(u32::try_from(number).context("malformed generation of a link in the database")?))
}

/// The settings of an account or an artifact.
pub(crate) fn retention(versions_kept: Option<i32>, versions_days: Option<i32>) -> Retention {
    let setting = |number: Option<i32>| number.and_then(|number| u32::try_from(number).ok());
    Retention { versions_kept: setting(versions_kept), versions_days: setting(versions_days) }
}

pub(crate) fn shown_version(row: &entity::version::Model) -> anyhow::Result<ShownVersion> {
    let live = LiveVersion {
        id: parse(&row.id, "a version id")?,
        seq: u32::try_from(row.seq).unwrap_or(0),
        total_bytes: count(row.total_bytes),
        moderation: moderation(&row.moderation_status)?,
    };
    Ok(ShownVersion { live, title: title(row.title.as_deref()) })
}

/// A stored title is read as one, so that a row that something else wrote is no longer than others.
pub(crate) fn title(column: Option<&str>) -> Option<PageTitle> {
    column.and_then(PageTitle::from_text)
}

pub(crate) fn ledger_entry(row: entity::ledger_entry::Model) -> LedgerEntry {
    LedgerEntry {
        seq: row.seq,
        delta: Micro::new(row.delta_micro),
        reason: row.reason,
        balance_after: Micro::new(row.balance_after_micro),
        created_at: Time::from_millis(row.created_at),
    }
}

pub(crate) fn route(row: &entity::route::Model) -> anyhow::Result<Route> {
    Ok(Route {
        host: parse(&row.host, "a host")?,
        account: parse(&row.account_id, "an account id")?,
        artifact: parse(&row.artifact_id, "an artifact id")?,
        version: parse(&row.version_id, "a version id")?,
        visibility: visibility(&row.visibility)?,
        link_generation: link_generation(row.link_generation)?,
        moderation: moderation(&row.moderation_status)?,
        expires_at: row.expires_at.map(Time::from_millis),
        is_suspended: row.suspended_at.is_some(),
        updated_at: Time::from_millis(row.updated_at),
        held_from: row.held_from.map(Time::from_millis),
        manifest: manifest(&row.manifest)?,
    })
}

/// The maker of a token or an invite.
pub(crate) fn maker(user: Option<&str>, token: Option<&str>) -> anyhow::Result<Maker> {
    Ok(Maker {
        user: user.map(|id| parse(id, "a user id")).transpose()?,
        token: token.map(|id| parse(id, "a token id")).transpose()?,
    })
}
