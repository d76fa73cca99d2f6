//! Contents that were lost from the blob store and are published again. The object must be restored byte for
//! byte, because the manifests of older versions hold the position of every encoding in it, and edges cache
//! them.
//!
//! A release with different encoders cannot restore it, and a retry would not help, so the publish is
//! refused. A response must not announce a page that cannot be served.

use std::collections::{HashMap, HashSet};

use anyhow::Context;
use bytes::Bytes;
use domain::{BlobHash, Refusal, SitePath, Variant};
use store::{ChangeResult, KnownBlob, Layout};
use tokio::task::spawn_blocking;

use crate::Service;

/// Files that a refusal names. The rest are counted.
const NAMED_MAX: usize = 10;

impl Service {
    /// Restores the lost contents of a publish. The refusal names all files whose content cannot be stored as
    /// it was. Returns their locations.
    pub(crate) async fn restore_lost(
        &self,
        lost: &HashMap<BlobHash, KnownBlob>,
        files: &[(SitePath, BlobHash, Bytes)],
    ) -> ChangeResult<HashMap<BlobHash, KnownBlob>> {
        let (mut restored, mut unrestorable) = (HashMap::new(), HashSet::new());
        for (hash, blob) in lost {
            let file = files.iter().find(|(_, of, _)| of == hash);
            let (_, _, bytes) = file.context("a lost blob is not part of the publish")?;
            match self.restore(blob, bytes.clone()).await? {
                Some(blob) => drop(restored.insert(*hash, blob)),
                None => drop(unrestorable.insert(*hash)),
            }
        }
        let paths: Vec<&SitePath> =
            files.iter().filter(|(_, hash, _)| unrestorable.contains(hash)).map(|(path, ..)| path).collect();
        if paths.is_empty() {
            return Ok(restored);
        }
        Err(unrestorable_refusal(&paths).into())
    }

    /// Restores a lost content. `None` if it cannot be stored as it was. A content that was in a bundle gets
    /// its own object.
    async fn restore(&self, blob: &KnownBlob, bytes: Bytes) -> anyhow::Result<Option<KnownBlob>> {
        let hash = blob.hash;
        let alone = KnownBlob { bundled: None, ..blob.clone() };
        let restored = if self.is_standing(blob).await? {
            blob.clone()
        } else if self.is_standing(&alone).await? || self.put_unchanged(hash, bytes, &blob.variants).await? {
            alone
        } else {
            tracing::error!(
                blob.hash = %hash,
                "a lost blob cannot be recreated unchanged: restore its object from a backup"
            );
            return Ok(None);
        };
        self.0.store.blob_index().mark_restored(hash, restored.bundled, self.0.clock.now()).await?;
        tracing::info!(blob.hash = %hash, "lost blob restored");
        Ok(Some(restored))
    }

    /// Whether it has been restored in the meantime, for example by an operator from a backup.
    async fn is_standing(&self, blob: &KnownBlob) -> anyhow::Result<bool> {
        if blob.bundled.is_some() {
            return Ok(self.0.blobs.examine(blob).await?.is_none());
        }
        let found = self.0.blobs.standing(blob.hash, blob.size_bytes).await;
        Ok(found.is_some_and(|variants| variants == blob.variants))
    }

    async fn put_unchanged(
        &self,
        hash: BlobHash,
        bytes: Bytes,
        variants: &[Variant],
    ) -> anyhow::Result<bool> {
        let (content, wanted) = (bytes.clone(), variants.to_vec());
        let layout =
            spawn_blocking(move || Layout::again(&content, &wanted)).await.context("compress a file")??;
        Ok(match layout {
            Some(layout) => self.0.blobs.put(hash, bytes, layout).await? == variants,
            None => false,
        })
    }
}

/// The refusal for the publisher. Changed content has another hash, and is stored as usual.
fn unrestorable_refusal(paths: &[&SitePath]) -> Refusal {
    let named: Vec<&str> = paths.iter().take(NAMED_MAX).map(|path| path.as_str()).collect();
    let field = match paths.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    };
    let fault = match paths {
        [_] => {
            "this content was lost from the store and cannot be restored as it was; change the file, for example by \
             adding a line break, to store it as new content"
        }
        _ => {
            "these contents were lost from the store and cannot be restored as they were; change each file, for example \
             by adding a line break, to store them as new contents"
        }
    };
    Refusal::invalid(field, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_for(files: usize) -> String {
        let paths: Vec<SitePath> =
            (1..=files).map(|number| format!("{number}.html").parse().unwrap()).collect();
        unrestorable_refusal(&paths.iter().collect::<Vec<_>>()).message()
    }

    #[test]
    fn refusal_names_the_lost_files_up_to_a_limit() {
        for (files, text) in [
            (1, "1.html: this content was lost "),
            (2, "1.html, 2.html: these contents were lost "),
            (10, "8.html, 9.html, 10.html: these contents were lost "),
            (13, "8.html, 9.html, 10.html and 3 more: these contents were lost "),
        ] {
            let message = message_for(files);
            assert!(message.starts_with("1.html") && message.contains(text), "{message}");
        }
    }
}
