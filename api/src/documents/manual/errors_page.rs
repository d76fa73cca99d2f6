//! The page of errors, to which `doc_url` leads: a section for each code.

use askama::Template;

use super::Frame;
use crate::documents::errors::CodeSection;

pub const PATH: &str = "/docs/errors";

#[derive(Template)]
#[template(path = "errors.html")]
struct ErrorsPage<'a> {
    frame: Frame<'a>,
    sections: &'a [CodeSection],
}

pub fn page(frame: Frame<'_>, sections: &[CodeSection]) -> askama::Result<String> {
    ErrorsPage { frame, sections }.render()
}
