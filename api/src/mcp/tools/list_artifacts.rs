//! Lists the artifacts of the account.

use domain::{Cursor, Host, List, Page, PageStart};
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
    artifacts: Vec<wire::ListedArtifact>,
    #[oai(nullable)]
    next_cursor: Option<String>,
}

impl Tool for ListArtifacts {
    const NAME: &'static str = "list_artifacts";
    const TITLE: &'static str = "List the published pages";
    const DESCRIPTION: &'static str = "\
List the pages of the account, newest first. Use it to find a slug or a URL. Returns artifacts, each \
with slug, url, title, visibility, moderation_status, version (the live one, or null), updated_at and \
views_month, and next_cursor: if it is not null, call again with it as cursor. Free.";
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
        let hosts: Vec<Host> = artifacts.rows.iter().map(|artifact| artifact.host.clone()).collect();
        let views = exchange.service.views_by_host(&exchange.caller, &hosts).await?;
        let listed = wire::ListedArtifact::page(artifacts, &views, exchange.service.addresses());
        Ok(ArtifactList { next_cursor: listed.next.map(|next| next.to_string()), artifacts: listed.rows })
    }
}
