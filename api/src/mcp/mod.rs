//! The Model Context Protocol at `POST /mcp`, with one JSON response for each request and no session. Each
//! request names the version of the protocol that it uses. [`batch`] has the messages that arrive together.
//!
//! A tool parses its arguments, makes the same call to `service` as the REST endpoint, and renders the same
//! wire type. It must not contain business rules or define its own errors. Only [`outcome`] changes an error,
//! so that its hint names tools.
//!
//! To add a tool, add a file in [`tools`] and a line in its list.

mod arguments;
mod batch;
mod consent;
mod endpoint;
mod malformed;
mod measure;
mod outcome;
mod prompts;
mod resources;
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

/// Adds the endpoint to the routes. `documents::extra_operations` describes it.
pub fn add_to(routes: Route) -> Route {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::try_from(MCP_BYTES_MAX).unwrap_or(usize::MAX))
        // The check protects servers without credentials. A page that uses DNS rebinding cannot forge a
        // token, and the endpoint refuses it.
        .disable_allowed_hosts();
    let protocol =
        StreamableHttpService::new(|| Ok(Server), Arc::new(NeverSessionManager::default()), config);
    routes.at(PATH, post(McpEndpoint::around(protocol.compat())))
}
