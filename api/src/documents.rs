//! The documents of the API: `/openapi.json` for programs, `/docs` and `/docs/errors` for people, `/skill`,
//! `/skill/reference.md` and `/llms.txt` for agents. They load nothing from other sites.
//!
//! Documents must not repeat facts by hand: endpoints come from the OpenAPI document, error codes from the
//! catalogue, prices and limits from the settings.

mod complete;
mod errors;
mod examples;
mod extra_operations;
mod facts;
mod llms;
mod reference;
mod skill;
mod well_known;

use std::sync::LazyLock;

use askama::Template;
use bytes::Bytes;
use poem::endpoint::make_sync;
use poem::http::{HeaderValue, header};
use poem::{Response, Route, RouteMethod, get};

use self::llms::Llms;
use self::reference::Reference;
use self::skill::Skill;
use crate::html;

pub use complete::complete;
pub use facts::Facts;
pub use well_known::{SECURITY_TXT, WellKnownFiles};

const JSON: &str = "application/json; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

#[derive(Clone, Debug)]
pub struct Documents {
    openapi: Bytes,
    facts: Facts,
    ui: SwaggerUi,
}

/// Renders the API explorer, from the API's address and the OpenAPI document.
pub type SwaggerUi = fn(&str, &str) -> String;

impl Documents {
    pub fn new(facts: &Facts, openapi: String, ui: SwaggerUi) -> Self {
        Self { openapi: openapi.into(), facts: facts.clone(), ui }
    }

    pub fn openapi(&self) -> &str {
        std::str::from_utf8(&self.openapi).unwrap_or_default()
    }

    pub fn routes(&self) -> Route {
        let reference = Reference::of(self.openapi());
        let Self { openapi, facts, ui } = self.clone();
        // The page takes more memory than everything else in an idle service, so it is made on first use.
        let docs = LazyLock::new({
            let (openapi, base_url) = (openapi.clone(), facts.base_url.clone());
            move || docs_page(&ui(&base_url, &String::from_utf8_lossy(&openapi)))
        });
        Route::new()
            .at("/openapi.json", document(openapi, JSON))
            .at("/docs", get(make_sync(move |_| respond(docs.clone(), HTML))))
            .at("/docs/errors", get(make_sync(|_| errors::html())))
            .at("/skill", template(Skill::new(facts.clone()), MARKDOWN))
            .at("/skill/reference.md", template(reference, MARKDOWN))
            .at("/llms.txt", template(Llms { facts }, TEXT))
    }
}

/// Caches get the documents of a new release within minutes.
const FRESH: HeaderValue = HeaderValue::from_static("public, max-age=300");

const UI: &str = r#"<div id="ui"></div>"#;
const LINKS: &str = r#"<nav style="padding:1rem;font-family:sans-serif">
<a href="/docs/errors">Errors</a> · <a href="/openapi.json">OpenAPI</a> ·
<a href="/skill">Skill for agents</a> · <a href="/skill/reference.md">Reference in Markdown</a></nav>
"#;

/// The API explorer for people.
fn docs_page(ui: &str) -> Bytes {
    let docs = ui
        .replace("<title>Swagger UI</title>", "<title>Handbill API</title>")
        .replace(UI, &format!("{LINKS}{UI}"));
    format!("<!doctype html>{docs}").into()
}

fn document(text: Bytes, content_type: &'static str) -> RouteMethod {
    get(make_sync(move |_| respond(text.clone(), content_type)))
}

fn template(template: impl Template + Send + Sync + 'static, content_type: &'static str) -> RouteMethod {
    get(make_sync(move |_| html::rendered(&template).map(|text| respond(text, content_type))))
}

fn respond(text: impl Into<poem::Body>, content_type: &'static str) -> Response {
    Response::builder().content_type(content_type).header(header::CACHE_CONTROL, FRESH).body(text)
}

#[cfg(test)]
mod tests;
