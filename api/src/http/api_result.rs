//! What a handler returns: a success, or a refusal that documents itself.
//!
//! A handler's return type names the refusals that it may return, and `/openapi.json` lists them from that
//! type. The meaning of a refusal is in the catalogue and its status in [`crate::http::refusal`], never here.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use domain::link::Addresses;
use domain::{Refusal, RefusalEntry, RefusalKind};
use poem_openapi::payload::Json;
use poem_openapi::registry::{MetaHeader, MetaMediaType, MetaResponse, MetaResponses, Registry};
use poem_openapi::types::{ToJSON, Type};
use poem_openapi::{ApiResponse, ResponseContent};
use service::Failure;

use crate::http::refusal::{RefusedCall, status_of};
use crate::wire;

/// A success, or a refusal that the operation documents.
pub type ApiResult<T, O> = Result<T, Refused<O>>;

/// The documented refusals of an operation.
pub trait Operation {
    fn refusals() -> &'static [StatusText];
}

/// A status, with its refusal codes and their meanings.
pub struct StatusText {
    pub status: u16,
    pub description: String,
}

/// Refusals that any operation may return.
const ANYWHERE: [RefusalKind; 2] = [RefusalKind::Internal, RefusalKind::Overloaded];

/// Declares operations by their refusals: `refusals! { One: Unauthorized, InsufficientScope, NotFound; }`.
macro_rules! refusals {
    ($($name:ident: $($kind:ident),+;)+) => {$(
        pub enum $name {}

        impl $crate::http::api_result::Operation for $name {
            fn refusals() -> &'static [$crate::http::api_result::StatusText] {
                static STATUSES: std::sync::LazyLock<Vec<$crate::http::api_result::StatusText>> =
                    std::sync::LazyLock::new(|| $crate::http::api_result::status_texts(&[$(domain::RefusalKind::$kind),+]));
                &STATUSES
            }
        }
    )+};
}
pub(crate) use refusals;

/// The statuses of these refusals, and of those that any operation may return.
pub fn status_texts(kinds: &[RefusalKind]) -> Vec<StatusText> {
    let mut by_status: BTreeMap<u16, Vec<RefusalEntry>> = BTreeMap::new();
    for entry in kinds.iter().chain(&ANYWHERE).map(|kind| kind.entry()) {
        by_status.entry(status_of(&entry.example).as_u16()).or_default().push(entry);
    }
    let statuses = by_status.into_iter();
    statuses.map(|(status, entries)| StatusText { status, description: description(&entries) }).collect()
}

/// One line for each code, with each of its meanings.
fn description(entries: &[RefusalEntry]) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for entry in entries {
        let code = entry.example.code();
        match lines.iter_mut().find(|(listed, _)| *listed == code) {
            Some((_, meanings)) => meanings.extend([" ", entry.meaning]),
            None => lines.push((code, entry.meaning.to_owned())),
        }
    }
    let lines = lines.into_iter().map(|(code, meanings)| format!("`{code}`: {meanings}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The response to a successful creation.
#[derive(ApiResponse)]
pub enum Created<T: ToJSON> {
    #[oai(status = 201)]
    Created(
        Json<T>,
        /// The API address of the new resource, if it has one.
        #[oai(header = "Location")]
        Option<String>,
    ),
}

impl<T: ToJSON> Created<T> {
    /// `path` is the resource's path below the API's address.
    pub fn at(made: T, addresses: &Addresses, path: &str) -> Self {
        Self::Created(Json(made), Some(addresses.api(path)))
    }

    pub fn without_address(made: T) -> Self {
        Self::Created(Json(made), None)
    }
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
        MetaResponses { responses: O::refusals().iter().map(documented).collect() }
    }

    fn register(registry: &mut Registry) {
        <Json<wire::Error> as ResponseContent>::register(registry);
        <Json<wire::Challenge> as ResponseContent>::register(registry);
        <Json<wire::VersionConflict> as ResponseContent>::register(registry);
    }
}

fn documented(text: &'static StatusText) -> MetaResponse {
    let status = text.status;
    MetaResponse {
        description: &text.description,
        status: Some(status),
        status_range: None,
        content: content(status),
        headers: headers(status),
    }
}

fn content(status: u16) -> Vec<MetaMediaType> {
    match status {
        402 => <Json<wire::Challenge> as ResponseContent>::media_types(),
        412 => <Json<wire::VersionConflict> as ResponseContent>::media_types(),
        _ => <Json<wire::Error> as ResponseContent>::media_types(),
    }
}

fn headers(status: u16) -> Vec<MetaHeader> {
    match status {
        429 => vec![retry_after(), rate_limit(), rate_limit_policy()],
        503 => vec![retry_after()],
        _ => vec![],
    }
}

fn rate_limit() -> MetaHeader {
    let text = "What is left of each rate limit that counted the call, and the seconds until it is reset: \
                `\"publish\";r=59;t=1`. Sent with successful responses too.";
    optional("RateLimit", text)
}

fn rate_limit_policy() -> MetaHeader {
    optional(
        "RateLimit-Policy",
        "The calls that each rate limit allows in its window: `\"publish\";q=60;w=60`.",
    )
}

fn optional(name: &str, description: &str) -> MetaHeader {
    MetaHeader {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        required: false,
        deprecated: false,
        schema: String::schema_ref(),
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
