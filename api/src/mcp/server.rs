//! The protocol's side of the endpoint: who we are, which versions we speak, which tools there are, and which of them
//! a call means.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tracing::Instrument;

use super::endpoint::McpExchange;
use super::tools;

/// The versions of the protocol that we speak, the newest last.
const VERSIONS: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];
const NEWEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// Methods that we have: such a request has got here because its `params` do not fit.
const METHODS: [&str; 4] = ["initialize", "ping", "tools/call", "tools/list"];

/// What a model reads before it calls anything.
pub(super) const INSTRUCTIONS: &str = "\
Handbill publishes static web pages: you send HTML (and CSS, scripts, images), you get a public URL.

- Publish: publish_artifact with `files` gives the URL. The same `slug` again adds a version and keeps the URL. \
Link assets by relative paths (`css/app.css`, never `/css/app.css`). At most 50 files and 10 MB.
- Large or binary files: stage_upload gives an address and a curl line, so that bytes do not pass through you; then \
publish_upload.
- Undo: get_artifact lists the versions, rollback_artifact makes any of them live again, at no cost.
- A provisional account (get_account: `status` is \"provisional\") and its pages stop working at `expires_at`, \
soon after sign-up. Always give your human the `claim_url` of get_account when you give them the page's URL: \
opening it makes both permanent.
- Money: there is a free allowance. Past it a publish is refused with code `payment_required` and its price. Tell \
your human the amount and wait for their yes, then add_credits, then the same call again.
- Every refusal is `{code, message, hint}`, and the hint names the next call to make. Where it names a REST call \
(`POST /v1/…`), the tool of the same purpose does the same; where there is no such tool (signing up, tokens, \
visibility), tell your human what the hint says.";

/// The handler of one request. It keeps nothing: what a tool needs comes with the request.
pub struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("handbill", env!("CARGO_PKG_VERSION"))
            .with_title("Handbill")
            .with_description("Publishes static web pages and sites, and gives them a public URL.");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
            .with_protocol_version(NEWEST)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tariff = visit_of(&context)?.service.tariff();
        let described = tools::ALL.iter().map(|tool| (tool.described)(tariff));
        Ok(ListToolsResult::with_all_items(described.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = &*request.name;
        let Some(tool) = tools::ALL.iter().find(|tool| tool.name == name) else {
            return Err(ErrorData::invalid_params(
                format!("there is no tool {:?}; tools/list lists them", quoted(name)),
                None,
            ));
        };
        let visit = visit_of(&context)?;
        let trace = visit.trace.clone();
        Ok((tool.run)(visit, request.arguments).instrument(trace).await.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        Err(if METHODS.contains(&method) {
            let fault = format!("the params of {method} are missing or of another form than the protocol's");
            ErrorData::invalid_params(fault, None)
        } else {
            let fault = format!("there is no method {:?}", quoted(method));
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, fault, None)
        })
    }
}

/// As much of a name of the client's as is told back.
fn quoted(name: &str) -> String {
    const LENGTH_MAX: usize = 64;
    name.chars().take(LENGTH_MAX).collect()
}

fn visit_of(context: &RequestContext<RoleServer>) -> Result<&McpExchange, ErrorData> {
    let request = context.extensions.get::<poem::http::request::Parts>();
    request.and_then(|request| request.extensions.get::<McpExchange>()).ok_or_else(|| {
        tracing::error!("a tool was called by no request of ours");
        ErrorData::internal_error("something went wrong on our side", None)
    })
}
