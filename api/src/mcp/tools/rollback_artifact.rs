//! Makes an earlier or later version live. It must never cost anything.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

const VERSION_MAX: u32 = i32::MAX as u32;

pub struct RollbackArtifact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    version: WholeNumber,
}

impl Tool for RollbackArtifact {
    const NAME: &'static str = "rollback_artifact";
    const TITLE: &'static str = "Make another version live";
    const DESCRIPTION: &'static str = "\
Make any version of a page live: an earlier one, a later one, or a staged one. Use it to undo a publish \
or to go live. No version is lost, and the URL stays the same. Returns the page, with version (the live \
one) and url. Free.";
    const EFFECT: Effect = Effect::Moves;

    type Arguments = Arguments;
    type Output = wire::Artifact;

    fn schema() -> Value {
        let version = json!({
            "type": "integer",
            "minimum": 1,
            "maximum": VERSION_MAX,
            "description": "The seq of the version to make live. get_artifact lists the versions.",
        });
        arguments::object(json!({ "slug": arguments::slug(), "version": version }), &["slug", "version"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), version: WholeNumber(version) } = arguments;
        if !(1..=VERSION_MAX).contains(&version) {
            let fault = format!("must be from 1 to {VERSION_MAX}; get_artifact lists the versions");
            return Err(domain::Refusal::invalid("version", fault).into());
        }
        let artifact = exchange.service.activate(&exchange.caller, &slug, version).await?;
        Ok(wire::Artifact::new(&artifact, exchange.service.addresses()))
    }
}
