//! Rewrite: what is done to HTML before it is shown, as a stream, so that a large page never lies whole in memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use bytes::Bytes;
use domain::BlobHash;
use lol_html::html_content::ContentType;
use lol_html::send::{Element, HtmlRewriter, Settings};
use lol_html::{OutputSink, element, end};

use crate::charset::PageReader;
use crate::closed::escape;
use crate::sign_links::LinkSigner;

/// The badge that pages of provisional accounts wear (spec 3.1).
pub struct Badge {
    html: Arc<str>,
    mark: String,
}

/// How much of its hash tells one wording of the badge from another.
const MARK_LENGTH: usize = 6;

impl Badge {
    pub fn new(base_url: &str) -> Self {
        // Styled in place and shut off from the page's own styles, as far as a page lets itself be shut off.
        let html = format!(
            "<div data-handbill-badge style=\"all:initial;position:fixed;right:12px;bottom:12px;z-index:2147483647;\
             display:block;padding:6px 10px;border-radius:6px;background:#1d1c1a;color:#faf9f6;\
             font:13px/1.4 system-ui,sans-serif;box-shadow:0 1px 4px rgba(0,0,0,.3)\">\
             This page is hosted on <a href=\"{}/\" target=\"_blank\" rel=\"noopener noreferrer\" \
             style=\"color:inherit\">Handbill</a></div>",
            escape(base_url)
        );
        let mark = BlobHash::of(html.as_bytes()).to_string()[..MARK_LENGTH].to_owned();
        Self { html: html.into(), mark }
    }

    pub fn mark(&self) -> &str {
        &self.mark
    }
}

/// Takes HTML in and gives it out changed.
pub struct Rewriter {
    reader: PageReader,
    rewriter: HtmlRewriter<'static, Out>,
    out: Out,
}

impl Rewriter {
    pub fn new(badge: Option<&Badge>, signer: Option<LinkSigner>) -> Self {
        // Strict, the rewriter would refuse pages that browsers put up with.
        let mut settings = Settings::new_send().with_strict(false);
        if let Some(mut signer) = signer {
            let sign = move |element: &mut Element<'_, '_>| signer.sign_element(element);
            settings = settings.append_element_content_handler(element!("*", sign));
        }
        if let Some(badge) = badge {
            settings = with_badge(settings, badge.html.clone());
        }
        let out = Out::default();
        Self { reader: PageReader::default(), rewriter: HtmlRewriter::new(settings, out.clone()), out }
    }

    pub fn feed(&mut self, chunk: &[u8]) -> anyhow::Result<Bytes> {
        self.rewriter.write(&self.reader.read(chunk)).context("rewrite a page")?;
        Ok(self.out.take())
    }

    pub fn finish(mut self) -> anyhow::Result<Bytes> {
        self.rewriter.write(&self.reader.finish()).context("rewrite a page")?;
        self.rewriter.end().context("rewrite the end of a page")?;
        Ok(self.out.take())
    }
}

/// Before the first `</body>`, or at the end when the page has none.
fn with_badge(settings: Settings<'static, 'static>, badge: Arc<str>) -> Settings<'static, 'static> {
    let is_placed = Arc::new(AtomicBool::new(false));
    let at_end = (badge.clone(), is_placed.clone());
    let before_body_ends = move |body: &mut Element<'_, '_>| {
        let (badge, is_placed) = (badge.clone(), is_placed.clone());
        body.on_end_tag(Box::new(move |tag| {
            if !is_placed.swap(true, Ordering::Relaxed) {
                tag.before(&badge, ContentType::Html);
            }
            Ok(())
        }))
    };
    settings
        .append_element_content_handler(element!("body", before_body_ends))
        .append_document_content_handler(end!(move |end| {
            let (badge, is_placed) = &at_end;
            if !is_placed.load(Ordering::Relaxed) {
                end.append(badge, ContentType::Html);
            }
            Ok(())
        }))
}

/// What the rewriter has written and nobody has taken yet.
#[derive(Clone, Default)]
struct Out(Arc<Mutex<Vec<u8>>>);

impl Out {
    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

impl OutputSink for Out {
    fn handle_chunk(&mut self, chunk: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::Mount;
    use crate::sign_links::tests::{short, signer};

    const BADGE: &str = "BADGE";

    fn rewrite(html: &str, badge: Option<&Badge>, signer: Option<LinkSigner>) -> String {
        let mut rewriter = Rewriter::new(badge, signer);
        let mut out = Vec::new();
        for byte in html.as_bytes().chunks(7) {
            out.extend_from_slice(&rewriter.feed(byte).unwrap());
        }
        out.extend_from_slice(&rewriter.finish().unwrap());
        String::from_utf8(out).unwrap()
    }

    fn badged(html: &str) -> String {
        let badge = Badge { html: BADGE.into(), mark: String::new() };
        rewrite(html, Some(&badge), None)
    }

    fn signed(html: &str) -> String {
        short(rewrite(html, None, Some(signer(Mount::Path, 0))))
    }

    #[test]
    fn the_badge_stands_before_the_end_of_the_body_or_at_the_end() {
        for (page, expected) in [
            ("<html><body><p>a</p></body></html>", "<html><body><p>a</p>BADGE</body></html>"),
            ("<BODY>a</BODY>", "<BODY>aBADGE</BODY>"),
            ("<h1>a</h1>", "<h1>a</h1>BADGE"),
            ("<body>a", "<body>aBADGE"),
            ("", "BADGE"),
            (
                "<body><script>'</body>'</script><!-- </body> --></body>",
                "<body><script>'</body>'</script><!-- </body> -->BADGE</body>",
            ),
            ("<body>a</body></body>", "<body>aBADGE</body></body>"),
        ] {
            assert_eq!(badged(page), expected, "{page}");
        }
    }

    #[test]
    fn what_is_not_rewritten_stays_byte_for_byte() {
        let page = "<!DOCTYPE html>\r\n<P CLASS='x' >ü &copy; <br/><unknown a=1 A=2></p><style>a>b{}</style>";
        assert_eq!(badged(page), format!("{page}BADGE"));
        assert_eq!(signed(page), page);
    }

    #[test]
    fn a_page_in_utf_16_wears_the_badge_too() {
        let page: Vec<u8> = "\u{feff}<body>ü</body>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let badge = Badge { html: BADGE.into(), mark: String::new() };
        let mut rewriter = Rewriter::new(Some(&badge), None);
        let mut out = Vec::from(rewriter.feed(&page).unwrap());
        out.extend_from_slice(&rewriter.finish().unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), "<body>üBADGE</body>");
    }

    #[test]
    fn the_badge_says_where_the_page_is_hosted_and_its_address_cannot_break_out() {
        let badge = Badge::new("http://x/\"><script>");
        assert!(badge.html.contains("This page is hosted on <a") && badge.html.contains("Handbill"));
        assert!(!badge.html.contains("<script>"));
        assert_ne!(badge.mark(), Badge::new("http://y").mark());
    }

    #[test]
    fn every_kind_of_link_in_a_private_page_is_signed() {
        for (page, expected) in [
            ("<a href=b.html>", "<a href=\"b.html?sig=S\">"),
            ("<link rel=stylesheet href='a.css'>", "<link rel=stylesheet href=\"a.css?sig=S\">"),
            ("<script src=\"a.js\"></script>", "<script src=\"a.js?sig=S\"></script>"),
            ("<img src=a.png srcset='b.png 2x'>", "<img src=\"a.png?sig=S\" srcset=\"b.png?sig=S 2x\">"),
            ("<video poster=a.jpg>", "<video poster=\"a.jpg?sig=S\">"),
            ("<object data=a.svg>", "<object data=\"a.svg?sig=S\">"),
            (
                "<form action=find.html><input></form>",
                "<form action=\"find.html?sig=S\"><input type=\"hidden\" name=\"sig\" value=\"S\"><input></form>",
            ),
            ("<form method=post action=x.html>", "<form method=post action=\"x.html?sig=S\">"),
            ("<form action='https://example.com/'>", "<form action='https://example.com/'>"),
            (
                "<meta http-equiv=Refresh content='3; URL=b.html'>",
                "<meta http-equiv=Refresh content=\"3; URL=b.html?sig=S\">",
            ),
            ("<meta name=x content='url=b.html'>", "<meta name=x content='url=b.html'>"),
            ("<svg><use xlink:href='a.svg#b'/></svg>", "<svg><use xlink:href=\"a.svg?sig=S#b\" /></svg>"),
            ("<a href='https://example.com/'>", "<a href='https://example.com/'>"),
        ] {
            assert_eq!(signed(page), expected, "{page}");
        }
    }

    #[test]
    fn a_declared_base_decides_where_links_lead() {
        assert_eq!(
            signed("<base href='https://cdn.example/'><a href=a.html>"),
            "<base href='https://cdn.example/'><a href=a.html>"
        );
        assert_eq!(
            signed("<base href='sub/'><base href='https://cdn.example/'><a href='../../x'><a href='../x'>"),
            "<base href='sub/'><base href='https://cdn.example/'><a href='../../x'><a href=\"../x?sig=S\">"
        );
    }
}
