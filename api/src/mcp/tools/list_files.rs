//! Lists the files of a version.

use domain::VersionChoice;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct ListFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    version: Option<WholeNumber>,
}

impl Tool for ListFiles {
    const NAME: &'static str = "list_files";
    const TITLE: &'static str = "List the files of a page";
    const DESCRIPTION: &'static str = "\
List the files of a page. Use it before you read or change a page that you do not have. Returns version \
and files: each with path, size_bytes, content_type and sha256. Free. read_file reads one.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Output = wire::VersionFiles;

    fn schema() -> Value {
        arguments::object(json!({ "slug": arguments::slug(), "version": arguments::version() }), &["slug"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), version } = arguments;
        let version = version.map_or(VersionChoice::Live, |WholeNumber(seq)| VersionChoice::Numbered(seq));
        let files = exchange.service.version_files(&exchange.caller, &slug, version).await?;
        Ok(wire::VersionFiles::from(&files))
    }
}
