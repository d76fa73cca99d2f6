//! The objects of deploys: publishes whose files arrive one by one. They lie among the staged uploads and
//! expire with them. The names begin with the id of the deploy, so that an account has one folder.

use std::collections::BTreeMap;

use anyhow::Context;
use bytes::Bytes;
use domain::{AccountId, UploadId, UploadTicket};
use futures::TryStreamExt;
use object_store::{ObjectStore, PutMode, PutOptions};
use tokio::time::timeout;

use crate::blobs::{Blobs, LIST_WAIT_MAX, StorageKey, UPLOADS};
use crate::deploy_part::DeployPart;
use crate::silence::within;

/// An account has few deploys at a time, of at most 50 files each.
const OBJECTS_LISTED_MAX: usize = 2_000;

/// The objects of a deploy, with their sizes.
pub type DeployObjects = BTreeMap<DeployPart, u64>;

impl Blobs {
    /// Stores a part. Returns false, and changes nothing, if it is stored already.
    pub async fn put_deploy_part(
        &self,
        deploy: UploadTicket,
        part: DeployPart,
        bytes: Bytes,
    ) -> anyhow::Result<bool> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let key = self.key(StorageKey::Deploy(deploy, part));
        match within(self.objects.put_opts(&key, bytes.into(), options)).await? {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error).context("store a part of a deploy"),
        }
    }

    pub async fn deploy_part(&self, deploy: UploadTicket, part: DeployPart) -> anyhow::Result<Option<Bytes>> {
        self.get(StorageKey::Deploy(deploy, part)).await.context("read a part of a deploy")
    }

    pub async fn delete_deploy_part(&self, deploy: UploadTicket, part: DeployPart) -> anyhow::Result<()> {
        self.delete(StorageKey::Deploy(deploy, part)).await
    }

    /// The deploys of an account with their objects, oldest first.
    pub async fn deploys(&self, account: AccountId) -> anyhow::Result<BTreeMap<UploadId, DeployObjects>> {
        let folder = self.join(&format!("{UPLOADS}/{account}"));
        let listing = self.objects.list(Some(&folder));
        let mut deploys: BTreeMap<UploadId, DeployObjects> = BTreeMap::new();
        let collect = async {
            let mut listing = std::pin::pin!(futures::StreamExt::take(listing, OBJECTS_LISTED_MAX));
            while let Some(found) = listing.try_next().await? {
                if let Some((deploy, part)) = found.location.filename().and_then(DeployPart::named) {
                    deploys.entry(deploy).or_default().insert(part, found.size);
                }
            }
            Ok::<_, object_store::Error>(())
        };
        let listed = timeout(LIST_WAIT_MAX, collect).await.map_err(std::io::Error::from);
        listed.context("the blob store does not respond to a listing")?.context("list deploys")?;
        Ok(deploys)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Chance, ContentDigest, Time};

    use super::*;

    #[tokio::test]
    async fn parts_of_a_deploy_are_listed_apart_from_staged_uploads() {
        let (folder, chance) = (tempfile::tempdir().unwrap(), Chance::seeded(2));
        let blobs = Blobs::local(folder.path()).unwrap();
        let now = Time::from_millis(1_000);
        let account = AccountId::new(now, &chance);
        let ticket = || UploadTicket { account, upload: UploadId::new(now, &chance) };
        let (deploy, upload) = (ticket(), ticket());
        blobs.keep_upload(upload, Bytes::from_static(b"files")).await.unwrap();
        let content = DeployPart::Content(ContentDigest::of(b"x"));
        for (part, is_new) in [(DeployPart::Head, true), (content, true), (content, false)] {
            assert_eq!(blobs.put_deploy_part(deploy, part, Bytes::from_static(b"x")).await.unwrap(), is_new);
        }
        let deploys = blobs.deploys(account).await.unwrap();
        assert_eq!(
            deploys,
            BTreeMap::from([(deploy.upload, BTreeMap::from([(DeployPart::Head, 1), (content, 1)]))])
        );
        assert_eq!(blobs.kept_uploads(account).await.unwrap(), [upload.upload]);
        blobs.delete_deploy_part(deploy, content).await.unwrap();
        assert_eq!(blobs.deploy_part(deploy, content).await.unwrap(), None);
        let tomorrow = Time::from_millis(i64::MAX / 2);
        assert_eq!(blobs.sweep_uploads(tomorrow, 10).await.unwrap(), 2);
        assert!(blobs.deploys(account).await.unwrap().is_empty());
    }
}
