//! Rewrites HTML with the leniency of browsers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use bytes::Bytes;
use lol_html::html_content::{ContentType, EndTag};
use lol_html::send::{Element, HtmlRewriter, Settings};
use lol_html::{HandlerResult, OutputSink, element};

use super::badge::Badge;
use crate::sign_links::{LinkSigner, Tag};

pub struct HtmlPage {
    rewriter: HtmlRewriter<'static, Out>,
    out: Out,
    position: Option<Arc<ParserPosition>>,
}

/// The position of the badge: before the first `</body>`.
struct ParserPosition {
    badge: Arc<str>,
    is_opened: AtomicBool,
    is_taken: AtomicBool,
    /// From here on the rewriter sees only tags that this module added.
    is_page_over: AtomicBool,
}

const BODY: &[u8] = b"<body>";
const BODY_END: &[u8] = b"</body>";

/// Elements and quotes that a page may leave open, which would hide the badge. Surplus closers are ignored.
const CLOSERS: [&[u8]; 14] = [
    b"",
    b"</textarea>",
    b"</title>",
    b"</style>",
    b"</iframe>",
    b"</noembed>",
    b"</noframes>",
    b"</xmp>",
    b"</script>",
    b"</script>",
    b"-->",
    b"]]>",
    b"\">",
    b"'>",
];

impl HtmlPage {
    pub fn new(badge: Option<&Badge>, signer: Option<LinkSigner>) -> anyhow::Result<Self> {
        // In strict mode the rewriter would refuse pages that browsers accept.
        let mut settings = Settings::new_send().with_strict(false);
        if let Some(signer) = signer {
            let signer = Arc::new(Mutex::new(signer));
            let sign = move |element: &mut Element<'_, '_>| sign(element, &signer);
            settings = settings.append_element_content_handler(element!("*", sign));
        }
        let position = badge.map(|badge| Arc::new(ParserPosition::of(badge)));
        if let Some(position) = position.clone() {
            let prepare = move |body: &mut Element<'_, '_>| prepare(body, &position);
            settings = settings.append_element_content_handler(element!("body", prepare));
        }
        let out = Out::default();
        let mut rewriter = HtmlRewriter::new(settings, out.clone());
        if position.is_some() {
            // The rewriter reports no end tag without its start tag, which a page may omit. This start tag is
            // removed again.
            rewriter.write(BODY).context("open a page")?;
        }
        Ok(Self { rewriter, out, position })
    }

    pub fn feed(&mut self, html: &[u8]) -> anyhow::Result<Bytes> {
        self.rewriter.write(html).context("rewrite a page")?;
        Ok(self.out.take())
    }

    pub fn finish(mut self) -> anyhow::Result<Bytes> {
        if let Some(position) = self.position.take() {
            position.is_page_over.store(true, Ordering::Relaxed);
            for closer in CLOSERS {
                if position.is_taken.load(Ordering::Relaxed) {
                    break;
                }
                self.rewriter.write(closer).context("close what a page left open")?;
                self.rewriter.write(BODY_END).context("end a page")?;
            }
        }
        self.rewriter.end().context("rewrite the end of a page")?;
        Ok(self.out.take())
    }
}

fn sign(element: &mut Element<'_, '_>, signer: &Arc<Mutex<LinkSigner>>) -> HandlerResult {
    lock(signer).sign_tag(&mut HtmlTag(element))?;
    if element.tag_name() != "form" {
        return Ok(());
    }
    match element.end_tag_handlers() {
        Some(handlers) => {
            let signer = signer.clone();
            handlers.push(Box::new(move |end: &mut EndTag<'_>| {
                // The end tag of a parent element arrives here too. It does not end the form: browsers
                // continue it.
                if end.name() == "form"
                    && let Some(field) = lock(&signer).leave_form()
                {
                    end.before(&field, ContentType::Html);
                }
                Ok(())
            }));
        }
        // It has no content, so nothing is sent with it.
        None => drop(lock(signer).leave_form()),
    }
    Ok(())
}

fn prepare(body: &mut Element<'_, '_>, position: &Arc<ParserPosition>) -> HandlerResult {
    if !position.is_opened.swap(true, Ordering::Relaxed) {
        body.start_tag().remove();
    }
    if let Some(handlers) = body.end_tag_handlers() {
        let position = position.clone();
        handlers.push(Box::new(move |end: &mut EndTag<'_>| {
            // The end tag of a parent element arrives here too, and that element may be hidden.
            if end.name() == "body" && !position.is_taken.swap(true, Ordering::Relaxed) {
                end.before(&position.badge, ContentType::Html);
                if position.is_page_over.load(Ordering::Relaxed) {
                    end.remove();
                }
            }
            Ok(())
        }));
    }
    Ok(())
}

impl ParserPosition {
    fn of(badge: &Badge) -> Self {
        Self {
            badge: badge.markup(),
            is_opened: AtomicBool::default(),
            is_taken: AtomicBool::default(),
            is_page_over: AtomicBool::default(),
        }
    }
}

struct HtmlTag<'t, 'r, 'i>(&'t mut Element<'r, 'i>);

impl Tag for HtmlTag<'_, '_, '_> {
    fn name(&self) -> String {
        self.0.tag_name()
    }

    fn may_be_foreign(&self) -> bool {
        // The rewriter reports the parent elements separately.
        false
    }

    fn attribute(&self, name: &str) -> Option<String> {
        self.0.get_attribute(name).map(|value| htmlize::unescape_attribute(value).into_owned())
    }

    fn set_attribute(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        self.0.set_attribute(name, &htmlize::escape_attribute(text)).context("set an attribute")
    }
}

/// Output of the rewriter that was not sent yet.
#[derive(Clone, Default)]
struct Out(Arc<Mutex<Vec<u8>>>);

impl Out {
    fn take(&self) -> Bytes {
        std::mem::take(&mut *lock(&self.0)).into()
    }
}

impl OutputSink for Out {
    fn handle_chunk(&mut self, chunk: &[u8]) {
        lock(&self.0).extend_from_slice(chunk);
    }
}

/// Recovers a poisoned lock: no panic leaves the value half changed.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
