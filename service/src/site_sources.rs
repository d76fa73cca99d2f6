//! Completes a publish that names contents in place of sending them. This is done in the process that
//! accepts the publish, before it is queued. The publish is then like any other, with all of its bytes, so
//! its inspection, its job and its scan have no further case, and no sweep can delete what it relies on.
//!
//! It takes two steps, so that the caller can reserve memory between them.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use domain::{BlobHash, FileSet, Manifest, Missing, Outcome, Refusal, Scope, Target, VersionChoice};
use futures::{StreamExt, TryStreamExt};
use store::{HeldContent, Holder};
use tokio::time::timeout;

use crate::compute::compute;
use crate::conditions::is_version_conflict;
use crate::deadline::{Awaited, failure_before};
use crate::idempotency::Begun;
use crate::site_plan::{FileSource, LiveBase, PlannedFile, SitePlan};
use crate::version_files::VersionFiles;
use crate::{Caller, Failure, PublishRequest, Service, ServiceResult, UploadedFile};

/// Contents of one publish that are read concurrently.
const READS_AT_ONCE: usize = 8;
/// How long all reads of a publish may take.
const READ_WAIT_MAX: Duration = Duration::from_secs(15);

/// A publish whose named contents are found, and not in memory yet.
#[derive(Clone, Debug)]
pub struct LocatedPublish {
    request: PublishRequest,
    files: Vec<PlannedFile>,
    held: HashMap<BlobHash, HeldContent>,
}

impl LocatedPublish {
    /// The memory that the contents will take.
    pub fn stored_bytes(&self) -> u64 {
        self.held.values().map(|content| content.size_bytes).sum()
    }
}

impl Service {
    /// Finds the contents and the version that a publish names. Its request has no files yet. A refusal
    /// leaves the request's key free.
    pub async fn locate_publish(
        &self,
        caller: &Caller,
        request: PublishRequest,
        plan: SitePlan,
    ) -> ServiceResult<LocatedPublish> {
        caller.may(Scope::ArtifactsWrite)?;
        if plan.is_complete() {
            return Ok(LocatedPublish { request, files: plan.files, held: HashMap::new() });
        }
        // A pinned token is refused before it could learn anything about another artifact.
        if caller.pinned_to().is_some() {
            let slug = request.slug.as_ref().ok_or_else(|| caller.no_such_artifact())?;
            self.find(caller, slug).await?;
        }
        let request = request.derived_by(&plan);
        let (files, live_base) = match request.derivation {
            None => (plan.files, None),
            Some(_) => self.derive(caller, &request, plan).await?,
        };
        let request = PublishRequest { live_base, ..request };
        let held = self.held_contents(caller, &request, &files).await?;
        check_sizes(&files, &held)?;
        Ok(LocatedPublish { request, files, held })
    }

    /// Loads the contents of a located publish.
    pub async fn load_publish(&self, located: LocatedPublish) -> ServiceResult<PublishRequest> {
        let LocatedPublish { request, files, held } = located;
        let contents = match timeout(READ_WAIT_MAX, self.read_all(held)).await {
            Ok(read) => read?,
            Err(_) => {
                let fault = "the file store is too slow now; your request was not processed";
                return Err(Refusal::overloaded(fault).into());
            }
        };
        let file = |PlannedFile { path, source }| {
            let bytes = match source {
                FileSource::Sent(bytes) => bytes,
                FileSource::Stored(content) => {
                    contents.get(&content.hash).context("a content of a publish was not read")?.clone()
                }
            };
            anyhow::Ok(UploadedFile { path, bytes })
        };
        let files = files.into_iter().map(file).collect::<Result<_, _>>()?;
        Ok(PublishRequest { files, ..request })
    }

    /// The files of a site that is made from another version. The version that is live changes, so a repeat
    /// under an `Idempotency-Key` has the files of the version that the earlier request published. A repeat
    /// may run at the same time as the earlier request, and then be refused because of that request's own
    /// changes. So the key is checked again after a refusal.
    async fn derive(
        &self,
        caller: &Caller,
        request: &PublishRequest,
        plan: SitePlan,
    ) -> ServiceResult<(Vec<PlannedFile>, Option<LiveBase>)> {
        if let Some(files) = self.files_under_key(caller, request).await? {
            return Ok((files, None));
        }
        match self.merge(caller, request, plan).await {
            Err(Failure::Refused(refusal)) => {
                let files = self.files_under_key(caller, request).await?;
                Ok((files.ok_or(Failure::Refused(refusal))?, None))
            }
            merged => merged,
        }
    }

    async fn merge(
        &self,
        caller: &Caller,
        request: &PublishRequest,
        plan: SitePlan,
    ) -> ServiceResult<(Vec<PlannedFile>, Option<LiveBase>)> {
        let base = plan.base.as_ref().context("a publish without a base is not merged")?;
        let slug = request.slug.as_ref().ok_or_else(no_slug)?;
        let artifact = match self.find(caller, slug).await {
            Err(failure) => return Err(unmet_condition(request, failure)),
            Ok(artifact) => artifact,
        };
        let VersionFiles { seq, manifest } = self.files_of(&artifact, base.version).await?;
        // Workers of an older release cannot read the job of a publish with a condition.
        let is_checked = base.version == VersionChoice::Live
            && request.target == Target::Existing
            && self.0.board.is_format_shared();
        let live_base = is_checked.then(|| LiveBase { seq, plan: plan.clone() });
        Ok((plan.merged_with(&manifest)?, live_base))
    }

    /// The files of the version that an earlier request with the same key published, or its refusal. Waits
    /// for that request to end. `None` if the key is free.
    async fn files_under_key(
        &self,
        caller: &Caller,
        request: &PublishRequest,
    ) -> ServiceResult<Option<Vec<PlannedFile>>> {
        let Some(key) = request.key() else { return Ok(None) };
        let keyed = request.keyed(caller, &key);
        let Some(Begun::Earlier(job)) = self.earlier_keyed(keyed).await? else { return Ok(None) };
        let awaited =
            Awaited { account: caller.account, job, kind: "publish", repeating: request.repeating() };
        let published = match self.outlast(&awaited).await? {
            Outcome::Published(published) => published,
            // The client has no condition, so the earlier request tries again, and so does this one.
            Outcome::Refused(refusal)
                if request.target == Target::Existing && is_version_conflict(&refusal) =>
            {
                return Ok(None);
            }
            outcome => return Err(Failure::behind(outcome)),
        };
        let manifest = self.0.store.artifacts().find_manifest(published.artifact, published.seq).await;
        let manifest = manifest.map_err(|error| failure_before(request.repeating(), error))?;
        // A version that was deleted since has no files. The repeat gets the response all the same.
        let files = manifest.iter().flat_map(Manifest::files).map(PlannedFile::of_version);
        Ok(Some(files.collect()))
    }

    /// The stored contents among these files. The refusal lists those that the caller's account, or the
    /// artifact that its token is pinned to, does not hold.
    async fn held_contents(
        &self,
        caller: &Caller,
        request: &PublishRequest,
        files: &[PlannedFile],
    ) -> ServiceResult<HashMap<BlobHash, HeldContent>> {
        let mut seen = HashSet::new();
        let named: Vec<BlobHash> = stored_hashes(files).filter(|hash| seen.insert(*hash)).collect();
        let holder = Holder { account: caller.account, artifact: caller.pinned_to() };
        let held = self.0.store.blob_index().find_held(holder, &named).await;
        let held = held.map_err(|error| failure_before(request.repeating(), error))?;
        let missing: Vec<BlobHash> = named.into_iter().filter(|hash| !held.contains_key(hash)).collect();
        if missing.is_empty() { Ok(held) } else { Err(Refusal::ContentMissing { missing }.into()) }
    }

    async fn read_all(
        &self,
        held: HashMap<BlobHash, HeldContent>,
    ) -> ServiceResult<HashMap<BlobHash, Bytes>> {
        let reads = held.into_values().map(|content| self.read_held(content));
        let read: Vec<_> = futures::stream::iter(reads).buffer_unordered(READS_AT_ONCE).try_collect().await?;
        Ok(read.into_iter().collect())
    }

    /// The client did not send these bytes, so nobody else would notice that they are damaged.
    async fn read_held(&self, content: HeldContent) -> anyhow::Result<(BlobHash, Bytes)> {
        let (hash, size_bytes) = (content.address.hash, content.size_bytes);
        let bytes = self.contents().read(content.address, 0..size_bytes).await?;
        let to_hash = bytes.clone();
        let found = compute(size_bytes, move || BlobHash::of(&to_hash)).await?;
        ensure!(found == hash, "the blob {hash} is damaged: its content has the hash {found}");
        Ok((hash, bytes))
    }
}

impl PublishRequest {
    /// Only an existing artifact has a base. It may be deleted before the publish is settled.
    fn derived_by(self, plan: &SitePlan) -> Self {
        let derivation = plan.derivation();
        let target = match self.target {
            Target::NewOrExisting if derivation.is_some() => Target::Existing,
            target => target,
        };
        Self { derivation, target, ..self }
    }
}

/// Checks the whole site against the limits of a publish, and the sizes that the client states.
fn check_sizes(files: &[PlannedFile], held: &HashMap<BlobHash, HeldContent>) -> Result<(), Refusal> {
    let mut set = FileSet::default();
    for PlannedFile { path, source } in files {
        set.add(path)?;
        let size_bytes = match source {
            FileSource::Sent(bytes) => bytes.len() as u64,
            FileSource::Stored(content) => {
                let size_bytes = held.get(&content.hash).map_or(0, |held| held.size_bytes);
                if let Some(stated) = content.size_bytes.filter(|stated| *stated != size_bytes) {
                    let path = path.as_str();
                    let fault = format!("of {path:?} is {stated}, but its content has {size_bytes} bytes");
                    return Err(Refusal::invalid("size_bytes", fault));
                }
                size_bytes
            }
        };
        set.grow(usize::try_from(size_bytes).unwrap_or(usize::MAX))?;
    }
    Ok(())
}

fn stored_hashes(files: &[PlannedFile]) -> impl Iterator<Item = BlobHash> {
    files.iter().filter_map(|file| match &file.source {
        FileSource::Sent(_) => None,
        FileSource::Stored(content) => Some(content.hash),
    })
}

fn no_slug() -> Refusal {
    Refusal::invalid("slug", "is missing; a base is a version of the artifact with this slug")
}

/// A slug that does not exist does not meet a condition either, and the refusal of a condition says so.
fn unmet_condition(request: &PublishRequest, failure: Failure) -> Failure {
    match (&failure, request.target) {
        (Failure::Refused(refusal), Target::If(condition))
            if **refusal == Refusal::NotFound(Missing::Artifact) =>
        {
            Refusal::of_condition(condition, None).map_or(failure, Failure::from)
        }
        _ => failure,
    }
}
