//! Choosing the live version: back or forward. It must never cost.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, Whole};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

const VERSION_MAX: u32 = i32::MAX as u32;

pub struct RollbackArtifact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    version: Whole,
}

impl Tool for RollbackArtifact {
    const NAME: &'static str = "rollback_artifact";
    const TITLE: &'static str = "Make another version live";
    const DESCRIPTION: &'static str = "\
Make an earlier (or later) version of a published page the live one. Use it to undo a publish, or to go forward \
again. No version is lost by it, the URL stays the same, and visitors see the change at once.

Returns the artifact as it is now, with version (the live one's number) and url. Free: it uses no allowance. A \
version that does not exist is refused with not_found; get_artifact lists the versions.";
    const EFFECT: Effect = Effect::Moves;

    type Arguments = Arguments;
    type Answer = wire::Artifact;

    fn schema() -> Value {
        let version = json!({
            "type": "integer",
            "minimum": 1,
            "maximum": VERSION_MAX,
            "description": "The seq of the version to make live, as get_artifact lists it under versions.",
        });
        arguments::object(json!({ "slug": arguments::slug(), "version": version }), &["slug", "version"])
    }

    async fn run(visit: &McpExchange, arguments: Arguments) -> Result<Self::Answer, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), version: Whole(version) } = arguments;
        if !(1..=VERSION_MAX).contains(&version) {
            let fault = format!("must be from 1 to {VERSION_MAX}; get_artifact lists the versions");
            return Err(domain::Refusal::invalid("version", fault).into());
        }
        let artifact = visit.service.activate(&visit.caller, &slug, version).await?;
        Ok(wire::Artifact::new(&artifact, visit.service.addresses()))
    }
}
