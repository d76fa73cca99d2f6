//! Adding versions and choosing the live one. Adding is a publish and costs the same. Activating must never
//! cost anything.

use domain::{Message, Slug};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::{Addressed, Service};

use super::Tag;
use super::publish::{NamedBody, PublishOptions, Published, activation_of, publish};
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::{Header, IdempotencyKey, PaymentOffer};
use crate::http::caller::Token;
use crate::http::client_wait::ClientWait;
use crate::http::condition_header::{self, IfMatch, IfNoneMatch};
use crate::http::json_body::JsonBody;
use crate::http::path_part::{Path, VersionNumber};
use crate::http::publish_extent::{DryRun, PublishExtent, Wait};
use crate::http::upload::{ArchiveField, NamedUpload, PublishBody};
use crate::wire;

#[derive(Default)]
pub struct Versions;

refusals! {
    Add:
        InvalidRequest, InvalidBody, SecretInPublish, Unauthorized, NotSignedIn, InsufficientScope, Forbidden,
        ForeignPage, AccountExpired, AccountSuspended,
        PaymentRequired, NotFound, IdempotencyConflict, ContentMissing, VersionConflict, PublishTooLarge,
        StorageFull, UnsupportedMediaType, RateLimited, OutcomeUnknown;
    Activate:
        InvalidRequest, InvalidBody, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage,
        AccountExpired, AccountSuspended, NotFound, TooLarge, UnsupportedMediaType;
    Delete:
        InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, ForeignPage, AccountExpired,
        AccountSuspended, NotFound, VersionLive, VersionHeld;
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Versions {
    /// Add a version to an artifact
    ///
    /// The same as `POST /v1/publish`, for an existing artifact. It counts as a publish. With
    /// `activate=false` the version is stored and the live one stays; make it live later with
    /// `POST /v1/artifacts/{slug}/activate`.
    #[oai(path = "/v1/artifacts/:slug/versions", method = "post", operation_id = "add_version")]
    #[allow(clippy::too_many_arguments, reason = "each is a documented part of the request")]
    async fn add(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// `false` stores the version without making it live.
        activate: Query<Option<bool>>,
        /// Pays a 402. Use the value from the challenge's `instructions`, such as `dev:0.005`.
        #[oai(name = "X-PAYMENT")]
        payment: Header<PaymentOffer>,
        /// Makes a retry safe. For 24 hours the same key with the same request returns the same response.
        /// Two requests are the same if they have the same slug, message, condition and files, in a body of
        /// any type. With `base`, they have the same base and the same changes to it.
        #[oai(name = "Idempotency-Key")]
        key: Header<IdempotencyKey>,
        /// Publishes only if this version is live: its number as an entity tag, such as `"v7"`. Otherwise
        /// 412, and nothing is published. `*` means that the slug exists.
        #[oai(name = "If-Match")]
        if_match: Header<IfMatch>,
        /// `*` publishes only if no artifact of the account has the slug. Otherwise 412, and nothing is
        /// published.
        #[oai(name = "If-None-Match")]
        if_none_match: Header<IfNoneMatch>,
        /// For an archive: the artifact's name, which must be the one in the path.
        #[oai(name = "slug")]
        named: ArchiveField<Slug>,
        /// `true` only rehearses the publish: it runs all checks and returns the price, the warnings and how
        /// the files differ from the live version. Nothing is stored or charged. A refusal is the one that
        /// the publish would get. `Idempotency-Key` is ignored, and `X-PAYMENT` is checked but not charged. A
        /// rehearsal counts against the rate limit of publishes.
        dry_run: DryRun,
        /// `scan` waits up to 10 seconds for the verdict of the scan, which the response then has as
        /// `moderation_status`.
        wait: Wait,
        /// For an archive: what is new in this version. The other bodies have a field for it.
        message: ArchiveField<Message>,
        body: PublishBody,
        client: ClientWait,
        service: Data<&Service>,
    ) -> ApiResult<Published, Add> {
        let condition = condition_header::condition(if_match.0, if_none_match.0)?;
        let (payment, key, extent) = (payment.0, key.0.0, PublishExtent::of(dry_run, wait));
        let activation = activation_of(*activate);
        let options = PublishOptions { payment, key, activation, condition, extent, client };
        let upload = NamedBody { body, named: NamedUpload { slug: named.0, message: message.0 } };
        Ok(publish(&service, &caller.0, Addressed::Existing(&slug.0), upload, options).await?)
    }

    /// Make a version live
    ///
    /// Rolls back or forward to any version, at once and for free. Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug/activate", method = "post", operation_id = "activate_version")]
    async fn activate(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        body: JsonBody<wire::Activate>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Artifact>, Activate> {
        let artifact = service.activate(&caller.0, &slug.0, body.version).await?;
        Ok(Json(wire::Artifact::new(&artifact, service.addresses())))
    }

    /// Delete a version
    ///
    /// Deletes a version that is not live, and the contents that nothing else refers to, for good. Its
    /// address stops working at once. The live version returns 409 `version_live`, and one that moderators
    /// keep as evidence 409 `version_held`. Needs the scope `artifacts:write`.
    #[oai(path = "/v1/artifacts/:slug/versions/:seq", method = "delete", operation_id = "delete_version")]
    async fn delete(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// The version's number.
        seq: Path<VersionNumber>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DeletedVersion>, Delete> {
        let version = seq.0.0;
        service.delete_version(&caller.0, &slug.0, version).await?;
        Ok(Json(wire::DeletedVersion { slug: slug.0.to_string(), version, deleted: true }))
    }
}
