//! The door for models: the Model Context Protocol at `POST /mcp`, one JSON answer a request and no session.
//!
//! A tool parses its arguments, makes the one call to `service` that its endpoint makes, and renders the same wire
//! type. It must never hold a rule of the trade, or word a refusal of its own: bodies are those of REST, and only what
//! to do next is told in terms of tools, in [`outcome`].
//!
//! To add a tool: a file in [`tools`], a line in its list.

mod arguments;
mod endpoint;
mod malformed;
mod measure;
mod outcome;
mod server;
mod tool;
mod tools;

use std::sync::Arc;

use poem::endpoint::TowerCompatExt;
use poem::{Route, post};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::http::body::MCP_BYTES_MAX;
use endpoint::McpEndpoint;
use server::Server;

pub const PATH: &str = "/mcp";

/// Adds the endpoint to the routes. Its description is among the extra operations of the documents.
pub fn add_to(routes: Route) -> Route {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::try_from(MCP_BYTES_MAX).unwrap_or(usize::MAX))
        // That check is there for servers without a credential: a page that rebinds a name cannot forge a token,
        // and its origin gives it away at our own endpoint.
        .disable_allowed_hosts();
    let protocol =
        StreamableHttpService::new(|| Ok(Server), Arc::new(NeverSessionManager::default()), config);
    routes.at(PATH, post(McpEndpoint::around(protocol.compat())))
}
