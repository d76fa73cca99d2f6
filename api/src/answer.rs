//! What a handler returns: its success, or a refusal that documents itself.
//!
//! A handler says by a type which statuses its refusals may have; that type is what `/openapi.json` lists. The
//! statuses themselves are decided in [`crate::refusal`], never here.

use std::marker::PhantomData;

use domain::Refusal;
use poem_openapi::payload::Json;
use poem_openapi::registry::{MetaHeader, MetaMediaType, MetaResponse, MetaResponses, Registry};
use poem_openapi::types::{ToJSON, Type};
use poem_openapi::{ApiResponse, ResponseContent};
use service::Failure;

use crate::refusal::RefusedCall;
use crate::wire;

/// The success of an operation, or one of the refusals that it may meet.
pub type Answer<T, O> = Result<T, Refused<O>>;

/// The statuses under which an operation may refuse, beside 500 and 503, which any may.
pub trait Operation {
    const REFUSALS: &'static [u16];
}

/// Declares operations by the statuses of their refusals: `refusals! { One: 401, 403, 404; }`.
macro_rules! refusals {
    ($($name:ident: $($status:literal),+;)+) => {$(
        pub enum $name {}

        impl $crate::answer::Operation for $name {
            const REFUSALS: &'static [u16] = &[$($status),+];
        }
    )+};
}
pub(crate) use refusals;

/// Something was made.
#[derive(ApiResponse)]
pub enum Created<T: ToJSON> {
    /// It was made.
    #[oai(status = 201)]
    Created(Json<T>),
}

/// A refusal by the operation `O`.
pub struct Refused<O> {
    call: RefusedCall,
    operation: PhantomData<fn() -> O>,
}

impl<O> From<RefusedCall> for Refused<O> {
    fn from(call: RefusedCall) -> Self {
        Self { call, operation: PhantomData }
    }
}

impl<O> From<Refusal> for Refused<O> {
    fn from(refusal: Refusal) -> Self {
        RefusedCall::from(refusal).into()
    }
}

impl<O> From<Failure> for Refused<O> {
    fn from(failure: Failure) -> Self {
        RefusedCall::from(failure).into()
    }
}

impl<O> From<Refused<O>> for poem::Error {
    fn from(refused: Refused<O>) -> Self {
        refused.call.into()
    }
}

impl<O: Operation> ApiResponse for Refused<O> {
    fn meta() -> MetaResponses {
        let statuses = O::REFUSALS.iter().chain(&[500, 503]);
        MetaResponses { responses: statuses.copied().map(documented).collect() }
    }

    fn register(registry: &mut Registry) {
        <Json<wire::Error> as ResponseContent>::register(registry);
        <Json<wire::Challenge> as ResponseContent>::register(registry);
    }
}

fn documented(status: u16) -> MetaResponse {
    MetaResponse {
        description: description(status),
        status: Some(status),
        status_range: None,
        content: content(status),
        headers: if matches!(status, 429 | 503) { vec![retry_after()] } else { vec![] },
    }
}

fn content(status: u16) -> Vec<MetaMediaType> {
    match status {
        402 => <Json<wire::Challenge> as ResponseContent>::media_types(),
        _ => <Json<wire::Error> as ResponseContent>::media_types(),
    }
}

fn retry_after() -> MetaHeader {
    MetaHeader {
        name: "Retry-After".to_owned(),
        description: Some("Seconds to wait before the next try.".to_owned()),
        required: true,
        deprecated: false,
        schema: u64::schema_ref(),
    }
}

fn description(status: u16) -> &'static str {
    match status {
        400 => {
            "`invalid_request` names the field and its fault; `invalid_body` says why the JSON does not fit."
        }
        401 => "`unauthorized`: no token or session, or none that is good any more.",
        402 => "`payment_required`: the challenge says what settles this exact request.",
        403 => {
            "The caller may not: `insufficient_scope`, `account_expired`, `quota_exceeded`, `forbidden`, or what the \
             code says."
        }
        404 => "`not_found`: there is no such thing for the caller; the message says what is missing.",
        410 => "`account_expired`: too late, the account has expired.",
        409 => "A conflict: `slug_taken`, `idempotency_conflict`, or what the code says.",
        413 => "`too_large`: more bytes or files than a publish or the account may have.",
        415 => "`unsupported_media_type`: the body is of another content type than the one listed.",
        429 => "`rate_limited`: wait as long as `Retry-After` says.",
        501 => "`not_configured`: this deployment has no card rail.",
        502 => "`processor_error`: the card processor refused, or did not answer.",
        503 => "`overloaded`: busy, or a part is down. Retry with the same `Idempotency-Key`.",
        _ => "`internal_error`: a bug; retry once.",
    }
}
