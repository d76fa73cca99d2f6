//! Restores deleted artifacts, with their host and their versions.

use anyhow::Context;
use domain::{AccountId, AccountStatus, Artifact, ArtifactId, Refusal, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::change::{Begun, Change};
use crate::change_result::ChangeResult;
use crate::handles::ArtifactStore;
use crate::purges::RESTORABLE_FOR;
use crate::rows::artifact::{deleted_since, find, find_even_deleted};
use crate::rows::version::live_version;
use crate::script::Script;
use crate::{blocked_contents, routes, rows};

impl ArtifactStore<'_> {
    /// Restores a deleted artifact. `None` if there is no such artifact, or if it was purged or was deleted
    /// too long ago.
    pub async fn restore(
        self,
        change: &Change<'_>,
        artifact: ArtifactId,
        artifacts_max: u64,
    ) -> ChangeResult<Option<Artifact>> {
        let Begun { transaction, account: owner } = change.begin(self.0).await?;
        let oldest = change.now.minus(RESTORABLE_FOR).millis();
        let found = find_even_deleted(&transaction, &artifact.to_string()).await?;
        let is_restorable = |row: &entity::artifact::Model| {
            row.account_id == owner.id
                && row.purged_at.is_none()
                && row.deleted_at.is_some_and(|deleted_at| deleted_at > oldest)
        };
        let Some(mut row) = found.filter(is_restorable) else { return Ok(None) };
        if find(&transaction, change.account, &rows::parse(&row.slug, "a slug")?).await?.is_some() {
            return Err(Refusal::SlugInUse { slug: row.slug }.into());
        }
        let is_claimed = owner.status == AccountStatus::Claimed.as_str();
        if is_claimed && rows::count(owner.artifact_count) >= artifacts_max {
            return Err(Refusal::QuotaExceeded { limit: format!("{artifacts_max} artifacts") }.into());
        }
        if let Some(deleted_at) = row.deleted_at.take() {
            reopen(&transaction, &row.id, deleted_at).await?;
        }
        row.updated_at = change.now.millis();
        bring_back(&transaction, change, &owner, &row).await?;
        change.note(&transaction, "artifact.restored", &row.host, String::new()).await?;
        let restored = rows::artifact::with_live_version(&transaction, row).await?;
        transaction.commit().await.context("commit a restore")?;
        Ok(Some(restored))
    }

    /// The account's artifacts that can be restored, last deleted first. They were updated last when they
    /// were deleted. A pinned token sees only its own.
    pub async fn list_restorable(
        self,
        account: AccountId,
        pinned_to: Option<ArtifactId>,
        now: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<Artifact>> {
        use entity::artifact::Column;
        let mut query = deleted_since(account, now.minus(RESTORABLE_FOR)).limit(at_most);
        query = query.filter(Column::PurgedAt.is_null());
        if let Some(pin) = pinned_to {
            query = query.filter(Column::Id.eq(pin.to_string()));
        }
        let found = query.all(&self.0.database.reader).await.context("list deleted artifacts")?;
        found.into_iter().map(|row| rows::artifact(row, None)).collect()
    }
}

/// Opens the reports and appeals again that the deletion closed. Otherwise an owner could close them.
async fn reopen(transaction: &DatabaseTransaction, artifact: &str, deleted_at: i64) -> anyhow::Result<()> {
    entity::report::Entity::update_many()
        .col_expr(entity::report::Column::HandledAt, Expr::value(None::<i64>))
        .filter(entity::report::Column::ArtifactId.eq(artifact))
        .filter(entity::report::Column::HandledAt.eq(deleted_at))
        .exec(transaction)
        .await
        .context("open the reports on a restored artifact")?;
    entity::appeal::Entity::update_many()
        .col_expr(entity::appeal::Column::HandledAt, Expr::value(None::<i64>))
        .filter(entity::appeal::Column::ArtifactId.eq(artifact))
        .filter(entity::appeal::Column::HandledAt.eq(deleted_at))
        .exec(transaction)
        .await
        .context("open the appeals on a restored artifact")?;
    Ok(())
}

/// Writes the artifact, its count and its route.
async fn bring_back(
    transaction: &DatabaseTransaction,
    change: &Change<'_>,
    owner: &entity::account::Model,
    row: &entity::artifact::Model,
) -> anyhow::Result<()> {
    let restored = entity::artifact::ActiveModel {
        id: Set(row.id.clone()),
        deleted_at: Set(None),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    entity::artifact::Entity::update(restored).exec_without_returning(transaction).await?;
    let one_more = entity::account::ActiveModel {
        id: Set(owner.id.clone()),
        artifact_count: Set(owner.artifact_count.saturating_add(1)),
        ..Default::default()
    };
    entity::account::Entity::update(one_more).exec_without_returning(transaction).await?;
    // Rescans that were due meanwhile were postponed.
    entity::version::Entity::update_many()
        .col_expr(entity::version::Column::ScanAgainAt, Expr::value(0))
        .filter(entity::version::Column::ArtifactId.eq(row.id.as_str()))
        .exec(transaction)
        .await
        .context("make rescans due")?;
    let Some(mut version) = live_version(transaction, row).await? else { return Ok(()) };
    blocked_contents::block_if_listed(transaction, &mut version, change.chance, change.now).await?;
    let mut script = Script::for_the(transaction);
    routes::point(&mut script, [routes::row(owner, row, &version, change.now)], change.now)?;
    script.run(transaction).await
}
