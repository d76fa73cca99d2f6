//! Deploys of the Netlify protocol: a publish whose files are named by their SHA-1 first, and of which only
//! those arrive that the site does not have yet, one by one. When the last one is there, it is published as
//! any other publish is.
//!
//! The state is in the blob store, so that any process can take each request. It is written in parts that
//! never change, costs nothing and expires as a staged upload does.

mod held;
mod state;

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use bytes::Bytes;
use domain::{
    Activation, Artifact, ContentDigest, CreatedVia, FileSet, Missing, Published, Refusal, Scope, SitePath,
    Slug, UploadId, UploadTicket,
};
use futures::{StreamExt, TryStreamExt, stream};
use store::{DeployObjects, DeployPart};

use crate::compute::compute;
use crate::uploads::WAITING_MAX;
use crate::{Addressed, Caller, Failure, PublishRequest, Service, ServiceResult, UploadedFile};

use held::HeldContents;
pub use state::{Deploy, DeployEnd, DeployState};
use state::{Head, Plan};

/// Objects that are read or deleted at the same time.
const AT_ONCE: usize = 8;

/// The files of a deploy, each once.
pub type DeployFiles = BTreeMap<SitePath, ContentDigest>;

impl Service {
    /// The artifact with this slug, if there is one that the caller may publish to.
    pub async fn deploy_site(&self, caller: &Caller, slug: &Slug) -> ServiceResult<Option<Artifact>> {
        caller.may(Scope::ArtifactsWrite)?;
        match self.find(caller, slug).await {
            Ok(artifact) => Ok(Some(artifact)),
            Err(Failure::Refused(refusal)) if *refusal == Refusal::NotFound(Missing::Artifact) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Begins a deploy, unless its publish would surely be refused. It takes one publish from the account's
    /// rate limit.
    pub async fn begin_deploy(
        &self,
        caller: &Caller,
        slug: &Slug,
        activation: Activation,
    ) -> ServiceResult<Deploy> {
        self.deploy_site(caller, slug).await?;
        self.check_publish(caller, Addressed::ByBody, None, None).await?;
        let mut deploys = self.0.blobs.deploys(caller.account).await?;
        while deploys.len() >= WAITING_MAX {
            // The oldest one that has ended, or else the oldest one.
            let has_ended = |objects: &DeployObjects| objects.contains_key(&DeployPart::Outcome);
            let ended = deploys.iter().find(|(_, objects)| has_ended(objects));
            let Some(id) = ended.or(deploys.iter().next()).map(|(id, _)| *id) else { break };
            let objects = deploys.remove(&id).unwrap_or_default();
            self.delete_deploy(UploadTicket { account: caller.account, upload: id }, objects).await?;
        }
        let ticket = UploadTicket::new(caller.account, self.0.clock.now(), &self.0.chance);
        let head = Head { slug: slug.clone(), activation };
        self.put_part(ticket, DeployPart::Head, &head).await?;
        Ok(Deploy { id: ticket.upload, slug: slug.clone(), activation, state: DeployState::New })
    }

    /// A deploy of the caller's account, to a site that its token may publish to.
    pub async fn deploy(&self, caller: &Caller, id: &str) -> ServiceResult<Deploy> {
        caller.may(Scope::ArtifactsWrite)?;
        let missing = || Refusal::NotFound(Missing::Deploy);
        let upload: UploadId = id.parse().map_err(|_| missing())?;
        let ticket = UploadTicket { account: caller.account, upload };
        if self.0.clock.now() >= ticket.kept_until() {
            return Err(missing().into());
        }
        let Some(Head { slug, activation }) = self.part(ticket, DeployPart::Head).await? else {
            return Err(missing().into());
        };
        self.deploy_site(caller, &slug).await?;
        let deploy = Deploy { id: upload, slug, activation, state: DeployState::New };
        self.refreshed(ticket, deploy).await
    }

    /// Sets the files of a deploy. Those that the site has already are not required.
    pub async fn plan_deploy(
        &self,
        caller: &Caller,
        deploy: Deploy,
        files: DeployFiles,
    ) -> ServiceResult<Deploy> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        if files.is_empty() {
            return Err(Refusal::invalid("files", "is empty; there is nothing to publish").into());
        }
        let mut set = FileSet::default();
        files.keys().try_for_each(|path| set.add(path))?;
        let ticket = deploy.ticket(caller);
        let mut planned: Option<Plan> = self.part(ticket, DeployPart::Plan).await?;
        if planned.is_none() {
            let HeldContents { version, paths } = self.contents_of_site(caller, &deploy.slug, &files).await?;
            let plan = Plan { files: files.clone(), version, held: paths };
            planned = match self.put_part(ticket, DeployPart::Plan, &plan).await? {
                true => Some(plan),
                false => self.part(ticket, DeployPart::Plan).await?,
            };
        }
        if planned.is_none_or(|planned| planned.files != files) {
            let fault = "of this deploy are set already; begin a new one";
            return Err(Refusal::invalid("files", fault).into());
        }
        self.refreshed(ticket, deploy).await
    }

    /// The digest of a file that a deploy waits for, by its path. `None` if the file is not required.
    pub async fn awaited_file(
        &self,
        caller: &Caller,
        deploy: &Deploy,
        path: &str,
    ) -> ServiceResult<Option<ContentDigest>> {
        let plan: Option<Plan> = self.part(deploy.ticket(caller), DeployPart::Plan).await?;
        let plan =
            plan.ok_or_else(|| Refusal::invalid("path", "cannot be sent before the deploy's files"))?;
        let digest =
            plan.files.iter().find_map(|(planned, digest)| (planned.as_str() == path).then_some(*digest));
        let digest = digest.ok_or_else(|| Refusal::invalid("path", "is not a file of this deploy"))?;
        Ok((!plan.held.contains_key(&digest)).then_some(digest))
    }

    /// Keeps a content that a deploy waits for.
    pub async fn receive_deploy_file(
        &self,
        caller: &Caller,
        deploy: Deploy,
        digest: ContentDigest,
        bytes: Bytes,
    ) -> ServiceResult<Deploy> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        if digest_of(&bytes).await? != digest {
            let fault = format!("does not have the SHA-1 {digest} that the deploy says");
            return Err(Refusal::invalid("file", fault).into());
        }
        let (ticket, part) = (deploy.ticket(caller), DeployPart::Content(digest));
        self.0.blobs.put_deploy_part(ticket, part, bytes).await?;
        let objects = self.deploy_objects(ticket).await?;
        if let Err(refusal) = check_total(&objects) {
            // So that a deploy takes no more room than a publish.
            self.0.blobs.delete_deploy_part(ticket, part).await?;
            return Err(refusal.into());
        }
        self.refreshed(ticket, deploy).await
    }

    /// The publish of a deploy whose contents are all there.
    pub async fn load_deploy(&self, caller: &Caller, deploy: &Deploy) -> ServiceResult<PublishRequest> {
        let ticket = deploy.ticket(caller);
        let plan: Plan =
            self.part(ticket, DeployPart::Plan).await?.ok_or(Refusal::NotFound(Missing::Deploy))?;
        let mut contents = BTreeMap::new();
        let mut set = FileSet::default();
        let mut files = Vec::new();
        for (path, digest) in &plan.files {
            let bytes = match contents.get(digest) {
                Some(bytes) => Bytes::clone(bytes),
                None => self.deploy_content(caller, deploy, &plan, *digest).await?,
            };
            set.add(path)?;
            set.grow(bytes.len())?;
            contents.insert(*digest, bytes.clone());
            files.push(UploadedFile { path: path.clone(), bytes });
        }
        Ok(PublishRequest {
            slug: Some(deploy.slug.clone()),
            activation: deploy.activation,
            upload: Some(deploy.id),
            ..PublishRequest::new(CreatedVia::Api, files)
        })
    }

    /// Notes how the publish of a deploy ended. A refusal that a repetition may not get is returned instead,
    /// and the deploy stays as it is.
    pub async fn end_deploy(
        &self,
        caller: &Caller,
        deploy: Deploy,
        result: Result<&Published, &Refusal>,
    ) -> ServiceResult<Deploy> {
        let end = match result {
            Ok(published) => DeployEnd::Published { version: published.seq },
            Err(refusal) if is_passing(refusal) => return Err(refusal.clone().into()),
            Err(refusal) => DeployEnd::Refused { message: refusal.message(), hint: refusal.hint() },
        };
        let ticket = deploy.ticket(caller);
        let mut objects = self.deploy_objects(ticket).await?;
        // A deploy that was given up meanwhile stays deleted.
        if objects.contains_key(&DeployPart::Head) {
            self.put_part(ticket, DeployPart::Outcome, &end).await?;
        }
        objects.retain(|part, _| matches!(part, DeployPart::Content(_)));
        if let Err(error) = self.delete_deploy(ticket, objects).await {
            tracing::warn!(
                deploy.id = %deploy.id,
                error = format!("{error:#}"),
                "could not delete the files of a deploy that has ended; the sweep deletes them"
            );
        }
        self.refreshed(ticket, deploy).await
    }

    /// Deletes a deploy that the client has given up, unless it has ended.
    pub async fn cancel_deploy(&self, caller: &Caller, deploy: &Deploy) -> ServiceResult<()> {
        if matches!(deploy.state, DeployState::Ended(_)) {
            return Ok(());
        }
        let ticket = deploy.ticket(caller);
        let objects = self.deploy_objects(ticket).await?;
        Ok(self.delete_deploy(ticket, objects).await?)
    }

    /// The deploy with the state that its parts show.
    async fn refreshed(&self, ticket: UploadTicket, deploy: Deploy) -> ServiceResult<Deploy> {
        let state = if let Some(end) = self.part(ticket, DeployPart::Outcome).await? {
            DeployState::Ended(end)
        } else if let Some(plan) = self.part::<Plan>(ticket, DeployPart::Plan).await? {
            let objects = self.deploy_objects(ticket).await?;
            let missing = plan.missing(&objects);
            if missing.is_empty() { DeployState::Complete } else { DeployState::Waiting { missing } }
        } else {
            DeployState::New
        };
        Ok(Deploy { state, ..deploy })
    }

    async fn deploy_content(
        &self,
        caller: &Caller,
        deploy: &Deploy,
        plan: &Plan,
        digest: ContentDigest,
    ) -> ServiceResult<Bytes> {
        if let (Some(version), Some(path)) = (plan.version, plan.held.get(&digest)) {
            let bytes = self.held_content(caller, &deploy.slug, version, path).await?;
            let found = digest_of(&bytes).await?;
            if found != digest {
                // It would be published under another hash.
                let error = anyhow!("a content of {} has the SHA-1 {found}, not {digest}", deploy.slug);
                return Err(error.into());
            }
            return Ok(bytes);
        }
        let content = self.0.blobs.deploy_part(deploy.ticket(caller), DeployPart::Content(digest)).await?;
        Ok(content.ok_or(Refusal::NotFound(Missing::Deploy))?)
    }

    async fn deploy_objects(&self, ticket: UploadTicket) -> ServiceResult<DeployObjects> {
        let mut deploys = self.0.blobs.deploys(ticket.account).await?;
        Ok(deploys.remove(&ticket.upload).unwrap_or_default())
    }

    async fn delete_deploy(&self, ticket: UploadTicket, objects: DeployObjects) -> anyhow::Result<()> {
        let delete = |part| self.0.blobs.delete_deploy_part(ticket, part);
        // The head comes first, and a deploy without one does not exist.
        stream::iter(objects.into_keys().map(delete)).buffered(AT_ONCE).try_collect().await
    }

    /// Returns false if the part exists.
    async fn put_part(
        &self,
        ticket: UploadTicket,
        part: DeployPart,
        value: &impl serde::Serialize,
    ) -> ServiceResult<bool> {
        let bytes = serde_json::to_vec(value).context("write a part of a deploy")?;
        Ok(self.0.blobs.put_deploy_part(ticket, part, bytes.into()).await?)
    }

    async fn part<T: serde::de::DeserializeOwned>(
        &self,
        ticket: UploadTicket,
        part: DeployPart,
    ) -> ServiceResult<Option<T>> {
        let bytes = self.0.blobs.deploy_part(ticket, part).await?;
        let value = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose();
        Ok(value.context("read a part of a deploy")?)
    }
}

async fn digest_of(content: &Bytes) -> anyhow::Result<ContentDigest> {
    let content = content.clone();
    compute(content.len() as u64, move || ContentDigest::of(&content)).await
}

fn check_total(objects: &DeployObjects) -> Result<(), Refusal> {
    let contents = objects.iter().filter(|(part, _)| matches!(part, DeployPart::Content(_)));
    let total_bytes: u64 = contents.map(|(_, size_bytes)| size_bytes).sum();
    FileSet::default().grow(usize::try_from(total_bytes).unwrap_or(usize::MAX))
}

/// Whether the same request may succeed a little later, or with another token.
fn is_passing(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Overloaded { .. }
            | Refusal::OutcomeUnknown(_)
            | Refusal::RateLimited { .. }
            | Refusal::Internal
            | Refusal::Unauthorized
            | Refusal::AccountExpired
            | Refusal::AccountSuspended
            | Refusal::InsufficientScope(_)
            | Refusal::Forbidden { .. }
            | Refusal::ForeignPage
    )
}
