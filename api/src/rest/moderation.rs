//! Moderation decisions in dev mode. Elsewhere the path must return 404, as an unknown path does.

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
    /// For tests of moderation. Outside dev mode this returns 404, and in dev mode only the same machine may
    /// call it. Decides on the live version, or on the newest one while none is live. The decision overrides
    /// any scan and holds until the next version. A slug means an artifact of your own accounts, or else the
    /// only artifact with that slug. A host means exactly one artifact.
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
