//! The edge's one row for a host: read by edges, moved with the pointer.

use std::collections::HashMap;

use domain::{Host, ModerationStatus, Route, Time, VersionId, Visibility};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::{Store, rows};

impl Store {
    /// All that the edge needs to serve a host; none when nothing is live there.
    pub async fn route(&self, host: &Host) -> anyhow::Result<Option<Route>> {
        let found = entity::route::Entity::find_by_id(host.as_str()).one(&self.database.reader).await?;
        found.map(rows::route).transpose()
    }

    /// How the routes of these hosts stand, for who holds them already: everything that changes, without the files.
    pub async fn route_states(&self, hosts: &[Host]) -> anyhow::Result<HashMap<Host, RouteState>> {
        use entity::route::Column;
        let found: Vec<(String, String, String, String, Option<i64>)> = entity::route::Entity::find()
            .select_only()
            .columns([
                Column::Host,
                Column::VersionId,
                Column::Visibility,
                Column::ModerationStatus,
                Column::ExpiresAt,
            ])
            .filter(Column::Host.is_in(hosts.iter().map(Host::as_str)))
            .into_tuple()
            .all(&self.database.reader)
            .await?;
        let state = |(host, version, visibility, moderation, expires_at): (
            String,
            String,
            String,
            String,
            Option<i64>,
        )| {
            let state = RouteState {
                version: rows::parse(&version, "a version id")?,
                visibility: rows::visibility(&visibility)?,
                moderation: rows::moderation(&moderation)?,
                expires_at: expires_at.map(Time::from_millis),
            };
            Ok((rows::parse(&host, "a host")?, state))
        };
        found.into_iter().map(state).collect()
    }
}

/// What can change about a route. All else is a matter of the host or of the version, which never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteState {
    pub version: VersionId,
    pub visibility: Visibility,
    pub moderation: ModerationStatus,
    pub expires_at: Option<Time>,
}

impl RouteState {
    pub fn of(route: &Route) -> Self {
        let Route { version, visibility, moderation, expires_at, .. } = *route;
        Self { version, visibility, moderation, expires_at }
    }
}

/// Points an artifact's route at a version, within the transaction that moves the live pointer.
pub(crate) async fn point(
    transaction: &DatabaseTransaction,
    owner: &entity::account::Model,
    artifact: &entity::artifact::Model,
    version: &entity::version::Model,
    now: Time,
) -> anyhow::Result<()> {
    let row = entity::route::ActiveModel {
        host: Set(artifact.host.clone()),
        account_id: Set(owner.id.clone()),
        artifact_id: Set(artifact.id.clone()),
        version_id: Set(version.id.clone()),
        visibility: Set(artifact.visibility.clone()),
        moderation_status: Set(version.moderation_status.clone()),
        expires_at: Set(owner.expires_at),
        published_at: Set(version.created_at),
        manifest: Set(version.manifest.clone()),
        updated_at: Set(now.millis()),
    };
    let mut replace = OnConflict::column(entity::route::Column::Host);
    replace.update_columns([
        entity::route::Column::VersionId,
        entity::route::Column::Visibility,
        entity::route::Column::ModerationStatus,
        entity::route::Column::ExpiresAt,
        entity::route::Column::PublishedAt,
        entity::route::Column::Manifest,
        entity::route::Column::UpdatedAt,
    ]);
    entity::route::Entity::insert(row).on_conflict(replace).exec_without_returning(transaction).await?;
    Ok(())
}

/// Shows a host to more or fewer, within the transaction that changes its artifact.
pub(crate) async fn show(
    transaction: &DatabaseTransaction,
    host: &Host,
    to: Visibility,
    now: Time,
) -> anyhow::Result<()> {
    let change = entity::route::ActiveModel {
        visibility: Set(to.as_str().to_owned()),
        updated_at: Set(now.millis()),
        ..Default::default()
    };
    entity::route::Entity::update_many()
        .set(change)
        .filter(entity::route::Column::Host.eq(host.as_str()))
        .exec(transaction)
        .await?;
    Ok(())
}
