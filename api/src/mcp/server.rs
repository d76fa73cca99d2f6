//! The server side of the protocol: its identity, versions and tools, and the dispatch of calls.

use std::borrow::Cow;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tracing::Instrument;

use super::consent::{self, AskedCall, Consent};
use super::endpoint::McpExchange;
use super::tool::ToolRequest;
use super::{prompts, resources, tools};

/// The supported versions of the protocol, newest last. Each request names its own.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The supported methods. The library passes such a request here only if its `params` are invalid.
const METHODS: [&str; 10] = [
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// How long clients may keep the lists that change only with a release.
const FRESH_MS: u64 = 300_000;

/// The hints for such a list. Versions before 2026-07-28 do not have them.
fn cache_hints(context: &RequestContext<RoleServer>) -> Option<(u64, CacheScope)> {
    let version = context.protocol_version();
    let has_hints = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    has_hints.then_some((FRESH_MS, CacheScope::Public))
}

/// Adds the hints to a list.
macro_rules! fresh {
    ($listed:expr, $context:expr) => {{
        let mut listed = $listed;
        (listed.ttl_ms, listed.cache_scope) = cache_hints($context).unzip();
        listed
    }};
}

/// The introduction for models.
pub(super) const INSTRUCTIONS: &str = "\
Handbill publishes static web pages: send HTML (and CSS, scripts, images) and get a public URL.

- Publish: publish_artifact with `files` returns the URL. The same `slug` adds a version and keeps the URL. \
Link assets by relative paths (`css/app.css`, not `/css/app.css`). At most 50 files and 10 MB.
- Large or binary files: stage_upload returns a URL and a curl command, so that their bytes do not pass \
through you. Then call publish_upload.
- Edit: edit_artifact replaces text in the live version; publish_artifact with `base` keeps the other files.
- Undo: get_artifact lists the versions, and rollback_artifact makes any of them live again for free.
- A provisional account (`status` of get_account is \"provisional\") and its pages expire at `expires_at`, soon \
after signup. Whenever you give your human the URL of a page, also give them the `claim_url` of get_account: \
opening it makes both permanent.
- Money: after the free allowance a publish is refused with `payment_required` and its price. Tell your human the \
amount, wait for a yes, call add_credits, then repeat the same call. set_visibility has a price, too.
- Every error is `{code, message, hint}`; the hint names the next call. If it names a REST call \
(`POST /v1/…`), use the tool with the same purpose. If there is no such tool (signup, tokens), tell your \
human what \
the hint says.";

/// The handler of one request. It has no state: everything that a tool needs comes with the request.
pub struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("handbill", env!("CARGO_PKG_VERSION"))
            .with_title("Handbill")
            .with_description("Publishes static web pages and sites, and gives them a public URL.");
        let capabilities =
            ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
            // For a client that requests an unknown version. Later versions have no handshake.
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let discovered = DiscoverResult::from_server_info(VERSIONS.to_vec(), self.get_info());
        Ok(discovered.with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tariff = exchange_of(&context)?.service.tariff();
        let definitions = tools::ALL.iter().map(|tool| (tool.definition)(tariff));
        Ok(fresh!(ListToolsResult::with_all_items(definitions.collect()), &context))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = &*request.name;
        let Some(tool) = tools::ALL.iter().find(|tool| tool.name == name) else {
            return Err(ErrorData::invalid_params(
                format!("unknown tool {:?}; tools/list lists the tools", quoted(name)),
                None,
            ));
        };
        let exchange = exchange_of(&context)?;
        let asked = consent::can_ask(&context).then(|| AskedCall::of(exchange.caller.account, &request));
        let consent = asked.as_ref().map(|call| Consent::of(&request, call, &exchange.service));
        let request = ToolRequest { arguments: request.arguments, asked: asked.zip(consent) };
        let trace = exchange.trace.clone();
        Ok((tool.run)(exchange, request).instrument(trace).await)
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let exchange = exchange_of(&context)?;
        let trace = exchange.trace.clone();
        resources::list(exchange, page.and_then(|page| page.cursor)).instrument(trace).await
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(fresh!(ListResourceTemplatesResult::with_all_items(vec![resources::template()]), &context))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let exchange = exchange_of(&context)?;
        let trace = exchange.trace.clone();
        Ok(resources::read(exchange, &request.uri).instrument(trace).await?.into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(fresh!(ListPromptsResult::with_all_items(prompts::all()), &context))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::filled(&request.name, request.arguments.as_ref())?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let is_removed = method == "initialize" && cache_hints(&context).is_some();
        Err(if METHODS.contains(&method) && !is_removed {
            let fault = format!("the params of {method} are missing or do not match the protocol");
            ErrorData::invalid_params(fault, None)
        } else {
            let fault = format!("unknown method {:?}", quoted(method));
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, fault, None)
        })
    }
}

/// The part of a client's name that an error message repeats.
fn quoted(name: &str) -> String {
    const LENGTH_MAX: usize = 64;
    name.chars().take(LENGTH_MAX).collect()
}

fn exchange_of(context: &RequestContext<RoleServer>) -> Result<&McpExchange, ErrorData> {
    let request = context.extensions.get::<poem::http::request::Parts>();
    request.and_then(|request| request.extensions.get::<McpExchange>()).ok_or_else(|| {
        tracing::error!("a tool call has no request data");
        ErrorData::internal_error("something went wrong on our side", None)
    })
}
