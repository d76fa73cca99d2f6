//! Artifacts and versions. Finders take the account first, so that no call can reach another tenant's row.
//! `find_at` and `list_named` do not, because reports and moderators name pages of any account.

use std::collections::HashMap;

use anyhow::Context;
use domain::{
    AccountId, Artifact, ArtifactId, Cursor, ExistingSlug, Host, List, Manifest, Message, Page, Paged, Slug,
    Time, UserId, Version,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Query;
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect,
};

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::ArtifactStore;
use crate::pages::{self, Keys};
use crate::reports::{self, Answered};
use crate::rows::account::{lock_account, must_not_be_suspended};
use crate::rows::artifact::{find, find_at, live, live_of_anyone, live_versions, with_live_version};
use crate::rows::version::current_versions;
use crate::script::Script;
use crate::{appeals, blocked_contents, held_pages, routes, rows};

/// The order of the list. An index has the same order.
pub(crate) const LISTED_BY: Keys<entity::artifact::Column> =
    Keys::NewestFirst(entity::artifact::Column::CreatedAt, entity::artifact::Column::Id);

/// The result of an activation.
#[derive(Debug)]
pub enum ActivationResult {
    Artifact(Box<Artifact>),
    NoSuchArtifact,
    NoSuchVersion,
}

/// Whose artifacts to search for a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlugOwner {
    /// Artifacts of the accounts that this person is a member of.
    Of(UserId),
    Anyone,
}

impl ArtifactStore<'_> {
    /// The account's artifacts that are not deleted, newest first. A pinned token lists only its own
    /// artifact.
    pub async fn list(
        self,
        account: AccountId,
        pinned_to: Option<ArtifactId>,
        page: &Page,
    ) -> anyhow::Result<Paged<Artifact>> {
        use entity::artifact::Column;
        let mut query = live(account);
        if let Some(pin) = pinned_to {
            query = query.filter(Column::Id.eq(pin.to_string()));
        }
        let reader = &self.0.database.reader;
        let cursor = |row: &entity::artifact::Model| Cursor::new(List::Artifacts, row.created_at, &row.id);
        let found = pages::read(reader, query, LISTED_BY, page, cursor).await?;
        let ids = found.rows.iter().filter_map(|row| row.live_version_id.clone()).collect();
        let live = live_versions(reader, ids).await?;
        found.try_map(|row| {
            let version = row.live_version_id.as_ref().and_then(|id| live.get(id)).cloned();
            rows::artifact(row, version)
        })
    }

    /// The slugs of those artifacts that belong to the account and are not deleted.
    pub async fn slugs(
        self,
        account: AccountId,
        artifacts: &[ArtifactId],
    ) -> anyhow::Result<HashMap<ArtifactId, Slug>> {
        use entity::artifact::Column;
        let found: Vec<(String, String)> = live(account)
            .select_only()
            .columns([Column::Id, Column::Slug])
            .filter(Column::Id.is_in(artifacts.iter().map(ArtifactId::to_string)))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        found
            .into_iter()
            .map(|(id, slug)| Ok((rows::parse(&id, "an artifact id")?, rows::parse(&slug, "a slug")?)))
            .collect()
    }

    /// The slugs of the account's artifacts at these hosts, except deleted ones.
    pub async fn slugs_at(self, account: AccountId, hosts: &[Host]) -> anyhow::Result<HashMap<Host, Slug>> {
        use entity::artifact::Column;
        let found: Vec<(String, String)> = live(account)
            .select_only()
            .columns([Column::Host, Column::Slug])
            .filter(Column::Host.is_in(hosts.iter().map(Host::as_str)))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        found
            .into_iter()
            .map(|(host, slug)| Ok((rows::parse(&host, "a host")?, rows::parse(&slug, "a slug")?)))
            .collect()
    }

    pub async fn find(self, account: AccountId, slug: &Slug) -> anyhow::Result<Option<Artifact>> {
        let Some(row) = find(&self.0.database.reader, account, slug).await? else { return Ok(None) };
        with_live_version(&self.0.database.reader, row).await.map(Some)
    }

    /// The artifact with a slug, as the condition of a publish is compared with it.
    pub async fn existing(self, account: AccountId, slug: &Slug) -> anyhow::Result<Option<ExistingSlug>> {
        let reader = &self.0.database.reader;
        let Some(row) = find(reader, account, slug).await? else { return Ok(None) };
        let live = current_versions(reader, row.live_version_id.into_iter().collect()).await?;
        Ok(Some(ExistingSlug { live: live.into_values().next() }))
    }

    /// The artifact of a host, in any account: reports and moderators name pages of all accounts.
    pub async fn find_at(self, host: &Host) -> anyhow::Result<Option<Artifact>> {
        let reader = &self.0.database.reader;
        let Some(row) = find_at(reader, host).await? else { return Ok(None) };
        with_live_version(reader, row).await.map(Some)
    }

    /// Artifacts with a slug, in one or all accounts.
    pub async fn list_named(
        self,
        slug: &Slug,
        whose: SlugOwner,
        at_most: u64,
    ) -> anyhow::Result<Vec<Artifact>> {
        let reader = &self.0.database.reader;
        let mut named = live_of_anyone()
            .filter(entity::artifact::Column::Slug.eq(slug.as_str()))
            .order_by_asc(entity::artifact::Column::Id)
            .limit(at_most);
        if let SlugOwner::Of(user) = whose {
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

    /// The versions of one of the account's artifacts, newest first.
    pub async fn list_versions(
        self,
        account: AccountId,
        artifact: ArtifactId,
        page: &Page,
    ) -> anyhow::Result<Paged<Version>> {
        use entity::version::Column;
        let query = entity::version::Entity::find()
            .filter(Column::ArtifactId.eq(artifact.to_string()))
            .filter(Column::AccountId.eq(account.to_string()));
        let reader = &self.0.database.reader;
        let total = pages::total(reader, &query, page).await?;
        let rows = Keys::Numbered(Column::Seq)
            .cut(query.select_only().columns(VersionRow::COLUMNS), page)
            .into_model::<VersionRow>()
            .all(reader)
            .await?;
        let cursor = |row: &VersionRow| Cursor::numbered(List::Versions, row.seq.into());
        Paged { total, ..page.of(rows, cursor) }.try_map(VersionRow::read)
    }

    /// The manifest of any version, whether or not it is or was live.
    pub async fn find_manifest(self, artifact: ArtifactId, seq: u32) -> anyhow::Result<Option<Manifest>> {
        use entity::version::Column;
        let found = entity::version::Entity::find()
            .filter(Column::ArtifactId.eq(artifact.to_string()))
            .filter(Column::Seq.eq(i32::try_from(seq).unwrap_or(i32::MAX)))
            .one(&self.0.database.reader)
            .await?;
        found.map(|row| rows::manifest(&row.manifest)).transpose()
    }

    /// Makes an existing version live and updates the route.
    pub async fn activate(
        self,
        change: &Change<'_>,
        slug: &Slug,
        seq: u32,
    ) -> ChangeResult<ActivationResult> {
        let Change { account, now, .. } = *change;
        let transaction = self.0.database.begin().await?;
        let Some(owner) = lock_account(&transaction, account).await? else {
            return Ok(ActivationResult::NoSuchArtifact);
        };
        must_not_be_suspended(&owner)?;
        let Some(mut artifact) = find(&transaction, account, slug).await? else {
            return Ok(ActivationResult::NoSuchArtifact);
        };
        let version = rows::version::version_of(&transaction, &artifact.id, seq).await?;
        let Some(mut version) = version else { return Ok(ActivationResult::NoSuchVersion) };
        if artifact.live_version_id.as_ref() != Some(&version.id) {
            blocked_contents::block_if_listed(&transaction, &mut version, change.chance, now).await?;
        }
        held_pages::hold_if_not_served(&transaction, &version, now).await?;
        artifact.live_version_id = Some(version.id.clone());
        artifact.updated_at = now.millis();
        let activation = entity::artifact::ActiveModel {
            id: Set(artifact.id.clone()),
            live_version_id: Set(artifact.live_version_id.clone()),
            updated_at: Set(artifact.updated_at),
            ..Default::default()
        };
        entity::artifact::Entity::update(activation).exec_without_returning(&transaction).await?;
        let mut script = Script::for_the(&transaction);
        routes::point(&mut script, [routes::row(&owner, &artifact, &version, now)], now)?;
        script.run(&transaction).await?;
        change.note(&transaction, "artifact.activated", &artifact.host, format!("version {seq}")).await?;
        transaction.commit().await.context("commit an activation")?;
        Ok(ActivationResult::Artifact(Box::new(rows::artifact(
            artifact,
            Some(rows::shown_version(&version)?),
        )?)))
    }

    /// Soft-deletes an artifact and deletes its route. Returns the host that must no longer be served, if
    /// there was one.
    pub async fn delete(self, change: &Change<'_>, slug: &Slug) -> ChangeResult<Option<Host>> {
        let Change { account, now, .. } = *change;
        let transaction = self.0.database.begin().await?;
        let Some(mut owner) = lock_account(&transaction, account).await? else { return Ok(None) };
        must_not_be_suspended(&owner)?;
        let Some(artifact) = find(&transaction, account, slug).await? else { return Ok(None) };
        take_down(&transaction, &mut owner, &artifact, now).await?;
        change.note(&transaction, "artifact.deleted", &artifact.host, String::new()).await?;
        transaction.commit().await.context("commit a deletion")?;
        Ok(Some(rows::parse(&artifact.host, "a host")?))
    }
}

/// Marks an artifact as deleted, deletes its route and closes its reports and appeals.
pub(crate) async fn take_down(
    transaction: &DatabaseTransaction,
    owner: &mut entity::account::Model,
    artifact: &entity::artifact::Model,
    now: Time,
) -> anyhow::Result<()> {
    let deletion = entity::artifact::ActiveModel {
        id: Set(artifact.id.clone()),
        deleted_at: Set(Some(now.millis())),
        updated_at: Set(now.millis()),
        ..Default::default()
    };
    entity::artifact::Entity::update(deletion).exec_without_returning(transaction).await?;
    owner.artifact_count = owner.artifact_count.saturating_sub(1).max(0);
    let one_less = entity::account::ActiveModel {
        id: Set(owner.id.clone()),
        artifact_count: Set(owner.artifact_count),
        ..Default::default()
    };
    entity::account::Entity::update(one_less).exec_without_returning(transaction).await?;
    entity::route::Entity::delete_by_id(artifact.host.as_str()).exec(transaction).await?;
    let id = rows::parse(&artifact.id, "an artifact id")?;
    reports::answer(transaction, id, Answered::All, now).await?;
    appeals::close(transaction, id, appeals::Closing::All, now).await?;
    Ok(())
}

/// Leaves out the manifest, which can be long and which a list does not need.
#[derive(FromQueryResult)]
struct VersionRow {
    id: String,
    seq: i32,
    total_bytes: i64,
    file_count: i32,
    created_via: String,
    message: Option<String>,
    created_at: i64,
    moderation_status: String,
}

impl VersionRow {
    const COLUMNS: [entity::version::Column; 8] = {
        use entity::version::Column;
        [
            Column::Id,
            Column::Seq,
            Column::TotalBytes,
            Column::FileCount,
            Column::CreatedVia,
            Column::Message,
            Column::CreatedAt,
            Column::ModerationStatus,
        ]
    };

    fn read(self) -> anyhow::Result<Version> {
        Ok(Version {
            id: rows::parse(&self.id, "a version id")?,
            seq: u32::try_from(self.seq).unwrap_or(0),
            total_bytes: rows::count(self.total_bytes),
            file_count: u32::try_from(self.file_count).unwrap_or(0),
            created_via: rows::created_via(&self.created_via)?,
            message: self.message.map(Message::try_from).transpose().context("a message")?,
            created_at: Time::from_millis(self.created_at),
            moderation: rows::moderation(&self.moderation_status)?,
        })
    }
}
