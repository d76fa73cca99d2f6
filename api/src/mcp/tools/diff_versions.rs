//! Compares two versions.

use domain::VersionChoice;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct DiffVersions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    from: WholeNumber,
    to: Option<WholeNumber>,
}

impl Tool for DiffVersions {
    const NAME: &'static str = "diff_versions";
    const TITLE: &'static str = "Compare two versions of a page";
    const DESCRIPTION: &'static str = "\
List the files that differ between two versions of a page. Use it to see what others have changed, or \
what a rollback would change. Returns from, to, and files: each with path, change (added, removed or \
changed), size_before and size_after. Free. read_file shows a file of either version.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Output = wire::Differences;

    fn schema() -> Value {
        let from = json!({
            "type": "integer",
            "minimum": 1,
            "description": "The seq of the version to compare from, from get_artifact.",
        });
        let properties = json!({ "slug": arguments::slug(), "from": from, "to": arguments::version() });
        arguments::object(properties, &["slug", "from"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), from: WholeNumber(from), to } = arguments;
        let to = to.map_or(VersionChoice::Live, |WholeNumber(seq)| VersionChoice::Numbered(seq));
        let versions = [VersionChoice::Numbered(from), to];
        let differences = exchange.service.differences(&exchange.caller, &slug, versions).await?;
        Ok(wire::Differences::from(&differences))
    }
}
