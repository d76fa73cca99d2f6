//! Edits text files of the live version, and publishes the result.

use domain::{CreatedVia, Refusal, TextEdit};
use serde::Deserialize;
use serde_json::{Value, json};
use service::{Addressed, EDITS_MAX, EditRequest};

use super::publication;
use crate::http::condition_header;
use crate::http::publishing::{self, Loaded, Planned};
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::consent::Price;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

/// How often the edits are applied to a newer version, if others publish at the same time.
const TRIES_MAX: usize = 10;

pub struct EditArtifact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    edits: Vec<Edit>,
    expected_version: Option<WholeNumber>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with path, old and new")]
struct Edit {
    path: String,
    old: String,
    new: String,
}

impl Tool for EditArtifact {
    const NAME: &'static str = "edit_artifact";
    const TITLE: &'static str = "Edit a page or a site";
    const DESCRIPTION: &'static str = "\
Replace text in files of the live version and publish the result as a new version. Use it for small \
changes; read_file shows the current text. The edits are applied in order, all or none. An old text must \
occur exactly once: otherwise edit_mismatch has edit, path, hits and the nearest lines. Returns the same \
as publish_artifact. Costs a free publish, or {publish_price} USD after those. Needs the scopes \
artifacts:read and artifacts:write.";
    const EFFECT: Effect = Effect::Publishes;

    type Arguments = Arguments;
    type Output = wire::PublishResult;

    fn schema() -> Value {
        let text = |description| json!({ "type": "string", "description": description });
        let edit = json!({
            "path": text("The path of the file in the site, such as \"css/app.css\"."),
            "old": text("The text to replace, exactly as in the file, with its spaces and line breaks. It \
                         must occur exactly once."),
            "new": text("The text in its place. Empty to delete the old text."),
        });
        let mut edit = arguments::object(edit, &["path", "old", "new"]);
        edit["properties"]["old"]["minLength"] = json!(1);
        let properties = json!({
            "slug": arguments::slug(),
            "edits": {
                "type": "array",
                "minItems": 1,
                "maxItems": EDITS_MAX,
                "description": "The edits, in the order in which they are applied.",
                "items": edit,
            },
            "expected_version": publication::expected_version_schema(),
        });
        arguments::object(properties, &["slug", "edits"])
    }

    async fn price(exchange: &McpExchange, arguments: &Arguments) -> Result<Option<Price>, RefusedCall> {
        publication::price(exchange, Some(&arguments.slug)).await.map(Some)
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), edits, expected_version } = arguments;
        let expected =
            expected_version.map(|WholeNumber(seq)| condition_header::expected_version(seq)).transpose()?;
        let edits = edits.into_iter().map(|Edit { path, old, new }| TextEdit { path, old, new }).collect();
        let request = EditRequest { slug, edits, expected_version: expected, created_via: CreatedVia::Mcp };
        let mut tries = 1;
        loop {
            match publish(exchange, &request, tries).await {
                Err(refused) if tries < TRIES_MAX && may_retry(&request, &refused) => tries += 1,
                result => return result,
            }
        }
    }
}

/// The edits may still apply to a version that was published at the same time.
fn may_retry(request: &EditRequest, RefusedCall(refusal): &RefusedCall) -> bool {
    request.expected_version.is_none() && matches!(**refusal, Refusal::VersionConflict { .. })
}

/// Applies the edits to the live version, and publishes the result if that version is still live. Only the
/// first try counts against the rate limit.
async fn publish(
    exchange: &McpExchange,
    request: &EditRequest,
    tries: usize,
) -> Result<wire::PublishResult, RefusedCall> {
    let McpExchange { service, caller, permit, .. } = exchange;
    let check = async {
        if tries == 1 {
            service.check_publish(caller, Addressed::Existing(&request.slug), None, None).await?;
        }
        Ok(())
    };
    let load = Box::pin(load(exchange, request));
    let publish = async |(), publish| Ok(service.publish(caller, publish).await?);
    let publication = publishing::publish(permit, check, load, publish).await?;
    let signed_url = service.signed_url_of(&publication.published);
    Ok(wire::PublishResult::new(&publication, signed_url, service.addresses()))
}

async fn load(exchange: &McpExchange, request: &EditRequest) -> Result<Loaded, RefusedCall> {
    let McpExchange { service, caller, permit, .. } = exchange;
    let (publish, site) = service.begin_edit(caller, request).await?;
    let planned = Planned { request: publish, site, memory: exchange.memory.enter() };
    let Loaded { request: publish, memory } = publishing::complete(service, caller, permit, planned).await?;
    // The edited files are in memory beside the files that they replace.
    let mut texts = exchange.memory.enter();
    texts.grow(publish.files.iter().map(|file| file.bytes.len()).sum()).await?;
    let publish = service.apply_edits(publish, &request.edits).await?;
    Ok(Loaded { request: publish, memory })
}
