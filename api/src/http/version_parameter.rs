//! The query parameter `version`, which chooses a version of an artifact.

use domain::{MalformedVersionChoice, Refusal, VersionChoice};
use poem::Request;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};

use crate::http::query_parameter::{QueryParameter, parameter, query_parameters};

const VERSION: &str = "version";

/// The chosen version. If the parameter is omitted, the live one.
pub struct VersionParameter(pub VersionChoice);

impl QueryParameter for VersionParameter {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let Some(text) = parameter(request, VERSION)? else { return Ok(Self(VersionChoice::Live)) };
        let malformed = |fault: MalformedVersionChoice| Refusal::invalid(VERSION, fault.to_string());
        text.parse().map(Self).map_err(malformed)
    }

    fn schema() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            pattern: Some(VersionChoice::PATTERN.to_owned()),
            example: Some("live".into()),
            ..MetaSchema::new("string")
        }))
    }
}

query_parameters! {
    VersionParameter;
}
