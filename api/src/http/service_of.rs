//! The operations, from the data that every request carries to the routes.

use anyhow::anyhow;
use poem::Request;
use service::{Failure, Service};

use crate::http::refusal::RefusedCall;

pub fn service_of(request: &Request) -> Result<&Service, RefusedCall> {
    request
        .data::<Service>()
        .ok_or_else(|| Failure::Bug(anyhow!("the routes were built without a service")).into())
}
