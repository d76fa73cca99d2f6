//! The MCP endpoint around the protocol's library. It checks the token, the origin, the content type and the
//! body, and turns the library's plain text errors into JSON.
//!
//! The token must not reach the library, which may log request headers.

use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use domain::link::Addresses;
use domain::oauth::scope_text;
use domain::{Refusal, Scope, Scopes};
use futures::StreamExt;
use poem::error::ReadBodyError;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Endpoint, Request, Response};
use service::{Caller, LimitState, Service};
use tracing::Span;

use super::batch::{self, BatchResponses};
use super::{malformed, measure};
use crate::http::client_wait::ClientWait;
use crate::http::dev_mode::DevPayment;
use crate::http::origin::origin_of;
use crate::http::permits::{RequestPermit, WorkClass};
use crate::http::refusal::{RefusedCall, insufficient, respond_linked};
use crate::http::service_of::service_of;
use crate::http::trace::Traced;
use crate::http::upload_budget::{BodyShare, HeldMemory};
use crate::http::{caller, same_site};

const CONTENT_TYPE: &str = "application/json";
const VERSION: &str = "mcp-protocol-version";

/// The library returns only JSON but requires that the client accepts both.
const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// RFC 6750: without a token the challenge has only a realm; with an invalid one it also has the error.
const TOKEN_MISSING: HeaderValue = HeaderValue::from_static("Bearer realm=\"handbill\"");
const TOKEN_INVALID: HeaderValue =
    HeaderValue::from_static("Bearer realm=\"handbill\", error=\"invalid_token\"");

/// What a tool needs from its request.
#[derive(Clone)]
pub struct McpExchange {
    pub service: Service,
    pub caller: Caller,
    pub dev_payment: DevPayment,
    /// The memory budget for data besides the request.
    pub memory: BodyShare,
    /// The permit of the request, which a publish exchanges for one of another class.
    pub permit: RequestPermit,
    /// The trace of the request. The library runs a tool in its own task.
    pub trace: Span,
    pub findings: Arc<Findings>,
    pub client: ClientWait,
}

/// What the handling of a message found out for the headers of its response. The library runs it in a task of
/// its own.
#[derive(Default)]
pub struct Findings {
    missing: OnceLock<Scope>,
    limits: OnceLock<Vec<LimitState>>,
}

/// The endpoint around the protocol's library.
pub struct McpEndpoint<E> {
    protocol: E,
}

impl McpExchange {
    /// Authenticates the request. A batch does so for each of its messages.
    async fn of(request: &Request) -> Result<Self, RefusedCall> {
        let service = service_of(request)?.clone();
        let (bearer, origin) = (caller::bearer(request), origin_of(request));
        let caller = service.authenticate(bearer, origin).await?;
        let (memory, permit) = (BodyShare::of(request), RequestPermit::of(request));
        let trace = request.data().map_or_else(Span::none, |Traced(span)| span.clone());
        let (dev_payment, findings) = (DevPayment::of(request, &service), Arc::default());
        let client = request.data().cloned().unwrap_or_default();
        Ok(Self { service, caller, dev_payment, memory, permit, trace, findings, client })
    }

    /// Runs a call and records the limits that it was counted by. A message has at most one such call.
    pub async fn counting<F: Future>(&self, call: F) -> F::Output {
        let (output, limits) = service::reporting_limits(call).await;
        let _ = self.findings.limits.set(limits);
        output
    }

    /// Records the scope that a call lacked.
    pub fn record_missing(&self, RefusedCall(refusal): &RefusedCall) {
        if let Refusal::InsufficientScope(right) = &**refusal
            && let Some(scope) = right.scope()
        {
            let _ = self.findings.missing.set(scope);
        }
    }
}

impl<E: Endpoint<Output = Response>> McpEndpoint<E> {
    pub fn around(protocol: E) -> Self {
        Self { protocol }
    }

    async fn handle(&self, mut request: Request, exchange: McpExchange) -> poem::Result<Response> {
        refuse_rebound(&request, exchange.service.addresses())?;
        require_json(&request)?;
        let mut memory = exchange.memory.enter();
        let body = read(request.take_body(), &mut memory).await?;
        measure::require_few_values(&body).map_err(RefusedCall::from)?;
        match batch::messages_of(&body, request.header(VERSION)) {
            Ok(None) => self.handle_message(request, &body, exchange).await,
            Ok(Some(messages)) => self.handle_batch(&request, messages).await,
            Err(fault) => Ok(fault.respond()),
        }
    }

    async fn handle_message(
        &self,
        mut request: Request,
        message: &Bytes,
        exchange: McpExchange,
    ) -> poem::Result<Response> {
        let (findings, granted) = (exchange.findings.clone(), exchange.caller.oauth_scopes());
        request.set_body(message.clone());
        request.headers_mut().insert(header::ACCEPT, ACCEPT);
        request.headers_mut().remove(header::AUTHORIZATION);
        request.headers_mut().remove(header::COOKIE);
        request.extensions_mut().insert(exchange);
        let response = readable(self.protocol.call(request).await?, message).await?;
        service::report_limits(findings.limits.get().into_iter().flatten());
        Ok(match (findings.missing.get(), granted) {
            (Some(missing), Some(granted)) => step_up(response, granted.with(*missing)),
            _ => response,
        })
    }

    /// Handles the messages in their order, so that one may rely on those before it. The status is always
    /// 200, because a client that got 403 for one message would repeat all of them.
    async fn handle_batch(&self, request: &Request, messages: Vec<Bytes>) -> poem::Result<Response> {
        let base_url = &service_of(request)?.addresses().base_url;
        let mut responses = BatchResponses::default();
        for message in messages {
            match self.handle_one_of_batch(request, &message, &responses).await {
                Ok(response) => responses.add(&response.into_body().into_bytes().await?),
                Err(error) => {
                    let refused = error.downcast().unwrap_or_else(|_| Refusal::Internal.into());
                    responses.add_refused(&message, &refused, base_url);
                }
            }
        }
        Ok(responses.respond())
    }

    async fn handle_one_of_batch(
        &self,
        request: &Request,
        message: &Bytes,
        earlier: &BatchResponses,
    ) -> poem::Result<Response> {
        earlier.require_space().map_err(RefusedCall::from)?;
        let exchange = McpExchange::of(request).await?;
        exchange.permit.exchange_for(WorkClass::Request).await.map_err(RefusedCall::from)?;
        let mut alone = Request::builder().method(Method::POST).uri(request.uri().clone()).finish();
        alone.headers_mut().clone_from(request.headers());
        self.handle_message(alone, message, exchange).await
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for McpEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        match McpExchange::of(&request).await {
            Ok(exchange) => self.handle(request, exchange).await,
            Err(RefusedCall(refusal)) if *refusal == Refusal::Unauthorized => {
                Ok(challenged(&request, service_of(&request)?.addresses()))
            }
            Err(refused) => Err(refused.into()),
        }
    }
}

/// MCP 2025-11-25, authorization: an OAuth client that lacks a scope gets 403, and asks its person for more.
/// The scopes that it has are named too, because the new ones replace them. The body stays that of the tool.
fn step_up(mut response: Response, scopes: Scopes) -> Response {
    if let Ok(challenge) = HeaderValue::from_str(&insufficient(&scope_text(scopes))) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        response.set_status(StatusCode::FORBIDDEN);
    }
    response
}

fn challenged(request: &Request, addresses: &Addresses) -> Response {
    let mut response = respond_linked(&Refusal::Unauthorized, &addresses.base_url);
    let challenge = if caller::authorization(request).is_some() { TOKEN_INVALID } else { TOKEN_MISSING };
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// Reads the whole body and reserves memory as it arrives.
async fn read(body: Body, memory: &mut HeldMemory) -> poem::Result<Bytes> {
    let (mut message, mut body) = (BytesMut::new(), Box::pin(body.into_bytes_stream()));
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(ReadBodyError::Io)?;
        memory.grow(chunk.len()).await.map_err(RefusedCall::from)?;
        message.extend_from_slice(&chunk);
    }
    Ok(message.freeze())
}

/// MCP, transports: a request from a page that uses DNS rebinding gets 403. Such a page believes that it
/// comes from this server, so its origin has the host of the request. The pages of all other origins may
/// call, with a token: see [`crate::http::cors`].
fn refuse_rebound(request: &Request, addresses: &Addresses) -> Result<(), RefusedCall> {
    let text = |name| request.headers().get(name).map(|value| value.to_str().unwrap_or_default());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else { return Ok(()) };
    let is_own = origin.eq_ignore_ascii_case(same_site::origin_of(&addresses.base_url));
    let named = origin.split_once("://").map_or(origin, |(_, named)| named);
    if !is_own && named.eq_ignore_ascii_case(host) {
        return Err(Refusal::ForeignPage.into());
    }
    Ok(())
}

fn require_json(request: &Request) -> Result<(), RefusedCall> {
    let essence = request.content_type().and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if essence.trim().eq_ignore_ascii_case(CONTENT_TYPE) {
        return Ok(());
    }
    Err(Refusal::UnsupportedMediaType { expected: CONTENT_TYPE.to_owned() }.into())
}

/// Converts an error of the library into JSON.
async fn readable(response: Response, message: &Bytes) -> poem::Result<Response> {
    let is_json = response.content_type().is_some_and(|kind| kind.starts_with(CONTENT_TYPE));
    let status = response.status();
    if is_json || status.is_success() {
        return Ok(response);
    }
    let fault = response.into_body().into_string().await?;
    let refusal = match status {
        // The content type was checked before, so the body is not a valid message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => return Ok(malformed::fault_of(message).respond()),
        // The remaining faults of a request are in its headers.
        StatusCode::BAD_REQUEST => Refusal::invalid("header", fault.trim_start_matches("Bad Request: ")),
        _ => {
            tracing::error!(
                http.status = status.as_u16(),
                error = fault,
                "the MCP library returned an error"
            );
            Refusal::Internal
        }
    };
    Err(RefusedCall::from(refusal).into())
}
