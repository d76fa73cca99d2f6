//! Artifacts and versions as their account sees them. A finder takes the account first, so that no call can reach
//! another tenant's row; but for the two that say so, with which reports and moderators name pages of any account.

use std::collections::HashMap;

use anyhow::Context;
use domain::{AccountId, Artifact, ArtifactId, Host, Slug, Time, UserId, Version};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::accounts::lock_account;
use crate::reports::{self, Answered};
use crate::script::Script;
use crate::{Store, routes, rows};

/// How many artifacts a list shows at most; a claimed account has 100 at most, so this is a bound, not a page.
const LIST_MAX: u64 = 1_000;
/// How many versions a detail shows at most, the newest first.
const VERSIONS_MAX: u64 = 10_000;

/// How moving the live pointer ended.
#[derive(Debug)]
pub enum Activated {
    Artifact(Box<Artifact>),
    NoSuchArtifact,
    NoSuchVersion,
}

/// Among whose artifacts a slug is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those of the accounts that a person stands for.
    Of(UserId),
    Anyones,
}

impl Store {
    /// The account's artifacts that are not deleted, the newest first.
    pub async fn artifacts(&self, account: AccountId) -> anyhow::Result<Vec<Artifact>> {
        let found = entity::artifact::Entity::find()
            .filter(entity::artifact::Column::AccountId.eq(account.to_string()))
            .filter(entity::artifact::Column::DeletedAt.is_null())
            .order_by_desc(entity::artifact::Column::CreatedAt)
            .order_by_desc(entity::artifact::Column::Id)
            .limit(LIST_MAX)
            .all(&self.database.reader)
            .await?;
        let live_ids: Vec<_> = found.iter().filter_map(|row| row.live_version_id.clone()).collect();
        let live: HashMap<_, _> = entity::version::Entity::find()
            .filter(entity::version::Column::Id.is_in(live_ids))
            .all(&self.database.reader)
            .await?
            .into_iter()
            .map(|version| (version.id.clone(), version))
            .collect();
        found
            .into_iter()
            .map(|row| {
                let version = row.live_version_id.as_ref().and_then(|id| live.get(id));
                rows::artifact(row, version)
            })
            .collect()
    }

    pub async fn artifact(&self, account: AccountId, slug: &Slug) -> anyhow::Result<Option<Artifact>> {
        let Some(row) = find(&self.database.reader, account, slug).await? else { return Ok(None) };
        with_live_version(&self.database.reader, row).await.map(Some)
    }

    /// The artifact of a host, whoever owns it: reports and moderators name pages of any account.
    pub async fn artifact_at(&self, host: &Host) -> anyhow::Result<Option<Artifact>> {
        let reader = &self.database.reader;
        let found = entity::artifact::Entity::find()
            .filter(entity::artifact::Column::Host.eq(host.as_str()))
            .filter(entity::artifact::Column::DeletedAt.is_null())
            .one(reader)
            .await?;
        let Some(row) = found else { return Ok(None) };
        with_live_version(reader, row).await.map(Some)
    }

    /// Artifacts that bear a slug, whoever owns them: so many at most.
    pub async fn artifacts_named(
        &self,
        slug: &Slug,
        whose: Whose,
        at_most: u64,
    ) -> anyhow::Result<Vec<Artifact>> {
        let reader = &self.database.reader;
        let mut named = entity::artifact::Entity::find()
            .filter(entity::artifact::Column::Slug.eq(slug.as_str()))
            .filter(entity::artifact::Column::DeletedAt.is_null())
            .order_by_asc(entity::artifact::Column::Id)
            .limit(at_most);
        if let Whose::Of(user) = whose {
            let accounts = Query::select()
                .column(entity::membership::Column::AccountId)
                .from(entity::membership::Entity)
                .and_where(entity::membership::Column::UserId.eq(user.to_string()))
                .to_owned();
            named = named.filter(entity::artifact::Column::AccountId.in_subquery(accounts));
        }
        let mut artifacts = Vec::new();
        for row in named.all(reader).await? {
            artifacts.push(with_live_version(reader, row).await?);
        }
        Ok(artifacts)
    }

    /// The versions of an artifact, the newest first.
    pub async fn versions(&self, artifact: ArtifactId) -> anyhow::Result<Vec<Version>> {
        let found = entity::version::Entity::find()
            .filter(entity::version::Column::ArtifactId.eq(artifact.to_string()))
            .order_by_desc(entity::version::Column::Seq)
            .limit(VERSIONS_MAX)
            .all(&self.database.reader)
            .await?;
        found.into_iter().map(rows::version).collect()
    }

    /// Moves the live pointer to any existing version, and the route with it.
    pub async fn activate(
        &self,
        account: AccountId,
        slug: &Slug,
        seq: u32,
        now: Time,
    ) -> anyhow::Result<Activated> {
        let transaction = self.database.begin().await?;
        let Some(owner) = lock_account(&transaction, account).await? else {
            return Ok(Activated::NoSuchArtifact);
        };
        let Some(mut artifact) = find(&transaction, account, slug).await? else {
            return Ok(Activated::NoSuchArtifact);
        };
        let version = entity::version::Entity::find()
            .filter(entity::version::Column::ArtifactId.eq(artifact.id.as_str()))
            .filter(entity::version::Column::Seq.eq(i32::try_from(seq).unwrap_or(i32::MAX)))
            .one(&transaction)
            .await?;
        let Some(version) = version else { return Ok(Activated::NoSuchVersion) };
        artifact.live_version_id = Some(version.id.clone());
        artifact.updated_at = now.millis();
        let change = entity::artifact::ActiveModel {
            id: Set(artifact.id.clone()),
            live_version_id: Set(artifact.live_version_id.clone()),
            updated_at: Set(artifact.updated_at),
            ..Default::default()
        };
        entity::artifact::Entity::update(change).exec_without_returning(&transaction).await?;
        let mut script = Script::for_the(&transaction);
        routes::point(&mut script, [routes::row(&owner, &artifact, &version, now)], now)?;
        script.run(&transaction).await?;
        transaction.commit().await.context("commit an activation")?;
        Ok(Activated::Artifact(Box::new(rows::artifact(artifact, Some(&version))?)))
    }

    /// Soft-deletes an artifact and removes its route. The host whose pages must now stop serving, if there was one.
    pub async fn delete_artifact(
        &self,
        account: AccountId,
        slug: &Slug,
        now: Time,
    ) -> anyhow::Result<Option<Host>> {
        let transaction = self.database.begin().await?;
        let Some(owner) = lock_account(&transaction, account).await? else { return Ok(None) };
        let Some(artifact) = find(&transaction, account, slug).await? else { return Ok(None) };
        let deletion = entity::artifact::ActiveModel {
            id: Set(artifact.id.clone()),
            deleted_at: Set(Some(now.millis())),
            updated_at: Set(now.millis()),
            ..Default::default()
        };
        entity::artifact::Entity::update(deletion).exec_without_returning(&transaction).await?;
        let one_less = entity::account::ActiveModel {
            id: Set(owner.id),
            artifact_count: Set(owner.artifact_count.saturating_sub(1).max(0)),
            ..Default::default()
        };
        entity::account::Entity::update(one_less).exec_without_returning(&transaction).await?;
        entity::route::Entity::delete_by_id(artifact.host.as_str()).exec(&transaction).await?;
        let id = rows::parse(&artifact.id, "an artifact id")?;
        reports::answer(&transaction, id, Answered::All, now).await?;
        transaction.commit().await.context("commit a deletion")?;
        rows::parse(&artifact.host, "a host").map(Some)
    }
}

pub(crate) async fn find(
    connection: &impl ConnectionTrait,
    account: AccountId,
    slug: &Slug,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    Ok(entity::artifact::Entity::find()
        .filter(entity::artifact::Column::AccountId.eq(account.to_string()))
        .filter(entity::artifact::Column::Slug.eq(slug.as_str()))
        .filter(entity::artifact::Column::DeletedAt.is_null())
        .one(connection)
        .await?)
}

/// One of the account's artifacts that is not deleted.
pub(crate) async fn find_by_id(
    connection: &impl ConnectionTrait,
    account: AccountId,
    artifact: ArtifactId,
) -> anyhow::Result<Option<entity::artifact::Model>> {
    Ok(entity::artifact::Entity::find_by_id(artifact.to_string())
        .filter(entity::artifact::Column::AccountId.eq(account.to_string()))
        .filter(entity::artifact::Column::DeletedAt.is_null())
        .one(connection)
        .await?)
}

/// The artifact of a row, with its live version if one is live.
pub(crate) async fn with_live_version(
    connection: &impl ConnectionTrait,
    row: entity::artifact::Model,
) -> anyhow::Result<Artifact> {
    let live = match &row.live_version_id {
        Some(id) => entity::version::Entity::find_by_id(id.as_str()).one(connection).await?,
        None => None,
    };
    rows::artifact(row, live.as_ref())
}
