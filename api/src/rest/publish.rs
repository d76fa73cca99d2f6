//! Publishing; adding a version shares it. The caller must be checked before the body is read, so that a
//! refused call does not cost an upload.

use domain::{Activation, CreatedVia, Message, PublishCondition, Refusal, Slug, Target};
use poem::web::Data;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use poem_openapi::types::ToJSON;
use poem_openapi::{ApiResponse, OpenApi};
use service::{Addressed, Caller, PublishRequest, Service};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::{Header, IdempotencyKey, PaymentOffer};
use crate::http::caller::Token;
use crate::http::client_wait::ClientWait;
use crate::http::condition_header::{self, IfMatch, IfNoneMatch};
use crate::http::publish_extent::{DryRun, PublishExtent, Wait};
use crate::http::publishing::{self, Planned};
use crate::http::refusal::RefusedCall;
use crate::http::upload::{ArchiveField, NamedUpload, PublishBody, Uploaded};
use crate::wire;

#[derive(Default)]
pub struct Publish;

refusals! {
    PublishCall:
        InvalidRequest, InvalidBody, SecretInPublish, Unauthorized, NotSignedIn, InsufficientScope, Forbidden,
        ForeignPage, AccountExpired, AccountSuspended,
        QuotaExceeded, PaymentRequired, NotFound, IdempotencyConflict, ContentMissing, VersionConflict,
        PublishTooLarge, StorageFull, UnsupportedMediaType, RateLimited, OutcomeUnknown;
}

#[derive(ApiResponse)]
#[allow(clippy::large_enum_variant, reason = "a request has one of them, for a moment")]
pub enum Published {
    /// With `dry_run=true`: what the publish would do.
    #[oai(status = 200)]
    Rehearsed(Json<wire::RehearsalResult>),
    /// The files are published and served at `url`, unless `activate=false` only stored them.
    #[oai(status = 201)]
    Published(
        Json<wire::PublishResult>,
        /// The receipt as compact JSON, if `X-PAYMENT` paid for this call.
        #[oai(header = "X-PAYMENT-RESPONSE")]
        Option<String>,
        /// The API address of the artifact.
        #[oai(header = "Location")]
        String,
    ),
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Publish {
    /// Publish a page or a site
    ///
    /// A new `slug` creates an artifact with its own URL. The slug of an existing artifact adds a version,
    /// makes it live and keeps the URL. Send `html` for one page, or `files` for a site of at most 50 files
    /// and 10 MB, as a form or as JSON. Or send an archive of the site, with the type `application/zip`,
    /// `application/x-tar`, `application/gzip` or `application/zstd`, and `slug` and `message` in the query. Link assets by relative path. Needs the scope `artifacts:write`.
    ///
    /// A site may have `_redirects` and `_headers` at its root, in the format of Netlify and Cloudflare
    /// Pages, with at most 100 rules each. `_redirects`: one rule a line, as `/old/* /new/:splat 301`, with
    /// status 301, 302, 303, 307 or 308, 404, or 200 to show another file of the site (`/* /index.html 200`
    /// for a single-page app). A file takes precedence, except over a status with `!`. `_headers`: a path in
    /// its own line, and headers below it, such as `Cache-Control` (60 seconds at most; longer for names like
    /// `app.3f2a9c1b.js`), `Content-Security-Policy`, `X-Frame-Options` or an `X-*` header of your own. Lines
    /// with a fault are ignored and are `bad_config` warnings. Neither file is served.
    ///
    /// After the free allowance the call returns 402 with the price and publishes nothing. Tell your human
    /// the price, then repeat the identical request with `X-PAYMENT`, or buy credit with `POST /v1/credits`
    /// and repeat it.
    #[oai(path = "/v1/publish", method = "post", operation_id = "publish")]
    #[allow(clippy::too_many_arguments, reason = "each is a documented part of the request")]
    async fn publish(
        &self,
        caller: Token,
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
        /// `false` stores the version without making it live, and also creates the artifact if it is new.
        /// Nothing is served at `url` until you activate a version, so you can first set the visibility of a
        /// new artifact.
        activate: Query<Option<bool>>,
        /// `true` only rehearses the publish: it runs all checks and returns the price, the warnings and how
        /// the files differ from the live version. Nothing is stored or charged. A refusal is the one that
        /// the publish would get. `Idempotency-Key` is ignored, and `X-PAYMENT` is checked but not charged. A
        /// rehearsal counts against the rate limit of publishes.
        dry_run: DryRun,
        /// `scan` waits up to 10 seconds for the verdict of the scan, which the response then has as
        /// `moderation_status`.
        wait: Wait,
        /// For an archive: the artifact's name. The other bodies have a field for it.
        slug: ArchiveField<Slug>,
        /// For an archive: what is new in this version. The other bodies have a field for it.
        message: ArchiveField<Message>,
        body: PublishBody,
        client: ClientWait,
        service: Data<&Service>,
    ) -> ApiResult<Published, PublishCall> {
        let condition = condition_header::condition(if_match.0, if_none_match.0)?;
        let (payment, key, activation) = (payment.0, key.0.0, activation_of(*activate));
        let extent = PublishExtent::of(dry_run, wait);
        let options = PublishOptions { payment, key, activation, condition, extent, client };
        let upload = NamedBody { body, named: NamedUpload { slug: slug.0, message: message.0 } };
        Ok(publish(&service, &caller.0, Addressed::ByBody, upload, options).await?)
    }
}

/// What the parameter `activate` asks for.
pub fn activation_of(activate: Option<bool>) -> Activation {
    if activate == Some(false) { Activation::Staged } else { Activation::Live }
}

/// The parts of a publish that are not in its body.
pub struct PublishOptions {
    pub payment: PaymentOffer,
    pub key: Option<String>,
    pub activation: Activation,
    pub condition: Option<PublishCondition>,
    pub extent: PublishExtent,
    /// Whether the client still waits for the response.
    pub client: ClientWait,
}

/// A body with what the query says about it.
pub struct NamedBody {
    pub body: PublishBody,
    pub named: NamedUpload,
}

/// Publishes an upload. The caller and the artifact in the path are checked before the body is read.
pub async fn publish(
    service: &Service,
    caller: &Caller,
    addressed: Addressed<'_>,
    upload: NamedBody,
    options: PublishOptions,
) -> Result<Published, RefusedCall> {
    let NamedBody { body, named } = upload;
    let permit = body.permit().clone();
    let PublishOptions { payment: offer, key, activation, condition, extent, client } = options;
    // A rehearsal neither claims a key nor gets the response of an earlier request.
    let key = key.filter(|_| extent != PublishExtent::Rehearsal);
    let checked = checked_as(addressed, &body, condition);
    let (payment, explain) = (offer.settling(), |failure| offer.explain(failure));
    let check = async {
        let checked = service.check_publish(caller, checked, payment.as_ref(), key.as_deref()).await;
        checked.map_err(explain)
    };
    let load = async {
        let Uploaded { slug, message, expected_version, site, memory } = body.read(named).await?;
        let condition = condition_header::with_expected_version(condition, expected_version)?;
        let (slug, target) = (slug_of(addressed, slug)?, target_of(addressed, condition));
        let (payment, idempotency_key) = (payment.clone(), key.clone());
        let request = PublishRequest::new(CreatedVia::Api, vec![]);
        let request =
            PublishRequest { slug, target, activation, payment, idempotency_key, message, ..request };
        publishing::complete(service, caller, &permit, Planned { request, site, memory }).await
    };
    if extent == PublishExtent::Rehearsal {
        let rehearse = async |(), request| service.rehearse(caller, request).await.map_err(explain);
        let rehearsal = publishing::publish(&permit, check, load, rehearse).await?;
        return Ok(Published::Rehearsed(Json(wire::RehearsalResult::from(&rehearsal))));
    }
    let publish = async |(), request| service.publish(caller, request).await.map_err(explain);
    let publication = publishing::publish(&permit, check, load, publish).await?;
    let signed_url = service.signed_url_of(&publication.published);
    let mut result = wire::PublishResult::new(&publication, signed_url, service.addresses());
    if extent == PublishExtent::Verdict {
        let version = publication.published.version;
        result = result.with_verdict(publishing::verdict(&permit, &client, service, version).await);
    }
    let receipt = result.receipt.as_ref().map(ToJSON::to_json_string);
    let location = service.addresses().api(&format!("/v1/artifacts/{}", publication.published.slug));
    Ok(Published::Published(Json(result), receipt, location))
}

/// How the artifact is checked before the body is read, which may have a condition if it is JSON.
fn checked_as<'a>(
    addressed: Addressed<'a>,
    body: &PublishBody,
    condition: Option<PublishCondition>,
) -> Addressed<'a> {
    let may_need_existing = match condition {
        Some(PublishCondition::SlugIsNew) => false,
        Some(_) => true,
        None => matches!(body, PublishBody::Json(_)),
    };
    match addressed {
        Addressed::Existing(slug) if may_need_existing => Addressed::Conditional(slug),
        addressed => addressed,
    }
}

fn target_of(addressed: Addressed<'_>, condition: Option<PublishCondition>) -> Target {
    match (condition, addressed) {
        (Some(condition), _) => Target::If(condition),
        (None, Addressed::ByBody) => Target::NewOrExisting,
        (None, Addressed::Existing(_) | Addressed::Conditional(_)) => Target::Existing,
    }
}

/// If the body names an artifact, it must be the one in the path.
fn slug_of(addressed: Addressed<'_>, named: Option<Slug>) -> Result<Option<Slug>, Refusal> {
    match (addressed, named) {
        (Addressed::ByBody, named) => Ok(named),
        (Addressed::Existing(slug) | Addressed::Conditional(slug), Some(named)) if named != *slug => {
            Err(Refusal::invalid("slug", format!("names a different artifact than the path, {slug}")))
        }
        (Addressed::Existing(slug) | Addressed::Conditional(slug), _) => Ok(Some(slug.clone())),
    }
}
