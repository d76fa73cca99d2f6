//! New links for private artifacts.

use anyhow::Context;
use domain::{Artifact, Refusal, Slug, Visibility};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::ArtifactStore;
use crate::routes;
use crate::rows::artifact::{find, with_live_version};

impl ArtifactStore<'_> {
    /// Gives a private artifact a new link, which invalidates the old one. `None` if there is no such
    /// artifact.
    pub async fn rotate_private_link(
        self,
        change: &Change<'_>,
        slug: &Slug,
    ) -> ChangeResult<Option<Artifact>> {
        let begun = change.begin(self.0).await?;
        let transaction = begun.transaction;
        let Some(mut row) = find(&transaction, change.account, slug).await? else { return Ok(None) };
        if row.visibility != Visibility::Private.as_str() {
            return Err(Refusal::NotPrivate.into());
        }
        row.link_generation =
            row.link_generation.checked_add(1).context("a private link was replaced too often")?;
        row.updated_at = change.now.millis();
        let rotation = entity::artifact::ActiveModel {
            id: Set(row.id.clone()),
            link_generation: Set(row.link_generation),
            updated_at: Set(row.updated_at),
            ..Default::default()
        };
        entity::artifact::Entity::update(rotation).exec_without_returning(&transaction).await?;
        change.note(&transaction, "artifact.private_link_rotated", &row.host, String::new()).await?;
        routes::rotate_link(&transaction, &row, change.now).await?;
        let artifact = with_live_version(&transaction, row).await?;
        transaction.commit().await.context("commit a new private link")?;
        Ok(Some(artifact))
    }
}
