//! Looking at one artifact and its versions.

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
    const TITLE: &'static str = "Look at one page and its versions";
    const DESCRIPTION: &'static str = "\
Look at one published page or site: its URL, who may see it, and every version of it. Use it before \
rollback_artifact, or to see whether the scan has passed a page.

Returns slug, url, visibility, moderation_status, moderation (why it is in review or blocked, in plain words), version \
(the live one's number), created_at, updated_at, versions \
(newest first; each with seq, file_count, total_bytes, created_at, message, moderation_status and live), and \
signed_url when the artifact is private: that is then the link to hand out, not url. Free. An unknown slug is refused \
with not_found. Next: rollback_artifact with the seq of any version.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Answer = wire::ArtifactDetail;

    fn schema() -> Value {
        arguments::object(json!({ "slug": arguments::slug() }), &["slug"])
    }

    async fn run(visit: &McpExchange, arguments: Arguments) -> Result<Self::Answer, RefusedCall> {
        let detail = visit.service.artifact(&visit.caller, &arguments.slug.0, &Page::whole()).await?;
        Ok(wire::ArtifactDetail::new(detail, visit.service.addresses()))
    }
}
