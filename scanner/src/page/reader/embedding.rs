//! Reads what a document embeds: frames, scripts, event handlers, and the addresses of files that it uses.

use super::super::Region;
use super::super::context::ElementContext;
use super::super::written::{EMBEDDED_MAX, is_script_type};
use super::Reader;
use crate::document::{self, Document, Element, NodeId, Onward};

/// The maximum depth of frames in frames.
const INSET_DEPTH_MAX: usize = 12;
/// The total size of scripts in attributes.
const HANDLERS_BYTES_MAX: usize = 1 << 20;
/// Prefixes of the attributes by which small libraries show and hide elements on events.
const DIRECTIVES: [&str; 11] =
    ["x-show", "x-if", "x-for", "x-on:", "v-if", "v-show", "v-for", "v-else", "v-on:", "@", "ng-"];
/// Attributes by which small libraries fetch a part of the page.
const FETCHING_ATTRIBUTES: [&str; 5] = ["hx-get", "hx-post", "data-include", "w3-include-html", "ic-src"];

impl Reader<'_> {
    /// Reads a frame in place if it contains its document. If it refers to a file, records the address.
    pub(super) fn enter_frame(
        &mut self,
        context: &mut ElementContext<'_>,
        node: NodeId,
        element: Element<'_>,
    ) -> Onward {
        self.end_run_in(context);
        let region = context.region(node, &mut self.regions_seen);
        let address = if element.name() == "object" { element.text("data") } else { element.text("src") };
        let insets = match element.get("srcdoc") {
            Some(markup) => self.around.parse_html(markup).into_iter().collect(),
            None => self.open_documents(address),
        };
        if !insets.is_empty() {
            for inset in insets.iter().filter(|_| context.depth < INSET_DEPTH_MAX) {
                self.read(inset, context.depth + 1, region);
            }
        } else if let Some(code) = after_scheme(address) {
            self.scripts.push(code.to_owned());
        } else {
            self.embed(address);
        }
        // The content of an object is shown if the object cannot be.
        if element.name() == "object" { Onward::Inside } else { Onward::Past }
    }

    /// The document in a `data:` address, in each encoding in which browsers may read it.
    fn open_documents(&self, address: &str) -> Vec<Document> {
        let Some((media_type, bytes)) = document::open_data_url(address) else { return Vec::new() };
        let (text, as_declared) = document::texts_of(&bytes);
        let parse = if media_type.contains("xml") { document::parse_xml } else { document::parse_html };
        let texts = [Some(&*text), as_declared.as_deref()].into_iter().flatten();
        texts.filter_map(|text| self.around.parse(text, parse)).collect()
    }

    pub(super) fn put_script_aside(
        &mut self,
        context: &ElementContext<'_>,
        node: NodeId,
        element: Element<'_>,
    ) -> Onward {
        self.embed(element.text("src"));
        self.embed(element.text("href"));
        let source = context.document.source_in(node);
        if is_script_type(element.text("type")) {
            self.scripts.push(source);
            self.scripts.extend(open_text(element.text("src")));
        } else if is_data_type(element.text("type")) {
            self.data.push(source);
        } else if source.contains('<') && context.depth < INSET_DEPTH_MAX {
            // Markup in a script of unknown type is a template.
            self.regions_seen += 1;
            let region = Region::of_elements(self.regions_seen);
            if let Some(template) = self.around.parse_html(&source) {
                self.read(&template, context.depth + 1, Some(region));
            }
        }
        Onward::Past
    }

    pub(super) fn take_handlers(&mut self, element: Element<'_>) {
        for (name, value) in element.attributes() {
            let is_directive = DIRECTIVES.iter().any(|mark| name.starts_with(mark));
            self.reading.reveals.elements |= is_directive;
            let code = match name {
                // An object literal, or a call that returns an object.
                "x-data" => Some(["(", value, ");\n"]),
                _ if name.starts_with("on") || is_directive => Some(["", value, ";\n"]),
                _ => after_scheme(value).map(|code| ["", code, ";\n"]),
            };
            if name.starts_with("data-") && value.starts_with(['[', '{']) {
                self.data.push(value.to_owned());
            }
            let bytes_left = HANDLERS_BYTES_MAX.saturating_sub(self.handlers.len());
            if let Some(code) = code.filter(|_| value.len() < bytes_left) {
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

/// JSON for the scripts of the page. Metadata such as JSON-LD does not count.
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
