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
const TEXT: &str = "text/plain; charset=utf-8";
const SVG: &str = "image/svg+xml";
const PNG: &str = "image/png";

/// Of `caslon.woff2`, the face of the headings: Libre Caslon Condensed, with the characters of Western
/// European languages.
const FONT: &str = "font/woff2";

/// A file of the templates folder under its own name.
macro_rules! asset {
    ($name:literal, $content_type:expr) => {
        Asset {
            name: $name,
            content_type: $content_type,
            content: include_bytes!(concat!("../../templates/", $name)),
        }
    };
}

const ASSETS: &[Asset] = &[
    asset!("artifact.css", CSS),
    asset!("board.css", CSS),
    asset!("caslon.OFL.txt", TEXT),
    asset!("caslon.woff2", FONT),
    asset!("dashboard.css", CSS),
    asset!("dashboard.js", JAVASCRIPT),
    asset!("docs.css", CSS),
    asset!("docs.js", JAVASCRIPT),
    asset!("home.css", CSS),
    asset!("mark.svg", SVG),
    asset!("og.png", PNG),
    asset!("page.css", CSS),
    asset!("page.js", JAVASCRIPT),
    asset!("styleguide.css", CSS),
    asset!("touch-icon.png", PNG),
];

impl Asset {
    /// Short for styles and scripts, so that the pages of a new release soon get their own. Fonts and
    /// pictures do not change with a release.
    fn lifetime(&self) -> HeaderValue {
        let is_of_a_release = matches!(self.content_type, CSS | JAVASCRIPT);
        HeaderValue::from_static(if is_of_a_release {
            "public, max-age=300"
        } else {
            "public, max-age=604800"
        })
    }
}

#[handler]
pub fn show(Path(name): Path<String>) -> Result<Response, RefusedCall> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or(RefusedCall::from(Refusal::NotFound(Missing::Endpoint)))?;
    Ok(Response::builder()
        .content_type(asset.content_type)
        .header(header::CACHE_CONTROL, asset.lifetime())
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .body(asset.content))
}
