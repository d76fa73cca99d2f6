//! Turns errors outside the handlers into our own refusals.
//!
//! poem's messages must not reach clients: they contain internal names (`param0`) and no hint.

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

/// A fault may quote what the client sent, so it is cut to this length.
const FAULT_LENGTH_MAX: usize = 300;

/// The methods of paths outside the OpenAPI document, which serve documents.
const UNLISTED_ALLOWED: &str = "GET, HEAD";

/// The refusal for an error. An internal error is logged with its chain of causes.
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
    malformed(error, path)
}

// A part of the request that could not be parsed.
fn malformed(error: &Error, path: Option<&ListedPath>) -> Option<Refusal> {
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
    // poem rejects malformed requests, such as a path whose percent-encoding is not UTF-8.
    let is_client_error = error.status().is_client_error();
    is_client_error.then(|| Refusal::invalid("path", "is malformed"))
}

/// A fault by poem-openapi without the names of internal types.
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
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use poem::http::StatusCode;

    use super::*;

    fn refusal(error: impl Into<Error>) -> Refusal {
        refusal_of(&error.into(), &Method::POST, None)
    }

    #[test]
    fn every_poem_error_becomes_a_refusal() {
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
    fn error_messages_contain_no_internal_type_names() {
        for (fault, text) in [
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
            assert_eq!(plain(fault), text);
        }
    }

    #[test]
    fn error_message_that_quotes_the_client_is_truncated() {
        let refusal = refusal(ParseRequestPayloadError { reason: "ü".repeat(10_000) });
        assert!(refusal.message().chars().count() < FAULT_LENGTH_MAX + 100);
    }
}
