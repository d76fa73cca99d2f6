//! Refusals as pages, for people on page routes. Status and headers are the same as for programs.

use askama::Template;
use domain::{Missing, Refusal};
use poem::http::header;
use poem::{Request, Response};

use super::error_text::ErrorText;
use super::{accepts_html, page, prefers_problem};
use crate::http::refusal::{
    BaseUrl, respond, respond_as_problem, respond_linked, respond_to_netlify, status_of,
};
use crate::http::terms::{Area, Terms};

/// The form of a refusal that a request gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalForm {
    Json {
        /// Where errors are described. Tests of single routes have none.
        base_url: Option<BaseUrl>,
    },
    /// JSON with the members of RFC 9457.
    Problem {
        base_url: Option<BaseUrl>,
    },
    Netlify,
    Page {
        path: String,
    },
    /// JSON, but a page if the path does not exist, for a person who follows a wrong link to the API.
    PageIfUnknown {
        path: String,
        base_url: Option<BaseUrl>,
    },
}

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage {
    status: u16,
    code: &'static str,
    error: ErrorText,
}

impl RefusalForm {
    pub fn for_request(request: &Request) -> Self {
        let path = || request.uri().path().to_owned();
        let base_url = BaseUrl::of(request);
        match Terms::of(request).area {
            Area::Netlify => Self::Netlify,
            Area::Mcp => Self::Json { base_url },
            Area::Page if accepts_html(request) => Self::Page { path: path() },
            Area::Page | Area::Api if prefers_problem(request) => Self::Problem { base_url },
            Area::Api if accepts_html(request) => Self::PageIfUnknown { path: path(), base_url },
            Area::Page | Area::Api => Self::Json { base_url },
        }
    }

    pub fn respond(self, refusal: &Refusal) -> Response {
        match self {
            Self::Problem { base_url } => {
                respond_as_problem(refusal, base_url.as_ref().map(|BaseUrl(base_url)| &**base_url))
            }
            Self::PageIfUnknown { path, .. } if *refusal == Refusal::NotFound(Missing::Endpoint) => {
                as_page(refusal, &path, respond(refusal))
            }
            Self::Json { base_url: Some(BaseUrl(base_url)) }
            | Self::PageIfUnknown { base_url: Some(BaseUrl(base_url)), .. } => {
                respond_linked(refusal, &base_url)
            }
            Self::Json { base_url: None } | Self::PageIfUnknown { base_url: None, .. } => respond(refusal),
            Self::Netlify => respond_to_netlify(refusal, status_of(refusal)),
            Self::Page { path } => as_page(refusal, &path, respond(refusal)),
        }
    }
}

/// Replaces the body with a page. If that fails, the body stays.
fn as_page(refusal: &Refusal, path: &str, mut response: Response) -> Response {
    let status = response.status();
    let template =
        RefusedPage { status: status.as_u16(), code: refusal.code(), error: ErrorText::of(refusal, path) };
    let Ok(mut page) = page(status, &template) else { return response };
    response.headers_mut().remove(header::CONTENT_TYPE);
    page.headers_mut().extend(std::mem::take(response.headers_mut()));
    page
}

#[cfg(test)]
impl RefusalForm {
    /// A page for each way in which a link can fail.
    pub fn samples() -> Vec<(String, String)> {
        let of = |refusal: Refusal, path: &str| {
            let status = crate::http::refusal::status_of(&refusal).as_u16();
            let template = RefusedPage { status, code: refusal.code(), error: ErrorText::of(&refusal, path) };
            let name = if path == "/pricing" { "path-not-found" } else { refusal.code() };
            (format!("refused-{name}"), template.render().unwrap())
        };
        vec![
            of(Refusal::ClaimExpired, "/claim/abc"),
            of(Refusal::AlreadyClaimed, "/claim/abc"),
            of(Refusal::NotFound(Missing::ClaimLink), "/claim/abc"),
            of(Refusal::NotFound(Missing::Endpoint), "/pricing"),
            of(Refusal::InviteExpired, "/invite/abc"),
            of(Refusal::InviteRevoked, "/invite/abc"),
            of(Refusal::InviteUsedUp, "/invite/abc"),
            of(Refusal::NotSignedIn, "/invite/abc"),
            of(Refusal::ForeignPage, "/claim/abc"),
            of(Refusal::RateLimited { retry_after_seconds: 7 }, "/report"),
            of(Refusal::MethodNotAllowed { allowed: "GET, HEAD".into() }, "/signin"),
            of(Refusal::Internal, "/dashboard"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use poem::http::StatusCode;

    use super::*;

    fn form(area: Area, accept: &str) -> RefusalForm {
        let mut request = Request::builder().uri_str("/claim/abc").header("accept", accept).finish();
        request.set_data(Terms { area, ..Terms::default() });
        RefusalForm::for_request(&request)
    }

    #[test]
    fn browsers_get_refusals_as_html_pages() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert_eq!(form(Area::Page, browser), RefusalForm::Page { path: "/claim/abc".into() });
        for program in ["*/*", "application/json", "", "text/html;q=0, application/json"] {
            assert_eq!(form(Area::Page, program), RefusalForm::Json { base_url: None }, "{program}");
        }
        assert_eq!(
            form(Area::Api, browser),
            RefusalForm::PageIfUnknown { path: "/claim/abc".into(), base_url: None }
        );
        assert_eq!(form(Area::Api, "application/json"), RefusalForm::Json { base_url: None });
        assert_eq!(form(Area::Mcp, browser), RefusalForm::Json { base_url: None });
    }

    #[test]
    fn browsers_get_a_page_for_unknown_paths_and_json_for_other_refusals_of_the_api() {
        let form = || RefusalForm::PageIfUnknown { path: "/pricing".into(), base_url: None };
        let unknown = form().respond(&Refusal::NotFound(Missing::Endpoint));
        assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
        assert_eq!(unknown.content_type(), Some("text/html; charset=utf-8"));
        for refusal in [Refusal::NotFound(Missing::Artifact), Refusal::Unauthorized] {
            let content_type = form().respond(&refusal).content_type().map(str::to_owned);
            assert!(content_type.is_some_and(|kind| kind.starts_with("application/json")), "{refusal:?}");
        }
    }

    #[test]
    fn clients_that_prefer_problems_get_problems() {
        for prefers in [
            "application/problem+json",
            "application/problem+json, */*",
            "application/json;q=0.5, Application/Problem+JSON",
            "application/problem+json, application/json",
        ] {
            assert_eq!(form(Area::Api, prefers), RefusalForm::Problem { base_url: None }, "{prefers}");
            assert_eq!(form(Area::Mcp, prefers), RefusalForm::Json { base_url: None }, "{prefers}");
        }
        for other in [
            "application/json, application/problem+json",
            "application/problem+json;q=0.5, application/json",
            "application/problem+json;q=0",
            "application/*",
        ] {
            assert_eq!(form(Area::Api, other), RefusalForm::Json { base_url: None }, "{other}");
        }
    }

    #[test]
    fn refusal_page_keeps_status_and_headers_and_escapes_its_text() {
        let form = || RefusalForm::Page { path: "/\"><script>alert(1)</script>".into() };
        let page = form().respond(&Refusal::MethodNotAllowed { allowed: "GET, HEAD".into() });
        assert_eq!(
            (page.status(), page.header("allow")),
            (StatusCode::METHOD_NOT_ALLOWED, Some("GET, HEAD"))
        );
        assert_eq!(page.content_type(), Some("text/html; charset=utf-8"));
        let fault = "<script>alert(2)</script>".to_owned();
        let error = ErrorText::of(&Refusal::Forbidden { fault }, "/\"><script>alert(1)</script>");
        let text = RefusedPage { status: 403, code: "forbidden", error }.render().unwrap();
        assert!(!text.contains("<script>") && text.contains("alert(2)"), "{text}");
    }
}
