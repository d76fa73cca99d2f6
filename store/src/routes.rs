//! The row that the edge reads for a host. It changes together with the live version.
//!
//! Every change has its own date, and two changes of a route are never within the same second. HTTP dates
//! have seconds, so a visitor's cached copy is identified by its second.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use domain::{AccountId, BlobHash, Host, ModeratedBy, ModerationStatus, Route, Time, Visibility};
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, FromQueryResult, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect,
};

use crate::handles::RouteStore;
use crate::many::among;
use crate::read_batch::ReadBatch;
use crate::rows::version::oldest_pending_of_route;
use crate::script::Script;
use crate::{Store, held_pages, rows};

/// Reads routes for concurrent requests, which share statements. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RouteReader(ReadBatch<Host, anyhow::Result<Option<Route>>>);

/// A row, and the publish time of the oldest version whose scan would be late, for rows that depend on it.
#[derive(FromQueryResult)]
struct FoundRoute {
    #[sea_orm(nested)]
    row: entity::route::Model,
    oldest_pending_at: Option<i64>,
}

impl RouteReader {
    pub fn start(store: Store) -> Self {
        Self(ReadBatch::start(move |hosts: Arc<[Host]>| {
            let store = store.clone();
            async move { store.routes().find_each(&hosts).await }
        }))
    }

    /// The same as [`RouteStore::find`].
    pub async fn find(&self, host: &Host) -> anyhow::Result<Option<Route>> {
        self.0.read(host.clone()).await?
    }
}

impl FoundRoute {
    fn route(&self) -> anyhow::Result<Route> {
        let mut route = rows::route(&self.row)?;
        let late_from = self.oldest_pending_at.map(|at| Time::from_millis(at).plus(Route::SCAN_WAIT_MAX));
        route.held_from = route.held_from.into_iter().chain(late_from).min();
        Ok(route)
    }
}

impl RouteStore<'_> {
    /// Everything that the edge needs to serve a host. `None` if no version is live there.
    pub async fn find(self, host: &Host) -> anyhow::Result<Option<Route>> {
        let mut found = self.find_each(std::slice::from_ref(host)).await?;
        found.pop().context("a route was not looked up")?
    }

    /// The route of each of these hosts. A row that cannot be read affects only its own host.
    async fn find_each(self, hosts: &[Host]) -> anyhow::Result<Vec<anyhow::Result<Option<Route>>>> {
        let reader = &self.0.database.reader;
        let found: Vec<FoundRoute> = entity::route::Entity::find()
            .expr_as(oldest_pending_of_route(), "oldest_pending_at")
            .filter(among(reader, entity::route::Column::Host, hosts.iter().map(Host::to_string)))
            .into_model()
            .all(reader)
            .await?;
        let by_host: HashMap<&str, &FoundRoute> =
            found.iter().map(|found| (found.row.host.as_str(), found)).collect();
        let route_of = |host: &Host| by_host.get(host.as_str()).map(|found| found.route()).transpose();
        Ok(hosts.iter().map(route_of).collect())
    }

    /// A content of any page. `None` if nothing is published.
    pub async fn find_any_content(self) -> anyhow::Result<Option<BlobHash>> {
        let first = entity::route::Entity::find().order_by_asc(entity::route::Column::Host).limit(1);
        let row = first.one(&self.0.database.reader).await?;
        let route = row.as_ref().map(rows::route).transpose()?;
        Ok(route.and_then(|route| route.manifest.files().first().map(|file| file.hash)))
    }
}

/// The minimum distance between two changes of a route.
const CHANGES_APART_MILLIS: i64 = 1000;

/// The route of an artifact with this live version.
pub(crate) fn row(
    owner: &entity::account::Model,
    artifact: &entity::artifact::Model,
    version: &entity::version::Model,
    now: Time,
) -> entity::route::Model {
    entity::route::Model {
        host: artifact.host.clone(),
        account_id: owner.id.clone(),
        artifact_id: artifact.id.clone(),
        version_id: version.id.clone(),
        visibility: artifact.visibility.clone(),
        moderation_status: held_pages::status_for_edge(version).to_owned(),
        expires_at: owner.expires_at,
        published_at: version.created_at,
        manifest: version.manifest.clone(),
        updated_at: now.millis(),
        suspended_at: owner.suspended_at,
        held_from: held_from(version),
        link_generation: artifact.link_generation,
    }
}

/// When a version begins to be held back that is in review without a verdict, because it was reported or its
/// scan was given up. A report must not release a version that waits for its scan.
pub(crate) fn held_from(version: &entity::version::Model) -> Option<i64> {
    is_unjudged(version.scanned_by, &version.moderation_status, &version.moderated_by)
        .then(|| Time::from_millis(version.created_at).plus(Route::SCAN_WAIT_MAX).millis())
}

/// Whether a version is in review without a verdict, and not by a moderator's decision.
pub(crate) fn is_unjudged(scanned_by: Option<i32>, status: &str, by: &str) -> bool {
    scanned_by.is_none()
        && status == ModerationStatus::Review.as_str()
        && by != ModeratedBy::Moderator.as_str()
}

/// Points routes at other versions, within the transaction that changes the live versions. No host may occur
/// twice.
pub(crate) fn point(
    script: &mut Script,
    routes: impl IntoIterator<Item = entity::route::Model>,
    now: Time,
) -> anyhow::Result<()> {
    let rows = routes.into_iter().map(|row| row.into_active_model());
    let mut replace = OnConflict::column(entity::route::Column::Host);
    replace.update_columns([
        entity::route::Column::VersionId,
        entity::route::Column::Visibility,
        entity::route::Column::ModerationStatus,
        entity::route::Column::ExpiresAt,
        entity::route::Column::PublishedAt,
        entity::route::Column::Manifest,
        entity::route::Column::HeldFrom,
        entity::route::Column::LinkGeneration,
    ]);
    replace.value(entity::route::Column::UpdatedAt, changed_at(now));
    script.insert::<entity::route::Entity>(rows, Some(replace))
}

/// Changes the visibility of a route, within the transaction that changes its artifact.
pub(crate) async fn show(
    transaction: &DatabaseTransaction,
    host: &Host,
    to: Visibility,
    now: Time,
) -> anyhow::Result<()> {
    entity::route::Entity::update_many()
        .col_expr(entity::route::Column::Visibility, Expr::value(to.as_str()))
        .col_expr(entity::route::Column::UpdatedAt, changed_at(now))
        .filter(entity::route::Column::Host.eq(host.as_str()))
        .exec(transaction)
        .await?;
    Ok(())
}

/// Changes the link of a private route, within the transaction that changes its artifact.
pub(crate) async fn rotate_link(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
    now: Time,
) -> anyhow::Result<()> {
    entity::route::Entity::update_many()
        .col_expr(entity::route::Column::LinkGeneration, Expr::value(artifact.link_generation))
        .col_expr(entity::route::Column::UpdatedAt, changed_at(now))
        .filter(entity::route::Column::Host.eq(artifact.host.as_str()))
        .exec(transaction)
        .await?;
    Ok(())
}

/// Suspends all routes of an account or lifts the suspension, within the transaction that changes the
/// account. Returns their hosts.
pub(crate) async fn suspend(
    transaction: &DatabaseTransaction,
    account: AccountId,
    suspended_at: Option<Time>,
    now: Time,
) -> anyhow::Result<Vec<Host>> {
    entity::route::Entity::update_many()
        .col_expr(entity::route::Column::SuspendedAt, Expr::value(suspended_at.map(Time::millis)))
        .col_expr(entity::route::Column::UpdatedAt, changed_at(now))
        .filter(entity::route::Column::AccountId.eq(account.to_string()))
        .exec(transaction)
        .await?;
    hosts_of(transaction, account).await
}

/// The hosts that an account serves.
pub(crate) async fn hosts_of(
    transaction: &DatabaseTransaction,
    account: AccountId,
) -> anyhow::Result<Vec<Host>> {
    let hosts: Vec<String> = entity::route::Entity::find()
        .select_only()
        .column(entity::route::Column::Host)
        .filter(entity::route::Column::AccountId.eq(account.to_string()))
        .into_tuple()
        .all(transaction)
        .await?;
    hosts.iter().map(|host| rows::parse(host, "a host")).collect()
}

/// The date of a change to an existing route. `now` was read before the change waited for the lock, by a
/// clock that may be behind. An earlier change may therefore have the same second or a later one.
pub(crate) fn changed_at(now: Time) -> Expr {
    let before = (entity::route::Entity, entity::route::Column::UpdatedAt);
    let earliest = || Expr::col(before).add(CHANGES_APART_MILLIS);
    let is_late_enough = earliest().lte(now.millis());
    CaseStatement::new().case(is_late_enough, now.millis()).finally(earliest()).into()
}
