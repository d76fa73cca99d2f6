//! The query parameters that choose a version of an artifact.

use domain::{MalformedVersionChoice, Refusal, VersionChoice};
use poem::Request;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};

use crate::http::query_parameter::{QueryParameter, parameter, query_parameters};

const VERSION: &str = "version";
const FROM: &str = "from";
const TO: &str = "to";

/// `version`: the chosen version. If the parameter is omitted, the live one.
pub struct VersionParameter(pub VersionChoice);

/// `from`: the version to compare from.
pub struct FromVersion(pub VersionChoice);

/// `to`: the version to compare with. If the parameter is omitted, the live one.
pub struct ToVersion(pub VersionChoice);

impl QueryParameter for VersionParameter {
    fn of(request: &Request) -> Result<Self, Refusal> {
        Ok(Self(choice(request, VERSION)?.unwrap_or_default()))
    }

    fn schema() -> MetaSchemaRef {
        schema()
    }
}

impl QueryParameter for FromVersion {
    const IS_REQUIRED: bool = true;

    fn of(request: &Request) -> Result<Self, Refusal> {
        choice(request, FROM)?
            .map(Self)
            .ok_or_else(|| Refusal::invalid(FROM, "is missing; it is the version to compare from, such as 1"))
    }

    fn schema() -> MetaSchemaRef {
        schema()
    }
}

impl QueryParameter for ToVersion {
    fn of(request: &Request) -> Result<Self, Refusal> {
        Ok(Self(choice(request, TO)?.unwrap_or_default()))
    }

    fn schema() -> MetaSchemaRef {
        schema()
    }
}

fn choice(request: &Request, name: &'static str) -> Result<Option<VersionChoice>, Refusal> {
    let malformed = |fault: MalformedVersionChoice| Refusal::invalid(name, fault.to_string());
    parameter(request, name)?.map(|text| text.parse().map_err(malformed)).transpose()
}

fn schema() -> MetaSchemaRef {
    MetaSchemaRef::Inline(Box::new(MetaSchema {
        pattern: Some(VersionChoice::PATTERN.to_owned()),
        example: Some("live".into()),
        ..MetaSchema::new("string")
    }))
}

query_parameters! {
    VersionParameter;
    FromVersion;
    ToVersion;
}
