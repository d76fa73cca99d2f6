//! A publish in JSON: the page as `html`, or `files` with their content as text or in base64.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::{FileSet, Message, Refusal, SitePath, Slug};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use service::UploadedFile;

use super::string_bytes::StringBytes;
use super::whole_body::{ReadBody, WholeBody, compute};
use super::{
    Uploaded, both, empty_html, html_schema, inline, message_schema, neither, parse_message, parse_slug,
    requiring, site_path, slug_schema,
};
use crate::http::condition_header::expected_version as expected_version_of;
use crate::http::json_body;
use crate::http::only_object::OnlyObject;

/// A JSON body that has not been read yet.
pub struct JsonUpload(pub WholeBody);

/// The fields of the body. Strings without escapes are borrowed from it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFields<'a> {
    #[serde(borrow)]
    slug: Option<JsonText<'a>>,
    #[serde(borrow)]
    message: Option<JsonText<'a>>,
    expected_version: Option<u32>,
    #[serde(borrow, default, deserialize_with = "not_null")]
    html: Option<JsonText<'a>>,
    #[serde(borrow, default, deserialize_with = "not_null")]
    files: Option<FewFiles<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFile<'a> {
    #[serde(borrow)]
    path: JsonText<'a>,
    #[serde(borrow)]
    content: JsonText<'a>,
    /// Omitted and null both mean the default.
    encoding: Option<ContentEncoding>,
}

/// serde borrows a `Cow` only in a field of its own, not within an `Option`.
#[derive(Deserialize)]
struct JsonText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Keeps as many files as a publish may have, and one more, so that the publish is refused. Further files are
/// skipped, so a long list takes no memory.
struct FewFiles<'a>(Vec<JsonFile<'a>>);

/// How the content of a file is written in JSON.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub enum ContentEncoding {
    #[default]
    #[serde(rename = "utf8", alias = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

/// The content of a file in JSON. `number` is its position in the list.
pub fn decoded(
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

impl JsonUpload {
    /// Reads the body without a permit, as a form is read.
    pub async fn read(self) -> Result<Uploaded, Refusal> {
        let share = self.0.share.clone();
        let mut strings = StringBytes::default();
        let ReadBody { bytes, memory } = self.0.read(|chunk| strings.take(chunk)).await?;
        // While the body is parsed, its content is in memory a second time.
        let mut content_memory = share.enter();
        let length = bytes.len();
        content_memory.grow(length).await?;
        let ParsedPublish { slug, message, expected_version, files } =
            compute(length, move || parse(&bytes)).await?;
        drop(memory);
        Ok(Uploaded { slug, message, expected_version, files, memory: content_memory })
    }

    pub fn schema() -> MetaSchemaRef {
        inline(MetaSchema {
            description: Some("Send `html` or `files`, not both."),
            properties: vec![
                ("slug", or_null(slug_schema())),
                ("message", or_null(message_schema())),
                ("expected_version", or_null(expected_version_schema())),
                ("html", html_schema()),
                ("files", json_files_schema()),
            ],
            one_of: vec![requiring("html"), requiring("files")],
            example: Some(json!({ "slug": "my-page", "html": "<h1>Hello</h1>" })),
            ..MetaSchema::new("object")
        })
    }
}

struct ParsedPublish {
    slug: Option<Slug>,
    message: Option<Message>,
    expected_version: Option<u32>,
    files: Vec<UploadedFile>,
}

fn parse(body: &[u8]) -> Result<ParsedPublish, Refusal> {
    let JsonFields { slug, message, expected_version, html, files } =
        json_body::parse::<OnlyObject<_>>(body)?.0;
    let slug = slug.map(|slug| parse_slug(slug.0.as_bytes())).transpose()?;
    let message = message.map(|message| parse_message(message.0.as_bytes())).transpose()?.flatten();
    let expected_version = expected_version.map(expected_version_of).transpose()?;
    let files = match (html, files) {
        (Some(_), Some(_)) => return Err(both()),
        (None, None) => return Err(neither()),
        (Some(html), None) => vec![page(html)?],
        (None, Some(FewFiles(files))) => site(files)?,
    };
    Ok(ParsedPublish { slug, message, expected_version, files })
}

fn page(JsonText(html): JsonText<'_>) -> Result<UploadedFile, Refusal> {
    if html.is_empty() {
        return Err(empty_html());
    }
    FileSet::default().grow(html.len())?;
    Ok(UploadedFile { path: SitePath::index(), bytes: html.into_owned().into() })
}

fn site(files: Vec<JsonFile<'_>>) -> Result<Vec<UploadedFile>, Refusal> {
    let (mut set, mut site) = (FileSet::default(), Vec::with_capacity(files.len()));
    for (number, JsonFile { path, content, encoding }) in files.into_iter().enumerate() {
        let path = site_path(&path.0)?;
        set.add(&path)?;
        let bytes = decoded(number, content.0, encoding.unwrap_or_default())?;
        set.grow(bytes.len())?;
        site.push(UploadedFile { path, bytes });
    }
    if site.is_empty() {
        return Err(Refusal::invalid("files", "is empty; send at least one file"));
    }
    Ok(site)
}

impl<'de: 'a, 'a> Deserialize<'de> for FewFiles<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FewFilesVisitor)
    }
}

/// A field that is present, and not null.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

struct FewFilesVisitor;

impl<'de> Visitor<'de> for FewFilesVisitor {
    type Value = FewFiles<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FewFiles<'de>, A::Error> {
        let mut files = Vec::new();
        while files.len() <= FileSet::FILES_MAX {
            match list.next_element()? {
                Some(OnlyObject(file)) => files.push(file),
                None => return Ok(FewFiles(files)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FewFiles(files))
    }
}

fn json_files_schema() -> MetaSchemaRef {
    let file = MetaSchema {
        properties: vec![
            ("path", path_schema()),
            ("content", described("The file's content: text, or base64 if `encoding` is `base64`.")),
            ("encoding", or_null(encoding_schema())),
        ],
        required: vec!["path", "content"],
        ..MetaSchema::new("object")
    };
    inline(MetaSchema {
        description: Some(
            "The files of a site, each with its `path`, its `content` and, for base64, \
             `\"encoding\": \"base64\"`.",
        ),
        items: Some(Box::new(inline(file))),
        min_items: Some(1),
        max_items: Some(FileSet::FILES_MAX),
        ..MetaSchema::new("array")
    })
}

fn expected_version_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some(
            "The number that the live version must have, as with `If-Match`. Otherwise 412, and nothing is \
             published.",
        ),
        minimum: Some(1.0),
        format: Some("uint32"),
        ..MetaSchema::new("integer")
    })
}

fn path_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("The file's path in the site, such as `css/app.css`."),
        min_length: Some(1),
        max_length: Some(SitePath::LENGTH_MAX),
        ..MetaSchema::new("string")
    })
}

fn encoding_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("How `content` is written. If omitted, it is text."),
        enum_items: vec![Value::from("utf8"), Value::from("base64")],
        ..MetaSchema::new("string")
    })
}

fn or_null(schema: MetaSchemaRef) -> MetaSchemaRef {
    match schema {
        MetaSchemaRef::Inline(schema) => inline(MetaSchema { nullable: true, ..*schema }),
        reference => reference,
    }
}

fn described(description: &'static str) -> MetaSchemaRef {
    inline(MetaSchema { description: Some(description), ..MetaSchema::new("string") })
}
