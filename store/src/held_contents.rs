//! The contents that an account holds, so that it can publish them again without sending them.

use std::collections::HashMap;

use anyhow::Context;
use domain::{AccountId, ArtifactId, BlobHash};
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, Statement};

use crate::blob_index::known;
use crate::content_reader::ContentAddress;
use crate::handles::BlobIndex;
use crate::many::{among, known_pairs};

/// A content that an account holds, and where it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldContent {
    pub address: ContentAddress,
    pub size_bytes: u64,
}

/// Whose contents count.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    pub account: AccountId,
    /// Only those of this artifact's versions.
    pub artifact: Option<ArtifactId>,
}

impl BlobIndex<'_> {
    /// Which of these contents the holder's versions refer to, including those of deleted artifacts, which
    /// still count as the account's storage. A content that was lost from the blob store is left out.
    ///
    /// A content that only other accounts hold is searched for exactly like one that nobody holds, so that
    /// the response time does not show the difference.
    pub async fn find_held(
        self,
        holder: Holder,
        hashes: &[BlobHash],
    ) -> anyhow::Result<HashMap<BlobHash, HeldContent>> {
        let held = match holder.artifact {
            None => self.held_by_account(holder.account, hashes).await?,
            Some(artifact) => self.held_by_artifact(holder.account, artifact, hashes).await?,
        };
        if held.is_empty() {
            return Ok(HashMap::new());
        }
        let reader = &self.0.database.reader;
        let stored = entity::blob::Entity::find()
            .filter(among(reader, entity::blob::Column::Hash, held))
            .filter(entity::blob::Column::LostAt.is_null())
            .all(reader)
            .await
            .context("find the account's contents")?;
        let content = |row| {
            let blob = known(row)?;
            let address = ContentAddress { hash: blob.hash, bundled: blob.bundled };
            Ok((blob.hash, HeldContent { address, size_bytes: blob.size_bytes }))
        };
        stored.into_iter().map(content).collect()
    }

    async fn held_by_account(self, account: AccountId, hashes: &[BlobHash]) -> anyhow::Result<Vec<String>> {
        use entity::blob_ref::Column;
        let pairs = hashes.iter().map(|hash| (hash.to_string(), account.to_string()));
        let reader = &self.0.database.reader;
        let known =
            known_pairs::<entity::blob_ref::Entity>(reader, (Column::Hash, Column::AccountId), pairs).await?;
        Ok(known.into_iter().map(|(hash, _)| hash).collect())
    }

    async fn held_by_artifact(
        self,
        account: AccountId,
        artifact: ArtifactId,
        hashes: &[BlobHash],
    ) -> anyhow::Result<Vec<String>> {
        let reader = &self.0.database.reader;
        let backend = reader.get_database_backend();
        let given = match backend {
            DbBackend::Postgres => "json_array_elements_text(CAST($1 AS json)) AS given(value)",
            _ => "json_each($1) AS given",
        };
        // Stops at the first version that refers to a content. The OFFSET keeps PostgreSQL from reading all
        // of them in a join.
        let sql = format!(
            "SELECT given.value AS hash FROM {given} WHERE EXISTS (
                 SELECT 1 FROM blob_refs AS held JOIN versions AS version ON version.id = held.version_id
                 WHERE held.hash = given.value AND held.account_id = $2 AND version.artifact_id = $3
                 LIMIT 1 OFFSET 0)"
        );
        let hashes: Vec<String> = hashes.iter().map(BlobHash::to_string).collect();
        let values =
            [serde_json::to_string(&hashes)?.into(), account.to_string().into(), artifact.to_string().into()];
        let found = reader.query_all_raw(Statement::from_sql_and_values(backend, sql, values)).await;
        let found = found.context("find the artifact's contents")?;
        found.iter().map(|row| Ok(row.try_get("", "hash")?)).collect()
    }
}
