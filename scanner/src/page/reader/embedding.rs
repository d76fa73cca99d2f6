//! What a document brings along: frames, scripts and handlers, and the addresses of files that belong to it.

use super::super::Region;
use super::super::context::ElementContext;
use super::super::written::{EMBEDDED_MAX, is_script_type};
use super::Reader;
use crate::document::{self, Document, Element, NodeId, Onward};

/// Frames in frames that are opened.
const INSET_DEPTH_MAX: usize = 12;
/// What scripts in attributes may amount to, all together.
const HANDLERS_BYTES_MAX: usize = 1 << 20;
/// How attributes begin by which small libraries show and hide elements, with what the visitor does.
const DIRECTIVES: [&str; 11] =
    ["x-show", "x-if", "x-for", "x-on:", "v-if", "v-show", "v-for", "v-else", "v-on:", "@", "ng-"];
/// Attributes by which small libraries fetch a part of the page.
const FETCHING_ATTRIBUTES: [&str; 5] = ["hx-get", "hx-post", "data-include", "w3-include-html", "ic-src"];

impl Reader<'_> {
    /// A frame that brings its document along is read where it stands; one that names a file is noted.
    pub(super) fn enter_frame(
        &mut self,
        place: &mut ElementContext<'_>,
        node: NodeId,
        element: Element<'_>,
    ) -> Onward {
        self.end_run_in(place);
        let region = place.region(node, &mut self.regions_seen);
        let address = if element.name() == "object" { element.text("data") } else { element.text("src") };
        let insets = match element.get("srcdoc") {
            Some(markup) => self.around.parse_html(markup).into_iter().collect(),
            None => self.open_documents(address),
        };
        if !insets.is_empty() {
            for inset in insets.iter().filter(|_| place.depth < INSET_DEPTH_MAX) {
                self.read(inset, place.depth + 1, region);
            }
        } else if let Some(code) = after_scheme(address) {
            self.scripts.push(code.to_owned());
        } else {
            self.embed(address);
        }
        // What stands in an object is shown when the object cannot be.
        if element.name() == "object" { Onward::Inside } else { Onward::Past }
    }

    /// The document in a `data:` address, in each encoding that browsers may read it in.
    fn open_documents(&self, address: &str) -> Vec<Document> {
        let Some((media_type, bytes)) = document::open_data_url(address) else { return Vec::new() };
        let (text, as_declared) = document::texts_of(&bytes);
        let parse = if media_type.contains("xml") { document::parse_xml } else { document::parse_html };
        let texts = [Some(&*text), as_declared.as_deref()].into_iter().flatten();
        texts.filter_map(|text| self.around.parse(text, parse)).collect()
    }

    pub(super) fn put_script_aside(
        &mut self,
        place: &ElementContext<'_>,
        node: NodeId,
        element: Element<'_>,
    ) -> Onward {
        self.embed(element.text("src"));
        self.embed(element.text("href"));
        let source = place.document.source_in(node);
        if is_script_type(element.text("type")) {
            self.scripts.push(source);
            self.scripts.extend(open_text(element.text("src")));
        } else if is_data_type(element.text("type")) {
            self.data.push(source);
        } else if source.contains('<') && place.depth < INSET_DEPTH_MAX {
            // Markup that waits in a script of no known kind is a template.
            self.regions_seen += 1;
            let region = Region::of_elements(self.regions_seen);
            if let Some(template) = self.around.parse_html(&source) {
                self.read(&template, place.depth + 1, Some(region));
            }
        }
        Onward::Past
    }

    pub(super) fn take_handlers(&mut self, element: Element<'_>) {
        for (name, value) in element.attributes() {
            let is_directive = DIRECTIVES.iter().any(|mark| name.starts_with(mark));
            self.reading.reveals.elements |= is_directive;
            let code = match name {
                // An object, or a call of what makes one.
                "x-data" => Some(["(", value, ");\n"]),
                _ if name.starts_with("on") || is_directive => Some(["", value, ";\n"]),
                _ => after_scheme(value).map(|code| ["", code, ";\n"]),
            };
            if name.starts_with("data-") && value.starts_with(['[', '{']) {
                self.data.push(value.to_owned());
            }
            let room = HANDLERS_BYTES_MAX.saturating_sub(self.handlers.len());
            if let Some(code) = code.filter(|_| value.len() < room) {
                self.handlers.extend(code);
            }
        }
        for name in FETCHING_ATTRIBUTES {
            self.embed(element.text(name));
        }
    }

    pub(super) fn embed(&mut self, address: &str) {
        let is_of_the_site = !address.is_empty() && !address.contains("://") && !address.starts_with("//");
        let has_room = self.reading.embedded.len() < EMBEDDED_MAX;
        if is_of_the_site && has_room && !self.reading.embedded.iter().any(|known| known == address) {
            self.reading.embedded.push(address.to_owned());
        }
    }
}

/// JSON for the scripts of the page. What describes the page to others is none.
fn is_data_type(of_type: &str) -> bool {
    of_type.trim().eq_ignore_ascii_case("application/json")
}

/// The text of a `data:` address, for a script or a style sheet.
pub(super) fn open_text(address: &str) -> Option<String> {
    let (_, bytes) = document::open_data_url(address)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The script of a `javascript:` address.
fn after_scheme(address: &str) -> Option<&str> {
    const SCHEME: &str = "javascript:";
    let address = address.trim_start();
    let scheme = address.get(..SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| &address[SCHEME.len()..])
}
