//! A publish as an entry point hands it in: parsed, and within the limits.

use domain::{
    Activation, CreatedVia, Message, Payment, PublishCondition, PublishOrder, Slug, Target, Time, UploadId,
    VersionId,
};

use crate::Caller;
use crate::site_plan::{Derivation, LiveBase, SitePlan, UploadedFile};

/// A publish that was parsed and is within bounds.
#[derive(Clone, Debug)]
pub struct PublishRequest {
    pub slug: Option<Slug>,
    pub files: Vec<UploadedFile>,
    pub target: Target,
    pub activation: Activation,
    pub payment: Option<Payment>,
    pub idempotency_key: Option<String>,
    /// The upload that the files were staged in. It ends with the publish.
    pub upload: Option<UploadId>,
    pub created_via: CreatedVia,
    pub message: Option<Message>,
    /// What a request asks for that makes the site from another version, as a digest. An idempotency key
    /// compares it in place of the files, because the version that is live changes.
    pub derivation: Option<Derivation>,
    /// Set if the files were made from the live version, and the client has no condition.
    pub live_base: Option<LiveBase>,
}

impl PublishRequest {
    /// Publishes files under a new or existing slug and makes them live. Nothing is paid inline.
    pub fn new(created_via: CreatedVia, files: Vec<UploadedFile>) -> Self {
        Self {
            slug: None,
            files,
            target: Target::NewOrExisting,
            activation: Activation::Live,
            payment: None,
            idempotency_key: None,
            upload: None,
            created_via,
            message: None,
            derivation: None,
            live_base: None,
        }
    }

    /// The request before its site was made from the live version, and the plan of the site.
    pub(crate) fn unmade(&self) -> Option<(Self, SitePlan)> {
        let plan = self.live_base.as_ref()?.plan.clone();
        Some((Self { files: vec![], live_base: None, ..self.clone() }, plan))
    }

    /// What must be true when the publish is settled. A site that was made from the live version must not
    /// remove what others published meanwhile.
    pub(crate) fn settled_target(&self) -> Target {
        match (&self.live_base, self.target) {
            (Some(base), Target::Existing) => Target::If(PublishCondition::LiveVersion(base.seq)),
            (_, target) => target,
        }
    }

    /// The order of this request, without its files.
    pub(crate) fn order(&self, caller: &Caller, id: OrderId) -> PublishOrder {
        let OrderId { version, slug, deadline } = id;
        PublishOrder {
            account: caller.account,
            version,
            slug,
            target: self.settled_target(),
            activation: self.activation,
            pinned_to: caller.pinned_to(),
            payment: self.payment.clone(),
            created_via: self.created_via,
            message: self.message.clone(),
            created_by: caller.token(),
            called_by: Some(caller.called_by()),
            deadline,
            is_provisional: Some(caller.account_expires_at.is_some()),
        }
    }
}

/// What an order has besides the request.
pub(crate) struct OrderId {
    pub(crate) version: VersionId,
    pub(crate) slug: Slug,
    pub(crate) deadline: Option<Time>,
}
