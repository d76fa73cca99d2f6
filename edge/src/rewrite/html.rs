//! HTML, read as browsers read it, whatever state it is in.

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
    place: Option<Arc<ParserPosition>>,
}

/// Where the badge goes: before the first `</body>`.
struct ParserPosition {
    badge: Arc<str>,
    is_opened: AtomicBool,
    is_taken: AtomicBool,
    /// From here on the tags are ours.
    is_page_over: AtomicBool,
}

const BODY: &[u8] = b"<body>";
const BODY_END: &[u8] = b"</body>";

/// What a page may end within, so that it swallows whatever follows. A closer too many is swallowed too.
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
        // Strict, the rewriter would refuse pages that browsers put up with.
        let mut settings = Settings::new_send().with_strict(false);
        if let Some(signer) = signer {
            let signer = Arc::new(Mutex::new(signer));
            let sign = move |element: &mut Element<'_, '_>| sign(element, &signer);
            settings = settings.append_element_content_handler(element!("*", sign));
        }
        let place = badge.map(|badge| Arc::new(ParserPosition::of(badge)));
        if let Some(place) = place.clone() {
            let prepare = move |body: &mut Element<'_, '_>| prepare(body, &place);
            settings = settings.append_element_content_handler(element!("body", prepare));
        }
        let out = Out::default();
        let mut rewriter = HtmlRewriter::new(settings, out.clone());
        if place.is_some() {
            // The rewriter shows no end tag without its start tag, and a page need not write that one. This one is not
            // written.
            rewriter.write(BODY).context("open a page")?;
        }
        Ok(Self { rewriter, out, place })
    }

    pub fn feed(&mut self, html: &[u8]) -> anyhow::Result<Bytes> {
        self.rewriter.write(html).context("rewrite a page")?;
        Ok(self.out.take())
    }

    pub fn finish(mut self) -> anyhow::Result<Bytes> {
        if let Some(place) = self.place.take() {
            place.is_page_over.store(true, Ordering::Relaxed);
            for closer in CLOSERS {
                if place.is_taken.load(Ordering::Relaxed) {
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
                // The end of what a form stands in does not end the form: browsers go on with it.
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

fn prepare(body: &mut Element<'_, '_>, place: &Arc<ParserPosition>) -> HandlerResult {
    if !place.is_opened.swap(true, Ordering::Relaxed) {
        body.start_tag().remove();
    }
    if let Some(handlers) = body.end_tag_handlers() {
        let place = place.clone();
        handlers.push(Box::new(move |end: &mut EndTag<'_>| {
            // The end of what a body stands in comes here too, and may be the end of something hidden.
            if end.name() == "body" && !place.is_taken.swap(true, Ordering::Relaxed) {
                end.before(&place.badge, ContentType::Html);
                if place.is_page_over.load(Ordering::Relaxed) {
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
        // What may stand around it is seen by itself.
        false
    }

    fn attribute(&self, name: &str) -> Option<String> {
        self.0.get_attribute(name).map(|value| htmlize::unescape_attribute(value).into_owned())
    }

    fn set_attribute(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        self.0.set_attribute(name, &htmlize::escape_attribute(text)).context("an attribute")
    }
}

/// What the rewriter has written and nobody has taken yet.
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

/// Nothing is left half done by whoever panics with it in hand.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
