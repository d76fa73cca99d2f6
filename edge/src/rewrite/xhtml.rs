//! Rewrites XHTML as XML. Browsers show an error for a page that is not well-formed, so a well-formed page
//! must stay so.
//!
//! Ill-formed input passes through unchanged.

use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use quick_xml::Reader;
use quick_xml::escape::{resolve_html5_entity, unescape_with};
use quick_xml::events::{BytesEnd, BytesStart, Event};

use super::badge::Badge;
use crate::sign_links::{LinkSigner, Tag};

pub struct XhtmlPage {
    signer: Option<LinkSigner>,
    /// `None` once it is written.
    badge: Option<Arc<str>>,
    /// The number of open elements.
    depth: usize,
    /// Input that ends within a piece of markup.
    rest: Vec<u8>,
    /// The length to wait for, so that a long piece of markup is not parsed again with every chunk.
    wanted_bytes: usize,
    /// The end marker of the section that is passing through unread.
    passed_until: Option<&'static [u8]>,
    is_given_up: bool,
}

/// Sections that pass through unread at any length: start and end markers.
const PASSED: [(&[u8], &[u8]); 3] = [(b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>")];

/// A longer piece of markup is not buffered. The rest of the page then passes through unchanged.
const REST_BYTES_MAX: usize = 1 << 20;
const XHTML: &str = "http://www.w3.org/1999/xhtml";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl XhtmlPage {
    pub fn new(badge: Option<&Badge>, signer: Option<LinkSigner>) -> Self {
        let badge = badge.map(Badge::markup);
        Self {
            signer,
            badge,
            depth: 0,
            rest: vec![],
            wanted_bytes: 0,
            passed_until: None,
            is_given_up: false,
        }
    }

    pub fn feed(&mut self, xml: &[u8]) -> anyhow::Result<Bytes> {
        self.rest.extend_from_slice(xml);
        if self.is_given_up {
            return Ok(std::mem::take(&mut self.rest).into());
        }
        if self.passed_until.is_none() && self.rest.len() < self.wanted_bytes {
            return Ok(Bytes::new());
        }
        let mut xml = std::mem::take(&mut self.rest);
        let mut out = Vec::with_capacity(xml.len());
        let mut done = self.pass(&xml, &mut out);
        while self.passed_until.is_none() {
            done += self.rewrite(&xml[done..], &mut out)?;
            let Some((begin, end)) = PASSED.into_iter().find(|(begin, _)| xml[done..].starts_with(begin))
            else {
                break;
            };
            out.extend_from_slice(begin);
            done += begin.len();
            self.passed_until = Some(end);
            done += self.pass(&xml[done..], &mut out);
        }
        self.rest = xml.split_off(done);
        self.wanted_bytes = 2 * self.rest.len();
        self.is_given_up = self.rest.len() > REST_BYTES_MAX;
        Ok(out.into())
    }

    pub fn finish(mut self) -> anyhow::Result<Bytes> {
        self.wanted_bytes = 0;
        let mut last = Vec::from(self.feed(&[])?);
        last.extend_from_slice(&self.rest);
        Ok(last.into())
    }

    /// Passes on input up to the end marker. Returns how many bytes it passed.
    fn pass(&mut self, xml: &[u8], out: &mut Vec<u8>) -> usize {
        let Some(end) = self.passed_until else { return 0 };
        let passed_bytes = match xml.windows(end.len()).position(|window| window == end) {
            Some(at) => {
                self.passed_until = None;
                at + end.len()
            }
            // The last bytes may be the start of the end marker.
            None => xml.len().saturating_sub(end.len() - 1),
        };
        out.extend_from_slice(&xml[..passed_bytes]);
        passed_bytes
    }

    /// Writes complete pieces of markup. Returns how many bytes it consumed.
    fn rewrite(&mut self, xml: &[u8], out: &mut Vec<u8>) -> anyhow::Result<usize> {
        let mark_bytes = if xml.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        out.extend_from_slice(&xml[..mark_bytes]);
        let mut reader = Reader::from_reader(&xml[mark_bytes..]);
        let config = reader.config_mut();
        // The reader sees pieces in isolation and cannot check the nesting.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut done = mark_bytes;
        while let Ok(event) = reader.read_event() {
            let end = mark_bytes + usize::try_from(reader.buffer_position()).context("a page's length")?;
            let piece = &xml[done..end];
            match event {
                Event::Eof => break,
                Event::Start(tag) => self.write_start(&tag, piece, out)?,
                Event::Empty(tag) => self.write_empty(&tag, piece, out)?,
                Event::End(tag) => self.write_end(&tag, piece, out),
                Event::DocType(declaration) => {
                    // It may declare entities, so the targets of links cannot be determined.
                    self.signer.take_if(|_| declaration.contains(&b'['));
                    out.extend_from_slice(piece);
                }
                _ => out.extend_from_slice(piece),
            }
            done = end;
        }
        Ok(done)
    }

    fn write_start(&mut self, tag: &BytesStart<'_>, piece: &[u8], out: &mut Vec<u8>) -> anyhow::Result<()> {
        self.depth += 1;
        match self.sign(tag)? {
            Some(signed) => signed.write(out, ">"),
            None => out.extend_from_slice(piece),
        }
        Ok(())
    }

    fn write_empty(&mut self, tag: &BytesStart<'_>, piece: &[u8], out: &mut Vec<u8>) -> anyhow::Result<()> {
        let signed = self.sign(tag)?;
        if tag.local_name().as_ref() == b"form"
            && let Some(signer) = &mut self.signer
        {
            // It has no content, so nothing is sent with it.
            let _ = signer.leave_form();
        }
        match signed {
            Some(signed) => signed.write(out, "/>"),
            None => out.extend_from_slice(piece),
        }
        if tag.local_name().as_ref() == b"body"
            && let Some(badge) = self.badge.take()
        {
            out.truncate(out.len() - "/>".len());
            out.push(b'>');
            out.extend_from_slice(badge.as_bytes());
            out.extend_from_slice(b"</");
            out.extend_from_slice(tag.name().as_ref());
            out.push(b'>');
        }
        Ok(())
    }

    fn write_end(&mut self, tag: &BytesEnd<'_>, piece: &[u8], out: &mut Vec<u8>) {
        self.depth = self.depth.saturating_sub(1);
        if tag.local_name().as_ref() == b"form"
            && let Some(field) = self.signer.as_mut().and_then(LinkSigner::leave_form)
        {
            out.extend_from_slice(field.as_bytes());
        }
        // Without a body, the badge goes before the end of the root element: nothing may follow it.
        if (tag.local_name().as_ref() == b"body" || self.depth == 0)
            && let Some(badge) = self.badge.take()
        {
            out.extend_from_slice(badge.as_bytes());
        }
        out.extend_from_slice(piece);
    }

    /// The tag with its links signed, or `None` if it stays unchanged.
    fn sign(&mut self, tag: &BytesStart<'_>) -> anyhow::Result<Option<XmlTag>> {
        let Some(signer) = &mut self.signer else { return Ok(None) };
        let Some(mut tag) = XmlTag::read(tag) else { return Ok(None) };
        signer.sign_tag(&mut tag)?;
        Ok(tag.is_changed.then_some(tag))
    }
}

struct XmlTag {
    /// With its prefix.
    name: String,
    /// As written in the source.
    attributes: Vec<(String, String)>,
    is_changed: bool,
}

impl XmlTag {
    /// `None` if it is ill-formed.
    fn read(tag: &BytesStart<'_>) -> Option<Self> {
        let text = |bytes: &[u8]| str::from_utf8(bytes).ok().map(str::to_owned);
        let attributes = tag.attributes().map(|attribute| {
            let attribute = attribute.ok()?;
            Some((text(attribute.key.as_ref())?, text(&attribute.value)?))
        });
        let (name, attributes) = (text(tag.name().as_ref())?, attributes.collect::<Option<_>>()?);
        Some(Self { name, attributes, is_changed: false })
    }

    fn write(&self, out: &mut Vec<u8>, end: &str) {
        let mut text = format!("<{}", self.name);
        for (name, value) in &self.attributes {
            // A value in single quotes may contain double quotes.
            text.push_str(&format!(" {name}=\"{}\"", value.replace('"', "&quot;")));
        }
        text.push_str(end);
        out.extend_from_slice(text.as_bytes());
    }
}

impl Tag for XmlTag {
    fn name(&self) -> String {
        let (_, local) = self.name.rsplit_once(':').unwrap_or_default();
        if local.is_empty() { self.name.clone() } else { local.to_owned() }
    }

    fn may_be_foreign(&self) -> bool {
        self.name.contains(':') || self.attribute("xmlns").is_some_and(|namespace| namespace != XHTML)
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let (_, value) = self.attributes.iter().find(|(known, _)| known == name)?;
        // XML normalizes literal whitespace in attributes to spaces.
        let value = value.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
        unescape_with(&value, resolve_html5_entity).ok().map(String::from)
    }

    fn set_attribute(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        let value = htmlize::escape_attribute(text);
        let value = value.replace('\t', "&#9;").replace('\n', "&#10;").replace('\r', "&#13;");
        match self.attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
        self.is_changed = true;
        Ok(())
    }
}
