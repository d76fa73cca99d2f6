//! The caller's artifacts. A slug always means an artifact of the caller's account. Another account's
//! artifact returns 404, so that its existence does not leak.

use domain::{Host, Missing, Refusal, Slug};
use poem::web::Data;
use poem_openapi::param::Query;
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
    PrivateLink:
        InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired,
        AccountSuspended, NotFound, NotPrivate;
    Restore:
        InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired,
        AccountSuspended, NotFound, SlugInUse, QuotaExceeded;
    Delete:
        InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired,
        AccountSuspended, NotFound;
}

#[derive(ApiResponse)]
pub enum ArtifactResponse {
    /// The change is made. A new visibility is in effect on every edge.
    #[oai(status = 200)]
    Shown(
        Json<wire::ShownArtifact>,
        /// The receipt as compact JSON, if `X-PAYMENT` paid for this call.
        #[oai(header = "X-PAYMENT-RESPONSE")]
        Option<String>,
    ),
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Artifacts {
    /// List artifacts
    ///
    /// Returns all artifacts of the account, newest first, without deleted ones. Each has its `title`, its
    /// last change and its views in this month. Needs the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts", method = "get", operation_id = "list_artifacts")]
    async fn list(
        &self,
        caller: Token,
        /// The maximum number of artifacts to return; the `Link` header then holds the next page. Without it,
        /// the response has all artifacts.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
        after: After<wire::Artifact>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::ListedArtifact>>, List> {
        let paging = Paging::of(limit, after);
        let list = paging.list(&service, caller.0, |service, caller, page| async move {
            let artifacts = service.artifacts(&caller, &page).await?;
            let hosts: Vec<Host> = artifacts.rows.iter().map(|artifact| artifact.host.clone()).collect();
            let views = service.views_by_host(&caller, &hosts).await?;
            Ok(wire::ListedArtifact::page(artifacts, &views, service.addresses()))
        });
        Ok(list.await?)
    }

    /// Get an artifact and its versions
    ///
    /// Returns the artifact with its `versions`, newest first. Each has a `url` that shows it whether or not
    /// it is live. To make one of them live, send its `seq` to `POST /v1/artifacts/{slug}/activate`. `limit`
    /// and `after` page through the versions. Needs the scope
    /// `artifacts:read`.
    #[oai(path = "/v1/artifacts/:slug", method = "get", operation_id = "get_artifact")]
    async fn one(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// The maximum number of versions to return; the `Link` header then holds the next page. Without it,
        /// the response has all versions.
        limit: Limit,
        /// The cursor of the next page, from the `Link` header of the previous response.
        after: After<wire::Version>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::ArtifactDetail>, One> {
        let paging = Paging::of(limit, after);
        let detail = service.artifact(&caller.0, &slug.0, &paging.first_page()).await?;
        let (artifact, live) = (detail.artifact.id, detail.artifact.live.map(|live| live.seq));
        let (caller, reader) = (caller.0, Service::clone(&service));
        let links = detail.version_links.clone();
        let first = detail.versions.clone().map(|version| wire::Version::new(&version, live, &links));
        let read = move |page| {
            let (caller, service, links) = (caller.clone(), reader.clone(), links.clone());
            async move {
                let versions = service.versions(&caller, artifact, &page).await?;
                Ok(versions.map(|version| wire::Version::new(&version, live, &links)))
            }
        };
        let around = Around::field("versions", &wire::ArtifactDetail::new(detail, service.addresses()));
        Ok(paging.document(&service.addresses().base_url, around, first, read))
    }

    /// Set an artifact's visibility, or which versions it keeps
    ///
    /// `public`: everyone can find and open it. `unlisted`: anyone with the link can open it, but search
    /// engines do not list it. `private`: it opens only with the `signed_url` of the response, which
    /// `POST /v1/artifacts/{slug}/private-link` replaces.
    ///
    /// A public artifact that becomes `unlisted` or `private` is charged for the current month at once, and
    /// then monthly until it is public again or deleted. Another change in the same month is free. Without
    /// enough credit the call returns 402 with the price and changes nothing: tell your human the price, then
    /// repeat the identical request with `X-PAYMENT`.
    ///
    /// In a call of their own, and for free, `versions_kept` and `versions_days` limit which versions are
    /// kept: the newest ones, and those that were published within so many days. The cleanup deletes the
    /// others at least once a night. If both are set, a version that either of them keeps is kept. `null`
    /// turns a setting off; both are off by default. The settings of `PATCH /v1/account` apply to artifacts
    /// for which both are off. The live version always stays, and so do versions that a moderator holds.
    /// Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug", method = "patch", operation_id = "set_visibility")]
    async fn change(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// Pays a 402. Use the value from the challenge's `instructions`, such as `dev:0.5`.
        #[oai(name = "X-PAYMENT")]
        payment: Header<PaymentOffer>,
        body: JsonBody<wire::ChangeArtifact>,
        service: Data<&Service>,
    ) -> ApiResult<ArtifactResponse, Change> {
        let (to, payment) = match body.read()? {
            wire::ArtifactChange::Visibility(to) => (to, payment.0),
            wire::ArtifactChange::Retention(retention) => {
                let changed = service.set_retention(&caller.0, &slug.0, retention).await?;
                let shown = wire::ShownArtifact::with_retention(changed, service.addresses());
                return Ok(ArtifactResponse::Shown(Json(shown), None));
            }
        };
        let request = VisibilityRequest { slug: slug.0, to, payment: payment.settling() };
        let shown = service.set_visibility(&caller.0, request).await;
        let shown = shown.map_err(|failure| payment.explain(failure))?;
        let shown = wire::ShownArtifact::new(shown, service.addresses());
        let receipt = shown.receipt.as_ref().map(ToJSON::to_json_string);
        Ok(ArtifactResponse::Shown(Json(shown), receipt))
    }

    /// Create a new private link
    ///
    /// Replaces the `signed_url` of a private artifact and of its versions. The old links stop working at once,
    /// on every edge. Use it if a link has reached the wrong people. Each call makes another link. It is free.
    /// Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug/private-link", method = "post", operation_id = "create_private_link")]
    async fn rotate_private_link(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ShownArtifact>, PrivateLink> {
        let rotated = service.rotate_private_link(&caller.0, &slug.0).await?;
        Ok(Json(wire::ShownArtifact::new(rotated, service.addresses())))
    }

    /// Appeal a moderation decision
    ///
    /// For an artifact whose live version is `review` or `blocked`. Sends your message to the moderators.
    /// Each version can be appealed once. The status does not change until a moderator decides. Needs the
    /// scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug/appeal", method = "post", operation_id = "appeal_moderation")]
    async fn appeal(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        body: JsonBody<wire::Appeal>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::AppealTaken>, AppealCall> {
        let message = body.read()?;
        Ok(Created::without_address(service.appeal(&caller.0, &slug.0, message).await?.into()))
    }

    /// Delete an artifact
    ///
    /// Its URL stops working at once, and the slug can be used again. For 30 days,
    /// `POST /v1/artifacts/{slug}/restore` undoes it. The versions count as storage until they are purged.
    ///
    /// With `purge=true` it cannot be undone: the versions are deleted too, and the contents that nothing
    /// else refers to. If no artifact has the slug, this purges the one that was deleted last, within 30
    /// days. Blocked versions are kept as evidence; `held_versions` lists them. Needs the scope
    /// `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug", method = "delete", operation_id = "delete_artifact")]
    async fn delete(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// `true` also deletes the versions and their contents, for good.
        purge: Query<Option<bool>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Deleted>, Delete> {
        let deleted = match *purge {
            Some(true) => service.purge(&caller.0, &slug.0).await?.into(),
            _ => service.delete(&caller.0, &slug.0).await?.into(),
        };
        Ok(Json(deleted))
    }

    /// Restore a deleted artifact
    ///
    /// Restores the artifact with this slug that was deleted last, with its host, versions and visibility.
    /// Possible for 30 days, unless it was purged. If another artifact has the slug now, delete that one
    /// first, and then name this one by its `host`. The price of an unlisted or private artifact is charged
    /// for the current month, unless it is paid. Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug/restore", method = "post", operation_id = "restore_artifact")]
    async fn restore(
        &self,
        caller: Token,
        /// The name that the artifact had within the account.
        slug: Path<Slug>,
        /// The host of the artifact, such as `my-page-a1b2`. Without it, the one that was deleted last is
        /// restored.
        host: Query<Option<String>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Artifact>, Restore> {
        let host = host.0.map(|host| host.parse::<Host>()).transpose();
        let host = host.map_err(|_| Refusal::NotFound(Missing::DeletedArtifact))?;
        let artifact = service.restore_artifact(&caller.0, &slug.0, host.as_ref()).await?;
        Ok(Json(wire::Artifact::new(&artifact, service.addresses())))
    }
}
