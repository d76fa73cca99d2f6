//! Decisions on versions by scans, reports and moderators: how they are stored, their effect on a version and
//! its route, and earlier decisions.

use std::collections::HashMap;

use anyhow::Context;
use domain::{Chance, DecisionId, Host, ModeratedBy, ModerationStatus, Moderator, RulingNote, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect,
};

use crate::handles::ModerationStore;
use crate::many::among;
use crate::{routes, rows};

/// The evidence of a decision that is not based on a scan.
pub(crate) const NO_FINDINGS: &str = "[]";

/// A stored decision of a scan.
#[derive(Clone, Debug)]
pub struct StoredScan {
    pub evidence: String,
    pub scanner_version: Option<String>,
    pub at: Time,
}

/// A filter for a list of decisions, newest first.
#[derive(Clone, Debug, Default)]
pub struct DecisionFilter {
    pub host: Option<Host>,
    /// Leaves out decisions by scans and reports.
    pub by_moderators: bool,
    /// The last decision of the previous page.
    pub before: Option<DecisionId>,
}

/// A decision on a version.
#[derive(Clone, Debug)]
pub struct StoredDecision {
    pub id: DecisionId,
    pub host: Host,
    pub seq: u32,
    pub status: ModerationStatus,
    pub source: ModeratedBy,
    /// The name of the person who decided.
    pub decided_by: Option<String>,
    pub note: Option<String>,
    pub evidence: String,
    pub scanner_version: Option<String>,
    pub at: Time,
}

/// A decision to store.
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

/// The moderator who decided, and their note.
#[derive(Clone, Copy)]
pub(crate) struct DecidedBy<'a> {
    pub moderator: &'a Moderator,
    pub note: Option<&'a RulingNote>,
}

impl<'a> Decision<'a> {
    /// A decision without findings.
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

impl ModerationStore<'_> {
    /// The last scan of each of these versions.
    pub(crate) async fn find_last_scans(
        self,
        versions: Vec<String>,
    ) -> anyhow::Result<HashMap<String, StoredScan>> {
        use entity::moderation_decision::Column;
        if versions.is_empty() {
            return Ok(HashMap::new());
        }
        let again = self.find_last_rules(&versions).await?;
        let found = entity::moderation_decision::Entity::find()
            .filter(Column::VersionId.is_in(versions))
            .filter(Column::Source.eq(ModeratedBy::Scan.as_str()))
            // Ascending, so that the latest scan of a version overwrites the earlier ones in the map.
            .order_by_asc(Column::Id)
            .all(&self.0.database.reader)
            .await?;
        let scan = |row: entity::moderation_decision::Model| {
            // A scan with an unchanged result stores no decision. Only the version records it.
            let later = again.get(&row.version_id).filter(|(_, at)| *at >= row.created_at);
            let (scanner_version, at) = match later {
                Some((rules, at)) => (Some(rules.to_string()), *at),
                None => (row.scanner_version, row.created_at),
            };
            (
                row.version_id,
                StoredScan { evidence: row.evidence, scanner_version, at: Time::from_millis(at) },
            )
        };
        Ok(found.into_iter().map(scan).collect())
    }

    /// Which rules scanned each of these versions last, and when, as far as recorded.
    async fn find_last_rules(self, versions: &[String]) -> anyhow::Result<HashMap<String, (i32, i64)>> {
        use entity::version::Column;
        let found: Vec<(String, i32, i64)> = entity::version::Entity::find()
            .select_only()
            .columns([Column::Id, Column::ScannedBy, Column::ScannedAt])
            .filter(Column::Id.is_in(versions))
            .filter(Column::ScannedBy.is_not_null().and(Column::ScannedAt.is_not_null()))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        Ok(found.into_iter().map(|(version, rules, at)| (version, (rules, at))).collect())
    }
}

/// Stores a decision and returns its row.
pub(crate) async fn note(
    transaction: &DatabaseTransaction,
    decision: &Decision<'_>,
) -> anyhow::Result<entity::moderation_decision::Model> {
    let row = row_of(decision);
    let inserted = entity::moderation_decision::ActiveModel::from(row.clone()).reset_all();
    entity::moderation_decision::Entity::insert(inserted).exec_without_returning(transaction).await?;
    Ok(row)
}

pub(crate) fn row_of(decision: &Decision<'_>) -> entity::moderation_decision::Model {
    let (person, operator) = match decision.decided_by.map(|by| by.moderator) {
        Some(Moderator::Person(user)) => (Some(user.to_string()), None),
        Some(Moderator::Operator(name)) => (None, Some(name.to_string())),
        None => (None, None),
    };
    entity::moderation_decision::Model {
        id: decision.id.clone(),
        version_id: decision.version.id.clone(),
        artifact_id: decision.version.artifact_id.clone(),
        status: decision.status.as_str().to_owned(),
        source: decision.source.as_str().to_owned(),
        evidence: decision.evidence.to_owned(),
        scanner_version: decision.scanner_version.map(str::to_owned),
        decided_by: person,
        operator,
        note: decision.decided_by.and_then(|by| by.note).map(|note| note.as_str().to_owned()),
        created_at: decision.now.millis(),
    }
}

/// Sets the status of a version, and of its route if it is live.
pub(crate) async fn set_status(
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
        let after = entity::version::Model {
            moderation_status: status.as_str().to_owned(),
            moderated_by: by.as_str().to_owned(),
            ..version.clone()
        };
        set_route_status(transaction, &[version.id.as_str()], status, routes::held_from(&after), now).await?;
    }
    Ok(())
}

/// Sets the status of versions' routes, and when these begin to be held back. Returns the hosts of the live
/// versions, by version.
pub(crate) async fn set_route_status(
    transaction: &DatabaseTransaction,
    versions: &[&str],
    status: ModerationStatus,
    held_from: Option<i64>,
    now: Time,
) -> anyhow::Result<HashMap<String, Host>> {
    let routes = entity::route::Entity::update_many()
        .col_expr(entity::route::Column::HeldFrom, Expr::value(held_from))
        .col_expr(entity::route::Column::ModerationStatus, Expr::value(status.as_str()))
        .col_expr(entity::route::Column::UpdatedAt, routes::changed_at(now))
        .filter(among(
            transaction,
            entity::route::Column::VersionId,
            versions.iter().copied().map(str::to_owned),
        ))
        .exec_with_returning(transaction)
        .await?;
    routes.into_iter().map(|route| Ok((route.version_id, rows::parse(&route.host, "a host")?))).collect()
}

/// The newest decision on a version.
pub(crate) async fn newest_decision(
    connection: &impl ConnectionTrait,
    version: &str,
) -> anyhow::Result<Option<DecisionId>> {
    use entity::moderation_decision::Column;
    let newest: Option<String> = entity::moderation_decision::Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::VersionId.eq(version))
        .order_by_desc(Column::Id)
        .into_tuple()
        .one(connection)
        .await?;
    newest.map(|id| rows::parse(&id, "a decision id")).transpose()
}

/// Decisions by scans and reports, by version, newest first. They are few, because repeated results are not
/// stored.
pub(crate) async fn earlier_decisions(
    transaction: &DatabaseTransaction,
    versions: &[String],
) -> anyhow::Result<HashMap<String, Vec<entity::moderation_decision::Model>>> {
    use entity::moderation_decision::Column;
    let mut found = entity::moderation_decision::Entity::find()
        .filter(among(transaction, Column::VersionId, versions.to_vec()))
        .filter(Column::Source.is_in([ModeratedBy::Scan.as_str(), ModeratedBy::Report.as_str()]))
        .all(transaction)
        .await
        .context("read earlier decisions on versions")?;
    // Sorted here, because PostgreSQL might read all decisions in the order of their ids.
    found.sort_by(|one, other| other.id.cmp(&one.id));
    let mut by_version: HashMap<String, Vec<_>> = HashMap::new();
    for decision in found {
        by_version.entry(decision.version_id.clone()).or_default().push(decision);
    }
    Ok(by_version)
}

/// The findings of the last scan of a version.
pub(crate) async fn last_findings(
    transaction: &DatabaseTransaction,
    version: &str,
) -> anyhow::Result<String> {
    let earlier = earlier_decisions(transaction, &[version.to_owned()]).await?.remove(version);
    let mut scans = earlier.unwrap_or_default().into_iter();
    let last = scans.find(|decision| decision.source == ModeratedBy::Scan.as_str());
    Ok(last.map_or_else(|| NO_FINDINGS.to_owned(), |decision| decision.evidence))
}

/// The hosts of versions, by version. A version that is not live has an address there, too.
pub(crate) async fn find_hosts(
    transaction: &DatabaseTransaction,
    versions: &[&entity::version::Model],
) -> anyhow::Result<HashMap<String, Host>> {
    if versions.is_empty() {
        return Ok(HashMap::new());
    }
    let artifacts = versions.iter().map(|version| version.artifact_id.as_str());
    let hosts = rows::artifact::hosts_even_deleted(transaction, artifacts).await?;
    let host_of = |version: &&entity::version::Model| {
        let host = hosts.get(&version.artifact_id)?;
        Some(rows::parse(host, "a host").map(|host| (version.id.clone(), host)))
    };
    versions.iter().filter_map(host_of).collect()
}
