//! What the two publishing tools share: the slug, and the steps from the content to the published version.

use domain::{CreatedVia, PublishCondition, Refusal, Slug, Target};
use serde_json::{Value, json};
use service::{Addressed, PublishRequest, SitePlan};

use crate::http::condition_header;
use crate::http::permits::WorkClass;
use crate::http::publishing::{self, Loaded, Planned};
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{GivenSlug, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::wire;

/// The artifact to publish to.
pub struct Addressee {
    pub slug: Option<GivenSlug>,
    pub expected_version: Option<WholeNumber>,
}

/// The content to publish.
pub enum Content {
    Site(SitePlan),
    /// The id of a staged upload.
    Upload(String),
}

/// The schema of the optional slug.
pub fn slug_schema() -> Value {
    json!({
        "type": "string",
        "pattern": Slug::PATTERN,
        "description": "The artifact's name within your account: lower-case letters, digits and dashes, such as \
                        \"quarterly-report\". It becomes part of the URL. The same slug adds a version and keeps \
                        the URL. If omitted, a new slug is generated.",
    })
}

/// The schema of the optional version.
pub fn expected_version_schema() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "description": "The version that you have changed. If another version is live by now, nothing is \
                        published and the error version_conflict has its live_version. Without it, the last \
                        publish wins.",
    })
}

/// Publishes the content and makes it live.
pub async fn publish(
    exchange: &McpExchange,
    addressee: Addressee,
    content: Content,
) -> Result<wire::PublishResult, RefusedCall> {
    let McpExchange { service, caller, .. } = exchange;
    let publish = async |(), request| Ok(service.publish(caller, request).await?);
    let publication = run(exchange, addressee, content, publish).await?;
    let signed_url = service.signed_url_of(&publication.published);
    Ok(wire::PublishResult::new(&publication, signed_url, service.addresses()))
}

/// What publishing the content would do.
pub async fn rehearse(
    exchange: &McpExchange,
    addressee: Addressee,
    content: Content,
) -> Result<wire::RehearsalResult, RefusedCall> {
    let McpExchange { service, caller, .. } = exchange;
    let rehearse = async |(), request| Ok(service.rehearse(caller, request).await?);
    let rehearsal = run(exchange, addressee, content, rehearse).await?;
    Ok(wire::RehearsalResult::from(&rehearsal))
}

/// Checks and loads the content, and then runs the operation with it.
async fn run<Done, Running>(
    exchange: &McpExchange,
    addressee: Addressee,
    content: Content,
    operation: impl FnOnce((), PublishRequest) -> Running,
) -> Result<Done, RefusedCall>
where
    Running: Future<Output = Result<Done, RefusedCall>>,
{
    let McpExchange { service, caller, permit, .. } = exchange;
    let target = addressee.target()?;
    let slug = addressee.slug.map(|given| given.0);
    let check = async { Ok(service.check_publish(caller, Addressed::ByBody, None, None).await?) };
    let load = async {
        let request = PublishRequest { slug, target, ..PublishRequest::new(CreatedVia::Mcp, vec![]) };
        content.load(exchange, request).await
    };
    publishing::publish(permit, check, load, operation).await
}

impl Addressee {
    fn target(&self) -> Result<Target, Refusal> {
        let expected =
            self.expected_version.map(|seq| condition_header::expected_version(seq.0)).transpose()?;
        Ok(expected.map_or(Target::NewOrExisting, |seq| Target::If(PublishCondition::LiveVersion(seq))))
    }
}

impl Content {
    /// An upload has its own permit class, and takes memory that the request did not reserve. So do contents
    /// that are named and not sent.
    async fn load(self, exchange: &McpExchange, request: PublishRequest) -> Result<Loaded, RefusedCall> {
        let McpExchange { service, caller, permit, memory, .. } = exchange;
        let upload = match self {
            Content::Site(site) => {
                let planned = Planned { request, site, memory: memory.enter() };
                return publishing::complete(service, caller, permit, planned).await;
            }
            Content::Upload(upload) => upload,
        };
        permit.exchange_for(WorkClass::Upload).await?;
        let memory = memory.reserve_largest().await?;
        let (upload, files) = service.uploaded(caller, &upload).await?;
        Ok(Loaded {
            request: PublishRequest { upload: Some(upload), files, ..request },
            memory: Some(memory),
        })
    }
}
