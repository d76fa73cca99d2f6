//! Deletes an artifact.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct DeleteArtifact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
}

impl Tool for DeleteArtifact {
    const NAME: &'static str = "delete_artifact";
    const TITLE: &'static str = "Delete a page";
    const DESCRIPTION: &'static str = "\
Delete a published page or site: its URL stops working at once for everyone. For 30 days it can be restored, \
with POST /v1/artifacts/{slug}/restore. Use it only if your human asked for it or agreed. To undo a \
publish, use rollback_artifact \
instead; to change a page, publish to the same slug again.

Returns {slug, deleted: true}. Free, and it ends the monthly charge of an unlisted or private page. The \
slug can be used again, with a new URL.";
    const EFFECT: Effect = Effect::Removes;

    type Arguments = Arguments;
    type Output = wire::Deleted;

    fn schema() -> Value {
        arguments::object(json!({ "slug": arguments::slug() }), &["slug"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        Ok(exchange.service.delete(&exchange.caller, &arguments.slug.0).await?.into())
    }
}
