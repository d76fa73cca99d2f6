//! A moderator's word on a page, in dev mode only: elsewhere the path must look as if it were not there.

use domain::ArtifactName;
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::payload::Json;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::SignedIn;
use crate::http::dev_mode::DevMode;
use crate::http::json_body::JsonBody;
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct Moderation;

refusals! {
    Moderate:
        InvalidRequest, InvalidBody, NotSignedIn, ForeignPage, DevModeIsLocal, NotFound, AmbiguousSlug, TooLarge,
        UnsupportedMediaType;
}

#[OpenApi(tag = "Tag::Moderation")]
impl Moderation {
    /// Pass or block a page
    ///
    /// For tests of what moderation leads to: dev mode on its own machine only, elsewhere 404. The word is on the version that is live
    /// now and holds until the next one, whatever a scan finds. A slug means an artifact of your own accounts, else
    /// the only one that bears it; a host means one artifact anywhere.
    #[oai(path = "/v1/moderation/:slug", method = "post", operation_id = "moderate")]
    async fn moderate(
        &self,
        _dev_mode: DevMode,
        moderator: SignedIn,
        /// The artifact's slug or its host.
        slug: Path<ArtifactName>,
        body: JsonBody<wire::Moderate>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Moderated>, Moderate> {
        let moderated = service.moderate(&moderator.0, &slug.0, body.action.into()).await?;
        Ok(Json(moderated.into()))
    }
}
