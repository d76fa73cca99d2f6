//! Query parameters that are parsed into types of their own and documented with them.

use domain::Refusal;
use poem::Request;
use poem_openapi::registry::MetaSchemaRef;
use url::form_urlencoded;

/// A type that a query parameter is read into.
pub trait QueryParameter: Sized + Send {
    /// Whether the OpenAPI document marks the parameter as required.
    const IS_REQUIRED: bool = false;

    fn of(request: &Request) -> Result<Self, Refusal>;

    fn schema() -> MetaSchemaRef;
}

/// The value of a query parameter that may be there once.
pub fn parameter(request: &Request, name: &'static str) -> Result<Option<String>, Refusal> {
    let query = request.uri().query().unwrap_or_default().as_bytes();
    let mut values = form_urlencoded::parse(query).filter(|(found, _)| found == name);
    let value = values.next().map(|(_, value)| value.into_owned());
    match values.next() {
        Some(_) => Err(Refusal::invalid(name, "is sent more than once")),
        None => Ok(value),
    }
}

/// Lets handlers take these [`QueryParameter`]s as arguments. Rust does not allow one implementation of
/// poem-openapi's trait for all of them.
macro_rules! query_parameters {
    ($($parameter:ty $(where $generic:ident: $bound:path)?;)+) => {$(
        impl<'a $(, $generic: $bound)?> ::poem_openapi::ApiExtractor<'a> for $parameter {
            const TYPES: &'static [::poem_openapi::ApiExtractorType] =
                &[::poem_openapi::ApiExtractorType::Parameter];

            const PARAM_IS_REQUIRED: bool =
                <Self as $crate::http::query_parameter::QueryParameter>::IS_REQUIRED;

            type ParamType = String;
            type ParamRawType = String;

            fn param_in() -> Option<::poem_openapi::registry::MetaParamIn> {
                Some(::poem_openapi::registry::MetaParamIn::Query)
            }

            fn param_schema_ref() -> Option<::poem_openapi::registry::MetaSchemaRef> {
                Some(<Self as $crate::http::query_parameter::QueryParameter>::schema())
            }

            async fn from_request(
                request: &'a ::poem::Request,
                _body: &mut ::poem::RequestBody,
                _options: ::poem_openapi::ExtractParamOptions<String>,
            ) -> ::poem::Result<Self> {
                let read = <Self as $crate::http::query_parameter::QueryParameter>::of(request);
                Ok(read.map_err($crate::http::refusal::RefusedCall::from)?)
            }
        }
    )+};
}
pub(crate) use query_parameters;
