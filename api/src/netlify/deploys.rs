//! Deploys: begun, given their files by SHA-1, read until they have ended.

use std::collections::BTreeMap;

use domain::{Activation, ContentDigest, Missing, Refusal, SitePath};
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{Request, Response, handler};
use serde::Deserialize;
use serde_json::{Map, Value};
use service::{Caller, Deploy, DeployFiles, Service};

use super::json::{deploy, respond};
use super::publishing::{DeployRequest, publish_if_complete};
use super::{Bearer, slug_of};
use crate::http::json_body;
use crate::http::permits::WorkClass;
use crate::http::refusal::RefusedCall;

/// The command line sends its settings as this file. They have no effect on a publish, so it is left out.
const SETTINGS_FILE: &str = "netlify.toml";

#[derive(Default, Deserialize)]
struct NewDeploy {
    #[serde(default)]
    draft: bool,
}

/// The files of a deploy. A `draft` here does not count: the command line sends false for every deploy.
#[derive(Deserialize)]
struct DeployContent {
    files: BTreeMap<String, String>,
    #[serde(default)]
    functions: Option<Map<String, Value>>,
    #[serde(default)]
    edge_functions: Option<Value>,
}

#[handler]
pub async fn begin(
    Bearer(caller): Bearer,
    Path(site): Path<String>,
    body: Vec<u8>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let slug = slug_of(&site)?;
    let NewDeploy { draft } = if body.is_empty() { NewDeploy::default() } else { json_body::parse(&body)? };
    let activation = if draft { Activation::Staged } else { Activation::Live };
    let begun = service.begin_deploy(&caller, &slug, activation).await?;
    shown(&service, &caller, &begun).await
}

#[handler]
pub async fn set_files(
    Bearer(caller): Bearer,
    request: &Request,
    Path((site, id)): Path<(String, String)>,
    body: Vec<u8>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let begun = found(&service, &caller, &site, &id).await?;
    let files = files_of(json_body::parse(&body)?)?;
    let deploy = DeployRequest::of(request);
    // The contents that the site has already are read.
    deploy.permit.exchange_for(WorkClass::Upload).await?;
    let planned = service.plan_deploy(&caller, begun, files).await?;
    let planned = publish_if_complete(&deploy, &service, &caller, planned).await?;
    shown(&service, &caller, &planned).await
}

#[handler]
pub async fn show(
    Bearer(caller): Bearer,
    Path((site, id)): Path<(String, String)>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let found = found(&service, &caller, &site, &id).await?;
    shown(&service, &caller, &found).await
}

/// The command line gives up a deploy that it could not complete.
#[handler]
pub async fn cancel(
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let found = service.deploy(&caller, &id).await?;
    service.cancel_deploy(&caller, &found).await?;
    shown(&service, &caller, &found).await
}

async fn found(service: &Service, caller: &Caller, site: &str, id: &str) -> Result<Deploy, RefusedCall> {
    let (slug, deploy) = (slug_of(site)?, service.deploy(caller, id).await?);
    if deploy.slug == slug { Ok(deploy) } else { Err(Refusal::NotFound(Missing::Deploy).into()) }
}

async fn shown(service: &Service, caller: &Caller, shown: &Deploy) -> Result<Response, RefusedCall> {
    let artifact = service.deploy_site(caller, &shown.slug).await?;
    Ok(respond(StatusCode::OK, &deploy(service, caller, shown, artifact.as_ref())))
}

/// The files to publish, by path.
fn files_of(content: DeployContent) -> Result<DeployFiles, Refusal> {
    let DeployContent { files, functions, edge_functions } = content;
    if functions.is_some_and(|functions| !functions.is_empty()) {
        return Err(Refusal::invalid("functions", "cannot be deployed; only static files are published"));
    }
    if edge_functions.is_some_and(|functions| !is_empty(&functions)) {
        return Err(Refusal::invalid(
            "edge_functions",
            "cannot be deployed; only static files are published",
        ));
    }
    let mut planned = DeployFiles::new();
    for (name, digest) in files {
        let name = name.strip_prefix('/').unwrap_or(&name);
        if name == SETTINGS_FILE {
            continue;
        }
        let invalid = |fault: String| Refusal::invalid("files", format!("the file path {name:?} {fault}"));
        let path = SitePath::of_upload(name).map_err(|fault| invalid(fault.to_string()))?;
        let digest: ContentDigest =
            digest.parse().map_err(|_| invalid("has a digest that is not a SHA-1".to_owned()))?;
        if planned.insert(path, digest).is_some() {
            return Err(invalid("occurs twice".to_owned()));
        }
    }
    Ok(planned)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DIGEST: &str = "6c4a0d21c305e7397bedf660bfd70cd563431b4e";

    fn paths_of(content: Value) -> Result<Vec<String>, String> {
        let content = serde_json::from_value(content).unwrap();
        let files = files_of(content).map_err(|refusal| refusal.message())?;
        Ok(files.keys().map(ToString::to_string).collect())
    }

    #[test]
    fn settings_of_the_command_line_are_not_published() {
        let files = json!({ "netlify.toml": DIGEST, "/css/app.css": DIGEST, "index.html": DIGEST });
        assert_eq!(
            paths_of(json!({ "files": files, "functions": {} })).unwrap(),
            ["css/app.css", "index.html"]
        );
    }

    #[test]
    fn what_cannot_be_published_is_refused_by_name() {
        for (content, fault) in [
            (json!({ "files": { "../a": DIGEST } }), "files: the file path \"../a\""),
            (json!({ "files": { "a": "6c4a" } }), "files: the file path \"a\" has a digest"),
            (json!({ "files": { "a": DIGEST, "/a": DIGEST } }), "files: the file path \"a\" occurs twice"),
            (json!({ "files": {}, "functions": { "f": "x" } }), "functions: cannot be deployed"),
            (json!({ "files": {}, "edge_functions": ["x"] }), "edge_functions: cannot be deployed"),
        ] {
            let refused = paths_of(content.clone()).unwrap_err();
            assert!(refused.starts_with(fault), "{content}: {refused}");
        }
    }
}
