//! Deleting an artifact.

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
Delete a published page or site for good: its URL stops serving at once, for everyone, and cannot be brought back. \
Use it only when your human has asked for it or has agreed. To undo a publish use rollback_artifact instead; to \
change a page publish to the same slug again.

Returns {slug, deleted: true}. Free, and it ends the monthly charge of an unlisted or private page. The slug may be \
used again, but for a new URL.";
    const EFFECT: Effect = Effect::Removes;

    type Arguments = Arguments;
    type Answer = wire::Deleted;

    fn schema() -> Value {
        arguments::object(json!({ "slug": arguments::slug() }), &["slug"])
    }

    async fn run(visit: &McpExchange, arguments: Arguments) -> Result<Self::Answer, RefusedCall> {
        Ok(visit.service.delete(&visit.caller, &arguments.slug.0).await?.into())
    }
}
