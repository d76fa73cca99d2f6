//! The styles, scripts and pictures of every page. All are our own; pages load nothing from elsewhere.
//!
//! `page.css` and `page.js` are on every page. An area with more of its own, such as the queue board, has a
//! file of its own that only its pages load.

use domain::{Missing, Refusal};
use poem::http::{HeaderValue, header};
use poem::web::Path;
use poem::{Response, handler};

use crate::http::refusal::RefusedCall;

/// A file under `/assets/`.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: &[Asset] = &[
    Asset { name: "page.css", content_type: CSS, content: include_bytes!("../../templates/page.css") },
    Asset { name: "page.js", content_type: JAVASCRIPT, content: include_bytes!("../../templates/page.js") },
];

#[handler]
pub fn show(Path(name): Path<String>) -> Result<Response, RefusedCall> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or(RefusedCall::from(Refusal::NotFound(Missing::Endpoint)))?;
    // A short lifetime, so that the pages of a new release soon get their own style.
    Ok(Response::builder()
        .content_type(asset.content_type)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .body(asset.content))
}
