//! What a publish names in place of sending it: contents by their SHA-256, and the version that the site is
//! made from. The rules are the same in JSON, in forms and in tools.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::{BlobHash, FileSet, MalformedVersionChoice, Refusal, VersionChoice};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use service::{FileSource, PlannedFile, SiteBase, SitePlan, StoredContent};

/// How the content of a file is written in JSON.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub enum ContentEncoding {
    #[default]
    #[serde(rename = "utf8", alias = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

/// The content of a file in JSON: sent, or named by its hash.
pub struct GivenContent<T> {
    pub content: Option<T>,
    pub encoding: Option<ContentEncoding>,
    pub sha256: Option<T>,
    pub size_bytes: Option<u64>,
}

/// The version that a site is made from, and the paths to leave out.
#[derive(Default)]
pub struct GivenBase {
    pub version: Option<VersionChoice>,
    pub deleted: Vec<String>,
}

/// A version in JSON: its number, or `live`.
#[derive(Clone, Copy)]
pub struct JsonVersion(pub VersionChoice);

impl<T: Into<String> + AsRef<str>> GivenContent<T> {
    /// `number` is the position of the file in the list.
    pub fn source(self, number: usize) -> Result<FileSource, Refusal> {
        match (self.content, self.sha256) {
            (Some(content), None) => {
                let bytes = decoded(number, content, self.encoding.unwrap_or_default())?;
                match self.size_bytes.filter(|stated| *stated != bytes.len() as u64) {
                    Some(stated) => Err(Refusal::invalid(
                        format!("files[{number}].size_bytes"),
                        format!("is {stated}, but the content has {} bytes", bytes.len()),
                    )),
                    None => Ok(FileSource::Sent(bytes)),
                }
            }
            (None, Some(hash)) => {
                let hash = parse_hash(&format!("files[{number}].sha256"), hash.as_ref())?;
                Ok(FileSource::Stored(StoredContent { hash, size_bytes: self.size_bytes }))
            }
            (Some(_), Some(_)) => Err(Refusal::invalid(
                format!("files[{number}].sha256"),
                "cannot be sent together with content; send one of them",
            )),
            (None, None) => Err(Refusal::InvalidBody {
                fault: format!("files[{number}]: missing field `content`, or `sha256` in its place"),
            }),
        }
    }
}

impl GivenBase {
    /// The plan of a site with these files.
    pub fn plan(self, files: Vec<PlannedFile>) -> Result<SitePlan, Refusal> {
        let Self { version, deleted } = self;
        if deleted.len() > FileSet::FILES_MAX {
            let fault =
                format!("has more than {} paths, and no version has as many files", FileSet::FILES_MAX);
            return Err(Refusal::invalid("delete", fault));
        }
        if version.is_none() && !deleted.is_empty() {
            return Err(Refusal::invalid("delete", "needs base, the version that has the files"));
        }
        Ok(SitePlan { files, base: version.map(|version| SiteBase { version, deleted }) })
    }
}

/// The hash of a content, in the notation of responses.
pub fn parse_hash(field: &str, text: &str) -> Result<BlobHash, Refusal> {
    BlobHash::of_request(text).map_err(|_| {
        Refusal::invalid(field, "must be the SHA-256 of the content as 64 lower-case hexadecimal digits")
    })
}

fn decoded(
    number: usize,
    content: impl Into<String> + AsRef<str>,
    encoding: ContentEncoding,
) -> Result<Bytes, Refusal> {
    match encoding {
        ContentEncoding::Utf8 => Ok(Bytes::from(content.into())),
        ContentEncoding::Base64 => {
            STANDARD.decode(&*in_one_line(content.as_ref())).map(Bytes::from).map_err(|fault| {
                Refusal::invalid(format!("files[{number}].content"), format!("is not base64: {fault}"))
            })
        }
    }
}

/// Base64 without its line breaks, which many programs add.
fn in_one_line(text: &str) -> Cow<'_, str> {
    let is_space = |letter: char| letter.is_ascii_whitespace();
    match text.contains(is_space) {
        true => Cow::Owned(text.split(is_space).collect()),
        false => Cow::Borrowed(text),
    }
}

impl<'de> Deserialize<'de> for JsonVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVersionVisitor)
    }
}

struct JsonVersionVisitor;

impl Visitor<'_> for JsonVersionVisitor {
    type Value = JsonVersion;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of a version, or \"live\"")
    }

    fn visit_u64<E: Error>(self, seq: u64) -> Result<JsonVersion, E> {
        let choice = seq.to_string().parse();
        choice.map(JsonVersion).map_err(|fault: MalformedVersionChoice| E::custom(fault))
    }

    fn visit_i64<E: Error>(self, _seq: i64) -> Result<JsonVersion, E> {
        Err(E::custom(MalformedVersionChoice))
    }

    /// Models also write `1.0`, which is an integer in JSON Schema.
    fn visit_f64<E: Error>(self, seq: f64) -> Result<JsonVersion, E> {
        let is_whole = seq.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&seq);
        if is_whole { self.visit_u64(seq as u64) } else { Err(E::custom(MalformedVersionChoice)) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonVersion, E> {
        if text == "live" {
            Ok(JsonVersion(VersionChoice::Live))
        } else {
            Err(E::custom(MalformedVersionChoice))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_version_is_a_number_or_live() {
        let read = |text: &str| serde_json::from_str::<JsonVersion>(text).map(|version| version.0);
        for (text, choice) in [
            ("\"live\"", VersionChoice::Live),
            ("3", VersionChoice::Numbered(3)),
            ("3.0", VersionChoice::Numbered(3)),
        ] {
            assert_eq!(read(text).unwrap(), choice, "{text}");
        }
        for text in ["0", "-1", "1.5", "\"3\"", "\"Live\"", "\"\"", "[]", "true", "99999999999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_content_is_sent_or_named_and_its_size_must_be_true() {
        let hash = BlobHash::of(b"abc").to_string();
        let given = |content: Option<&str>, sha256: Option<&str>, size_bytes| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            GivenContent { content: text(content), encoding: None, sha256: text(sha256), size_bytes }
                .source(2)
        };
        assert!(matches!(given(Some("abc"), None, Some(3)), Ok(FileSource::Sent(_))));
        assert!(matches!(given(None, Some(&hash), Some(9)), Ok(FileSource::Stored(_))));
        let upper = hash.to_uppercase();
        for (content, sha256, size_bytes, message) in [
            (Some("abc"), None, Some(4), "files[2].size_bytes: is 4, but the content has 3 bytes"),
            (Some("abc"), Some(&*hash), None, "files[2].sha256: cannot be sent together with content"),
            (None, Some(&*upper), None, "files[2].sha256: must be the SHA-256"),
            (None, Some("abc"), None, "files[2].sha256: must be the SHA-256"),
            (None, None, None, "invalid request body: files[2]: missing field `content`"),
        ] {
            let refusal = given(content, sha256, size_bytes).unwrap_err();
            assert!(refusal.message().starts_with(message), "{refusal}");
        }
    }
}
