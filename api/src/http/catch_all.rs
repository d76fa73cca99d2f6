//! Whatever goes wrong before or beside a handler, told as one of our own refusals.
//!
//! poem's own messages never leave: they name inner things (`param0`) and have no hint.

use std::error::Error as _;

use domain::Refusal;
use poem::Error;
use poem::error::{MethodNotAllowedError, NotFoundError, ReadBodyError};
use poem::http::Method;
use poem_openapi::error::{
    AuthorizationError, ContentTypeError, ParseParamError, ParsePathError, ParseRequestPayloadError,
};

use crate::http::body;
use crate::http::paths::ListedPath;
use crate::http::refusal::RefusedCall;

/// A fault may quote what the client sent; this much of it is told.
const FAULT_LENGTH_MAX: usize = 300;

/// The methods of paths that the document does not list: they are documents themselves.
const UNLISTED_ALLOWED: &str = "GET, HEAD";

/// The refusal that an error stands for. What is nobody's fault but ours is logged, with its chain.
pub fn refusal_of(error: &Error, method: &Method, path: Option<&ListedPath>) -> Refusal {
    expected(error, method, path).unwrap_or_else(|| {
        tracing::error!(error = chain(error), "a request failed");
        Refusal::Internal
    })
}

fn expected(error: &Error, method: &Method, path: Option<&ListedPath>) -> Option<Refusal> {
    if let Some(RefusedCall(refusal)) = error.downcast_ref() {
        return Some((**refusal).clone());
    }
    if error.is::<NotFoundError>() {
        return Some(Refusal::NotFound(domain::Missing::Endpoint));
    }
    if error.is::<MethodNotAllowedError>() {
        let allowed = path.map_or_else(|| UNLISTED_ALLOWED.to_owned(), ListedPath::allowed);
        return Some(Refusal::MethodNotAllowed { allowed });
    }
    if error.is::<AuthorizationError>() {
        return Some(Refusal::Unauthorized);
    }
    if error.is::<ContentTypeError>() {
        let expected = path.and_then(|path| path.body_type(method.as_str())).unwrap_or("application/json");
        return Some(Refusal::UnsupportedMediaType { expected: expected.to_owned() });
    }
    misread(error, path)
}

// Something of the request that could not be read.
fn misread(error: &Error, path: Option<&ListedPath>) -> Option<Refusal> {
    if let Some(ParseRequestPayloadError { reason }) = error.downcast_ref() {
        return Some(Refusal::InvalidBody { fault: shortened(&plain(reason)) });
    }
    if let Some(ParseParamError { name, reason }) = error.downcast_ref() {
        return Some(Refusal::invalid(*name, shortened(&plain(reason))));
    }
    if let Some(ParsePathError { name, reason }) = error.downcast_ref() {
        let name = path.and_then(|path| path.parameter(name)).unwrap_or("path");
        return Some(Refusal::invalid(name, shortened(&plain(reason))));
    }
    if let Some(error) = error.downcast_ref::<ReadBodyError>() {
        let refusal = match error {
            ReadBodyError::Io(error) => body::refusal_behind(error),
            _ => None,
        };
        return Some(refusal.unwrap_or_else(|| Refusal::invalid("body", "could not be read to its end")));
    }
    // poem refuses a path whose percent-encoding is no UTF-8, among other malformed requests.
    let is_the_client_s_fault = error.status().is_client_error();
    is_the_client_s_fault.then(|| Refusal::invalid("path", "is malformed"))
}

/// What poem-openapi found wrong with a value, without the inner names of types that it tells along.
pub fn plain(fault: &str) -> String {
    let fault = fault.split(" (occurred while parsing ").next().unwrap_or_default();
    let mistyped = fault.strip_prefix("Expected input type ").and_then(|rest| rest.split_once(", found "));
    if let Some((_, found)) = mistyped {
        return format!("{} does not fit", found.trim_end_matches('.'));
    }
    if fault.starts_with("Type ") && fault.ends_with(" expects an input value.") {
        return "is missing".to_owned();
    }
    let unparsed = fault.strip_prefix("failed to parse \"").and_then(|rest| rest.split_once("\": "));
    match unparsed {
        Some(("boolean", _)) => "must be true or false".to_owned(),
        Some((_, own)) => own.replace("verification failed.", "must fit"),
        None => fault.replace("verification failed.", "must fit"),
    }
}

fn shortened(fault: &str) -> String {
    fault.chars().take(FAULT_LENGTH_MAX).collect()
}

fn chain(error: &Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        told = format!("{told}: {error}");
        source = error.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use poem::http::StatusCode;

    use super::*;

    fn refusal(error: impl Into<Error>) -> Refusal {
        refusal_of(&error.into(), &Method::POST, None)
    }

    #[test]
    fn each_of_poem_s_errors_becomes_a_refusal_of_ours() {
        let reason = || "is wrong".to_owned();
        let body = refusal(ParseRequestPayloadError { reason: reason() });
        assert_eq!((body.code(), body.message().contains("is wrong")), ("invalid_body", true));
        let parameter = refusal(ParseParamError { name: "activate", reason: reason() });
        assert_eq!(parameter, Refusal::invalid("activate", "is wrong"));
        let path = refusal(ParsePathError { name: "param0", reason: reason() });
        assert_eq!(path, Refusal::invalid("path", "is wrong"));
        assert_eq!(refusal(NotFoundError), Refusal::NotFound(domain::Missing::Endpoint));
        assert_eq!(refusal(AuthorizationError), Refusal::Unauthorized);
        assert_eq!(refusal(ContentTypeError::ExpectContentType).code(), "unsupported_media_type");
        assert_eq!(refusal(MethodNotAllowedError).code(), "method_not_allowed");
        assert_eq!(refusal(StatusCode::BAD_REQUEST).code(), "invalid_request");
        assert_eq!(refusal(StatusCode::INTERNAL_SERVER_ERROR), Refusal::Internal);
    }

    #[test]
    fn no_inner_name_of_a_type_gets_into_a_fault() {
        for (fault, told) in [
            (
                "failed to parse \"boolean\": provided string was not `true` or `false` (occurred while parsing \
                 \"optional_boolean\")",
                "must be true or false",
            ),
            (
                "failed to parse \"amount_usd\": amount_usd: is odd (occurred while parsing \"CreditPurchase\")",
                "amount_usd: is odd",
            ),
            (
                "failed to parse \"Order\": field `name` verification failed. maxLength(3)",
                "field `name` must fit maxLength(3)",
            ),
            (
                "Expected input type \"JobState\", found \"x\". (occurred while parsing \"optional_JobState\")",
                "\"x\" does not fit",
            ),
            ("Type \"string\" expects an input value.", "is missing"),
            ("must be a host", "must be a host"),
        ] {
            assert_eq!(plain(fault), told);
        }
    }

    #[test]
    fn a_fault_that_quotes_the_client_is_cut_short() {
        let refusal = refusal(ParseRequestPayloadError { reason: "ü".repeat(10_000) });
        assert!(refusal.message().chars().count() < FAULT_LENGTH_MAX + 100);
    }
}
