//! Routes that exist in dev mode only. Elsewhere they must look as if they were not there, to anyone.

use domain::{Missing, Refusal};
use poem::{FromRequest, Request, RequestBody};

use crate::refusal::RefusedCall;
use crate::service_of::service_of;

/// Proof that the service runs in dev mode. It stands before whatever asks who calls.
pub struct DevMode;

impl<'a> FromRequest<'a> for DevMode {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        if service_of(request)?.is_dev_mode() {
            return Ok(Self);
        }
        Err(RefusedCall::from(Refusal::NotFound(Missing::Endpoint)).into())
    }
}
