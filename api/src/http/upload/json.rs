//! A publish in JSON: the page as `html`, or `files` with their content as text or in base64.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use domain::{FileSet, Message, Refusal, SitePath, Slug};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use service::{FileSource, PlannedFile, SitePlan};

use super::schema::{SHA256_PATTERN, base_schema, delete_schema};
use super::source::{ContentEncoding, GivenBase, GivenContent, JsonVersion};
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
    files: Option<Few<OnlyObject<JsonFile<'a>>>>,
    base: Option<JsonVersion>,
    #[serde(borrow)]
    delete: Option<Few<JsonText<'a>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFile<'a> {
    #[serde(borrow)]
    path: JsonText<'a>,
    #[serde(borrow)]
    content: Option<JsonText<'a>>,
    /// Omitted and null both mean the default.
    encoding: Option<ContentEncoding>,
    #[serde(borrow)]
    sha256: Option<JsonText<'a>>,
    size_bytes: Option<u64>,
}

/// serde borrows a `Cow` only in a field of its own, not within an `Option`.
#[derive(Deserialize)]
struct JsonText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Keeps as many entries as a publish may have files, and one more, so that the publish is refused. Further
/// entries are skipped, so a long list takes no memory.
struct Few<T>(Vec<T>);

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
        let ParsedPublish { slug, message, expected_version, site } =
            compute(length, move || parse(&bytes)).await?;
        drop(memory);
        Ok(Uploaded { slug, message, expected_version, site, memory: content_memory })
    }

    pub fn schema() -> MetaSchemaRef {
        inline(MetaSchema {
            description: Some("Send `html` or `files`, not both. With `base`, neither is needed."),
            properties: vec![
                ("slug", or_null(slug_schema())),
                ("message", or_null(message_schema())),
                ("expected_version", or_null(expected_version_schema())),
                ("html", html_schema()),
                ("files", json_files_schema()),
                ("base", or_null(base_schema())),
                ("delete", or_null(delete_schema())),
            ],
            any_of: ["html", "files", "base"].map(requiring).into(),
            example: Some(json!({ "slug": "my-page", "html": "<h1>Hello</h1>" })),
            ..MetaSchema::new("object")
        })
    }
}

struct ParsedPublish {
    slug: Option<Slug>,
    message: Option<Message>,
    expected_version: Option<u32>,
    site: SitePlan,
}

fn parse(body: &[u8]) -> Result<ParsedPublish, Refusal> {
    let JsonFields { slug, message, expected_version, html, files, base, delete } =
        json_body::parse::<OnlyObject<_>>(body)?.0;
    let slug = slug.map(|slug| parse_slug(slug.0.as_bytes())).transpose()?;
    let message = message.map(|message| parse_message(message.0.as_bytes())).transpose()?.flatten();
    let expected_version = expected_version.map(expected_version_of).transpose()?;
    let files = match (html, files) {
        (Some(_), Some(_)) => return Err(both()),
        (None, None) if base.is_none() => return Err(neither()),
        (None, None) => vec![],
        (Some(html), None) => vec![page(html)?],
        (None, Some(Few(files))) if files.is_empty() && base.is_none() => {
            return Err(Refusal::invalid("files", "is empty; send at least one file"));
        }
        (None, Some(Few(files))) => planned(files)?,
    };
    let deleted = delete.into_iter().flat_map(|Few(paths)| paths).map(|path| path.0.into_owned()).collect();
    let site = GivenBase { version: base.map(|base| base.0), deleted }.plan(files)?;
    Ok(ParsedPublish { slug, message, expected_version, site })
}

fn page(JsonText(html): JsonText<'_>) -> Result<PlannedFile, Refusal> {
    if html.is_empty() {
        return Err(empty_html());
    }
    FileSet::default().grow(html.len())?;
    let page = FileSource::Sent(html.into_owned().into());
    Ok(PlannedFile { path: SitePath::index(), source: page })
}

fn planned(files: Vec<OnlyObject<JsonFile<'_>>>) -> Result<Vec<PlannedFile>, Refusal> {
    let (mut set, mut planned) = (FileSet::default(), Vec::with_capacity(files.len()));
    for (number, OnlyObject(file)) in files.into_iter().enumerate() {
        let JsonFile { path, content, encoding, sha256, size_bytes } = file;
        let path = site_path(&path.0)?;
        set.add(&path)?;
        let (content, sha256) = (content.map(|text| text.0), sha256.map(|text| text.0));
        let source = GivenContent { content, encoding, sha256, size_bytes }.source(number)?;
        if let FileSource::Sent(bytes) = &source {
            set.grow(bytes.len())?;
        }
        planned.push(PlannedFile { path, source });
    }
    Ok(planned)
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FewVisitor(PhantomData))
    }
}

/// A field that is present, and not null.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
        let mut entries = Vec::new();
        while entries.len() <= FileSet::FILES_MAX {
            match list.next_element()? {
                Some(entry) => entries.push(entry),
                None => return Ok(Few(entries)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Few(entries))
    }
}

fn json_files_schema() -> MetaSchemaRef {
    let file = MetaSchema {
        properties: vec![
            ("path", path_schema()),
            ("content", or_null(content_schema())),
            ("encoding", or_null(encoding_schema())),
            ("sha256", or_null(sha256_schema())),
            ("size_bytes", or_null(size_schema())),
        ],
        required: vec!["path"],
        any_of: ["content", "sha256"].map(requiring).into(),
        ..MetaSchema::new("object")
    };
    inline(MetaSchema {
        description: Some(
            "The files of a site, each with its `path`, its `content` and, for base64, \
             `\"encoding\": \"base64\"`. A file whose content the account holds may have its `sha256` in \
             place of `content`. If the account does not hold it, the response is 409 `content_missing`.",
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

fn content_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("The file's content: text, or base64 if `encoding` is `base64`."),
        ..MetaSchema::new("string")
    })
}

fn sha256_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("The SHA-256 of a content that the account holds, in lower-case hexadecimal."),
        pattern: Some(SHA256_PATTERN.to_owned()),
        ..MetaSchema::new("string")
    })
}

fn size_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("The size of the content. It is checked."),
        format: Some("uint64"),
        ..MetaSchema::new("integer")
    })
}
