//! The documents that describe the API: `/openapi.json` for machines, `/docs` and `/docs/errors` for people. They load
//! nothing from elsewhere.

mod complete;
mod errors;
mod examples;

use bytes::Bytes;
use poem::endpoint::make_sync;
use poem::{Response, Route, get};

use crate::rest;

#[derive(Clone, Debug)]
pub struct Documents {
    openapi: Bytes,
    docs: Bytes,
}

/// The OpenAPI document of an API that is reached at `base_url`.
pub fn openapi_document(base_url: &str) -> String {
    complete::complete(&rest::open_api(base_url).spec())
}

impl Documents {
    pub fn new(base_url: &str) -> Self {
        let service = rest::open_api(base_url);
        let (spec, openapi) = (service.spec(), openapi_document(base_url));
        let docs = service
            .swagger_ui_html()
            .replace(&spec, &openapi)
            .replace("<title>Swagger UI</title>", "<title>Handbill API</title>")
            .replace(UI, &format!("{LINKS}{UI}"));
        Self { openapi: openapi.into(), docs: format!("<!doctype html>{docs}").into() }
    }

    pub fn openapi(&self) -> &str {
        std::str::from_utf8(&self.openapi).unwrap_or_default()
    }

    pub fn routes(&self) -> Route {
        let Self { openapi, docs } = self.clone();
        Route::new()
            .at("/openapi.json", document(openapi, "application/json; charset=utf-8"))
            .at("/docs", document(docs, "text/html; charset=utf-8"))
            .at("/docs/errors", get(make_sync(|_| errors::html())))
    }
}

const UI: &str = r#"<div id="ui"></div>"#;
const LINKS: &str = r#"<nav style="padding:1rem;font-family:sans-serif">
<a href="/docs/errors">Errors</a> · <a href="/openapi.json">OpenAPI</a></nav>
"#;

fn document(text: Bytes, content_type: &'static str) -> poem::RouteMethod {
    get(make_sync(move |_| Response::builder().content_type(content_type).body(text.clone())))
}

#[cfg(test)]
mod tests;
