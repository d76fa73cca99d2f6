//! Rewrites a page as a stream before it is served, so that a large page is never whole in memory.
//!
//! HTML and XHTML have separate parsers. Everything that need not change stays byte for byte.

mod badge;
mod html;
mod xhtml;

use bytes::Bytes;

use crate::charset::PageReader;
use crate::form::Markup;
use crate::sign_links::LinkSigner;
use html::HtmlPage;
use xhtml::XhtmlPage;

pub use badge::Badge;

/// The sources that decide how a page is dressed. They are part of the `ETag` of dressed pages.
pub const RULES: [&str; 8] = [
    include_str!("charset.rs"),
    include_str!("rewrite/badge.rs"),
    include_str!("rewrite/html.rs"),
    include_str!("rewrite/xhtml.rs"),
    include_str!("sign_links.rs"),
    include_str!("sign_links/bases.rs"),
    include_str!("sign_links/forms.rs"),
    include_str!("sign_links/refresh.rs"),
];

/// Rewrites a page chunk by chunk.
pub struct Rewriter {
    reader: PageReader,
    page: Page,
}

enum Page {
    Html(Box<HtmlPage>),
    Xhtml(Box<XhtmlPage>),
}

impl Rewriter {
    pub fn new(markup: Markup, badge: Option<&Badge>, signer: Option<LinkSigner>) -> anyhow::Result<Self> {
        let page = match markup {
            Markup::Html => Page::Html(Box::new(HtmlPage::new(badge, signer)?)),
            Markup::Xhtml => Page::Xhtml(Box::new(XhtmlPage::new(badge, signer))),
        };
        Ok(Self { reader: PageReader::default(), page })
    }

    pub fn feed(&mut self, chunk: &[u8]) -> anyhow::Result<Bytes> {
        self.page.feed(&self.reader.read(chunk))
    }

    pub fn finish(mut self) -> anyhow::Result<Bytes> {
        let mut last = Vec::from(self.page.feed(&self.reader.finish())?);
        last.extend_from_slice(&self.page.finish()?);
        Ok(last.into())
    }
}

impl Page {
    fn feed(&mut self, text: &[u8]) -> anyhow::Result<Bytes> {
        match self {
            Page::Html(page) => page.feed(text),
            Page::Xhtml(page) => page.feed(text),
        }
    }

    fn finish(self) -> anyhow::Result<Bytes> {
        match self {
            Page::Html(page) => page.finish(),
            Page::Xhtml(page) => page.finish(),
        }
    }
}

#[cfg(test)]
mod tests;
