//! New slugs for artifacts. The host and the URL stay, so links keep working.

use anyhow::Context;
use domain::{Artifact, Refusal, Slug};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::ArtifactStore;
use crate::rows::artifact::{find, with_live_version};

impl ArtifactStore<'_> {
    /// Gives an artifact another slug. `None` if there is no such artifact. The lock of the account's row
    /// keeps a publish from taking the new slug at the same time.
    pub async fn rename(self, change: &Change<'_>, slug: &Slug, to: &Slug) -> ChangeResult<Option<Artifact>> {
        let begun = change.begin(self.0).await?;
        let transaction = begun.transaction;
        let Some(mut row) = find(&transaction, change.account, slug).await? else { return Ok(None) };
        if let Some(other) = find(&transaction, change.account, to).await?
            && other.id != row.id
        {
            return Err(
                Refusal::invalid("slug", "is the name of another page; choose a different one").into()
            );
        }
        if slug == to {
            return Ok(Some(with_live_version(&transaction, row).await?));
        }
        row.slug = to.to_string();
        row.updated_at = change.now.millis();
        let renamed = entity::artifact::ActiveModel {
            id: Set(row.id.clone()),
            slug: Set(row.slug.clone()),
            updated_at: Set(row.updated_at),
            ..Default::default()
        };
        entity::artifact::Entity::update(renamed).exec_without_returning(&transaction).await?;
        let detail = format!("from {slug} to {to}");
        change.note(&transaction, "artifact.renamed", &row.host, detail).await?;
        let artifact = with_live_version(&transaction, row).await?;
        transaction.commit().await.context("commit a new slug")?;
        Ok(Some(artifact))
    }
}
