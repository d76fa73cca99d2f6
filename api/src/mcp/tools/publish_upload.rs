//! Publishes a staged upload.

use domain::Message;
use serde::Deserialize;
use serde_json::{Value, json};

use super::publication::{self, Content, PublishTerms, Wait};
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::consent::Price;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct PublishUpload;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: Option<GivenSlug>,
    expected_version: Option<WholeNumber>,
    #[serde(default, deserialize_with = "arguments::message")]
    message: Option<Message>,
    activate: Option<bool>,
    wait: Option<Wait>,
    upload: String,
}

impl Tool for PublishUpload {
    const NAME: &'static str = "publish_upload";
    const TITLE: &'static str = "Publish a staged upload";
    const DESCRIPTION: &'static str = "\
Publish the files of an upload. Use it after stage_upload, when the files are uploaded. slug, message, \
activate and wait work as in publish_artifact, which returns the same. Returns url and version. Costs a \
free publish, or {publish_price} USD after those: a payment_required refusal publishes nothing, and the \
upload can be published again. Needs the scope artifacts:write.";
    const EFFECT: Effect = Effect::Publishes;

    type Arguments = Arguments;
    type Output = wire::PublishResult;

    fn schema() -> Value {
        let properties = json!({
            "slug": publication::slug_schema(),
            "expected_version": publication::expected_version_schema(),
            "message": publication::message_schema(),
            "activate": publication::activate_schema(),
            "wait": publication::wait_schema(),
            "upload": {
                "type": "string",
                "description": "The `upload` returned by stage_upload.",
            },
        });
        arguments::object(properties, &["upload"])
    }

    async fn price(exchange: &McpExchange, arguments: &Arguments) -> Result<Option<Price>, RefusedCall> {
        publication::price(exchange, arguments.slug.as_ref()).await.map(Some)
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug, expected_version, message, activate, wait, upload } = arguments;
        let terms = PublishTerms { slug, expected_version, message, activate, wait };
        publication::publish(exchange, terms, Content::Upload(upload)).await
    }
}
