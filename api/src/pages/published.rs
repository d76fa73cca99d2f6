//! The result of a publish on the front page, at its own address. For a new account that is an address with
//! its claim code, which is the permission to see it. For a person's account it is on the dashboard.

use std::time::Duration;

use askama::Template;
use domain::{Missing, Refusal, SitePath, Slug};
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{Request, Response, handler};
use service::{ClaimedPage, FirstPublish, PageGlance, Publication, Service, SignedUp};

use super::dashboard::page::{DashboardPage, Tab, kept_alive, page_path, slug_of, to_sign_in};
use super::result_notes::{self, WarningNotes};
use super::time_left::TimeLeft;
use crate::documents::Facts;
use crate::html::qr::QrDrawing;
use crate::html::{accepts_html, found_at, framing_page, page, person_if_any};
use crate::http::refusal::{RefusedCall, status_of};

#[derive(Template)]
#[template(path = "published.html")]
struct PublishedPage<'a> {
    facts: &'a Facts,
    handle: &'a str,
    /// The account's name, or its handle.
    label: &'a str,
    signed_in_as: Option<&'a str>,
    page: ShownPage,
    qr: Option<QrDrawing>,
    keeping: Keeping<'a>,
    warnings: WarningNotes,
}

impl PublishedPage<'_> {
    fn person(&self) -> Option<&str> {
        self.signed_in_as
    }
}

/// The published page.
struct ShownPage {
    slug: String,
    url: String,
    /// An address where no views are counted.
    preview_url: String,
    title: Option<String>,
    /// Whether the page is an `index.html` and nothing else.
    is_single_page: bool,
}

impl From<PageGlance> for ShownPage {
    fn from(page: PageGlance) -> Self {
        let PageGlance { artifact, url, preview_url, title, is_single_page } = page;
        Self { slug: artifact.slug.to_string(), url, preview_url, title, is_single_page }
    }
}

impl ShownPage {
    fn of(publication: &Publication, is_single_page: bool, service: &Service) -> Self {
        let Publication { published, entry_page, version_links, .. } = publication;
        let entry = entry_page.as_ref().map(SitePath::in_url).unwrap_or_default();
        Self {
            slug: published.slug.to_string(),
            url: format!("{}{entry}", service.addresses().page(&published.host)),
            preview_url: format!("{}{entry}", version_links.link(published.seq)),
            title: None,
            is_single_page,
        }
    }
}

/// For those who opened the result of a publish whose account somebody else has claimed.
#[derive(Template)]
#[template(path = "published_claimed.html")]
struct ClaimedPublicationPage<'a> {
    signed_in_as: Option<&'a str>,
    slug: &'a Slug,
    url: &'a str,
    dashboard_path: &'a str,
}

impl ClaimedPublicationPage<'_> {
    fn person(&self) -> Option<&str> {
        self.signed_in_as
    }
}

/// What the person has to do to keep the page.
enum Keeping<'a> {
    /// The account is new.
    Claim { url: &'a str, time_left: TimeLeft, token: ShownToken<'a> },
    /// The account is the person's.
    Nothing { dashboard_path: String },
}

/// The token of a new account, which is shown once.
#[derive(Clone, Copy)]
enum ShownToken<'a> {
    Now(&'a str),
    Before,
}

/// The path of the result for a new account.
pub fn path_for_claimer(claim_code: &str, slug: &Slug) -> String {
    format!("/published/{claim_code}/{slug}")
}

/// The path of the result for a member of the account.
pub fn path_for_member(handle: &str, slug: &Slug) -> String {
    format!("{}/published", page_path(handle, slug))
}

#[handler]
pub async fn show(
    request: &Request,
    Path((code, slug)): Path<(String, String)>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let slug: Slug = slug.parse().map_err(|_| Refusal::NotFound(Missing::Artifact))?;
    let found = match service.claimable_page(&code, &slug).await.map_err(RefusedCall::from) {
        Err(RefusedCall(refusal)) if *refusal == Refusal::AlreadyClaimed && accepts_html(request) => {
            return show_claimed(request, &code, &slug, &service).await;
        }
        found => found?,
    };
    let token = result_notes::kept_token(request, &found.account, &service).await;
    let person = person_if_any(request, &service).await?;
    let time_left = TimeLeft(found.time_left);
    let shown = token.as_deref().map_or(ShownToken::Before, ShownToken::Now);
    let page = ShownPage::from(found.page);
    let template = PublishedPage {
        facts: &Facts::of(service.addresses(), service.tariff()),
        handle: &found.account.handle,
        label: found.account.label(),
        signed_in_as: person.as_ref().map(|person| person.username.as_str()),
        qr: QrDrawing::of(&page.url),
        page,
        keeping: Keeping::Claim { url: &found.claim_url, time_left, token: shown },
        warnings: WarningNotes::kept(request, &service),
    };
    let page = framing_page(StatusCode::OK, &template, service.addresses())?;
    Ok(match token {
        Some(_) => result_notes::clear_token(page, request, &service),
        None => page,
    })
}

/// Leads the members of the account to the page on the dashboard. Others see the address of a public page.
async fn show_claimed(
    request: &Request,
    code: &str,
    slug: &Slug,
    service: &Service,
) -> Result<Response, RefusedCall> {
    let ClaimedPage { account, public_url } = service.claimed_page(code, slug).await?;
    let dashboard_path = page_path(&account.handle, slug);
    let person = person_if_any(request, service).await?;
    if let Some(person) = &person {
        let memberships = service.memberships(person).await?;
        if memberships.iter().any(|own| own.account.id == account.id) {
            return Ok(found_at(&dashboard_path));
        }
    }
    let url = public_url.ok_or(Refusal::AlreadyClaimed)?;
    let signed_in_as = person.as_ref().map(|person| person.username.as_str());
    let template = ClaimedPublicationPage { signed_in_as, slug, url: &url, dashboard_path: &dashboard_path };
    page(status_of(&Refusal::AlreadyClaimed), &template)
}

/// The result as the direct response to a program, which has no cookies. It is made without a query, because
/// nothing may fail after the publish.
pub fn respond_to_program(
    first: &FirstPublish,
    is_single_page: bool,
    service: &Service,
) -> Result<Response, RefusedCall> {
    let FirstPublish { signed_up, publication } = first;
    let SignedUp { account, token, claim_url } = signed_up;
    let now = service.clock().now();
    let time_left = TimeLeft(account.expires_at.map_or(Duration::ZERO, |end| end.since(now)));
    let token = token.clone().reveal();
    let page = ShownPage::of(publication, is_single_page, service);
    let template = PublishedPage {
        facts: &Facts::of(service.addresses(), service.tariff()),
        handle: &account.handle,
        label: account.label(),
        signed_in_as: None,
        qr: QrDrawing::of(&page.url),
        page,
        keeping: Keeping::Claim { url: claim_url, time_left, token: ShownToken::Now(&token) },
        warnings: WarningNotes::of(&publication.warnings),
    };
    framing_page(StatusCode::CREATED, &template, service.addresses())
}

#[handler]
pub async fn show_to_member(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let slug = slug_of(request)?;
    let page = ShownPage::from(service.page_glance(&dashboard.caller, &slug).await?);
    let dashboard_path = page_path(&dashboard.caller.handle, &slug);
    let template = PublishedPage {
        facts: &Facts::of(service.addresses(), service.tariff()),
        handle: &dashboard.caller.handle,
        label: dashboard.frame.label(),
        signed_in_as: Some(&dashboard.person.username),
        qr: QrDrawing::of(&page.url),
        page,
        keeping: Keeping::Nothing { dashboard_path },
        warnings: WarningNotes::kept(request, &service),
    };
    let answer = framing_page(StatusCode::OK, &template, service.addresses())?;
    Ok(kept_alive(request, &service, answer))
}

#[cfg(test)]
fn claimed_sample(url: &str) -> (String, String) {
    let slug: Slug = "my-page".parse().unwrap();
    let dashboard_path = "/dashboard/acct_k3x9m2/pages/my-page";
    let page = ClaimedPublicationPage { signed_in_as: None, slug: &slug, url, dashboard_path };
    ("published-claimed".into(), page.render().unwrap())
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use super::result_notes::WarningNote;
    use super::samples::{page_glance, site_glance};

    let facts = Facts::sample();
    let token = ShownToken::Now("svc_sk_0123456789abcdefghijABCDEFGHIJxy");
    let claim = |token| Keeping::Claim {
        url: "http://127.0.0.1:8080/claim/abc",
        time_left: TimeLeft(Duration::from_secs(1_800)),
        token,
    };
    let render = |page: &PageGlance, signed_in_as, keeping, warnings| {
        let (qr, handle) = (QrDrawing::of(&page.url), "acct_k3x9m2");
        let page = ShownPage::from(page.clone());
        let page =
            PublishedPage { facts: &facts, handle, label: handle, signed_in_as, page, qr, keeping, warnings };
        page.render().unwrap()
    };
    let warning = |line| WarningNote {
        path: "index.html".into(),
        line,
        message: "this looks like a live secret key of Stripe (sk_live_…)".into(),
        hint: "if it is real, revoke it at its provider and publish again without it".into(),
        is_of_site: false,
        is_secret: true,
    };
    let warnings = WarningNotes { first: [Some(12), Some(40), None, None].map(warning).into(), more: 3 };
    let member = || Keeping::Nothing { dashboard_path: "/dashboard/acct_k3x9m2/pages/my-page".into() };
    let (page, site) = (page_glance(), site_glance());
    vec![
        claimed_sample(&page.url),
        ("published".into(), render(&page, None, claim(token), WarningNotes::default())),
        ("published-again".into(), render(&page, None, claim(ShownToken::Before), WarningNotes::default())),
        ("published-warned".into(), render(&site, None, claim(token), warnings)),
        ("published-member".into(), render(&page, Some("ada"), member(), WarningNotes::default())),
    ]
}
