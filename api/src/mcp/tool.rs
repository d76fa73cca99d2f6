//! What a tool is: its name, what a model is told of it, and what it does. The list of them is in [`super::tools`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use domain::Tariff;
use poem_openapi::types::ToJSON;
use rmcp::model::{CallToolResult, JsonObject, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::endpoint::McpExchange;
use super::outcome::Called;
use super::{arguments, outcome};
use crate::http::refusal::RefusedCall;

/// A tool. It makes the call to `service` that the endpoint of the same purpose makes.
pub trait Tool: 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// For a model that has never seen Handbill: when to use it, what comes back, what it costs and what comes next.
    /// [`PUBLISH_PRICE`] stands for that price.
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;

    type Arguments: DeserializeOwned + Send;
    type Answer: ToJSON;

    /// The JSON Schema of the arguments.
    fn schema() -> Value;

    fn run(
        visit: &McpExchange,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Self::Answer, RefusedCall>> + Send;
}

/// What a description says in the place of the price of a publish, which is a setting.
pub const PUBLISH_PRICE: &str = "{publish_price}";

/// What a tool does to the world, as hosts ask before they let a model call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It adds something each time that it is called.
    Adds,
    /// It adds something that anyone on the internet can see.
    Publishes,
    /// It moves something that can be moved back, and once more changes nothing.
    Moves,
    /// It takes something away that does not come back, and once more changes nothing.
    Removes,
    /// It makes something new in place of the old, which is of no more use.
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

/// A tool as the list has it.
pub struct Listed {
    pub name: &'static str,
    pub described: fn(&Tariff) -> rmcp::model::Tool,
    pub run: for<'a> fn(&'a McpExchange, Option<JsonObject>) -> Running<'a>,
}

impl Listed {
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            described: described::<T>,
            run: |visit, given| Box::pin(run::<T>(visit, given)),
        }
    }
}

fn described<T: Tool>(tariff: &Tariff) -> rmcp::model::Tool {
    let schema = match T::schema() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let description = T::DESCRIPTION.replace(PUBLISH_PRICE, &tariff.publish_price.to_string());
    rmcp::model::Tool::new(T::NAME, description, Arc::new(schema))
        .with_title(T::TITLE)
        .with_annotations(T::EFFECT.annotations(T::TITLE))
}

async fn run<T: Tool>(visit: &McpExchange, given: Option<JsonObject>) -> CallToolResult {
    let answer = answer::<T>(visit, given).await;
    // The request's own line tells neither: to HTTP, a refusal by a tool is a success.
    let outcome = answer.as_ref().err().map_or("done", |refused| refused.0.code());
    tracing::info!(mcp.tool = T::NAME, mcp.outcome = outcome, "tool called");
    let called = Called { tool: T::NAME, base_url: &visit.service.addresses().base_url };
    outcome::result(called, answer)
}

async fn answer<T: Tool>(visit: &McpExchange, given: Option<JsonObject>) -> Result<Value, RefusedCall> {
    let arguments = arguments::read(given)?;
    let answer = T::run(visit, arguments).await;
    let answer = answer.map_err(|RefusedCall(refusal)| visit.dev_payment.explain(*refusal, None))?;
    Ok(answer.to_json().unwrap_or_default())
}
