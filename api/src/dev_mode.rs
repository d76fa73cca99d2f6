//! Routes that exist in dev mode only. Elsewhere they must look as if they were not there, to anyone.

use anyhow::anyhow;
use domain::{Missing, Refusal};
use poem::{FromRequest, Request, RequestBody};
use service::{Failure, Service};

use crate::refusal::RefusedCall;

/// Proof that the service runs in dev mode. It stands before whatever asks who calls.
pub struct DevMode;

impl<'a> FromRequest<'a> for DevMode {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        let service = request.data::<Service>().ok_or_else(|| {
            RefusedCall::from(Failure::Bug(anyhow!("the routes were built without a service")))
        })?;
        if service.is_dev_mode() {
            return Ok(Self);
        }
        Err(RefusedCall::from(Refusal::NotFound(Missing::Endpoint)).into())
    }
}
