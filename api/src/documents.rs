//! The documents that describe the API: `/openapi.json` for machines and `/docs` for people, which loads nothing from
//! elsewhere.

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
    rest::open_api(base_url).spec()
}

impl Documents {
    pub fn new(base_url: &str) -> Self {
        let docs = rest::open_api(base_url).swagger_ui_html();
        let docs = docs.replace("<title>Swagger UI</title>", "<title>Handbill API</title>");
        Self { openapi: openapi_document(base_url).into(), docs: format!("<!doctype html>{docs}").into() }
    }

    pub fn openapi(&self) -> &str {
        std::str::from_utf8(&self.openapi).unwrap_or_default()
    }

    pub fn routes(&self) -> Route {
        let Self { openapi, docs } = self.clone();
        Route::new()
            .at("/openapi.json", document(openapi, "application/json; charset=utf-8"))
            .at("/docs", document(docs, "text/html; charset=utf-8"))
    }
}

fn document(text: Bytes, content_type: &'static str) -> poem::RouteMethod {
    get(make_sync(move |_| Response::builder().content_type(content_type).body(text.clone())))
}
