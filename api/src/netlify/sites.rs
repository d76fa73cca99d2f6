//! Sites and accounts, as far as the command line asks for them before a deploy.

use poem::http::StatusCode;
use poem::web::{Data, Path, Query};
use poem::{Response, handler};
use serde::Deserialize;
use serde_json::{Value, json};
use service::{Caller, Service};

use super::json::{account, respond, site};
use super::{Bearer, slug_of};
use crate::http::refusal::RefusedCall;

#[derive(Deserialize)]
pub struct SiteQuery {
    name: Option<String>,
}

/// A site. A legal name that no artifact has is that of a site without deploys.
#[handler]
pub async fn show(
    Bearer(caller): Bearer,
    Path(name): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    Ok(respond(StatusCode::OK, &found(&service, &caller, &name).await?))
}

/// The sites with a name, which is at most one.
#[handler]
pub async fn list(
    Bearer(caller): Bearer,
    Query(SiteQuery { name }): Query<SiteQuery>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let sites = match name {
        Some(name) if slug_of(&name).is_ok() => vec![found(&service, &caller, &name).await?],
        _ => Vec::new(),
    };
    Ok(respond(StatusCode::OK, &json!(sites)))
}

/// The account of the token.
#[handler]
pub async fn accounts(Bearer(caller): Bearer) -> Result<Response, RefusedCall> {
    Ok(respond(StatusCode::OK, &json!([account(&caller)])))
}

/// The environment variables of builds. Nothing is built here.
#[handler]
pub async fn environment(Bearer(_): Bearer) -> Result<Response, RefusedCall> {
    Ok(respond(StatusCode::OK, &json!([])))
}

async fn found(service: &Service, caller: &Caller, name: &str) -> Result<Value, RefusedCall> {
    let slug = slug_of(name)?;
    let artifact = service.deploy_site(caller, &slug).await?;
    Ok(site(service, caller, &slug, artifact.as_ref()))
}
