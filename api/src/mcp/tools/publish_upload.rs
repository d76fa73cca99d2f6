//! Publishes a staged upload.

use serde::Deserialize;
use serde_json::{Value, json};

use super::publication::{self, Addressee, Content};
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct PublishUpload;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: Option<GivenSlug>,
    expected_version: Option<WholeNumber>,
    upload: String,
}

impl Tool for PublishUpload {
    const NAME: &'static str = "publish_upload";
    const TITLE: &'static str = "Publish a staged upload";
    const DESCRIPTION: &'static str = "\
Publish the files of a staged upload and get their public URL. Use it after stage_upload, when the files \
are uploaded. The slug works as in publish_artifact: a new slug (or none) creates an artifact, and the \
slug of an existing artifact adds a version and keeps the URL. An upload can be published once, within an \
hour after stage_upload.

Returns the same as publish_artifact. Give url to your human; for a private artifact give signed_url \
instead. If account.expires_at is not null, also give them the claim_url of get_account, which they open \
to keep the page.

Costs one of the account's free publishes, or {publish_price} USD of credit after those. Without credit \
the call is refused with payment_required and publishes nothing: tell your human the amount, then call \
add_credits, then repeat this call. Needs the scope artifacts:write.";
    const EFFECT: Effect = Effect::Publishes;

    type Arguments = Arguments;
    type Output = wire::PublishResult;

    fn schema() -> Value {
        let properties = json!({
            "slug": publication::slug_schema(),
            "expected_version": publication::expected_version_schema(),
            "upload": {
                "type": "string",
                "description": "The `upload` returned by stage_upload.",
            },
        });
        arguments::object(properties, &["upload"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug, expected_version, upload } = arguments;
        publication::publish(exchange, Addressee { slug, expected_version }, Content::Upload(upload)).await
    }
}
