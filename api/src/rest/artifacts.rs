//! Listing, showing, hiding and deleting the caller's artifacts. A slug means the caller's own, so another account's
//! must look as if it were not there.

use domain::Slug;
use poem::web::Data;
use poem_openapi::payload::Json;
use poem_openapi::types::ToJSON;
use poem_openapi::{ApiResponse, OpenApi};
use service::{Service, VisibilityRequest};

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::call_header::{Header, PaymentOffer};
use crate::http::caller::Token;
use crate::http::json_body::JsonBody;
use crate::http::paging::{After, Around, Limit, Listed, Paging};
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct Artifacts;

refusals! {
    List: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden;
    One: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, NotFound;
    Change:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, PaymentRequired, NotFound, TooLarge, UnsupportedMediaType, OutcomeUnknown;
    AppealCall:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, NotFound, AlreadyAppealed, NothingToAppeal, TooLarge, UnsupportedMediaType;
    Delete:
        InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired, AccountSuspended,
        NotFound;
}

#[derive(ApiResponse)]
pub enum ArtifactResponse {
    /// It is seen so from now on, on every edge.
    #[oai(status = 200)]
    Shown(
        Json<wire::ShownArtifact>,
        /// The receipt as compact JSON, when the call was paid inline.
        #[oai(header = "X-PAYMENT-RESPONSE")]
        Option<String>,
    ),
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Artifacts {
    /// List the artifacts
    ///
    /// Everything that the account has published and not deleted, newest first. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts", method = "get", operation_id = "list_artifacts")]
    async fn list(
        &self,
        caller: Token,
        /// At most so many entries, with a `Link` to the next ones. Without it, everything is sent.
        limit: Limit,
        /// Where to go on: take it from the `Link` of the page before.
        after: After<wire::Artifact>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::Artifact>>, List> {
        let paging = Paging::of(limit, after);
        let list = paging.list(&service, caller.0, |service, caller, page| async move {
            let artifacts = service.artifacts(&caller, &page).await?;
            Ok(artifacts.map(|artifact| wire::Artifact::new(&artifact, service.addresses())))
        });
        Ok(list.await?)
    }

    /// Look at one artifact and its versions
    ///
    /// `versions` is newest first; the `seq` of any of them can be made live again. `limit` and `after` are about the
    /// versions. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts/:slug", method = "get", operation_id = "get_artifact")]
    async fn one(
        &self,
        caller: Token,
        /// The artifact's name on the account.
        slug: Path<Slug>,
        /// At most so many versions, with a `Link` to the next ones. Without it, all are sent.
        limit: Limit,
        /// Where to go on: take it from the `Link` of the page before.
        after: After<wire::Version>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::ArtifactDetail>, One> {
        let paging = Paging::of(limit, after);
        let detail = service.artifact(&caller.0, &slug.0, &paging.first_page()).await?;
        let (artifact, live) = (detail.artifact.id, detail.artifact.live.map(|live| live.seq));
        let (caller, reader) = (caller.0, Service::clone(&service));
        let first = detail.versions.clone().map(|version| wire::Version::new(&version, live));
        let read = move |page| {
            let (caller, service) = (caller.clone(), reader.clone());
            async move {
                let versions = service.versions(&caller, artifact, &page).await?;
                Ok(versions.map(|version| wire::Version::new(&version, live)))
            }
        };
        let around = Around::field("versions", &wire::ArtifactDetail::new(detail, service.addresses()));
        Ok(paging.document(&service.addresses().base_url, around, first, read))
    }

    /// Choose who may see an artifact
    ///
    /// `public` is for everyone, `unlisted` for who has the link, `private` for who has the `signed_url` of the
    /// answer. Leaving the public costs a month, charged at once and then monthly until the artifact is public again
    /// or deleted; leaving it again in the same month is free. Without credit the answer is 402 with the price: tell
    /// your human, then send the identical request with `X-PAYMENT`. Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug", method = "patch", operation_id = "set_visibility")]
    async fn set_visibility(
        &self,
        caller: Token,
        /// The artifact's name on the account.
        slug: Path<Slug>,
        /// Settles a 402: what the challenge's instructions say, such as `dev:0.5`.
        #[oai(name = "X-PAYMENT")]
        payment: Header<PaymentOffer>,
        body: JsonBody<wire::ChangeVisibility>,
        service: Data<&Service>,
    ) -> ApiResult<ArtifactResponse, Change> {
        let (to, payment) = (body.visibility.into(), payment.0);
        let request = VisibilityRequest { slug: slug.0, to, payment: payment.settling() };
        let shown = service.set_visibility(&caller.0, request).await;
        let shown = shown.map_err(|failure| payment.explain(failure))?;
        let shown = wire::ShownArtifact::new(shown, service.addresses());
        let receipt = shown.receipt.as_ref().map(ToJSON::to_json_string);
        Ok(ArtifactResponse::Shown(Json(shown), receipt))
    }

    /// Appeal a moderation decision
    ///
    /// For a page whose live version is in `review` or `blocked`: the message puts it in the moderators' queue. Each
    /// version can be appealed for once. The status stays as it is until a moderator decides. Needs the scope
    /// `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug/appeal", method = "post", operation_id = "appeal_moderation")]
    async fn appeal(
        &self,
        caller: Token,
        /// The artifact's name on the account.
        slug: Path<Slug>,
        body: JsonBody<wire::Appeal>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::AppealTaken>, AppealCall> {
        let message = body.read()?;
        Ok(Created::without_address(service.appeal(&caller.0, &slug.0, message).await?.into()))
    }

    /// Delete an artifact
    ///
    /// Its URL stops serving at once and its slug is free again. Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug", method = "delete", operation_id = "delete_artifact")]
    async fn delete(
        &self,
        caller: Token,
        /// The artifact's name on the account.
        slug: Path<Slug>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Deleted>, Delete> {
        Ok(Json(service.delete(&caller.0, &slug.0).await?.into()))
    }
}
