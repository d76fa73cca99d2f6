//! The front page: what the service is, and a form to publish files, a sample or pasted HTML. Signed out, it
//! does what `POST /v1/signup` and `POST /v1/publish` do, with the same operations and limits. Signed in, it
//! publishes on one of the person's accounts, as `POST /v1/publish` does.

use std::borrow::Cow;

use anyhow::Context;
use askama::Template;
use bytes::Bytes;
use domain::{CreatedVia, Refusal, SitePath};
use poem::http::{StatusCode, header};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{
    Addressed, Caller, Failure, FirstPublish, Publication, PublishRequest, Service, SignUpPermit,
    UploadedFile,
};

use super::published;
use super::result_notes::{WarningNotes, keep_token};
use super::visitor::{HomeVisitor, account_named};
use crate::documents::Facts;
use crate::html::faults::Faults;
use crate::html::figures::Dollars;
use crate::html::{accepts_html, again, live_page, person_if_any};
use crate::http::body;
use crate::http::caller;
use crate::http::client_ip::ClientIp;
use crate::http::origin::origin_of;
use crate::http::permits::RequestPermit;
use crate::http::publishing::{self, Loaded};
use crate::http::refusal::RefusedCall;
use crate::http::same_site;
use crate::http::upload::{DroppedUpload, NO_FILES_CHOSEN, NO_VISIBLE_FILES, NO_ZIP, ReadUpload, Source};

const FIELDS: &[&str] = &["html", "files"];
/// Longer HTML is not sent back to the form. Escaped, it may be several times as long.
const HTML_SHOWN_BYTES_MAX: usize = 65_536;
/// Faults of files, and what the page says in their place.
const FILE_FAULTS: [(&str, &str); 3] = [
    (NO_FILES_CHOSEN, "Choose a file or a folder."),
    (NO_VISIBLE_FILES, "There are no files to publish. Hidden files are left out."),
    (NO_ZIP, "This zip file is damaged or is not a zip file."),
];

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    facts: &'a Facts,
    prices: Prices,
    visitor: HomeVisitor,
    faults: Faults,
    html: &'a str,
    is_left_out: bool,
}

/// The tariff as text.
struct Prices {
    publish: Dollars,
    visibility: Dollars,
    storage: Dollars,
    traffic: Dollars,
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

/// Who may publish with the form.
enum FormPublisher {
    Stranger(SignUpPermit),
    Member(Box<Caller>),
}

/// What the form published.
enum FormPublish {
    First(Box<FirstPublish>),
    Further { handle: String, publication: Box<Publication> },
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let visitor = HomeVisitor::of(request, &service).await?;
    let facts = Facts::of(service.addresses(), service.tariff());
    // Checks of pages load `/robots.txt` from within the page.
    live_page(StatusCode::OK, &HomePage::new(&facts, visitor, Faults::default(), ""))
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
    let (mut source, mut is_single_page) = (None, false);
    let check = async {
        let Some(caller) = caller_of_form(request, &service).await? else {
            return Ok(FormPublisher::Stranger(service.take_sign_up(from.0).await?));
        };
        service.check_publish(&caller, Addressed::ByBody, None, None).await?;
        Ok(FormPublisher::Member(Box::new(caller)))
    };
    let load = async {
        let upload = unread.take().context("the form is read once").map_err(Failure::from)?;
        let read = upload.read(&mut source).await;
        let ReadUpload { files, memory } =
            read.inspect_err(|refusal| pasting = Pasting::unread(source, refusal))?;
        pasting = Pasting::of(source, &files);
        is_single_page = matches!(&*files, [page] if page.path == SitePath::index());
        Ok(Loaded { request: PublishRequest::new(CreatedVia::Web, files), memory: Some(memory) })
    };
    let publish = async |publisher, files| publish_as(publisher, files, request, &service).await;
    match publishing::publish(&permit, check, load, publish).await {
        Ok(done) => lead_to_result(request, &done, is_single_page, &service),
        Err(failed) => {
            let pasting = match unread {
                Some(dropped) => read_if_short(request, dropped, &mut source).await,
                None => pasting,
            };
            refused(request, failed, &RefusedForm { source, pasting }, &service).await
        }
    }
}

/// The account that a form is for: the one in its address, or the person's first one. `None` for people
/// without an account, who get a new one.
async fn caller_of_form(request: &Request, service: &Service) -> Result<Option<Caller>, RefusedCall> {
    if let Some(named) = account_named(request) {
        // Not on a new account instead, if the person has signed out in the meantime.
        let person = caller::person(request, service).await?;
        return Ok(Some(service.caller_of(&person, Some(&named)).await?));
    }
    let Some(person) = person_if_any(request, service).await? else { return Ok(None) };
    match service.caller_of(&person, None).await.map_err(RefusedCall::from) {
        Ok(caller) => Ok(Some(caller)),
        Err(RefusedCall(refusal)) if *refusal == Refusal::NoAccount => Ok(None),
        Err(refused) => Err(refused),
    }
}

async fn publish_as(
    publisher: FormPublisher,
    files: PublishRequest,
    request: &Request,
    service: &Service,
) -> Result<FormPublish, RefusedCall> {
    Ok(match publisher {
        FormPublisher::Stranger(permit) => {
            let first = service.sign_up_and_publish(permit, origin_of(request), files).await?;
            FormPublish::First(Box::new(first))
        }
        FormPublisher::Member(caller) => {
            let publication = Box::new(service.publish(&caller, files).await?);
            FormPublish::Further { handle: caller.handle, publication }
        }
    })
}

/// Redirects to the result. A program gets it directly if it has a token, because programs have no cookies.
fn lead_to_result(
    request: &Request,
    done: &FormPublish,
    is_single_page: bool,
    service: &Service,
) -> Result<Response, RefusedCall> {
    match done {
        FormPublish::First(first) => {
            let FirstPublish { signed_up, publication } = &**first;
            if !accepts_html(request) {
                return published::respond_to_program(first, is_single_page, service);
            }
            let warnings = WarningNotes::of(&publication.warnings);
            let token = signed_up.token.clone().reveal();
            let slug = &publication.published.slug;
            let path = published::path_for_claimer(&signed_up.account.claim_code, slug);
            let way = keep_token(see_other(&path), &token, &path, service);
            Ok(warnings.keep_on(way, &path, service))
        }
        FormPublish::Further { handle, publication } => {
            let path = published::path_for_member(handle, &publication.published.slug);
            let warnings = WarningNotes::of(&publication.warnings);
            Ok(warnings.keep_on(see_other(&path), &path, service))
        }
    }
}

/// Not to be cached, because the path may have a claim code.
fn see_other(path: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, path)
        .header(header::CACHE_CONTROL, "no-store")
        .finish()
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

async fn refused(
    request: &Request,
    refused: RefusedCall,
    form: &RefusedForm,
    service: &Service,
) -> Result<Response, RefusedCall> {
    if !accepts_html(request) {
        return Err(refused);
    }
    let RefusedCall(refusal) = refused;
    let visitor = HomeVisitor::of(request, service).await?;
    let facts = Facts::of(service.addresses(), service.tariff());
    let html = form.pasting.text();
    let is_left_out = matches!(form.pasting, Pasting::LeftOut);
    let faults = faults_of(&refusal, form.source);
    again(&refusal, &HomePage { is_left_out, ..HomePage::new(&facts, visitor, faults, &html) })
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
        (Refusal::InvalidRequest { field, fault }, Some(Source::Files)) if field == "files" => {
            let known = FILE_FAULTS.iter().find(|(known, _)| fault == known);
            known.map_or_else(
                || Faults::of(refusal, FIELDS, "/"),
                |(_, text)| Faults::beside_field("files", text),
            )
        }
        (refusal, _) => Faults::of(refusal, FIELDS, "/"),
    }
}

impl<'a> HomePage<'a> {
    /// The page that is published with one click.
    const SAMPLE: &'static str = include_str!("../../templates/sample.html");

    fn new(facts: &'a Facts, visitor: HomeVisitor, faults: Faults, html: &'a str) -> Self {
        Self { facts, prices: Prices::of(facts), visitor, faults, html, is_left_out: false }
    }

    fn person(&self) -> Option<&str> {
        self.visitor.signed_in_as.as_deref()
    }

    /// Whether the form for pasted HTML is open from the start.
    fn is_pasting(&self) -> bool {
        !self.html.is_empty() || self.is_left_out || self.faults.beside("html").is_some()
    }
}

impl Prices {
    fn of(facts: &Facts) -> Self {
        Self {
            publish: Dollars(facts.publish_price),
            visibility: Dollars(facts.visibility_price),
            storage: Dollars(facts.storage_price_per_gb),
            traffic: Dollars(facts.traffic_price_per_million),
        }
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
    let facts = Facts::sample();
    let form = |refusal: Option<Refusal>| {
        let faults =
            refusal.as_ref().map(|refusal| faults_of(refusal, Some(Source::Html))).unwrap_or_default();
        let html = if refusal.is_some() { "<h1>Hello</h1>" } else { "" };
        let form = HomePage::new(&facts, HomeVisitor::default(), faults, html);
        let is_left_out = matches!(refusal, Some(Refusal::PublishTooLarge { .. }));
        HomePage { is_left_out, ..form }.render().unwrap()
    };
    let refused_files = |refusal: &Refusal| {
        let faults = faults_of(refusal, Some(Source::Files));
        HomePage::new(&facts, HomeVisitor::default(), faults, "").render().unwrap()
    };
    let with = |visitor| HomePage::new(&facts, visitor, Faults::default(), "").render().unwrap();
    vec![
        ("home".into(), form(None)),
        ("home-member".into(), with(HomeVisitor::sample(1, 87))),
        ("home-member-paying".into(), with(HomeVisitor::sample(2, 0))),
        ("home-no-account".into(), with(HomeVisitor::sample(0, 0))),
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
    ]
}
