//! The query parameter `version`, which chooses a version of an artifact.

use domain::{MalformedVersionChoice, Refusal, VersionChoice};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use crate::http::paging::parameter;
use crate::http::refusal::RefusedCall;

const VERSION: &str = "version";

/// The chosen version. If the parameter is omitted, the live one.
pub struct VersionParameter(pub VersionChoice);

impl VersionParameter {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let Some(text) = parameter(request, VERSION)? else { return Ok(Self(VersionChoice::Live)) };
        let malformed = |fault: MalformedVersionChoice| Refusal::invalid(VERSION, fault.to_string());
        text.parse().map(Self).map_err(malformed)
    }
}

impl<'a> ApiExtractor<'a> for VersionParameter {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema {
            pattern: Some(VersionChoice::PATTERN.to_owned()),
            example: Some("live".into()),
            ..MetaSchema::new("string")
        })))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        Ok(Self::of(request).map_err(RefusedCall::from)?)
    }
}
