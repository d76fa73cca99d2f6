//! Who is calling: the one place where credentials of a request become a [`Caller`].

use anyhow::anyhow;
use poem::Request;
use poem_openapi::SecurityScheme;
use poem_openapi::auth::Bearer;
use service::{Caller, Failure, Service};

use crate::refusal::RefusedCall;

// It stands first among a handler's arguments, so that nobody learns anything without a token. Its doc comment is
// what the document tells of the scheme.
/// The token that `POST /v1/signup` gave, as `Authorization: Bearer svc_sk_…`.
#[derive(SecurityScheme)]
#[oai(rename = "token", ty = "bearer", bearer_format = "svc_sk_*", checker = "authenticate")]
pub struct Token(pub Caller);

async fn authenticate(request: &Request, bearer: Bearer) -> poem::Result<Caller> {
    let service = request
        .data::<Service>()
        .ok_or_else(|| RefusedCall::from(Failure::Bug(anyhow!("the routes were built without a service"))))?;
    Ok(service.authenticate(Some(&bearer.token)).await.map_err(RefusedCall::from)?)
}
