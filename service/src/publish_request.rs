//! A publish as an entry point hands it in: parsed, and within the limits.

use bytes::Bytes;
use domain::{
    Activation, CreatedVia, Message, Payment, PublishOrder, SitePath, Slug, Target, Time, UploadId, VersionId,
};

use crate::Caller;

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
}

/// The digest of a plan with a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation(pub(crate) String);

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
        }
    }

    /// The order of this request, without its files.
    pub(crate) fn order(&self, caller: &Caller, id: OrderId) -> PublishOrder {
        let OrderId { version, slug, deadline } = id;
        PublishOrder {
            account: caller.account,
            version,
            slug,
            target: self.target,
            activation: self.activation,
            pinned_to: caller.pinned_to(),
            payment: self.payment.clone(),
            created_via: self.created_via,
            message: self.message.clone(),
            created_by: caller.token(),
            called_by: Some(caller.called_by()),
            deadline,
        }
    }
}

/// What an order has besides the request.
pub(crate) struct OrderId {
    pub(crate) version: VersionId,
    pub(crate) slug: Slug,
    pub(crate) deadline: Option<Time>,
}

#[derive(Clone, Debug)]
pub struct UploadedFile {
    pub path: SitePath,
    pub bytes: Bytes,
}
