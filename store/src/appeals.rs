//! Owners' appeals. An appeal concerns the live version of a page, or the newest one while none is live, at
//! most once per version. It stays open
//! until a moderator decides on the page or the page is deleted.

use anyhow::Context;
use domain::{
    AppealId, AppealMessage, ArtifactId, Host, ModeratedBy, ModerationStatus, Refusal, Slug, Time, VersionId,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

use crate::change::{Begun, Change};
use crate::change_result::ChangeResult;
use crate::handles::ModerationStore;
use crate::rows;
use crate::rows::version::reviewed_version;

/// How many appeals a page lists at most, newest first.
const APPEALS_SHOWN_MAX: u64 = 20;

#[derive(Clone, Debug)]
pub struct NewAppeal {
    pub id: AppealId,
    pub slug: Slug,
    pub message: AppealMessage,
}

/// An accepted appeal.
#[derive(Clone, Debug)]
pub struct AcceptedAppeal {
    pub host: Host,
    pub seq: u32,
    pub status: ModerationStatus,
}

/// An appeal as moderators see it.
#[derive(Clone, Debug)]
pub struct StoredAppeal {
    pub id: AppealId,
    pub seq: u32,
    pub message: String,
    pub at: Time,
    /// When a decision closed it.
    pub closed_at: Option<Time>,
}

/// The moderation state of a page's live version.
#[derive(Clone, Debug)]
pub struct LiveModeration {
    pub status: ModerationStatus,
    pub moderated_by: ModeratedBy,
    /// The findings of the last scan, as stored.
    pub evidence: Option<String>,
    pub appeal: AppealState,
}

/// Whether the version has an appeal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppealState {
    None,
    Open,
    Closed,
}

impl ModerationStore<'_> {
    /// Records an appeal for the version. `None` if there is no such artifact.
    pub async fn appeal(
        self,
        change: &Change<'_>,
        appeal: &NewAppeal,
    ) -> ChangeResult<Option<AcceptedAppeal>> {
        let Begun { transaction, .. } = change.begin(self.0).await?;
        let found = rows::artifact::find(&transaction, change.account, &appeal.slug).await?;
        let Some(artifact) = found else { return Ok(None) };
        let reviewed = reviewed_version(&transaction, &artifact).await?;
        let status = match &reviewed {
            Some(version) => rows::moderation(&version.moderation_status)?,
            None => ModerationStatus::Pending,
        };
        let Some(version) =
            reviewed.filter(|_| matches!(status, ModerationStatus::Review | ModerationStatus::Blocked))
        else {
            return Err(Refusal::NothingToAppeal { status }.into());
        };
        if of_version(&transaction, &version.id).await?.is_some() {
            return Err(Refusal::AlreadyAppealed.into());
        }
        insert(&transaction, appeal, &version, change.now).await?;
        let detail = format!("version {}", version.seq);
        change.note(&transaction, "artifact.appealed", &artifact.host, detail).await?;
        transaction.commit().await.context("commit an appeal")?;
        Ok(Some(AcceptedAppeal {
            host: rows::parse(&artifact.host, "a host")?,
            seq: u32::try_from(version.seq).unwrap_or(0),
            status,
        }))
    }

    /// The moderation state of a version, with the reason unless it has passed or is pending. `None` if the
    /// version does not exist.
    pub async fn find_live(self, version: VersionId) -> anyhow::Result<Option<LiveModeration>> {
        use entity::version::Column;
        let (id, reader) = (version.to_string(), &self.0.database.reader);
        let found: Option<(String, String)> = entity::version::Entity::find_by_id(id.as_str())
            .select_only()
            .columns([Column::ModerationStatus, Column::ModeratedBy])
            .into_tuple()
            .one(reader)
            .await?;
        let Some((status, moderated_by)) = found else { return Ok(None) };
        let (status, moderated_by) = (rows::moderation(&status)?, rows::moderator_of(&moderated_by)?);
        if matches!(status, ModerationStatus::Pass | ModerationStatus::Pending) {
            let (evidence, appeal) = (None, AppealState::None);
            return Ok(Some(LiveModeration { status, moderated_by, evidence, appeal }));
        }
        let evidence = self.find_last_scans(vec![id.clone()]).await?.remove(&id).map(|scan| scan.evidence);
        Ok(Some(LiveModeration {
            status,
            moderated_by,
            evidence,
            appeal: match of_version(reader, &id).await? {
                None => AppealState::None,
                Some(appeal) if appeal.handled_at.is_none() => AppealState::Open,
                Some(_) => AppealState::Closed,
            },
        }))
    }

    /// The appeals on a page, newest first.
    pub(crate) async fn list_appeals_on(self, artifact: ArtifactId) -> anyhow::Result<Vec<StoredAppeal>> {
        use entity::appeal::Column;
        let found = entity::appeal::Entity::find()
            .filter(Column::ArtifactId.eq(artifact.to_string()))
            .order_by_desc(Column::Id)
            .limit(APPEALS_SHOWN_MAX)
            .all(&self.0.database.reader)
            .await?;
        let versions = found.iter().map(|row| row.version_id.as_str());
        let seqs = rows::version::seqs(&self.0.database.reader, versions).await?;
        let read = |row: entity::appeal::Model| {
            Ok(StoredAppeal {
                id: rows::parse(&row.id, "an appeal id")?,
                seq: seqs.get(&row.version_id).and_then(|seq| u32::try_from(*seq).ok()).unwrap_or(0),
                message: row.message,
                at: Time::from_millis(row.created_at),
                closed_at: row.handled_at.map(Time::from_millis),
            })
        };
        found.into_iter().map(read).collect()
    }
}

/// Closes the open appeals on an artifact and returns their number. Appeals that are newer than the one that
/// the moderator saw stay open.
pub(crate) async fn close(
    transaction: &DatabaseTransaction,
    artifact: ArtifactId,
    closing: Closing,
    now: Time,
) -> anyhow::Result<u64> {
    use entity::appeal::Column;
    let mut appeals = entity::appeal::Entity::update_many();
    match closing {
        Closing::All => {}
        Closing::UpTo(Some(last)) => appeals = appeals.filter(Column::Id.lte(last.to_string())),
        Closing::UpTo(None) => return Ok(0),
    }
    let closed = appeals
        .col_expr(Column::HandledAt, Expr::value(now.millis()))
        .filter(Column::ArtifactId.eq(artifact.to_string()))
        .filter(Column::HandledAt.is_null())
        .exec(transaction)
        .await
        .context("close the appeals on an artifact")?;
    Ok(closed.rows_affected)
}

/// Which appeals a decision closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    All,
    /// Appeals up to this one. `None` closes no appeal.
    UpTo(Option<AppealId>),
}

async fn of_version(
    connection: &impl ConnectionTrait,
    version: &str,
) -> anyhow::Result<Option<entity::appeal::Model>> {
    let found = entity::appeal::Entity::find().filter(entity::appeal::Column::VersionId.eq(version));
    Ok(found.one(connection).await?)
}

async fn insert(
    transaction: &DatabaseTransaction,
    appeal: &NewAppeal,
    version: &entity::version::Model,
    now: Time,
) -> anyhow::Result<()> {
    let row = entity::appeal::ActiveModel {
        id: Set(appeal.id.to_string()),
        artifact_id: Set(version.artifact_id.clone()),
        version_id: Set(version.id.clone()),
        message: Set(appeal.message.as_str().to_owned()),
        created_at: Set(now.millis()),
        handled_at: Set(None),
    };
    entity::appeal::Entity::insert(row)
        .exec_without_returning(transaction)
        .await
        .context("insert an appeal")?;
    Ok(())
}
