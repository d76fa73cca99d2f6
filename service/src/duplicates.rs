//! A copy of a page's live version under a new slug. It is a publish like any other, with its price and its
//! limits. A copy of a page that is not public is never public: its first version is staged until the copy
//! has the same visibility.

use domain::{
    Activation, CreatedVia, Micro, Payment, PublishCondition, Refusal, Scope, Slug, Target, VersionChoice,
    Visibility,
};

use crate::site_plan::PlannedFile;
use crate::{Caller, PublishRequest, Service, ServiceResult, SitePlan, VisibilityRequest};

/// The number of a new artifact's first version.
const FIRST_VERSION: u32 = 1;

/// A copy that is to be made.
#[derive(Clone, Debug)]
pub struct DuplicateRequest {
    pub of: Slug,
    pub slug: Slug,
    pub created_via: CreatedVia,
}

/// A publish that makes the copy, before its contents are loaded.
#[derive(Clone, Debug)]
pub struct BegunDuplicate {
    pub publish: PublishRequest,
    pub site: SitePlan,
    pub visibility: Visibility,
}

impl Service {
    /// Finds what is copied. Refuses what would surely be refused later.
    pub async fn begin_duplicate(
        &self,
        caller: &Caller,
        request: &DuplicateRequest,
    ) -> ServiceResult<BegunDuplicate> {
        caller.may_write(Scope::ArtifactsWrite, self.0.clock.now())?;
        let original = self.artifact_alone(caller, &request.of).await?;
        if self.0.store.artifacts().existing(caller.account, &request.slug).await?.is_some() {
            return Err(
                Refusal::invalid("slug", "is the name of another page; choose a different one").into()
            );
        }
        let files = self.files_of(&original, VersionChoice::Live).await?;
        if original.visibility != Visibility::Public {
            self.must_afford_hidden_copy(caller).await?;
        }
        let activation = match original.visibility {
            Visibility::Public => Activation::Live,
            Visibility::Unlisted | Visibility::Private => Activation::Staged,
        };
        let publish = PublishRequest {
            slug: Some(request.slug.clone()),
            target: Target::If(PublishCondition::SlugIsNew),
            activation,
            ..PublishRequest::new(request.created_via, vec![])
        };
        let planned = files.manifest.files().iter().map(PlannedFile::of_version).collect();
        let site = SitePlan { files: planned, base: None };
        Ok(BegunDuplicate { publish, site, visibility: original.visibility })
    }

    /// Gives a copy that was published the visibility of its original, and then makes it live. A copy that
    /// cannot have it is deleted.
    pub async fn finish_duplicate(
        &self,
        caller: &Caller,
        slug: &Slug,
        visibility: Visibility,
    ) -> ServiceResult<()> {
        if visibility == Visibility::Public {
            return Ok(());
        }
        let request = VisibilityRequest { slug: slug.clone(), to: visibility, payment: None };
        if let Err(failure) = self.set_visibility(caller, request).await {
            // It would be public as soon as somebody made it live.
            self.delete(caller, slug).await?;
            return Err(failure);
        }
        self.activate(caller, slug, FIRST_VERSION).await?;
        Ok(())
    }

    /// The credit must cover the publish and the first month.
    async fn must_afford_hidden_copy(&self, caller: &Caller) -> ServiceResult<()> {
        let now = self.0.clock.now();
        let standing = self.0.store.accounts().billing_state(caller.account, now).await?;
        let standing = standing.ok_or(Refusal::Unauthorized)?;
        let publish: Option<&Payment> = None;
        let settled = self.tariff().settle_publish(standing, publish).map_err(Refusal::PaymentRequired)?;
        let left = Micro::new(standing.balance.get() - settled.charged.get());
        self.tariff().settle_visibility(left, None).map_err(Refusal::PaymentRequired)?;
        Ok(())
    }
}
