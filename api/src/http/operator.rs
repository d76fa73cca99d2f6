//! The operator's routes, which need the operator's secret. To anyone without it they must respond as if they
//! did not exist, whatever the method and the body.

use std::sync::Arc;

use domain::{Missing, OperatorName, Refusal};
use poem::error::NotFoundError;
use poem::http::HeaderValue;
use poem::{Endpoint, Request, RequestBody};
use poem_openapi::registry::{MetaSchema, MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use crate::http::call_header::CallHeader;
use crate::http::refusal::RefusedCall;
use crate::http::service_of::service_of;

const PATHS: &str = "/internal/";
pub const SECRET_HEADER: &str = "X-Internal-Secret";
const NAME_HEADER: &str = "X-Operator";
const SCHEME: &str = "operator";

/// Proof that the operator calls. It comes first among a handler's arguments.
pub struct Operator;

/// `X-Operator`: the staff member who decides. Every decision needs a name.
pub struct DecidedBy(pub OperatorName);

impl CallHeader for DecidedBy {
    const IS_REQUIRED: bool = true;

    fn read(value: Option<&HeaderValue>, _request: &Request) -> Result<Self, RefusedCall> {
        let nobody = || Refusal::invalid(NAME_HEADER, "must name the person who decides").into();
        value.and_then(name_in).map(Self).ok_or_else(nobody)
    }

    fn schema() -> MetaSchema {
        MetaSchema { example: Some("Ada".into()), min_length: Some(1), ..MetaSchema::new("string") }
    }
}

/// Runs before the handler, because a wrong method gets a response without reaching it.
pub async fn hide_from_strangers<E: Endpoint>(routes: Arc<E>, request: Request) -> poem::Result<E::Output> {
    if request.original_uri().path().starts_with(PATHS) && !is_operator(&request)? {
        return Err(NotFoundError.into());
    }
    routes.call(request).await
}

/// Whether the request carries the secret.
pub fn is_operator(request: &Request) -> Result<bool, RefusedCall> {
    let service = service_of(request)?;
    let offered = request.headers().get(SECRET_HEADER);
    Ok(offered.is_some_and(|secret| service.is_operator(secret.as_bytes())))
}

/// The staff member that a request with the secret names.
pub fn operator_name(request: &Request) -> Option<OperatorName> {
    request.headers().get(NAME_HEADER).and_then(name_in)
}

fn name_in(value: &HeaderValue) -> Option<OperatorName> {
    OperatorName::cleaned(&String::from_utf8_lossy(value.as_bytes()))
}

impl<'a> ApiExtractor<'a> for Operator {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        let scheme = MetaSecurityScheme {
            ty: "apiKey",
            description: Some(
                "The service's signing secret, which only the operator has. The header `X-Operator` names the member \
                 of the operator's staff who decides. The name is recorded with the decision.",
            ),
            name: Some(SECRET_HEADER),
            key_in: Some("header"),
            scheme: None,
            bearer_format: None,
            flows: None,
            openid_connect_url: None,
        };
        registry.create_security_scheme(SCHEME, scheme);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        if is_operator(request)? {
            return Ok(Self);
        }
        Err(RefusedCall::from(Refusal::NotFound(Missing::Endpoint)).into())
    }
}
