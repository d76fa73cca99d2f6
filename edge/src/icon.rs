//! The icon of the edge's own address. A site's `/favicon.ico` is a file of the site.

use poem::Response;
use poem::http::header;

const ICON: &[u8] = include_bytes!("icon.ico");

pub fn show() -> Response {
    Response::builder()
        .header(header::CONTENT_TYPE, "image/x-icon")
        .header(header::CONTENT_LENGTH, ICON.len())
        .header(header::CACHE_CONTROL, "public, max-age=86400")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(ICON)
}
