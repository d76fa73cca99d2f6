//! Decodes bytes to text as a browser does. The content type that Handbill serves says UTF-8, and only a byte
//! order mark overrides it.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::feed;

/// The type of a file, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    /// XHTML, SVG and other XML that a browser renders.
    Xml,
    Script,
    Style,
    Json,
    /// Any other text, which a script may fetch.
    Text,
    /// Images, fonts, archives, programs. Read as text, and only if a script fetches them.
    Binary,
}

pub(crate) struct Source<'a> {
    pub(crate) kind: Kind,
    /// The type of document that the text looks like, if the content type says otherwise. A script may fetch
    /// the file and render it as a page.
    pub(crate) looks_like: Option<Kind>,
    /// The text as browsers decode it. Empty for binary files.
    pub(crate) text: Cow<'a, str>,
    /// The text in the encoding that the file declares or appears to have, if it differs.
    pub(crate) as_declared: Option<String>,
}

impl Source<'_> {
    /// Whether the file is a page of its own, or can become one.
    pub(crate) fn is_document(&self) -> bool {
        matches!(self.kind, Kind::Html | Kind::Xml) || self.looks_like.is_some()
    }

    /// All types as which the file has to be read.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        // The text of a document is already in the document.
        let kind = Some(self.kind).filter(|kind| *kind != Kind::Text || self.looks_like.is_none());
        kind.into_iter().chain(self.looks_like)
    }
}

/// The range that is searched for a declared encoding and for zero bytes.
const PRESCAN_BYTES: usize = 4096;
/// The range that is searched for the first tag of a text.
const LEAD_BYTES_MAX: usize = 1 << 16;

/// Magic numbers of images, fonts, audio, video, archives and programs.
const SIGNATURES: [&[u8]; 29] = [
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"RIFF",
    b"BM\0",
    b"\0\0\x01\0",
    b"\0\0\x02\0",
    b"II*\0",
    b"MM\0*",
    b"%PDF-",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x28\xb5\x2f\xfd",
    b"wOFF",
    b"wOF2",
    b"OTTO",
    b"\0\x01\0\0\0",
    b"\0asm",
    b"ID3",
    b"OggS",
    b"fLaC",
    b"\x1a\x45\xdf\xa3",
    b"\x7fELF",
];

/// Reads a file by the content type that it is served with.
pub(crate) fn read<'a>(content_type: &str, bytes: &'a [u8]) -> Source<'a> {
    let served_as = kind_of(content_type);
    if served_as.is_none() && is_signed(bytes) {
        return Source { kind: Kind::Binary, looks_like: None, text: Cow::Borrowed(""), as_declared: None };
    }
    let (text, as_declared) = texts_of(bytes);
    let looks_like = match served_as {
        Some(Kind::Html | Kind::Xml) => None,
        _ => document_in(&text),
    };
    // Without a content type for text, the content decides.
    let kind = served_as.unwrap_or(match text.contains('\0') {
        true => Kind::Binary,
        false => Kind::Text,
    });
    if kind == Kind::Binary && looks_like.is_none() {
        return Source { kind, looks_like, text: Cow::Borrowed(""), as_declared: None };
    }
    Source { kind, looks_like, text, as_declared }
}

/// A file's text as browsers decode it when it is served as UTF-8. A byte order mark overrides the encoding.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    UTF_8.decode(bytes).0
}

/// A file's text as browsers decode it, and in the encoding that the file declares or appears to have, if it
/// differs.
pub(crate) fn texts_of(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    let declared = encoding_of(bytes);
    let differs = declared != UTF_8 && Encoding::for_bom(bytes).is_none();
    let as_declared = differs.then(|| declared.decode_without_bom_handling(bytes).0.into_owned());
    (decoded(bytes), as_declared)
}

/// The type for a content type, or `None` if browsers do not read it as text.
fn kind_of(content_type: &str) -> Option<Kind> {
    const SCRIPTS: [&str; 4] = ["javascript", "ecmascript", "jscript", "livescript"];
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (_, subtype) = essence.split_once('/').unwrap_or_default();
    if subtype == "html" {
        Some(Kind::Html)
    } else if subtype == "xml" || subtype.ends_with("+xml") {
        Some(Kind::Xml)
    } else if SCRIPTS.iter().any(|script| subtype.contains(script)) {
        Some(Kind::Script)
    } else if subtype == "json" || subtype.ends_with("+json") {
        Some(Kind::Json)
    } else if essence == "text/css" {
        Some(Kind::Style)
    } else {
        essence.starts_with("text/").then_some(Kind::Text)
    }
}

fn is_signed(bytes: &[u8]) -> bool {
    let is_film = bytes.get(4..8) == Some(b"ftyp");
    is_film || SIGNATURES.iter().any(|signature| bytes.starts_with(signature))
}

/// A byte order mark, zero bytes and valid UTF-8 take precedence over the encoding that the file declares.
fn encoding_of(bytes: &[u8]) -> &'static Encoding {
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return marked;
    }
    if let Some(wide) = wide_encoding_of(bytes) {
        return wide;
    }
    let declared = declared_encoding(bytes);
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    match declared {
        // ISO-2022-JP is valid ASCII, and so valid UTF-8 with another meaning.
        Some(declared) if declared == ISO_2022_JP && bytes.contains(&0x1b) => ISO_2022_JP,
        _ if is_utf8 => UTF_8,
        // A declaration in ASCII letters cannot itself be UTF-16.
        Some(declared) if declared == UTF_16LE || declared == UTF_16BE => WINDOWS_1252,
        Some(declared) if declared != UTF_8 => declared,
        Some(_) => UTF_8,
        None => WINDOWS_1252,
    }
}

/// In UTF-16, every other byte of mostly ASCII text is zero.
fn wide_encoding_of(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..bytes.len().min(PRESCAN_BYTES))?;
    let pairs = start.len() / 2;
    let zeros = |parity: usize| start.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    if pairs < 2 {
        None
    } else if odd * 4 >= pairs && even * 20 <= odd {
        Some(UTF_16LE)
    } else if even * 4 >= pairs && odd * 20 <= even {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// From `<meta charset=…>`, `<meta http-equiv content="…charset=…">`, `<?xml encoding="…"?>` or `@charset
/// "…"`.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..bytes.len().min(PRESCAN_BYTES))?;
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let xml = start
        .trim_start()
        .strip_prefix("<?xml")
        .and_then(|xml| label_after(xml.split('>').next()?, "encoding"));
    let style = start.strip_prefix("@charset").and_then(|rest| label_in(rest));
    let metas = start.split("<meta").skip(1);
    let meta = metas.filter_map(|meta| label_after(meta.split('>').next()?, "charset")).next();
    let label = xml.or(style).or(meta)?;
    Encoding::for_label(label.as_bytes())
}

fn label_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(word)?;
    label_in(rest.trim_start().strip_prefix('=')?)
}

fn label_in(text: &str) -> Option<&str> {
    let text = text.trim_start().trim_start_matches(['"', '\'']);
    text.split(|end: char| end.is_whitespace() || matches!(end, '"' | '\'' | ';' | '>' | '/' | '?')).next()
}

/// The type of document that a text starts like.
fn document_in(text: &str) -> Option<Kind> {
    let lead = Lead::of(text);
    if lead.is_declared_xml { Some(Kind::Xml) } else { lead.begins_with_tag.then_some(Kind::Html) }
}

/// The start of a text, after white space, comments, processing instructions and the document type.
#[derive(Default)]
struct Lead {
    is_declared_xml: bool,
    begins_with_tag: bool,
}

impl Lead {
    fn of(text: &str) -> Self {
        let mut lead = Self::default();
        let mut rest = text.trim_start_matches(is_blank);
        lead.is_declared_xml = rest.starts_with("<?xml");
        while text.len() - rest.len() < LEAD_BYTES_MAX {
            let end = if rest.starts_with("<!--") {
                feed::end_of_comment(rest, 0)
            } else if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype")) {
                lead.begins_with_tag = true;
                return lead;
            } else if rest.starts_with("<?") || rest.starts_with("<!") {
                rest.find('>').map_or(rest.len(), |end| end + 1)
            } else {
                break;
            };
            rest = rest.get(end..).unwrap_or_default().trim_start_matches(is_blank);
        }
        let name = rest.strip_prefix('<').map(|tag| tag.strip_prefix('/').unwrap_or(tag));
        lead.begins_with_tag = name
            .is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'));
        lead
    }
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{feff}' | '\0' | '\u{200b}')
}
