//! The definition of a tool. [`super::tools`] has the list.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use domain::{Refusal, Tariff};
use poem_openapi::types::ToJSON;
use rmcp::model::{CallToolResult, JsonObject, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::endpoint::McpExchange;
use super::outcome::ToolCall;
use super::{arguments, outcome};
use crate::http::refusal::RefusedCall;

/// A tool. It makes the same call to `service` as the REST endpoint with the same purpose.
pub trait Tool: 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// For a model that does not know Handbill: when to use the tool, what it returns and costs, and what to
    /// call next. [`PUBLISH_PRICE`] is replaced by that price.
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;

    type Arguments: DeserializeOwned + Send;
    type Output: ToJSON;

    /// The JSON Schema of the arguments.
    fn schema() -> Value;

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

type Running<'a> = Pin<Box<dyn Future<Output = CallToolResult> + Send + 'a>>;

/// A tool in the list.
pub struct ListedTool {
    pub name: &'static str,
    pub definition: fn(&Tariff) -> rmcp::model::Tool,
    pub run: for<'a> fn(&'a McpExchange, Option<JsonObject>) -> Running<'a>,
}

impl ListedTool {
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            definition: definition::<T>,
            run: |exchange, arguments| Box::pin(run::<T>(exchange, arguments)),
        }
    }
}

fn definition<T: Tool>(tariff: &Tariff) -> rmcp::model::Tool {
    let schema = match T::schema() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let description = T::DESCRIPTION.replace(PUBLISH_PRICE, &tariff.publish_price.to_string());
    rmcp::model::Tool::new(T::NAME, description, Arc::new(schema))
        .with_title(T::TITLE)
        .with_annotations(T::EFFECT.annotations(T::TITLE))
}

async fn run<T: Tool>(exchange: &McpExchange, arguments: Option<JsonObject>) -> CallToolResult {
    let outcome = call_tool::<T>(exchange, arguments).await;
    // The log line of the request cannot show this: for HTTP, a refused tool call is a success.
    let code = outcome.as_ref().err().map_or("done", |refused| refused.0.code());
    tracing::info!(mcp.tool = T::NAME, mcp.outcome = code, "tool called");
    if let Err(RefusedCall(refusal)) = &outcome
        && let Refusal::InsufficientScope(right) = &**refusal
        && let Some(scope) = right.scope()
    {
        // Only one tool runs in an exchange.
        let _ = exchange.missing.set(scope);
    }
    let call = ToolCall { tool: T::NAME, base_url: &exchange.service.addresses().base_url };
    outcome::result(call, outcome)
}

async fn call_tool<T: Tool>(
    exchange: &McpExchange,
    arguments: Option<JsonObject>,
) -> Result<Value, RefusedCall> {
    let arguments = arguments::read(arguments)?;
    let output = T::run(exchange, arguments).await;
    let output = output.map_err(|RefusedCall(refusal)| exchange.dev_payment.explain(*refusal, None))?;
    Ok(output.to_json().unwrap_or_default())
}
