//! Everything of an account as one archive, for its admins. The archive is made while it is sent, one content
//! at a time. A failure ends the stream with an error, so that no client takes a part for the whole.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::mem;
use std::pin::pin;

use anyhow::Context;
use bytes::Bytes;
use domain::{AccountId, Artifact, ArtifactId, ManifestFile, Scope, Slug, Version};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use store::{ContentAddress, Reach};

use crate::archive::add_to_tar;
use crate::compute::compute;
use crate::export_texts::{
    SpooledText, TextSpool, account_json, artifact_json, audit_json, ledger_csv, member_json, rows,
    token_json, version_json,
};
use crate::{Caller, Service, ServiceResult};

/// Exports that an account may begin per minute, in all processes. Each reads everything that it has.
const EXPORTS_PER_MINUTE: u32 = 10;

/// An export that the caller may read.
#[derive(Clone, Debug)]
pub struct BegunExport {
    account: AccountId,
    /// Names the archive.
    pub handle: String,
}

/// A version whose files are still to be sent.
struct VersionLeft {
    slug: Slug,
    artifact: ArtifactId,
    seq: u32,
}

/// The rest of an export.
struct Export {
    service: Service,
    /// `None` after the last entry.
    archive: Option<Archive>,
    texts: VecDeque<(&'static str, SpooledText)>,
    versions: VecDeque<VersionLeft>,
    /// The files of the current version, with their paths in the archive.
    files: VecDeque<(String, ManifestFile)>,
}

struct Archive(tar::Builder<GzEncoder<Vec<u8>>>);

impl Service {
    /// The export has the data of several calls, and needs the rights for each of them.
    pub async fn begin_export(&self, caller: &Caller) -> ServiceResult<BegunExport> {
        caller.may_see_audit()?;
        caller.may(Scope::ArtifactsRead)?;
        caller.may(Scope::TokensManage)?;
        self.take_export(caller.account, EXPORTS_PER_MINUTE).await?;
        Ok(BegunExport { account: caller.account, handle: caller.handle.clone() })
    }

    /// The archive in chunks. The lists are read first, so that what can fail early does so before the
    /// response begins. The caller has reserved memory for two of the largest files.
    pub async fn export(&self, begun: &BegunExport) -> ServiceResult<BoxStream<'static, io::Result<Bytes>>> {
        let mut versions = Vec::new();
        let account = Box::pin(self.spool_account(begun.account, &mut versions)).await?;
        let ledger = ledger_csv(&self.0.store, begun.account).await?;
        let export = Export {
            service: self.clone(),
            archive: Some(Archive::new()),
            texts: [("account.json", account), ("ledger.csv", ledger)].into(),
            versions: versions.into(),
            files: VecDeque::new(),
        };
        Ok(stream::try_unfold(export, Export::next).boxed())
    }

    /// `account.json`, and the versions that it lists.
    async fn spool_account(
        &self,
        account: AccountId,
        versions: &mut Vec<VersionLeft>,
    ) -> anyhow::Result<SpooledText> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let summary = store.accounts().summary(account, now).await?.context("the account is gone")?;
        let mut text = TextSpool::begin();
        text.push(&format!("{{\"account\":{}", account_json(&summary.account)))?;
        let members = rows(move |page| async move { store.members().list(account, &page).await });
        text.push_list("members", members.map_ok(|member| member_json(&member))).await?;
        let tokens =
            rows(move |page| async move { store.tokens().list(account, Reach::All, now, &page).await });
        text.push_list("tokens", tokens.map_ok(|token| token_json(&token))).await?;
        text.push(",\"artifacts\":[")?;
        let artifacts = rows(move |page| async move { store.artifacts().list(account, None, &page).await });
        let mut artifacts = pin!(artifacts);
        let mut comma = "";
        while let Some(artifact) = artifacts.try_next().await? {
            text.push(mem::replace(&mut comma, ","))?;
            self.spool_artifact(&mut text, &artifact, versions).await?;
        }
        text.push("]")?;
        let audit = rows(move |page| async move { store.audit().list(account, &page).await });
        text.push_list("audit", audit.map_ok(|entry| audit_json(&entry))).await?;
        text.push("}\n")?;
        text.finish()
    }

    async fn spool_artifact(
        &self,
        text: &mut TextSpool,
        artifact: &Artifact,
        versions: &mut Vec<VersionLeft>,
    ) -> anyhow::Result<()> {
        let store = &self.0.store;
        let (account, id, first) = (artifact.account, artifact.id, versions.len());
        let listed =
            rows(move |page| async move { store.artifacts().list_versions(account, id, &page).await });
        let with_files = listed.try_filter_map(move |version: Version| async move {
            let manifest = store.artifacts().find_manifest(id, version.seq).await?;
            // Without a manifest it was deleted in the meantime.
            Ok(manifest.map(|manifest| (version_json(&version, &manifest), version.seq)))
        });
        let noted = with_files.map_ok(|(json, seq)| {
            versions.push(VersionLeft { slug: artifact.slug.clone(), artifact: id, seq });
            json
        });
        text.push(artifact_json(artifact).trim_end_matches('}'))?;
        text.push_list("versions", noted).await?;
        text.push("}")?;
        // They are listed newest first. To publish them again, the oldest must come first.
        versions[first..].reverse();
        Ok(())
    }
}

impl Export {
    /// The next bytes. `None` after the last ones.
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        match self.step().await {
            Ok(chunk) => Ok(chunk.map(|chunk| (chunk, self))),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "an export was cut off");
                Err(io::Error::other(error))
            }
        }
    }

    async fn step(&mut self) -> anyhow::Result<Option<Bytes>> {
        let Some(archive) = self.archive.take() else { return Ok(None) };
        if let Some((name, text)) = self.texts.pop_front() {
            let work = move || archive.add(name, text.size_bytes(), text.read());
            return self.packed(compute(u64::MAX, work).await??);
        }
        while self.files.is_empty()
            && let Some(version) = self.versions.pop_front()
        {
            self.files = self.files_of_version(&version).await?;
        }
        let Some((path, file)) = self.files.pop_front() else {
            return Ok(Some(archive.finish()?));
        };
        let content = self.service.contents().read(ContentAddress::of(&file), 0..file.size_bytes).await?;
        let work = move || archive.add(&path, content.len() as u64, &content[..]);
        self.packed(compute(file.size_bytes, work).await??)
    }

    fn packed(&mut self, (archive, chunk): (Archive, Bytes)) -> anyhow::Result<Option<Bytes>> {
        self.archive = Some(archive);
        Ok(Some(chunk))
    }

    async fn files_of_version(
        &self,
        VersionLeft { slug, artifact, seq }: &VersionLeft,
    ) -> anyhow::Result<VecDeque<(String, ManifestFile)>> {
        let manifest = self.service.0.store.artifacts().find_manifest(*artifact, *seq).await?;
        let manifest = manifest.context("a version was deleted during an export")?;
        let named = |file: &ManifestFile| (format!("pages/{slug}/{seq}/{}", file.path), file.clone());
        Ok(manifest.files().iter().map(named).collect())
    }
}

impl Archive {
    fn new() -> Self {
        Self(tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default())))
    }

    /// Adds a file, and returns the bytes that are ready to be sent.
    fn add(mut self, path: &str, size_bytes: u64, content: impl Read) -> anyhow::Result<(Self, Bytes)> {
        add_to_tar(&mut self.0, path, size_bytes, content).context("pack an export")?;
        let ready = mem::take(self.0.get_mut().get_mut());
        Ok((self, ready.into()))
    }

    fn finish(self) -> anyhow::Result<Bytes> {
        Ok(self.0.into_inner()?.finish()?.into())
    }
}
