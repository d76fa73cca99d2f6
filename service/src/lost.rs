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
use store::{ChangeResult, Layout};
use tokio::task::spawn_blocking;

use crate::Service;

/// Files that a refusal names. The rest are counted.
const NAMED_MAX: usize = 10;

impl Service {
    /// Restores the lost contents of a publish. The refusal names all files whose content cannot be stored as
    /// it was.
    pub(crate) async fn put_lost_again(
        &self,
        lost: &HashMap<BlobHash, Vec<Variant>>,
        files: &[(SitePath, BlobHash, Bytes)],
    ) -> ChangeResult<()> {
        let mut beyond_help = HashSet::new();
        for (hash, variants) in lost {
            let file = files.iter().find(|(_, of, _)| of == hash);
            let (_, _, bytes) = file.context("a lost content belongs to no file of the publish")?;
            if !self.put_again(*hash, bytes.clone(), variants).await? {
                beyond_help.insert(*hash);
            }
        }
        let paths: Vec<&SitePath> =
            files.iter().filter(|(_, hash, _)| beyond_help.contains(hash)).map(|(path, ..)| path).collect();
        if paths.is_empty() {
            return Ok(());
        }
        Err(cannot_be_put_again(&paths).into())
    }

    /// Restores a lost content. False if it cannot be stored as it was.
    async fn put_again(&self, hash: BlobHash, bytes: Bytes, variants: &[Variant]) -> anyhow::Result<bool> {
        // It may have been restored in the meantime, for example by an operator from a backup.
        let is_back =
            self.0.blobs.standing(hash, bytes.len() as u64).await.is_some_and(|found| found == variants);
        if !is_back && !self.put_as_it_was(hash, bytes, variants).await? {
            tracing::error!(
                blob.hash = %hash,
                "a lost content cannot be stored as it was: restore its object from a backup"
            );
            return Ok(false);
        }
        self.0.store.blob_index().mark_restored(hash).await?;
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

/// The refusal for the publisher. Changed content has another hash, and is stored as usual.
fn cannot_be_put_again(paths: &[&SitePath]) -> Refusal {
    let named: Vec<&str> = paths.iter().take(NAMED_MAX).map(|path| path.as_str()).collect();
    let field = match paths.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    };
    let fault = match paths {
        [_] => {
            "this very content was lost from the store and cannot be put there again as it was; change it, if only by \
             a line end more, and it is stored anew"
        }
        _ => {
            "these very contents were lost from the store and cannot be put there again as they were; change each, if \
             only by a line end more, and they are stored anew"
        }
    };
    Refusal::invalid(field, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_of(files: usize) -> String {
        let paths: Vec<SitePath> =
            (1..=files).map(|number| format!("{number}.html").parse().unwrap()).collect();
        cannot_be_put_again(&paths.iter().collect::<Vec<_>>()).message()
    }

    #[test]
    fn a_refusal_names_all_files_that_cannot_be_put_again_or_the_first_of_many() {
        for (files, words) in [
            (1, "1.html: this very content was lost "),
            (2, "1.html, 2.html: these very contents were lost "),
            (10, "8.html, 9.html, 10.html: these very contents were lost "),
            (13, "8.html, 9.html, 10.html and 3 more: these very contents were lost "),
        ] {
            let told = told_of(files);
            assert!(told.starts_with("1.html") && told.contains(words), "{told}");
        }
    }
}
