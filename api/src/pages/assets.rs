//! The style and script of every page. Both are our own; pages load nothing from elsewhere.

use poem::Response;
use poem::http::{HeaderValue, header};

const STYLESHEET: &str = include_str!("../../templates/page.css");
const SCRIPT: &str = include_str!("../../templates/page.js");

pub fn stylesheet() -> Response {
    asset("text/css; charset=utf-8", STYLESHEET)
}

pub fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

// A short lifetime, so that the pages of a new release soon get their own style.
fn asset(content_type: &str, text: &'static str) -> Response {
    Response::builder()
        .content_type(content_type)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .body(text)
}
