//! A refusal as a page, for people on the pages' own paths. Status, message, hint and headers are those that a program
//! gets.

use askama::Template;
use domain::Refusal;
use poem::http::{StatusCode, header};
use poem::{Request, Response};

use super::{accepts_html, page};
use crate::refusal::respond;

/// Paths that people open: these, and what lies below them.
const BROWSER_PATHS: [&str; 6] = ["/claim", "/dashboard", "/invite", "/report", "/signin", "/signout"];

/// In which form a request is told a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalForm {
    Json,
    Page,
}

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    status: StatusCode,
    message: &'a str,
    hint: &'a str,
}

impl RefusalForm {
    pub fn for_whom(request: &Request) -> Self {
        if is_browser_path(request.uri().path()) && accepts_html(request) { Self::Page } else { Self::Json }
    }

    pub fn respond(self, refusal: &Refusal) -> Response {
        let response = respond(refusal);
        match self {
            Self::Json => response,
            Self::Page => as_page(refusal, response),
        }
    }
}

/// The page in the place of the body; should it fail, the body stays.
fn as_page(refusal: &Refusal, mut response: Response) -> Response {
    let (message, hint) = (refusal.message(), refusal.hint());
    let template = RefusedPage { status: response.status(), message: &message, hint: &hint };
    let Ok(mut page) = page(response.status(), &template) else { return response };
    response.headers_mut().remove(header::CONTENT_TYPE);
    page.headers_mut().extend(std::mem::take(response.headers_mut()));
    page
}

fn is_browser_path(path: &str) -> bool {
    BROWSER_PATHS
        .iter()
        .any(|base| path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(path: &str, accept: &str) -> RefusalForm {
        let request = Request::builder().uri_str(path).header("accept", accept).finish();
        RefusalForm::for_whom(&request)
    }

    #[test]
    fn people_on_their_paths_get_pages_and_everybody_else_gets_json() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for path in ["/claim", "/claim/abc", "/signin?next=/", "/invite/abc", "/report", "/dashboard"] {
            assert_eq!(form(path, browser), RefusalForm::Page, "{path}");
            for program in ["*/*", "application/json", "", "text/html;q=0, application/json"] {
                assert_eq!(form(path, program), RefusalForm::Json, "{path} {program}");
            }
        }
        for path in ["/v1/account", "/auth/me", "/claims", "/", "/openapi.json"] {
            assert_eq!(form(path, browser), RefusalForm::Json, "{path}");
        }
    }

    #[test]
    fn the_page_keeps_status_and_headers_and_escapes_what_it_tells() {
        let refusal = Refusal::MethodNotAllowed { allowed: "GET, HEAD".into() };
        let page = RefusalForm::Page.respond(&refusal);
        assert_eq!(
            (page.status(), page.header("allow")),
            (StatusCode::METHOD_NOT_ALLOWED, Some("GET, HEAD"))
        );
        assert_eq!(page.content_type(), Some("text/html; charset=utf-8"));
        let fault = "<script>alert(1)</script>".to_owned();
        let template = RefusedPage { status: StatusCode::FORBIDDEN, message: &fault, hint: "" };
        let text = template.render().unwrap();
        assert!(!text.contains("<script>") && text.contains("alert(1)"), "{text}");
    }
}
