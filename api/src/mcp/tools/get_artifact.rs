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
Get a page and its versions, newest first. Use it before rollback_artifact, or to see whether the scan \
has passed. Returns url, visibility, moderation_status, moderation (why it is in review or blocked), \
version (the live one) and versions: each with seq, created_at, message, live and url, which shows that \
version. A private page has a signed_url: share it instead of url. Free.";
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
