//! Listing, showing and deleting the caller's artifacts. A slug means the caller's own, so another account's must
//! look as if it were not there.

use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Path;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::answer::{Answer, refusals};
use crate::caller::Token;
use crate::upload::parse_slug;
use crate::wire;

#[derive(Default)]
pub struct Artifacts;

refusals! {
    List: 401, 403;
    One: 400, 401, 403, 404;
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Artifacts {
    /// List the artifacts
    ///
    /// Everything that the account has published and not deleted. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts", method = "get", operation_id = "list_artifacts")]
    async fn list(&self, caller: Token, service: Data<&Service>) -> Answer<Json<Vec<wire::Artifact>>, List> {
        let artifacts = service.artifacts(&caller.0).await?;
        let addresses = service.addresses();
        Ok(Json(artifacts.iter().map(|artifact| wire::Artifact::new(artifact, addresses)).collect()))
    }

    /// Look at one artifact and its versions
    ///
    /// `versions` is newest first; the `seq` of any of them can be made live again. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts/:slug", method = "get", operation_id = "get_artifact")]
    async fn one(
        &self,
        caller: Token,
        /// The artifact's name on the account.
        slug: Path<String>,
        service: Data<&Service>,
    ) -> Answer<Json<wire::ArtifactDetail>, One> {
        let detail = service.artifact(&caller.0, &parse_slug(slug.as_bytes())?).await?;
        Ok(Json(wire::ArtifactDetail::new(detail, service.addresses())))
    }

    /// Delete an artifact
    ///
    /// Its URL stops serving at once and its slug is free again. Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug", method = "delete", operation_id = "delete_artifact")]
    async fn delete(
        &self,
        caller: Token,
        /// The artifact's name on the account.
        slug: Path<String>,
        service: Data<&Service>,
    ) -> Answer<Json<wire::Deleted>, One> {
        let slug = parse_slug(slug.as_bytes())?;
        Ok(Json(service.delete(&caller.0, &slug).await?.into()))
    }
}
