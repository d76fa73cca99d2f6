//! What was decided of a version, and a moderator's word on it. What a scan says is written in `scans`.

use anyhow::Context;
use domain::{
    AccountId, ArtifactId, Chance, Host, Manifest, ModeratedBy, ModerationStatus, Moderator, Ruling,
    RulingNote, Time, VersionId,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};

use crate::accounts::lock_account;
use crate::audit::{self, Entry};
use crate::{Store, artifacts, reports, routes, rows};

/// What a decision says that rests on no scan.
const NO_FINDINGS: &str = "[]";

/// A moderator's word on what an artifact shows now.
#[derive(Clone, Debug)]
pub struct ModeratorsWord {
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub ruling: Ruling,
    pub moderator: Moderator,
    pub note: Option<RulingNote>,
    /// The version that was looked at. None holds for whichever is live.
    pub looked_at: Option<VersionId>,
    pub now: Time,
}

/// What came of a moderator's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruled {
    /// The artifact was deleted in the meantime.
    Gone,
    NothingIsLive,
    /// Another version went live than the one that was looked at.
    OtherIsLive {
        seq: u32,
    },
    Done,
}

/// One decision on a version, as it is kept.
pub(crate) struct Decision<'a> {
    pub id: String,
    pub version: &'a entity::version::Model,
    pub status: ModerationStatus,
    pub source: ModeratedBy,
    pub evidence: &'a str,
    pub scanner_version: Option<&'a str>,
    pub decided_by: Option<DecidedBy<'a>>,
    pub now: Time,
}

/// The moderator behind a decision, and what they wrote beside it.
#[derive(Clone, Copy)]
pub(crate) struct DecidedBy<'a> {
    moderator: &'a Moderator,
    note: Option<&'a RulingNote>,
}

impl<'a> Decision<'a> {
    /// A decision that people made.
    pub(crate) fn of_people(
        version: &'a entity::version::Model,
        status: ModerationStatus,
        source: ModeratedBy,
        chance: &Chance,
        now: Time,
    ) -> Self {
        Self {
            id: chance.ulid(now).to_string(),
            version,
            status,
            source,
            evidence: NO_FINDINGS,
            scanner_version: None,
            decided_by: None,
            now,
        }
    }
}

impl Store {
    /// What a version holds; none when it is gone.
    pub async fn manifest(&self, version: VersionId) -> anyhow::Result<Option<Manifest>> {
        let found =
            entity::version::Entity::find_by_id(version.to_string()).one(&self.database.reader).await?;
        found.map(|row| rows::manifest(&row.manifest)).transpose()
    }

    /// Writes a moderator's word to the live version. It answers every open report on the artifact.
    pub async fn rule(&self, word: &ModeratorsWord, chance: &Chance) -> anyhow::Result<Ruled> {
        let transaction = self.database.begin().await?;
        if lock_account(&transaction, word.account).await?.is_none() {
            return Ok(Ruled::Gone);
        }
        let found = artifacts::find_by_id(&transaction, word.account, word.artifact).await?;
        let Some(artifact) = found else { return Ok(Ruled::Gone) };
        let Some(version) = live_version(&transaction, &artifact).await? else {
            return Ok(Ruled::NothingIsLive);
        };
        if word.looked_at.is_some_and(|looked_at| looked_at.to_string() != version.id) {
            return Ok(Ruled::OtherIsLive { seq: u32::try_from(version.seq).unwrap_or(0) });
        }
        let (status, by) = (word.ruling.status(), ModeratedBy::Moderator);
        let decision = Decision::of_people(&version, status, by, chance, word.now);
        let decided_by = DecidedBy { moderator: &word.moderator, note: word.note.as_ref() };
        note(&transaction, &Decision { decided_by: Some(decided_by), ..decision }).await?;
        mark(&transaction, &version, status, by, word.now).await?;
        reports::answer_all(&transaction, word.artifact, word.now).await?;
        let entry = Entry {
            account: Some(word.account),
            actor: actor(&word.moderator),
            action: "version.moderated",
            subject: &version.id,
            detail: told(word, &artifact.host),
        };
        audit::note(&transaction, chance, word.now, entry).await?;
        transaction.commit().await.context("commit a moderator's word")?;
        Ok(Ruled::Done)
    }
}

/// As the audit trail names who acts: a person by their id, one of the operator's people by the name that they gave.
fn actor(moderator: &Moderator) -> String {
    match moderator {
        Moderator::Person(user) => user.to_string(),
        Moderator::Operator(name) => format!("operator:{name}"),
    }
}

fn told(word: &ModeratorsWord, host: &str) -> String {
    let status = word.ruling.status().as_str();
    match &word.note {
        Some(note) => format!("{host} is now {status}: {}", note.as_str()),
        None => format!("{host} is now {status}"),
    }
}

/// The version that an artifact shows, if one is live.
pub(crate) async fn live_version(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<Option<entity::version::Model>> {
    let Some(id) = &artifact.live_version_id else { return Ok(None) };
    Ok(entity::version::Entity::find_by_id(id.as_str()).one(transaction).await?)
}

/// Keeps a decision.
pub(crate) async fn note(transaction: &DatabaseTransaction, decision: &Decision<'_>) -> anyhow::Result<()> {
    let (person, operator) = match decision.decided_by.map(|by| by.moderator) {
        Some(Moderator::Person(user)) => (Some(user.to_string()), None),
        Some(Moderator::Operator(name)) => (None, Some(name.to_string())),
        None => (None, None),
    };
    let written = decision.decided_by.and_then(|by| by.note).map(|note| note.as_str().to_owned());
    let row = entity::moderation_decision::ActiveModel {
        id: Set(decision.id.clone()),
        version_id: Set(decision.version.id.clone()),
        artifact_id: Set(decision.version.artifact_id.clone()),
        status: Set(decision.status.as_str().to_owned()),
        source: Set(decision.source.as_str().to_owned()),
        evidence: Set(decision.evidence.to_owned()),
        scanner_version: Set(decision.scanner_version.map(str::to_owned)),
        decided_by: Set(person),
        operator: Set(operator),
        note: Set(written),
        created_at: Set(decision.now.millis()),
    };
    entity::moderation_decision::Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}

/// Writes a status to a version, and to its route when it is live.
pub(crate) async fn mark(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
    status: ModerationStatus,
    by: ModeratedBy,
    now: Time,
) -> anyhow::Result<()> {
    let change = entity::version::ActiveModel {
        id: Set(version.id.clone()),
        moderation_status: Set(status.as_str().to_owned()),
        moderated_by: Set(by.as_str().to_owned()),
        ..Default::default()
    };
    entity::version::Entity::update(change).exec_without_returning(transaction).await?;
    if version.moderation_status != status.as_str() {
        show(transaction, version, status, now).await?;
    }
    Ok(())
}

/// Writes a status to the route of a version. The host that shows the version, if it is live.
pub(crate) async fn show(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
    status: ModerationStatus,
    now: Time,
) -> anyhow::Result<Option<Host>> {
    let routes = entity::route::Entity::update_many()
        .col_expr(entity::route::Column::ModerationStatus, Expr::value(status.as_str()))
        .col_expr(entity::route::Column::UpdatedAt, routes::changed_at(now))
        .filter(entity::route::Column::VersionId.eq(version.id.as_str()))
        .exec_with_returning(transaction)
        .await?;
    routes.first().map(|route| rows::parse(&route.host, "a host")).transpose()
}
