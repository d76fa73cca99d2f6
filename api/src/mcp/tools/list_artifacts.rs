//! Listing what the account has published.

use domain::{Cursor, List, Page, PageStart};
use poem_openapi::Object;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::paging;
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, Whole};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

/// What fits a model's context, unless it asks for another number.
const ARTIFACTS: u32 = 100;
const LISTS: &[List] = &[List::Artifacts];

pub struct ListArtifacts;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    cursor: Option<String>,
    limit: Option<Whole>,
}

/// A page of the list. It is an object, and the same one in the text and in the structured content: an array could not
/// say that the list goes on, and many clients show their model nothing but the text.
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
List the pages and sites that your account has published and not deleted, newest first, 100 at a time. Use it to find \
the slug or the URL of something, or to see what is there before you publish under a slug.

Returns artifacts, an array with, for each: slug (its name in all other calls), url (where it is served), visibility \
(public, unlisted or private), moderation_status (pending, pass, review or blocked; blocked pages are not served) and \
version (the live one's number, null if none is live); and next_cursor: null at the end of the list, otherwise there \
are more: call again with it as cursor. Free. Next: get_artifact for the versions of one.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Answer = ArtifactList;

    fn schema() -> Value {
        let properties = json!({
            "cursor": {
                "type": "string",
                "pattern": Cursor::pattern(LISTS),
                "description": "The next_cursor of the call before. Left out, the list begins with the newest.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": Page::ROWS_MAX,
                "description": "At most so many artifacts. 100 when left out.",
            },
        });
        arguments::object(properties, &[])
    }

    async fn run(visit: &McpExchange, arguments: Arguments) -> Result<Self::Answer, RefusedCall> {
        let rows_max = paging::rows_max("limit", arguments.limit.map_or(ARTIFACTS, |Whole(limit)| limit))?;
        let cursor = arguments.cursor.map(|text| paging::cursor("cursor", &text, LISTS)).transpose()?;
        let page = Page::new(cursor.map_or(PageStart::First, PageStart::After), rows_max);
        let artifacts = visit.service.artifacts(&visit.caller, &page).await?;
        let addresses = visit.service.addresses();
        Ok(ArtifactList {
            next_cursor: artifacts.next.map(|next| next.to_string()),
            artifacts: artifacts.rows.iter().map(|row| wire::Artifact::new(row, addresses)).collect(),
        })
    }
}
