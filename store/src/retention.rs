//! Deletes the versions that the rule of their artifact or account no longer keeps.
//!
//! The versions are found again under the lock of the account's row. An activation, a publish or a change of
//! the rule takes the same lock, so no live version and none that a new rule keeps is deleted.

use std::collections::BTreeMap;

use anyhow::Context;
use domain::{AccountId, Artifact, Chance, Host, Retention, RetentionChange, Slug, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;

use crate::audit::{self, Entry};
use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::{ArtifactStore, Upkeep};
use crate::rows;
use crate::rows::account::lock_account;
use crate::rows::artifact::{
    OutdatedVersion, accounts_with_retention, find, outdated_versions, with_live_version,
};
use crate::version_deletion::delete_versions;

/// Versions that are deleted in one transaction. Publishes of the account wait until it ends.
const DELETED_AT_ONCE: u64 = 200;
/// The name in the audit log.
const ACTOR: &str = "retention";

/// The versions that one transaction has deleted.
#[derive(Clone, Debug, Default)]
pub struct OutdatedVersions {
    pub versions: u64,
    /// The addresses of the versions are below these hosts.
    pub hosts: Vec<Host>,
    /// Whether there may be more.
    pub is_partial: bool,
}

impl ArtifactStore<'_> {
    /// Changes an artifact's own rule of retention. `None` if there is no such artifact.
    pub async fn set_retention(
        self,
        change: &Change<'_>,
        slug: &Slug,
        retention: RetentionChange,
    ) -> ChangeResult<Option<Artifact>> {
        let begun = change.begin(self.0).await?;
        let transaction = begun.transaction;
        let Some(mut row) = find(&transaction, change.account, slug).await? else { return Ok(None) };
        let after = retention.of(rows::retention(row.versions_kept, row.versions_days));
        (row.versions_kept, row.versions_days) = (column(after.versions_kept), column(after.versions_days));
        let setting = entity::artifact::ActiveModel {
            id: Set(row.id.clone()),
            versions_kept: Set(row.versions_kept),
            versions_days: Set(row.versions_days),
            ..Default::default()
        };
        entity::artifact::Entity::update(setting).exec_without_returning(&transaction).await?;
        change.note(&transaction, "artifact.retention_set", &row.host, detail(after)).await?;
        let artifact = with_live_version(&transaction, row).await?;
        transaction.commit().await.context("commit a rule of retention")?;
        Ok(Some(artifact))
    }
}

impl Upkeep<'_> {
    /// Accounts that have a rule of retention, for themselves or for one of their artifacts, in the order of
    /// their ids.
    pub async fn list_accounts_with_retention(
        self,
        after: Option<AccountId>,
        at_most: u64,
    ) -> anyhow::Result<Vec<AccountId>> {
        let found = accounts_with_retention(&self.0.database.reader, after, at_most).await?;
        found.iter().map(|id| rows::parse(id, "an account id")).collect()
    }

    /// Deletes versions of an account's artifacts that no rule keeps. Their contents are left to the sweeps.
    pub async fn delete_outdated_versions(
        self,
        account: AccountId,
        now: Time,
        chance: &Chance,
    ) -> anyhow::Result<OutdatedVersions> {
        let reader = &self.0.database.reader;
        // Most accounts have none, and need no lock.
        if outdated_versions(reader, account, now, 1).await?.is_empty() {
            return Ok(OutdatedVersions::default());
        }
        let transaction = self.0.database.begin().await?;
        let Some(mut owner) = lock_account(&transaction, account).await? else {
            return Ok(OutdatedVersions::default());
        };
        let outdated = outdated_versions(&transaction, account, now, DELETED_AT_ONCE).await?;
        let ids = outdated.iter().map(|version| version.id.clone()).collect();
        delete_versions(&transaction, &mut owner, ids).await?;
        let by_host = by_host(&outdated);
        for (host, seqs) in &by_host {
            let entry = Entry {
                account: Some(account),
                actor: ACTOR.to_owned(),
                action: "artifact.versions_deleted",
                subject: (*host).into(),
                detail: listed(seqs),
                ..Default::default()
            };
            audit::note(&transaction, chance, now, entry).await?;
        }
        let hosts = by_host.keys().map(|host| rows::parse(host, "a host")).collect::<anyhow::Result<_>>()?;
        transaction.commit().await.context("commit the deletion of outdated versions")?;
        let versions = outdated.len() as u64;
        Ok(OutdatedVersions { versions, hosts, is_partial: versions == DELETED_AT_ONCE })
    }
}

/// The column of a setting.
pub(crate) fn column(setting: Option<u32>) -> Option<i32> {
    setting.map(|number| i32::try_from(number).unwrap_or(i32::MAX))
}

/// A rule in the audit log.
pub(crate) fn detail(rule: Retention) -> String {
    let shown = |setting: Option<u32>| setting.map_or_else(|| "off".to_owned(), |number| number.to_string());
    format!("versions_kept {}, versions_days {}", shown(rule.versions_kept), shown(rule.versions_days))
}

fn by_host(versions: &[OutdatedVersion]) -> BTreeMap<&str, Vec<i32>> {
    let mut by_host: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for version in versions {
        by_host.entry(version.host.as_str()).or_default().push(version.seq);
    }
    by_host
}

fn listed(seqs: &[i32]) -> String {
    let seqs: Vec<String> = seqs.iter().map(ToString::to_string).collect();
    format!("versions {}", seqs.join(", "))
}
