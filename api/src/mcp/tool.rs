//! The definition of a tool. [`super::tools`] has the list.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use domain::Tariff;
use poem_openapi::types::{ToJSON, Type};
use rmcp::model::{CallToolResponse, JsonObject, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::consent::{AskedCall, Consent, Permission, Price};
use super::endpoint::McpExchange;
use super::outcome::{ToolCall, ToolOutcome};
use super::{arguments, consent, outcome};
use crate::http::json_schema;
use crate::http::refusal::RefusedCall;

/// A tool. It makes the same call to `service` as the REST endpoint with the same purpose.
pub trait Tool: 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// For a model that does not know Handbill: when to use the tool, what it returns and costs, and what to
    /// call next. [`PUBLISH_PRICE`] is replaced by that price.
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;

    type Arguments: DeserializeOwned + Send + Sync;
    type Output: ToJSON + Type;

    /// The JSON Schema of the arguments.
    fn schema() -> Value;

    /// The price of the call, if it has one. It is asked before the call, if the client can ask its human.
    fn price(
        _exchange: &McpExchange,
        _arguments: &Self::Arguments,
    ) -> impl Future<Output = Result<Option<Price>, RefusedCall>> + Send {
        async { Ok(None) }
    }

    fn run(
        exchange: &McpExchange,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Self::Output, RefusedCall>> + Send;
}

/// The placeholder for the price of a publish, which is a setting.
pub const PUBLISH_PRICE: &str = "{publish_price}";

/// The effect of a tool. MCP hosts show it before they let a model call the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    Reads,
    /// Adds something with every call.
    Adds,
    /// Adds something that anyone on the internet can see.
    Publishes,
    /// Changes something reversibly. Repeating it changes nothing.
    Moves,
    /// Removes something for good. Repeating it changes nothing.
    Removes,
    /// Replaces something. The old one stops working.
    Replaces,
}

impl Effect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Effect::Reads)
            .destructive(matches!(self, Effect::Removes | Effect::Replaces))
            .idempotent(matches!(self, Effect::Reads | Effect::Moves | Effect::Removes))
            .open_world(self == Effect::Publishes)
    }
}

type Running<'a> = Pin<Box<dyn Future<Output = CallToolResponse> + Send + 'a>>;

/// What a call sends to a tool.
pub struct ToolRequest {
    pub arguments: Option<JsonObject>,
    /// If the client can ask its human: the call that a question is about, and the consent to its price.
    pub asked: Option<(AskedCall, Consent)>,
}

/// A tool in the list.
pub struct ListedTool {
    pub name: &'static str,
    pub definition: fn(&Tariff) -> rmcp::model::Tool,
    pub run: for<'a> fn(&'a McpExchange, ToolRequest) -> Running<'a>,
}

impl ListedTool {
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            definition: definition::<T>,
            run: |exchange, request| Box::pin(run::<T>(exchange, request)),
        }
    }
}

fn definition<T: Tool>(tariff: &Tariff) -> rmcp::model::Tool {
    let object = |schema| match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    };
    let description = T::DESCRIPTION.replace(PUBLISH_PRICE, &tariff.publish_price.to_string());
    rmcp::model::Tool::new(T::NAME, description, object(T::schema()))
        .with_title(T::TITLE)
        .with_annotations(T::EFFECT.annotations(T::TITLE))
        .with_raw_output_schema(object(outcome::schema(json_schema::of::<T::Output>())))
}

async fn run<T: Tool>(exchange: &McpExchange, request: ToolRequest) -> CallToolResponse {
    let outcome = exchange.counting(call_tool::<T>(exchange, request)).await;
    // The log line of the request cannot show this: for HTTP, a refused tool call is a success.
    let code = outcome.as_ref().map_or_else(|refused| refused.0.code(), ToolOutcome::as_str);
    tracing::info!(mcp.tool = T::NAME, mcp.outcome = code, "tool called");
    if let Err(refused) = &outcome {
        exchange.record_missing(refused);
    }
    let (base_url, is_of_oauth) =
        (&exchange.service.addresses().base_url, exchange.caller.oauth_scopes().is_some());
    let call = ToolCall { tool: T::NAME, base_url, is_of_oauth };
    outcome::response(call, outcome)
}

async fn call_tool<T: Tool>(
    exchange: &McpExchange,
    ToolRequest { arguments, asked }: ToolRequest,
) -> Result<ToolOutcome, RefusedCall> {
    let explain = |RefusedCall(refusal)| exchange.dev_payment.explain(*refusal, None);
    let arguments = arguments::read(arguments)?;
    if let Some((call, consent)) = asked
        && let Some(price) = T::price(exchange, &arguments).await.map_err(explain)?
    {
        match consent.to(price) {
            Permission::Granted => {}
            Permission::Ask(price) => {
                let question = consent::ask(&price, &call, &exchange.service);
                return Ok(ToolOutcome::Question(question));
            }
            Permission::Declined(price) => return Ok(ToolOutcome::Declined(price)),
        }
    }
    let output = T::run(exchange, arguments).await.map_err(explain)?;
    Ok(ToolOutcome::Done(output.to_json().unwrap_or_default()))
}
