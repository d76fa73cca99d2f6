//! A content that was lost from the blob store, and comes again with a publish. Its object must be the one that was there,
//! byte for byte: the manifests of older versions tell where in it every encoding lies, and edges keep them.
//!
//! A release whose encoders make it otherwise cannot put it again, and no other attempt can: then the publish is refused.
//! Nobody may be told of a page that is not there.

use anyhow::Context;
use bytes::Bytes;
use domain::{BlobHash, Refusal, SitePath, Variant};
use store::Layout;
use tokio::task::spawn_blocking;

use crate::Service;

impl Service {
    /// Puts a lost content again. False where it cannot be stored as it was.
    pub(crate) async fn put_again(
        &self,
        hash: BlobHash,
        bytes: Bytes,
        variants: &[Variant],
    ) -> anyhow::Result<bool> {
        // Somebody else may have brought it back, if only an operator from a backup.
        let is_back =
            self.0.blobs.standing(hash, bytes.len() as u64).await.is_some_and(|found| found == variants);
        if !is_back && !self.put_as_it_was(hash, bytes, variants).await? {
            tracing::error!(
                blob.hash = %hash,
                "a lost content cannot be stored again as it was: put its object back from a backup"
            );
            return Ok(false);
        }
        self.0.store.note_put_again(hash).await?;
        tracing::info!(blob.hash = %hash, "a lost content is stored again");
        Ok(true)
    }

    async fn put_as_it_was(
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

/// What somebody hears whose file it is. Another content has another hash, and is stored like any.
pub(crate) fn cannot_be_put_again(path: &SitePath) -> Refusal {
    let fault = "this very content was lost from the store and cannot be put there again as it was; change it, if only by \
                 a line end more, and it is stored anew";
    Refusal::invalid(path.to_string(), fault)
}
