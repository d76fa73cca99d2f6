//! An owner's appeal against the decision on the live version of a page. It puts the page into the review
//! queue.

use domain::{AppealId, AppealMessage, Host, ModerationStatus, Scope, Slug};
use store::NewAppeal;

use crate::{Caller, Service, ServiceResult};

/// An appeal that was accepted for review.
#[derive(Clone, Debug)]
pub struct AppealTaken {
    pub id: AppealId,
    pub slug: Slug,
    pub host: Host,
    /// The `seq` of the version under appeal.
    pub seq: u32,
    pub moderation: ModerationStatus,
}

impl Service {
    /// Files an appeal for the live version of a page. Each version can be appealed once.
    pub async fn appeal(
        &self,
        caller: &Caller,
        slug: &Slug,
        message: AppealMessage,
    ) -> ServiceResult<AppealTaken> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let artifact = self.find(caller, slug).await?;
        let id = AppealId::new(now, &self.0.chance);
        let appeal = NewAppeal { id, slug: artifact.slug.clone(), message };
        let taken = self.0.store.moderation().appeal(&self.change_by(caller), &appeal).await?;
        let taken = taken.ok_or_else(|| caller.no_such_artifact())?;
        tracing::info!(artifact.host = %taken.host, version.seq = taken.seq, "moderation decision appealed");
        Ok(AppealTaken {
            id,
            slug: artifact.slug,
            host: taken.host,
            seq: taken.seq,
            moderation: taken.status,
        })
    }
}
