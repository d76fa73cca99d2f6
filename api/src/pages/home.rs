//! The front page: what the service is, the call that publishes a page, and a field to try it. The field does
//! what `POST /v1/signup` and `POST /v1/publish` do, with the same operations and limits.

use std::borrow::Cow;
use std::time::Duration;

use anyhow::Context;
use askama::Template;
use bytes::Bytes;
use domain::{CreatedVia, Refusal, SitePath, Warning};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{FromRequest, Request, RequestBody, Response, handler};
use poem_openapi::payload::ParsePayload;
use service::{Failure, FirstPublish, Publication, PublishRequest, Service, UploadedFile};

use super::time_left::TimeLeft;
use crate::documents::Facts;
use crate::html::again;
use crate::html::faults::Faults;
use crate::html::{accepts_html, page};
use crate::http::body;
use crate::http::client_ip::ClientIp;
use crate::http::origin::origin_of;
use crate::http::permits::RequestPermit;
use crate::http::publishing::{self, Loaded};
use crate::http::refusal::RefusedCall;
use crate::http::same_site;
use crate::http::upload::{Upload, Uploaded};

const FIELDS: &[&str] = &["html"];
/// Longer HTML is not sent back to the form. Escaped, it may be several times as long.
const HTML_SHOWN_BYTES_MAX: usize = 65_536;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    facts: &'a Facts,
    faults: Faults,
    html: &'a str,
    is_left_out: bool,
}

/// What a refused form shows of the pasted HTML.
enum Pasting {
    Nothing,
    Text(Bytes),
    /// Too long to send back, or not read.
    LeftOut,
}

#[derive(Template)]
#[template(path = "published.html")]
struct PublishedPage<'a> {
    facts: &'a Facts,
    url: String,
    slug: &'a str,
    handle: &'a str,
    time_left: TimeLeft,
    claim_url: &'a str,
    token: &'a str,
    warnings: &'a [Warning],
}

/// The pasted HTML, as the multipart body of a publish.
pub struct Pasted(Upload);

impl<'a> FromRequest<'a> for Pasted {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(<Upload as ParsePayload>::from_request(request, body).await?))
    }
}

#[handler]
pub async fn show(service: Data<&Service>) -> Result<Response, RefusedCall> {
    let facts = Facts::of(service.addresses(), service.tariff());
    page(StatusCode::OK, &HomePage::new(&facts, Faults::default(), ""))
}

#[handler]
pub async fn publish(
    request: &Request,
    from: ClientIp,
    pasted: Pasted,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let permit = RequestPermit::of(request);
    let (mut unread, mut pasting) = (Some(pasted), Pasting::LeftOut);
    let check = async { Ok(service.take_sign_up(from.0).await?) };
    let load = async {
        let upload = unread.take().context("the form is read once").map_err(Failure::from)?;
        let uploaded =
            upload.0.read().await.and_then(one_page).inspect_err(|refusal| pasting = unread_text(refusal))?;
        let Uploaded { site, memory, .. } = uploaded;
        let files = site.into_sent_files();
        pasting = Pasting::of(&files);
        Ok(Loaded { request: PublishRequest::new(CreatedVia::Web, files), memory: Some(memory) })
    };
    let publish =
        async |sign_up, first| Ok(service.sign_up_and_publish(sign_up, origin_of(request), first).await?);
    match publishing::publish(&permit, check, load, publish).await {
        Ok(fresh) => created_page(&fresh, &service),
        Err(failed) => {
            let pasting = match unread {
                Some(pasted) => read_if_short(request, pasted).await,
                None => pasting,
            };
            refused(request, failed, &pasting, &service)
        }
    }
}

/// The HTML to show in the field again, if it is short enough.
async fn read_if_short(request: &Request, pasted: Pasted) -> Pasting {
    let is_short = |bytes| bytes <= HTML_SHOWN_BYTES_MAX as u64;
    if !accepts_html(request) || !body::declared_bytes(request).is_some_and(is_short) {
        return Pasting::LeftOut;
    }
    match pasted.0.read().await {
        Ok(uploaded) => Pasting::of(&uploaded.site.into_sent_files()),
        Err(_) => Pasting::LeftOut,
    }
}

/// The form publishes one page. Sites and named pages are published through the API.
fn one_page(uploaded: Uploaded) -> Result<Uploaded, Refusal> {
    let Uploaded { slug, message, site, .. } = &uploaded;
    let is_page = matches!(&*site.files, [file] if file.path == SitePath::index()) && site.is_complete();
    let base = site.base.as_ref().map(|_| "base");
    let other = slug.as_ref().map(|_| "slug").or(message.as_ref().map(|_| "message")).or(base);
    match other.or((!is_page).then_some("files")) {
        Some(field) => Err(Refusal::invalid(
            field,
            "is not a field of this form, which has only html; use POST /v1/publish instead",
        )),
        None => Ok(uploaded),
    }
}

/// A refusal of the HTML itself shows an empty field. Otherwise the text is only in the browser.
fn unread_text(refusal: &Refusal) -> Pasting {
    match refusal {
        Refusal::InvalidRequest { .. } => Pasting::Nothing,
        _ => Pasting::LeftOut,
    }
}

/// The page with the new token. It must not be cached, and the token is never shown again.
fn created_page(fresh: &FirstPublish, service: &Service) -> Result<Response, RefusedCall> {
    let now = service.clock().now();
    let FirstPublish { signed_up, publication: Publication { published, warnings, .. } } = fresh;
    let template = PublishedPage {
        facts: &Facts::of(service.addresses(), service.tariff()),
        url: service.addresses().page(&published.host),
        slug: published.slug.as_str(),
        handle: &signed_up.account.handle,
        time_left: TimeLeft(signed_up.account.expires_at.map_or(Duration::ZERO, |end| end.since(now))),
        claim_url: &signed_up.claim_url,
        token: &signed_up.token.clone().reveal(),
        warnings,
    };
    page(StatusCode::CREATED, &template)
}

fn refused(
    request: &Request,
    refused: RefusedCall,
    pasting: &Pasting,
    service: &Service,
) -> Result<Response, RefusedCall> {
    if !accepts_html(request) {
        return Err(refused);
    }
    let RefusedCall(refusal) = refused;
    let facts = Facts::of(service.addresses(), service.tariff());
    let html = pasting.text();
    let is_left_out = matches!(pasting, Pasting::LeftOut);
    let form = HomePage { is_left_out, ..HomePage::new(&facts, faults_of(&refusal), &html) };
    again(&refusal, &form)
}

/// Shows every fault of the HTML beside the field.
fn faults_of(refusal: &Refusal) -> Faults {
    match refusal {
        Refusal::TooLarge { .. } | Refusal::PublishTooLarge { .. } => {
            Faults::beside_field("html", "This page is too large. A publish can have up to 10 MB.")
        }
        Refusal::SecretInPublish { .. } => Faults::beside_field(
            "html",
            "This page contains an active token of this service. Remove the token, then publish again.",
        ),
        refusal => Faults::of(refusal, FIELDS, "/"),
    }
}

impl<'a> HomePage<'a> {
    fn new(facts: &'a Facts, faults: Faults, html: &'a str) -> Self {
        Self { facts, faults, html, is_left_out: false }
    }
}

impl Pasting {
    /// Shares the bytes with the upload.
    fn of(files: &[UploadedFile]) -> Self {
        match files.first() {
            Some(file) if file.bytes.len() <= HTML_SHOWN_BYTES_MAX => Self::Text(file.bytes.clone()),
            Some(_) => Self::LeftOut,
            None => Self::Nothing,
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(bytes) => String::from_utf8_lossy(bytes),
            Self::Nothing | Self::LeftOut => Cow::Borrowed(""),
        }
    }
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use domain::WarningCode;

    let facts = Facts::sample();
    let form = |refusal: Option<Refusal>| {
        let faults = refusal.as_ref().map(faults_of).unwrap_or_default();
        let html = if refusal.is_some() { "<h1>Hello</h1>" } else { "" };
        let form = HomePage::new(&facts, faults, html);
        let is_left_out = matches!(refusal, Some(Refusal::PublishTooLarge { .. }));
        HomePage { is_left_out, ..form }.render().unwrap()
    };
    let published = |warnings: &[Warning]| {
        PublishedPage {
            facts: &facts,
            url: "http://127.0.0.1:8081/site/page-k3x9-a1b2/".into(),
            slug: "page-k3x9",
            handle: "acct_k3x9m2",
            time_left: TimeLeft(Duration::from_secs(1_800)),
            claim_url: "http://127.0.0.1:8080/claim/abc",
            token: "svc_sk_0123456789abcdefghijABCDEFGHIJxy",
            warnings,
        }
        .render()
        .unwrap()
    };
    let warning = Warning {
        code: WarningCode::Secret,
        path: SitePath::index(),
        line: Some(12),
        target: None,
        message: "this looks like a live secret key of Stripe (sk_live_…)".into(),
        hint: "if it is real, revoke it at its provider and publish again without it".into(),
    };
    vec![
        ("home".into(), form(None)),
        ("home-invalid_request".into(), form(Some(Refusal::invalid("html", "is empty")))),
        ("home-rate_limited".into(), form(Some(Refusal::RateLimited { retry_after_seconds: 7 }))),
        ("home-too_large".into(), form(Some(Refusal::PublishTooLarge { limit: "10 MB".into() }))),
        ("home-secret_in_publish".into(), {
            let refusal = Refusal::SecretInPublish { path: "index.html".into(), line: Some(12) };
            form(Some(refusal))
        }),
        ("published".into(), published(&[])),
        ("published-warned".into(), published(&[warning])),
    ]
}
