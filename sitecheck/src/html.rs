//! The references in a page.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use domain::ResourceKind::{self, Font, Frame, Image, Other, Script, Style};
use lol_html::html_content::{Element, TextChunk};
use lol_html::{HandlerResult, HtmlRewriter, Settings, element, text};

use crate::reference::{Reference, Use, addresses_in_set};
use crate::{css, js};

/// The maximum number of elements that are read in a page. A page with more was certainly generated.
const ELEMENTS_MAX: u32 = 100_000;
/// The page is read in pieces of this size, so that reading can stop.
const PIECE_BYTES: usize = 64 * 1024;

/// What a file refers to.
#[derive(Default)]
pub struct Found {
    /// The page's `<base href>`.
    pub base: Option<String>,
    pub references: Vec<Reference>,
}

impl Found {
    pub fn of(references: Vec<Reference>) -> Self {
        Self { base: None, references }
    }
}

/// The references of a page that a browser would follow without running its scripts.
pub fn references(html: &str) -> Found {
    let page = RefCell::new(Page { html, ..Page::default() });
    let mut settings = Settings::new().with_strict(false);
    settings = settings
        .append_element_content_handler(element!("*", |element| page.borrow_mut().pass_element(element)))
        .append_element_content_handler(text!("script, style", |text| {
            page.borrow_mut().pass_text(text);
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // An error ends the reading early. The references that were found before it are still valid.
    let is_read = html.as_bytes().chunks(PIECE_BYTES).all(|piece| rewriter.write(piece).is_ok());
    match is_read {
        true => _ = rewriter.end(),
        false => drop(rewriter),
    }
    page.into_inner().finish()
}

#[derive(Default)]
struct Page<'h> {
    html: &'h str,
    found: Found,
    /// The offset up to which lines are counted. `line` is the line at this offset.
    counted: usize,
    line: u32,
    elements: u32,
    /// Open templates, whose contents are not part of the page.
    templates: Rc<Cell<u32>>,
    inline: Option<Inline>,
    has_script: bool,
    /// The forms that are sent by GET. In a page with scripts, a script may send them in another way.
    forms: Vec<Reference>,
}

/// The text of a script or style sheet in the page.
struct Inline {
    language: Language,
    line: u32,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Script,
    ImportMap,
    Style,
    Unknown,
}

impl Page<'_> {
    fn pass_element(&mut self, element: &mut Element<'_, '_>) -> HandlerResult {
        self.elements += 1;
        if self.elements > ELEMENTS_MAX {
            return Err("too many elements".into());
        }
        let name = element.tag_name();
        if name == "template" {
            self.enter_template(element);
        }
        let line = self.line_at(element.source_location().bytes().start);
        self.inline = None;
        if self.templates.get() == 0 {
            let tag = Tag { name: &name, element, line };
            self.read(&tag);
        }
        Ok(())
    }

    fn enter_template(&mut self, element: &mut Element<'_, '_>) {
        if let Some(handlers) = element.end_tag_handlers() {
            self.templates.set(self.templates.get() + 1);
            let templates = self.templates.clone();
            handlers.push(Box::new(move |_| {
                templates.set(templates.get().saturating_sub(1));
                Ok(())
            }));
        }
    }

    fn read(&mut self, tag: &Tag<'_, '_, '_>) {
        match tag.name {
            "base" if self.found.base.is_none() => self.found.base = tag.attribute("href"),
            "script" => self.read_script(tag),
            "style" => self.begin_inline(Language::Style, tag.line),
            "link" => self.read_link(tag),
            "form" => self.read_form(tag),
            "a" | "area" => {
                self.take(tag, "href", Use::Link);
                self.take(tag, "xlink:href", Use::Link);
            }
            "meta" => self.read_refresh(tag),
            // A frame with a document of its own loads no other.
            "iframe" if tag.attribute("srcdoc").is_some() => {}
            "iframe" | "frame" => self.take(tag, "src", Use::Load(Frame)),
            "img" => {
                self.take(tag, "src", Use::Load(Image));
                self.take_set(tag, "srcset");
            }
            "source" => {
                self.take(tag, "src", Use::Load(Other));
                self.take_set(tag, "srcset");
            }
            "input" if tag.is("type", "image") => self.take(tag, "src", Use::Load(Image)),
            "video" => {
                self.take(tag, "src", Use::Load(Other));
                self.take(tag, "poster", Use::Load(Image));
            }
            "audio" | "track" | "embed" => self.take(tag, "src", Use::Load(Other)),
            "object" => self.take(tag, "data", Use::Load(Other)),
            "image" | "feimage" => {
                self.take(tag, "href", Use::Load(Image));
                self.take(tag, "xlink:href", Use::Load(Image));
            }
            "use" => {
                self.take(tag, "href", Use::LoadOwn);
                self.take(tag, "xlink:href", Use::LoadOwn);
            }
            "body" | "table" | "td" | "th" => self.take(tag, "background", Use::Load(Image)),
            _ => {}
        }
        if let Some(style) = tag.attribute("style") {
            self.found.references.extend(css::references(&style, tag.line));
        }
    }

    fn read_script(&mut self, tag: &Tag<'_, '_, '_>) {
        self.has_script = true;
        // Only old browsers run it.
        if tag.attribute("nomodule").is_some() {
            return;
        }
        let language = language_of(&tag.attribute("type").unwrap_or_default());
        // Scripts in SVG have the other two.
        let source = ["src", "href", "xlink:href"].into_iter().find(|name| tag.attribute(name).is_some());
        match source {
            Some(source) if language == Language::Script => self.take(tag, source, Use::Load(Script)),
            Some(_) => {}
            None => self.begin_inline(language, tag.line),
        }
    }

    fn read_link(&mut self, tag: &Tag<'_, '_, '_>) {
        let kinds = tag.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        for kind in kinds.split_ascii_whitespace() {
            let used = match kind {
                "stylesheet" => Use::Load(Style),
                "modulepreload" => Use::Load(Script),
                "icon" => Use::Load(Image),
                "apple-touch-icon" | "mask-icon" | "alternate" | "next" | "prev" | "prefetch" => Use::LoadOwn,
                "manifest" => Use::Load(Other),
                "preload" => {
                    let Some(kind) = tag.attribute("as").and_then(|kind| preloaded(&kind)) else { continue };
                    if kind == Image {
                        self.take_set(tag, "imagesrcset");
                    }
                    Use::Load(kind)
                }
                _ => continue,
            };
            self.take(tag, "href", used);
        }
    }

    /// `<meta http-equiv="refresh" content="5; url=next.html">`
    fn read_refresh(&mut self, tag: &Tag<'_, '_, '_>) {
        if !tag.is("http-equiv", "refresh") {
            return;
        }
        let content = tag.attribute("content").unwrap_or_default();
        let after =
            content.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let Some(address) = after.trim_start().strip_prefix([';', ',']).map(refresh_address) else { return };
        self.found.references.push(Reference::new(Use::Link, address, tag.line));
    }

    fn read_form(&mut self, tag: &Tag<'_, '_, '_>) {
        let is_get = tag.attribute("method").is_none_or(|method| method.eq_ignore_ascii_case("get"));
        if is_get
            && tag.attribute("onsubmit").is_none()
            && let Some(action) = tag.attribute("action")
        {
            self.forms.push(Reference::new(Use::Link, &action, tag.line));
        }
    }

    fn take(&mut self, tag: &Tag<'_, '_, '_>, attribute: &str, used: Use) {
        if let Some(address) = tag.attribute(attribute) {
            self.found.references.push(Reference::new(used, &address, tag.line));
        }
    }

    fn take_set(&mut self, tag: &Tag<'_, '_, '_>, attribute: &str) {
        let set = tag.attribute(attribute).unwrap_or_default();
        let references =
            addresses_in_set(&set).into_iter().map(|text| Reference::new(Use::Load(Image), text, tag.line));
        self.found.references.extend(references);
    }

    fn begin_inline(&mut self, language: Language, line: u32) {
        if language != Language::Unknown {
            self.inline = Some(Inline { language, line, text: String::new() });
        }
    }

    /// A text may arrive in pieces.
    fn pass_text(&mut self, piece: &TextChunk<'_>) {
        let line = self.line_at(piece.source_location().bytes().start);
        let Some(inline) = &mut self.inline else { return };
        if inline.text.is_empty() {
            inline.line = line;
        }
        inline.text.push_str(piece.as_str());
        if piece.last_in_text_node() {
            let inline = self.inline.take();
            self.found.references.extend(inline.map(Inline::references).unwrap_or_default());
        }
    }

    /// Offsets must not decrease.
    fn line_at(&mut self, offset: usize) -> u32 {
        let passed = self.html.as_bytes().get(self.counted..offset).unwrap_or_default();
        let breaks = passed.iter().filter(|byte| **byte == b'\n').count();
        self.line += u32::try_from(breaks).unwrap_or_default();
        self.counted = self.counted.max(offset);
        self.line + 1
    }

    fn finish(mut self) -> Found {
        if !self.has_script {
            self.found.references.append(&mut self.forms);
        }
        self.found.references.sort_by_key(|reference| reference.line);
        self.found
    }
}

impl Inline {
    fn references(self) -> Vec<Reference> {
        match self.language {
            Language::Script => js::references(&self.text, self.line),
            Language::Style => css::references(&self.text, self.line),
            Language::ImportMap => imports(&self.text, self.line),
            Language::Unknown => vec![],
        }
    }
}

/// A start tag.
struct Tag<'t, 'r, 'i> {
    name: &'t str,
    element: &'t Element<'r, 'i>,
    line: u32,
}

impl Tag<'_, '_, '_> {
    /// Character references are decoded.
    fn attribute(&self, name: &str) -> Option<String> {
        self.element.get_attribute(name).map(|value| htmlize::unescape_attribute(value).into_owned())
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.attribute(name).is_some_and(|own| own.trim().eq_ignore_ascii_case(value))
    }
}

/// The addresses in an import map. They stand on one line for the warnings.
fn imports(map: &str, line: u32) -> Vec<Reference> {
    let map: serde_json::Value = serde_json::from_str(map).unwrap_or_default();
    let scopes = map.get("scopes").and_then(serde_json::Value::as_object);
    let scopes = scopes.into_iter().flat_map(|scopes| scopes.values());
    let imports = map.get("imports").into_iter().chain(scopes).filter_map(serde_json::Value::as_object);
    let addresses = imports.flat_map(|imports| imports.values()).filter_map(|value| value.as_str());
    // A folder of modules ends with a slash.
    let addresses = addresses.filter(|address| js::is_address(address) && !address.ends_with('/'));
    addresses.map(|address| Reference::new(Use::Load(Script), address, line)).collect()
}

/// The address in a refresh: perhaps after `url=`, and perhaps in quotes.
fn refresh_address(text: &str) -> &str {
    let text = text.trim_start();
    let named = text.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let address = named.and_then(|_| text[3..].trim_start().strip_prefix('=')).unwrap_or(text).trim_start();
    match address.strip_prefix(['\'', '"']) {
        Some(quoted) => quoted.split(['\'', '"']).next().unwrap_or_default(),
        None => address,
    }
}

fn language_of(kind: &str) -> Language {
    match kind.trim().to_ascii_lowercase().as_str() {
        ""
        | "module"
        | "text/javascript"
        | "application/javascript"
        | "text/ecmascript"
        | "application/ecmascript"
        | "application/x-javascript" => Language::Script,
        "importmap" => Language::ImportMap,
        _ => Language::Unknown,
    }
}

fn preloaded(kind: &str) -> Option<ResourceKind> {
    Some(match kind.to_ascii_lowercase().as_str() {
        "script" => Script,
        "style" => Style,
        "image" => Image,
        "font" => Font,
        "fetch" | "track" | "audio" | "video" => Other,
        _ => return None,
    })
}
