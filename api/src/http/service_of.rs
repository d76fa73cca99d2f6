//! The service's operations, from the data of a request.

use anyhow::anyhow;
use poem::Request;
use service::{Failure, Service};

use crate::http::refusal::RefusedCall;

pub fn service_of(request: &Request) -> Result<&Service, RefusedCall> {
    request
        .data::<Service>()
        .ok_or_else(|| Failure::Bug(anyhow!("the routes were built without a service")).into())
}
