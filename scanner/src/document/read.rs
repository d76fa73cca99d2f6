//! Bytes to text, and what kind of text: told by the bytes first, and by the file's name only where they leave it
//! open.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::feed;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    /// XHTML, SVG, and other XML that a browser renders.
    Xml,
    Script,
    Style,
    Json,
    Text,
    /// Nothing to read.
    Binary,
}

pub(crate) struct Source<'a> {
    pub(crate) kind: Kind,
    /// As the file itself says that it is to be decoded.
    pub(crate) text: Cow<'a, str>,
    /// As UTF-8, which the server says that all files are, where that reads differently. Declared encodings can hide
    /// what the server's shows, and the other way round.
    pub(crate) as_utf8: Option<String>,
}

/// Where a declared encoding is looked for, and zero bytes are counted.
const PRESCAN_BYTES: usize = 4096;
/// Where text is looked through for its first tag.
const LEAD_BYTES_MAX: usize = 1 << 16;

/// Beginnings of images, fonts, sounds, films, archives and programs.
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

/// Reads a file, whatever it is.
pub(crate) fn read<'a>(path: &str, bytes: &'a [u8]) -> Source<'a> {
    let name = Name::of(path);
    if name != Name::Html && is_signed(bytes) {
        return Source { kind: Kind::Binary, text: Cow::Borrowed(""), as_utf8: None };
    }
    let encoding = encoding_of(bytes);
    let (text, _, _) = encoding.decode(bytes);
    let kind = kind_of(&text, name);
    if kind == Kind::Binary {
        return Source { kind, text: Cow::Borrowed(""), as_utf8: None };
    }
    let is_marked = Encoding::for_bom(bytes).is_some();
    let is_other = encoding != UTF_8 && !is_marked && encoding != UTF_16LE && encoding != UTF_16BE;
    let as_utf8 = is_other.then(|| UTF_8.decode_without_bom_handling(bytes).0.into_owned());
    Source { kind, text, as_utf8 }
}

/// A file's text as the scanner reads it, for people who want to see what it saw.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_of(bytes).decode(bytes).0
}

fn is_signed(bytes: &[u8]) -> bool {
    let is_film = bytes.get(4..8) == Some(b"ftyp");
    is_film || SIGNATURES.iter().any(|signature| bytes.starts_with(signature))
}

/// A byte order mark, zero bytes, and what is valid UTF-8 tell for themselves; what the file declares comes after.
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
        // It is the one encoding that reads as ASCII, and so as UTF-8, whatever it says.
        Some(declared) if declared == ISO_2022_JP && bytes.contains(&0x1b) => ISO_2022_JP,
        _ if is_utf8 => UTF_8,
        // Declared in readable letters, it cannot be true.
        Some(declared) if declared == UTF_16LE || declared == UTF_16BE => WINDOWS_1252,
        Some(declared) if declared != UTF_8 => declared,
        Some(_) => UTF_8,
        None => WINDOWS_1252,
    }
}

/// Of letters that are mostly ASCII, every other byte is zero in UTF-16.
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

/// By `<meta charset=…>`, `<meta http-equiv content="…charset=…">`, `<?xml encoding="…"?>` or `@charset "…"`.
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

/// What the name of a file says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Html,
    Xml,
    Told(Kind),
    Other,
}

impl Name {
    fn of(path: &str) -> Self {
        let file = path.rsplit('/').next().unwrap_or(path);
        let Some((_, extension)) = file.rsplit_once('.') else { return Self::Other };
        match extension.to_ascii_lowercase().as_str() {
            "html" | "htm" | "shtml" => Self::Html,
            "xhtml" | "xht" | "svg" | "xml" | "xsl" | "xslt" | "rdf" | "rss" | "atom" | "mathml" => Self::Xml,
            "js" | "mjs" | "cjs" => Self::Told(Kind::Script),
            "css" => Self::Told(Kind::Style),
            "json" | "webmanifest" | "map" | "geojson" | "jsonld" => Self::Told(Kind::Json),
            _ => Self::Other,
        }
    }
}

fn kind_of(text: &str, name: Name) -> Kind {
    let lead = Lead::of(text);
    match name {
        Name::Html => Kind::Html,
        Name::Xml if lead.begins_with_tag || lead.is_declared_xml => Kind::Xml,
        _ if lead.is_declared_xml => Kind::Xml,
        _ if lead.begins_with_tag => Kind::Html,
        _ if text.contains('\0') => Kind::Binary,
        Name::Told(kind) => kind,
        Name::Xml | Name::Other => Kind::Text,
    }
}

/// How a text begins, past white space, comments, processing instructions and the document type.
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
