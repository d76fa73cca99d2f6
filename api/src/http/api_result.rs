//! What a handler returns: its success, or a refusal that documents itself.
//!
//! A handler says by a type which refusals it may give; that type is what `/openapi.json` lists. What a refusal means
//! stands in the catalogue and its status is decided in [`crate::http::refusal`], never here.

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

/// The success of an operation, or one of the refusals that it may meet.
pub type ApiResult<T, O> = Result<T, Refused<O>>;

/// What is said of the refusals that an operation may give.
pub trait Operation {
    fn refusals() -> &'static [StatusText];
}

/// A status of refusals, and the codes that it may have with their meanings.
pub struct StatusText {
    pub status: u16,
    pub description: String,
}

/// Those that any operation may give.
const ANYWHERE: [RefusalKind; 2] = [RefusalKind::Internal, RefusalKind::Overloaded];

/// Declares operations by their refusals: `refusals! { One: Unauthorized, InsufficientScope, NotFound; }`.
macro_rules! refusals {
    ($($name:ident: $($kind:ident),+;)+) => {$(
        pub enum $name {}

        impl $crate::http::api_result::Operation for $name {
            fn refusals() -> &'static [$crate::http::api_result::StatusText] {
                static TOLD: std::sync::LazyLock<Vec<$crate::http::api_result::StatusText>> =
                    std::sync::LazyLock::new(|| $crate::http::api_result::told(&[$(domain::RefusalKind::$kind),+]));
                &TOLD
            }
        }
    )+};
}
pub(crate) use refusals;

/// The statuses of these refusals and of those that any operation may give.
pub fn told(kinds: &[RefusalKind]) -> Vec<StatusText> {
    let mut by_status: BTreeMap<u16, Vec<RefusalEntry>> = BTreeMap::new();
    for entry in kinds.iter().chain(&ANYWHERE).map(|kind| kind.entry()) {
        by_status.entry(status_of(&entry.example).as_u16()).or_default().push(entry);
    }
    let told = by_status.into_iter();
    told.map(|(status, entries)| StatusText { status, description: description(&entries) }).collect()
}

/// A line for each code, with every meaning that it may have here.
fn description(entries: &[RefusalEntry]) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for entry in entries {
        let code = entry.example.code();
        match lines.iter_mut().find(|(told, _)| *told == code) {
            Some((_, meanings)) => meanings.extend([" ", entry.meaning]),
            None => lines.push((code, entry.meaning.to_owned())),
        }
    }
    let lines = lines.into_iter().map(|(code, meanings)| format!("`{code}`: {meanings}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Something was made.
#[derive(ApiResponse)]
pub enum Created<T: ToJSON> {
    /// It was made.
    #[oai(status = 201)]
    Created(
        Json<T>,
        /// The API address of what was made, where it has one.
        #[oai(header = "Location")]
        Option<String>,
    ),
}

impl<T: ToJSON> Created<T> {
    /// What was made, and the path below the API's address where it is found.
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
    }
}

fn documented(told: &'static StatusText) -> MetaResponse {
    let status = told.status;
    MetaResponse {
        description: &told.description,
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
