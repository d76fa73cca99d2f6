//! The front page: what the service is, the call that publishes a page, and fields to try it: one for HTML,
//! one for files. They do what `POST /v1/signup` and `POST /v1/publish` do, with the same operations and
//! limits.

use std::borrow::Cow;
use std::time::Duration;

use anyhow::Context;
use askama::Template;
use bytes::Bytes;
use domain::{CreatedVia, Refusal, SitePath, Warning};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
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
use crate::http::upload::{DroppedUpload, ReadUpload, Source};

const FIELDS: &[&str] = &["html", "files"];
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

/// What a refused form shows of what was sent.
enum Pasting {
    Nothing,
    Text(Bytes),
    /// Too long to send back, or not read.
    LeftOut,
}

/// What a refused form had.
struct RefusedForm {
    /// The field with the content, as far as it was read.
    source: Option<Source>,
    pasting: Pasting,
}

/// What was published, for the page that shows it.
#[derive(Default)]
enum SentContent {
    #[default]
    Page,
    /// One file that is not a front page.
    File(SitePath),
    Site,
}

#[derive(Template)]
#[template(path = "published.html")]
struct PublishedPage<'a> {
    facts: &'a Facts,
    url: String,
    is_page: bool,
    slug: &'a str,
    handle: &'a str,
    time_left: TimeLeft,
    claim_url: &'a str,
    token: &'a str,
    warnings: &'a [Warning],
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
    dropped: DroppedUpload,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let permit = RequestPermit::of(request);
    let (mut unread, mut pasting) = (Some(dropped), Pasting::LeftOut);
    let (mut source, mut content) = (None, SentContent::default());
    let check = async { Ok(service.take_sign_up(from.0).await?) };
    let load = async {
        let upload = unread.take().context("the form is read once").map_err(Failure::from)?;
        let read = upload.read(&mut source).await;
        let ReadUpload { files, memory } =
            read.inspect_err(|refusal| pasting = Pasting::unread(source, refusal))?;
        pasting = Pasting::of(source, &files);
        content = SentContent::of(&files);
        Ok(Loaded { request: PublishRequest::new(CreatedVia::Web, files), memory: Some(memory) })
    };
    let publish =
        async |sign_up, first| Ok(service.sign_up_and_publish(sign_up, origin_of(request), first).await?);
    match publishing::publish(&permit, check, load, publish).await {
        Ok(fresh) => created_page(&fresh, &content, &service),
        Err(failed) => {
            let pasting = match unread {
                Some(dropped) => read_if_short(request, dropped, &mut source).await,
                None => pasting,
            };
            refused(request, failed, &RefusedForm { source, pasting }, &service)
        }
    }
}

/// The HTML to show in the field again, if it is short enough.
async fn read_if_short(request: &Request, dropped: DroppedUpload, source: &mut Option<Source>) -> Pasting {
    let is_short = |bytes| bytes <= HTML_SHOWN_BYTES_MAX as u64;
    if !accepts_html(request) || !body::declared_bytes(request).is_some_and(is_short) {
        return Pasting::LeftOut;
    }
    match dropped.read(source).await {
        Ok(read) => Pasting::of(*source, &read.files),
        Err(_) => Pasting::LeftOut,
    }
}

impl SentContent {
    fn of(files: &[UploadedFile]) -> Self {
        match files {
            [page] if page.path == SitePath::index() => Self::Page,
            [file] => Self::File(file.path.clone()),
            _ => Self::Site,
        }
    }
}

/// The page with the new token. It must not be cached, and the token is never shown again.
fn created_page(
    fresh: &FirstPublish,
    content: &SentContent,
    service: &Service,
) -> Result<Response, RefusedCall> {
    let now = service.clock().now();
    let FirstPublish { signed_up, publication } = fresh;
    let Publication { published, warnings, entry_page, .. } = publication;
    let site = service.addresses().page(&published.host);
    let entry_page = match content {
        SentContent::File(path) => Some(path),
        SentContent::Page | SentContent::Site => entry_page.as_ref(),
    };
    let template = PublishedPage {
        facts: &Facts::of(service.addresses(), service.tariff()),
        url: entry_page.map_or_else(|| site.clone(), |path| format!("{site}{}", path.in_url())),
        is_page: matches!(content, SentContent::Page),
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
    form: &RefusedForm,
    service: &Service,
) -> Result<Response, RefusedCall> {
    if !accepts_html(request) {
        return Err(refused);
    }
    let RefusedCall(refusal) = refused;
    let facts = Facts::of(service.addresses(), service.tariff());
    let html = form.pasting.text();
    let is_left_out = matches!(form.pasting, Pasting::LeftOut);
    let form = HomePage { is_left_out, ..HomePage::new(&facts, faults_of(&refusal, form.source), &html) };
    again(&refusal, &form)
}

/// Shows every fault of the content beside the field that it was in.
fn faults_of(refusal: &Refusal, source: Option<Source>) -> Faults {
    match (refusal, source) {
        (Refusal::TooLarge { .. } | Refusal::PublishTooLarge { .. }, Some(Source::Html)) => {
            Faults::beside_field("html", "This page is too large. A publish can have up to 10 MB.")
        }
        (Refusal::TooLarge { .. } | Refusal::PublishTooLarge { .. }, Some(Source::Files)) => {
            Faults::beside_field("files", "This is too large. A publish can have up to 50 files and 10 MB.")
        }
        (Refusal::SecretInPublish { .. }, Some(Source::Html)) => Faults::beside_field(
            "html",
            "This page contains an active token of this service. Remove the token, then publish again.",
        ),
        (Refusal::SecretInPublish { path, .. }, Some(Source::Files)) => {
            let fault = "contains an active token of this service. Remove the token, then publish again.";
            Faults::beside_field("files", &format!("{path} {fault}"))
        }
        (refusal, _) => Faults::of(refusal, FIELDS, "/"),
    }
}

impl<'a> HomePage<'a> {
    fn new(facts: &'a Facts, faults: Faults, html: &'a str) -> Self {
        Self { facts, faults, html, is_left_out: false }
    }
}

impl Pasting {
    /// Shares the bytes with the upload.
    fn of(source: Option<Source>, files: &[UploadedFile]) -> Self {
        match files.first() {
            // No page can put files into a form again.
            _ if source == Some(Source::Files) => Self::Nothing,
            Some(file) if file.bytes.len() <= HTML_SHOWN_BYTES_MAX => Self::Text(file.bytes.clone()),
            Some(_) => Self::LeftOut,
            None => Self::Nothing,
        }
    }

    /// A refusal of the HTML itself shows an empty field. Otherwise the text is only in the browser.
    fn unread(source: Option<Source>, refusal: &Refusal) -> Self {
        match refusal {
            _ if source == Some(Source::Files) => Self::Nothing,
            Refusal::InvalidRequest { .. } => Self::Nothing,
            _ => Self::LeftOut,
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
        let faults =
            refusal.as_ref().map(|refusal| faults_of(refusal, Some(Source::Html))).unwrap_or_default();
        let html = if refusal.is_some() { "<h1>Hello</h1>" } else { "" };
        let form = HomePage::new(&facts, faults, html);
        let is_left_out = matches!(refusal, Some(Refusal::PublishTooLarge { .. }));
        HomePage { is_left_out, ..form }.render().unwrap()
    };
    let refused_files = |refusal: &Refusal| {
        HomePage::new(&facts, faults_of(refusal, Some(Source::Files)), "").render().unwrap()
    };
    let published = |is_page, warnings: &[Warning]| {
        PublishedPage {
            is_page,
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
        ("home-files".into(), {
            let fault = "the archive's entry \"a\" is a link; put the file itself into the archive";
            refused_files(&Refusal::invalid("files", fault))
        }),
        ("published".into(), published(true, &[])),
        ("published-warned".into(), published(false, &[warning])),
    ]
}
