//! What the two publishing tools share: the slug, and the sequence of steps from the content to the published version.

use domain::{Activation, CreatedVia, Slug, Target, UploadId};
use serde_json::{Value, json};
use service::{Addressed, PublishRequest, UploadedFile};

use crate::http::permits::WorkClass;
use crate::http::refusal::RefusedCall;
use crate::http::upload_budget::RoomTaken;
use crate::mcp::arguments::GivenSlug;
use crate::mcp::endpoint::McpExchange;
use crate::wire;

/// What is published.
pub enum Content {
    Files(Vec<UploadedFile>),
    /// The id of a staged upload.
    Upload(String),
}

/// The files of a publish, and the memory that they take besides the request.
struct Loaded {
    files: Vec<UploadedFile>,
    upload: Option<UploadId>,
    _room: Option<RoomTaken>,
}

/// The schema of the optional slug.
pub fn slug_schema() -> Value {
    json!({
        "type": "string",
        "pattern": Slug::PATTERN,
        "description": "The artifact's name on your account: lower-case letters, digits and dashes, such as \
                        \"quarterly-report\". It becomes part of the URL. The same slug again adds a version and \
                        keeps the URL. Without a slug, a new one is generated.",
    })
}

/// Publishes the content, and makes it live.
pub async fn publish(
    visit: &McpExchange,
    slug: Option<GivenSlug>,
    content: Content,
) -> Result<wire::PublishResult, RefusedCall> {
    let McpExchange { service, caller, permit, .. } = visit;
    permit.foresee(WorkClass::Publish)?;
    service.check_publish(caller, Addressed::ByBody, None, None).await?;
    let Loaded { files, upload, _room } = content.load(visit).await?;
    let request = PublishRequest {
        slug: slug.map(|given| given.0),
        files,
        target: Target::NewOrExisting,
        activation: Activation::Live,
        payment: None,
        idempotency_key: None,
        upload,
        created_via: CreatedVia::Mcp,
        message: None,
    };
    permit.go_over_to(WorkClass::Publish).await?;
    let publication = service.publish(caller, request).await?;
    let signed_url = service.signed_url_of(&publication.published);
    Ok(wire::PublishResult::new(&publication, signed_url, service.addresses()))
}

impl Content {
    /// An upload has a queue of its own, and takes memory that the request did not reserve.
    async fn load(self, visit: &McpExchange) -> Result<Loaded, RefusedCall> {
        let upload = match self {
            Content::Files(files) => return Ok(Loaded { files, upload: None, _room: None }),
            Content::Upload(upload) => upload,
        };
        visit.permit.go_over_to(WorkClass::Upload).await?;
        let room = visit.room.take_for_largest().await?;
        let (upload, files) = visit.service.uploaded(&visit.caller, &upload).await?;
        Ok(Loaded { files, upload: Some(upload), _room: Some(room) })
    }
}
