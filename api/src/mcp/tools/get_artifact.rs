//! Returns an artifact with its versions.

use domain::Page;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct GetArtifact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
}

impl Tool for GetArtifact {
    const NAME: &'static str = "get_artifact";
    const TITLE: &'static str = "Get a page and its versions";
    const DESCRIPTION: &'static str = "\
Get a published page or site: its URL, its visibility and all its versions. Use it before \
rollback_artifact, or to check whether a page has passed the scan.

Returns slug, url, visibility, moderation_status, moderation (why it is in review or blocked), version \
(the live version's number), created_at, updated_at, versions (newest first; each with seq, file_count, \
total_bytes, created_at, message, moderation_status, live and url, the version's own address: look at it \
before you switch), and signed_url if the artifact is private: share that link instead of url; its versions \
have a signed_url, too. Free. An unknown slug is refused with not_found. Next: rollback_artifact \
with the seq of any version.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Output = wire::ArtifactDetail;

    fn schema() -> Value {
        arguments::object(json!({ "slug": arguments::slug() }), &["slug"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let detail = exchange.service.artifact(&exchange.caller, &arguments.slug.0, &Page::whole()).await?;
        Ok(wire::ArtifactDetail::new(detail, exchange.service.addresses()))
    }
}
