//! What the publishing tools share: the terms, the price, and the steps from the content to the published
//! version.

use domain::{Activation, CreatedVia, Message, PublishCondition, Refusal, Slug, Target};
use serde::Deserialize;
use serde_json::{Value, json};
use service::{Addressed, PublishRequest, SitePlan};

use crate::http::condition_header;
use crate::http::permits::WorkClass;
use crate::http::publishing::{self, Loaded, Planned};
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{GivenSlug, WholeNumber};
use crate::mcp::consent::Price;
use crate::mcp::endpoint::McpExchange;
use crate::wire;

/// Where and how to publish.
pub struct PublishTerms {
    pub slug: Option<GivenSlug>,
    pub expected_version: Option<WholeNumber>,
    pub message: Option<Message>,
    /// Omitted and null both mean true.
    pub activate: Option<bool>,
    pub wait: Option<Wait>,
}

/// What a result waits for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    Scan,
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

/// The schema of the optional message.
pub fn message_schema() -> Value {
    json!({
        "type": "string",
        "maxLength": Message::LENGTH_MAX,
        "pattern": Message::PATTERN,
        "description": "What is new in this version, in one line. get_artifact shows it.",
    })
}

/// The schema of the optional choice whether the version goes live.
pub fn activate_schema() -> Value {
    json!({
        "type": "boolean",
        "default": true,
        "description": "false stages the version: it is stored but not live. Look at its version_url, then \
         make it live with rollback_artifact.",
    })
}

/// The schema of the optional wait.
pub fn wait_schema() -> Value {
    json!({
        "type": "string",
        "enum": ["scan"],
        "description": "scan waits up to 10 seconds for the verdict of the scan, which the result then has \
         as moderation_status.",
    })
}

/// The price of a publish, whatever its content.
pub async fn price(exchange: &McpExchange, slug: Option<&GivenSlug>) -> Result<Price, RefusedCall> {
    let amount = exchange.service.publish_price(&exchange.caller).await?;
    let page = slug.map_or("a new page", |GivenSlug(slug)| slug.as_str());
    let question =
        format!("Publish {page}? The free publishes are used up: this costs {amount} USD of credit.");
    Ok(Price { amount, reason: "publish", question })
}

/// Publishes the content.
pub async fn publish(
    exchange: &McpExchange,
    terms: PublishTerms,
    content: Content,
) -> Result<wire::PublishResult, RefusedCall> {
    let McpExchange { service, caller, permit, client, .. } = exchange;
    let wait = terms.wait;
    let publish = async |(), request| Ok(service.publish(caller, request).await?);
    let publication = run(exchange, terms, content, publish).await?;
    let signed_url = service.signed_url_of(&publication.published);
    let result = wire::PublishResult::new(&publication, signed_url, service.addresses());
    let Some(Wait::Scan) = wait else { return Ok(result) };
    let version = publication.published.version;
    Ok(result.with_verdict(publishing::verdict(permit, client, service, version).await))
}

/// What publishing the content would do.
pub async fn rehearse(
    exchange: &McpExchange,
    terms: PublishTerms,
    content: Content,
) -> Result<wire::RehearsalResult, RefusedCall> {
    let McpExchange { service, caller, .. } = exchange;
    let rehearse = async |(), request| Ok(service.rehearse(caller, request).await?);
    let rehearsal = run(exchange, terms, content, rehearse).await?;
    Ok(wire::RehearsalResult::from(&rehearsal))
}

/// Checks and loads the content, and then runs the operation with it.
async fn run<Done, Running>(
    exchange: &McpExchange,
    terms: PublishTerms,
    content: Content,
    operation: impl FnOnce((), PublishRequest) -> Running,
) -> Result<Done, RefusedCall>
where
    Running: Future<Output = Result<Done, RefusedCall>>,
{
    let McpExchange { service, caller, permit, .. } = exchange;
    let (target, activation) = (terms.target()?, terms.activation());
    let (slug, message) = (terms.slug.map(|given| given.0), terms.message);
    let check = async { Ok(service.check_publish(caller, Addressed::ByBody, None, None).await?) };
    let load = async {
        let request = PublishRequest::new(CreatedVia::Mcp, vec![]);
        let request = PublishRequest { slug, target, activation, message, ..request };
        content.load(exchange, request).await
    };
    publishing::publish(permit, check, load, operation).await
}

impl PublishTerms {
    fn activation(&self) -> Activation {
        if self.activate == Some(false) { Activation::Staged } else { Activation::Live }
    }

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
