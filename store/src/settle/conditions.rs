//! The live versions that the conditions of publishes are compared with, while a commit is settled.

use std::collections::HashMap;

use anyhow::Context;
use domain::{CurrentVersion, ExistingSlug, PublishOperation, Refusal, Target};
use sea_orm::DatabaseTransaction;

use crate::rows::version::{current_version, current_versions};

/// By version id. It has the live versions of artifacts to which the commit publishes under a condition, and
/// the versions that the commit has made.
pub(super) struct LiveVersions(HashMap<String, CurrentVersion>);

impl LiveVersions {
    /// Reads the live versions with these ids, in one statement. Without ids it runs none.
    pub(super) async fn read(transaction: &DatabaseTransaction, ids: Vec<String>) -> anyhow::Result<Self> {
        Ok(Self(current_versions(transaction, ids).await.context("read live versions")?))
    }

    pub(super) fn add(&mut self, row: &entity::version::Model) -> anyhow::Result<()> {
        let version = current_version(row.seq, row.created_by.as_deref(), row.created_at)?;
        self.0.insert(row.id.clone(), version);
        Ok(())
    }

    /// The refusal if the publish has a condition that is not met. `artifact` has the publish's slug.
    pub(super) fn refusal_of(
        &self,
        operation: &PublishOperation,
        artifact: Option<&entity::artifact::Model>,
    ) -> anyhow::Result<Option<Refusal>> {
        let Target::If(condition) = operation.order.target else { return Ok(None) };
        let live = artifact.and_then(|artifact| artifact.live_version_id.as_ref());
        let live =
            live.map(|id| self.0.get(id).copied().context("a live version was not read")).transpose()?;
        Ok(Refusal::of_condition(condition, artifact.map(|_| ExistingSlug { live })))
    }
}
