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
Delete a page: its URL stops working at once. Use it only if your human agreed. For 30 days POST \
/v1/artifacts/{slug}/restore undoes it. To undo a publish, use rollback_artifact. Returns {slug, \
deleted: true}. Free, and it ends the monthly charge of the page.";
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
