//! The content of a file, sent to its path in the deploy. The last one publishes the deploy.

use domain::{FileSet, Refusal};
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{FromRequest, Request, RequestBody, Response, handler};
use serde_json::json;
use service::{Caller, DeployState, Service};

use super::Bearer;
use super::json::respond;
use super::publishing::{DeployRequest, publish_if_complete};
use crate::http::permits::WorkClass;
use crate::http::refusal::{RefusedCall, respond_to_netlify, status_of};
use crate::http::upload::{ReadBody, WholeBody};

/// A body that has not been read yet.
pub struct FileBody(WholeBody);

impl<'a> FromRequest<'a> for FileBody {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(WholeBody::of(request, body)?))
    }
}

#[handler]
pub async fn receive(
    Bearer(caller): Bearer,
    request: &Request,
    Path((id, path)): Path<(String, String)>,
    body: FileBody,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let received = keep(&DeployRequest::of(request), &service, &caller, (&id, &path), body).await;
    match received {
        Ok(()) => Ok(respond(StatusCode::OK, &json!({ "id": path, "path": path }))),
        Err(refused) if is_final(&refused) => {
            Ok(respond_to_netlify(&refused.0, StatusCode::UNPROCESSABLE_ENTITY))
        }
        Err(refused) => Err(refused),
    }
}

/// The command line repeats an upload after any status but 400 and 422, for up to a minute.
fn is_final(RefusedCall(refusal): &RefusedCall) -> bool {
    let status = status_of(refusal);
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS
}

async fn keep(
    request: &DeployRequest,
    service: &Service,
    caller: &Caller,
    (id, path): (&str, &str),
    body: FileBody,
) -> Result<(), RefusedCall> {
    request.permit.refuse_if_full(WorkClass::Upload)?;
    let deploy = service.deploy(caller, id).await?;
    if let DeployState::Ended(_) = deploy.state {
        // A repeated request. The rest of the files of a refused deploy is not kept.
        return Ok(());
    }
    let awaited = service.awaited_file(caller, &deploy, path).await?;
    let ReadBody { bytes, memory } = read(body).await?;
    request.permit.exchange_for(WorkClass::Upload).await?;
    let deploy = match awaited {
        Some(digest) => service.receive_deploy_file(caller, deploy, digest, bytes).await?,
        None => deploy,
    };
    drop(memory);
    publish_if_complete(request, service, caller, deploy).await?;
    Ok(())
}

async fn read(body: FileBody) -> Result<ReadBody, Refusal> {
    let mut set = FileSet::default();
    body.0.read(|chunk: &[u8]| set.grow(chunk.len())).await
}
