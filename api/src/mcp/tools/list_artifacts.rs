//! Lists the artifacts of the account.

use domain::{Cursor, List, Page, PageStart};
use poem_openapi::Object;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::paging;
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

/// The default page size, which fits a model's context.
const ARTIFACTS: u32 = 100;
const LISTS: &[List] = &[List::Artifacts];

pub struct ListArtifacts;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    cursor: Option<String>,
    limit: Option<WholeNumber>,
}

/// A page of the list. It is an object, because an array could not contain the cursor, and many clients show
/// their model only the text.
#[derive(Object)]
pub struct ArtifactList {
    artifacts: Vec<wire::Artifact>,
    #[oai(nullable)]
    next_cursor: Option<String>,
}

impl Tool for ListArtifacts {
    const NAME: &'static str = "list_artifacts";
    const TITLE: &'static str = "List the published pages";
    const DESCRIPTION: &'static str = "\
List the pages of the account, newest first. Use it to find a slug or a URL. Returns artifacts, each \
with slug, url, visibility, moderation_status and version (the live one, or null), and next_cursor: if \
it is not null, call again with it as cursor. Free.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Output = ArtifactList;

    fn schema() -> Value {
        let properties = json!({
            "cursor": {
                "type": "string",
                "pattern": Cursor::pattern(LISTS),
                "description": "The next_cursor of the previous call. Omit it to start with the newest.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": Page::ROWS_MAX,
                "description": "The maximum number of artifacts to return. The default is 100.",
            },
        });
        arguments::object(properties, &[])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let rows_max =
            paging::rows_max("limit", arguments.limit.map_or(ARTIFACTS, |WholeNumber(limit)| limit))?;
        let cursor = arguments.cursor.map(|text| paging::cursor("cursor", &text, LISTS)).transpose()?;
        let page = Page::new(cursor.map_or(PageStart::First, PageStart::After), rows_max);
        let artifacts = exchange.service.artifacts(&exchange.caller, &page).await?;
        let addresses = exchange.service.addresses();
        Ok(ArtifactList {
            next_cursor: artifacts.next.map(|next| next.to_string()),
            artifacts: artifacts.rows.iter().map(|row| wire::Artifact::new(row, addresses)).collect(),
        })
    }
}
