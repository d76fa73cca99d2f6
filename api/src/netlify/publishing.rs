//! The publish of a deploy, once its contents are there.

use poem::Request;
use service::{Caller, Deploy, DeployState, Service};

use crate::http::permits::RequestPermit;
use crate::http::publishing::{self, Loaded};
use crate::http::refusal::RefusedCall;
use crate::http::upload_budget::BodyShare;

/// What a publish needs of the request that completes it.
#[derive(Clone)]
pub struct DeployRequest {
    pub permit: RequestPermit,
    pub share: BodyShare,
}

impl DeployRequest {
    pub fn of(request: &Request) -> Self {
        Self { permit: RequestPermit::of(request), share: BodyShare::of(request) }
    }
}

/// Publishes a deploy that waits for nothing more. A refusal becomes the state of the deploy, unless a
/// repetition of the request may succeed.
pub async fn publish_if_complete(
    request: &DeployRequest,
    service: &Service,
    caller: &Caller,
    deploy: Deploy,
) -> Result<Deploy, RefusedCall> {
    if deploy.state != DeployState::Complete {
        return Ok(deploy);
    }
    let load = async {
        let memory = request.share.reserve_largest().await?;
        Ok(Loaded { request: service.load_deploy(caller, &deploy).await?, memory: Some(memory) })
    };
    let publish = async |(), request| Ok(service.publish(caller, request).await?);
    // The deploy was checked when it began.
    let check = std::future::ready(Ok(()));
    let publication = publishing::publish(&request.permit, check, load, publish).await;
    let result = match &publication {
        Ok(publication) => Ok(&publication.published),
        Err(RefusedCall(refusal)) => Err(&**refusal),
    };
    Ok(service.end_deploy(caller, deploy, result).await?)
}
