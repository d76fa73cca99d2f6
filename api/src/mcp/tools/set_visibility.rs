//! Sets the visibility of an artifact.

use domain::{Micro, Visibility};
use serde::Deserialize;
use serde_json::{Value, json};
use service::VisibilityRequest;

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug};
use crate::mcp::consent::Price;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct SetVisibility;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    visibility: NewVisibility,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NewVisibility {
    Public,
    Unlisted,
    Private,
}

impl From<NewVisibility> for Visibility {
    fn from(visibility: NewVisibility) -> Self {
        match visibility {
            NewVisibility::Public => Visibility::Public,
            NewVisibility::Unlisted => Visibility::Unlisted,
            NewVisibility::Private => Visibility::Private,
        }
    }
}

impl Tool for SetVisibility {
    const NAME: &'static str = "set_visibility";
    const TITLE: &'static str = "Set who can open a page";
    const DESCRIPTION: &'static str = "\
Set who can open a page. Use it if your human wants a page hidden or open again. public: everyone. \
unlisted: everyone with the link, and search engines do not list it. private: only with signed_url. \
Returns the page, with signed_url if it is private: share it instead of url. public is free. unlisted \
and private are charged at once and then every month: tell your human the price first. Without credit \
the call is refused with payment_required, which has the price. Needs the scope artifacts:write.";
    const EFFECT: Effect = Effect::Moves;

    type Arguments = Arguments;
    type Output = wire::ShownArtifact;

    fn schema() -> Value {
        let visibility = json!({
            "type": "string",
            "enum": ["public", "unlisted", "private"],
            "description": "Who can open the page.",
        });
        let properties = json!({ "slug": arguments::slug(), "visibility": visibility });
        arguments::object(properties, &["slug", "visibility"])
    }

    async fn price(exchange: &McpExchange, arguments: &Arguments) -> Result<Option<Price>, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), visibility } = arguments;
        let to = Visibility::from(*visibility);
        let amount: Micro = exchange.service.price_of_visibility(&exchange.caller, slug, to).await?;
        let question = format!(
            "Make {slug} {}? This costs {amount} USD of credit now, and then every month until the page is \
             public or deleted.",
            to.as_str()
        );
        Ok(Some(Price { amount, reason: "visibility", question }))
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), visibility } = arguments;
        let request = VisibilityRequest { slug, to: visibility.into(), payment: None };
        let shown = exchange.service.set_visibility(&exchange.caller, request).await?;
        Ok(wire::ShownArtifact::new(shown, exchange.service.addresses()))
    }
}
