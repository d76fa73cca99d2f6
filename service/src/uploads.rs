//! Staged uploads: an agent requests a URL, uploads files there without passing them through a model, and
//! publishes them by id. A staged upload is not a version yet: it costs nothing, and it expires.

use anyhow::{Context, anyhow};
use bus::{Budget, RateLimit};
use bytes::{Bytes, BytesMut};
use domain::{Missing, Refusal, Scope, SpooledFile, Time, UploadId, UploadTicket};
use store::KeyUse;

use crate::{Caller, Service, ServiceResult, UploadedFile, content};

/// Upload URLs that an account gets per minute.
const STAGES_PER_MINUTE: u32 = 20;

/// Staged uploads per account, which are stored and not paid for. One more deletes the oldest.
pub const WAITING_MAX: usize = 5;

/// Separates the file list from the content. JSON on one line does not contain it.
const LINE_END: u8 = b'\n';

/// A URL for an upload.
#[derive(Clone)]
pub struct StagedUpload {
    pub upload: UploadId,
    /// Anyone with this URL may upload there.
    pub url: String,
    pub expires_at: Time,
}

/// An upload that waits to be published.
#[derive(Clone, Copy, Debug)]
pub struct KeptUpload {
    pub upload: UploadId,
    pub file_count: usize,
    pub total_bytes: u64,
    /// When the upload expires.
    pub expires_at: Time,
}

impl Service {
    /// Creates a URL for an upload to this account.
    pub async fn stage_upload(&self, caller: &Caller) -> ServiceResult<StagedUpload> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let key = caller.account.to_string();
        self.take(RateLimit { name: "stage", key, budget: Budget::per_minute(STAGES_PER_MINUTE) }).await?;
        let ticket = UploadTicket::new(caller.account, now, &self.0.chance);
        Ok(StagedUpload {
            upload: ticket.upload,
            url: self.addresses().upload(&ticket, &self.0.rules.signing_key),
            expires_at: ticket.expires_at(),
        })
    }

    /// The ticket of an upload URL, if it is genuine and still accepts an upload. Called before a body is
    /// read.
    pub async fn open_upload(&self, ticket: &str) -> ServiceResult<UploadTicket> {
        let ticket = UploadTicket::read(ticket, &self.0.rules.signing_key)
            .ok_or(Refusal::NotFound(Missing::Upload))?;
        let now = self.0.clock.now();
        if now >= ticket.expires_at() {
            return Err(Refusal::NotFound(Missing::LapsedUpload).into());
        }
        let account = self.0.store.accounts().find(ticket.account).await?;
        let account = account.ok_or(Refusal::NotFound(Missing::LapsedUpload))?;
        account.must_take_writes(now)?;
        if self.is_published(ticket).await? {
            return Err(Refusal::UploadTaken.into());
        }
        Ok(ticket)
    }

    /// Keeps files for an account until they are published. A URL accepts one upload.
    pub async fn keep_upload(
        &self,
        ticket: UploadTicket,
        files: Vec<UploadedFile>,
    ) -> ServiceResult<KeptUpload> {
        let file_count = files.len();
        let total_bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
        self.evict_oldest_for(ticket).await?;
        if !self.0.blobs.keep_upload(ticket, packed(files)?).await? {
            return Err(Refusal::UploadTaken.into());
        }
        tracing::info!(upload.id = %ticket.upload, upload.bytes = total_bytes, "upload stored");
        Ok(KeptUpload { upload: ticket.upload, file_count, total_bytes, expires_at: ticket.kept_until() })
    }

    /// Deletes the oldest uploads of the account, so that this one fits within the limit.
    async fn evict_oldest_for(&self, ticket: UploadTicket) -> ServiceResult<()> {
        let waiting = self.0.blobs.kept_uploads(ticket.account).await?;
        if waiting.contains(&ticket.upload) {
            return Err(Refusal::UploadTaken.into());
        }
        // Newer uploads have taken its slot. An old URL must not accept files again.
        if waiting.iter().filter(|upload| **upload > ticket.upload).count() >= WAITING_MAX {
            return Err(Refusal::NotFound(Missing::LapsedUpload).into());
        }
        let too_many = (waiting.len() + 1).saturating_sub(WAITING_MAX);
        for upload in waiting.into_iter().take(too_many) {
            self.0.blobs.delete_upload(UploadTicket { account: ticket.account, upload }).await?;
        }
        Ok(())
    }

    /// The files of an upload of the caller's account. They stay until a publish of them succeeds, so that a
    /// refused one can be retried.
    pub async fn uploaded(
        &self,
        caller: &Caller,
        upload: &str,
    ) -> ServiceResult<(UploadId, Vec<UploadedFile>)> {
        caller.may(Scope::ArtifactsWrite)?;
        // A malformed id gets the same refusal as an unknown one.
        let upload: UploadId = upload.parse().map_err(|_| Refusal::NotFound(Missing::Upload))?;
        let ticket = UploadTicket { account: caller.account, upload };
        if self.0.clock.now() >= ticket.kept_until() {
            return Err(Refusal::NotFound(Missing::LapsedUpload).into());
        }
        let kept = self.0.blobs.kept_upload(ticket).await?.ok_or(Refusal::NotFound(Missing::Upload))?;
        Ok((upload, unpacked(kept)?))
    }

    /// Whether the files of a ticket are published.
    async fn is_published(&self, ticket: UploadTicket) -> anyhow::Result<bool> {
        let (key, now) = (key_of_upload(ticket.upload), self.0.clock.now());
        Ok(self.0.store.outcomes().key_use(ticket.account, &key, now).await? == KeyUse::Answered)
    }

    /// Deletes an upload that is published. If that fails, its key still prevents a second version.
    pub(crate) async fn end_upload(&self, ticket: UploadTicket) {
        if let Err(error) = self.0.blobs.delete_upload(ticket).await {
            tracing::warn!(
                upload.id = %ticket.upload,
                error = format!("{error:#}"),
                "could not delete a published upload; the sweep deletes it"
            );
        }
    }
}

/// The idempotency key of the publish of an upload. It is kept for longer than any upload.
pub(crate) fn key_of_upload(upload: UploadId) -> String {
    format!("upload {upload}")
}

fn packed(files: Vec<UploadedFile>) -> anyhow::Result<Bytes> {
    let mut bytes = BytesMut::from(&*serde_json::to_vec(&content::file_list(&files))?);
    bytes.extend_from_slice(&[LINE_END]);
    bytes.extend_from_slice(&content::joined(files));
    Ok(bytes.freeze())
}

fn unpacked(mut kept: Bytes) -> anyhow::Result<Vec<UploadedFile>> {
    let end = kept
        .iter()
        .position(|byte| *byte == LINE_END)
        .ok_or_else(|| anyhow!("an upload has no file list"))?;
    let list: Vec<SpooledFile> =
        serde_json::from_slice(&kept.split_to(end)).context("read the file list of an upload")?;
    let files = content::split(&list, kept.split_off(1))?;
    Ok(files.into_iter().map(|(path, bytes)| UploadedFile { path, bytes }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &'static [u8]) -> UploadedFile {
        UploadedFile { path: path.parse().unwrap(), bytes: Bytes::from_static(content) }
    }

    #[test]
    fn an_upload_is_unpacked_as_it_was_packed() {
        let files =
            vec![file("index.html", b"<p>\n\n</p>"), file("a b/ü.bin", b"\0\xff\n"), file("empty", b"")];
        let unpacked = unpacked(packed(files.clone()).unwrap()).unwrap();
        let contents = |files: &[UploadedFile]| {
            files.iter().map(|file| (file.path.to_string(), file.bytes.clone())).collect::<Vec<_>>()
        };
        assert_eq!(contents(&unpacked), contents(&files));
    }

    #[test]
    fn malformed_packed_upload_is_an_error() {
        for bad in [&b""[..], b"[]", b"[]\nmore", b"{}\n", br#"[{"path":"a","size_bytes":2}]"#] {
            assert!(unpacked(Bytes::from_static(bad)).is_err(), "{bad:?}");
        }
    }
}
