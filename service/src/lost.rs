//! A content that was lost from the blob store, and comes again with a publish. Its object must be the one that was there,
//! byte for byte: the manifests of older versions tell where in it every encoding lies, and edges keep them.

use anyhow::{Context, ensure};
use bytes::Bytes;
use domain::{BlobHash, Variant};
use store::Layout;
use tokio::task::spawn_blocking;

use crate::Service;

impl Service {
    /// Puts a lost content again. Where that cannot be done the publish fails: nobody may be told of a page that is not
    /// there.
    pub(crate) async fn put_again(
        &self,
        hash: BlobHash,
        bytes: Bytes,
        variants: &[Variant],
    ) -> anyhow::Result<()> {
        let (content, wanted) = (bytes.clone(), variants.to_vec());
        let layout =
            spawn_blocking(move || Layout::again(&content, &wanted)).await.context("compress a file")?;
        let layout = layout.with_context(|| format!("store the lost content {hash} again"))?;
        let found = self.0.blobs.put(hash, bytes, layout).await?;
        ensure!(
            found == variants,
            "the content {hash} is there again, in another layout: `handbill scrub` tells"
        );
        self.0.store.note_put_again(hash).await?;
        tracing::info!(blob.hash = %hash, "a lost content is stored again");
        Ok(())
    }
}
