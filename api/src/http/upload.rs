//! The multipart body of a publish: one page (`html`) or the files of a site (`files`), the `slug`, and the
//! `message` of the version. A `manifest` names files that are not sent; `base` and `delete` name a version
//! that the site is made from. The modules below have the other forms of a publish, with the same rules.
//!
//! An [`Upload`] is read only after a handler has checked the caller, so that a refused caller does not
//! upload for nothing. It is read as a stream, within the limits of [`crate::http::body`] and [`FileSet`]:
//! the first byte too many ends it.

use std::error::Error;

use bytes::BytesMut;
use domain::{FileSet, MalformedMessage, Message, Refusal, SitePath, Slug};
use futures::{StreamExt, TryStreamExt, future, stream};
use multer::{Field, Multipart};
use poem::{Body, Request, RequestBody};
use poem_openapi::impl_apirequest_for_payload;
use poem_openapi::payload::{ParsePayload, Payload};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use serde_json::json;
use service::{FileSource, PlannedFile, SitePlan};
use tokio::sync::Mutex;
use tokio::task::yield_now;

use crate::http::body;
use crate::http::permits::RequestPermit;
use crate::http::refusal::RefusedCall;
use crate::http::upload_budget::{BodyShare, HeldMemory};

mod archive;
mod dropped;
mod file_name;
mod json;
mod publish_body;
mod query;
mod schema;
mod site_fields;
mod source;
mod staged;
mod string_bytes;
mod whole_body;

pub use archive::NO_ZIP;
pub use dropped::DroppedUpload;
pub use publish_body::PublishBody;
pub use query::{ArchiveField, NamedUpload};
pub use schema::SHA256_PATTERN;
pub use source::{ContentEncoding, GivenBase, GivenContent, JsonVersion};
pub use staged::{ReadUpload, StagedUpload};
pub use whole_body::{ReadBody, WholeBody};

use file_name::{file_name_of, ignore_unchosen, is_named_in_utf_8, site_path};
use schema::{
    base_text_schema, delete_schema, files_schema, html_schema, inline, manifest_schema, message_schema,
    requiring, slug_schema,
};
use site_fields::{BaseFields, named_files};

/// The longest text part that is read: a message in characters of four bytes.
const TEXT_BYTES_MAX: usize = 4 * Message::LENGTH_MAX;

/// A field name from the client is quoted up to this length.
const FIELD_NAME_LENGTH_MAX: usize = 64;
/// Faults of the field `files`.
pub const NO_FILES_CHOSEN: &str = "is missing; choose a file or a folder";
pub const NO_VISIBLE_FILES: &str = "is empty, or has only hidden files; choose a file";

/// A multipart body that has not been read yet.
pub struct Upload {
    body: Body,
    boundary: String,
    share: BodyShare,
    permit: RequestPermit,
}

/// A multipart body that was read and is valid.
pub struct Uploaded {
    pub slug: Option<Slug>,
    pub message: Option<Message>,
    /// The number that the live version must have. Only in JSON.
    pub expected_version: Option<u32>,
    pub site: SitePlan,
    /// Must be held as long as the files are in memory.
    pub memory: HeldMemory,
}

impl Upload {
    fn of(request: &Request, body: &mut RequestBody) -> poem::Result<Self> {
        let content_type = request.content_type().unwrap_or_default();
        let boundary = multer::parse_boundary(content_type).map_err(unreadable).map_err(RefusedCall::from)?;
        Ok(Self {
            body: body.take()?,
            boundary,
            share: BodyShare::of(request),
            permit: RequestPermit::of(request),
        })
    }

    /// The permit of the request.
    pub fn permit(&self) -> &RequestPermit {
        &self.permit
    }

    /// Reads the body without a permit. The handler then waits in the queue of the work that follows, and a
    /// slow upload must not hold a permit that others need.
    pub async fn read(self) -> Result<Uploaded, Refusal> {
        self.read_keeping(|_| true, &mut None).await
    }

    /// As [`Self::read`], without the files that `keeps` rejects. `source` says where the content came from,
    /// also if the body is refused.
    async fn read_keeping(
        self,
        keeps: fn(&SitePath) -> bool,
        source: &mut Option<Source>,
    ) -> Result<Uploaded, Refusal> {
        self.permit.release();
        // The whole body counts against the memory budget, even what comes before its first part, which
        // multer buffers.
        let memory = Mutex::new(self.share.enter());
        let mut body = Box::pin(self.body.into_bytes_stream().and_then(|chunk| {
            let memory = &memory;
            async move {
                memory.lock().await.grow(chunk.len()).await.map_err(body::refused)?;
                Ok(chunk)
            }
        }));
        // multer polls its stream twice in one poll of its own. If the first poll finds nothing and the
        // second finds the whole form and its end, multer reports an incomplete form. So the end of the
        // stream always comes in a poll of its own.
        let end_by_itself = stream::once(yield_now()).filter_map(|()| future::ready(None));
        let mut fields = Multipart::new((&mut body).chain(end_by_itself), self.boundary);
        let mut parts = MultipartFields::default();
        while let Some(field) = fields.next_field().await.map_err(unreadable)? {
            let taken = parts.take(field, keeps).await;
            *source = parts.source;
            taken?;
        }
        drop(fields);
        // A form may end before its body does. Nothing from a body that is cut off is accepted.
        while let Some(rest) = body.next().await {
            rest.map_err(|error| refusal_behind(&error).unwrap_or_else(incomplete))?;
        }
        drop(body);
        parts.finish(memory.into_inner())
    }
}

/// The fields that have been read so far.
#[derive(Default)]
struct MultipartFields {
    slug: Option<Slug>,
    message: Option<Message>,
    source: Option<Source>,
    /// Whether a file was chosen, even one that is left out.
    is_chosen: bool,
    set: FileSet,
    files: Vec<PlannedFile>,
    base: BaseFields,
}

/// The field that the content came from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Html,
    Files,
}

impl MultipartFields {
    async fn take(&mut self, field: Field<'_>, keeps: fn(&SitePath) -> bool) -> Result<(), Refusal> {
        match field.name() {
            Some("slug") => self.take_slug(field).await,
            Some("message") => self.take_message(field).await,
            Some("html") => self.take_html(field).await,
            Some("files") => self.take_file(field, keeps).await,
            Some("manifest") => self.take_manifest(field).await,
            Some("base") => self.base.take_base(field).await,
            Some("delete") => self.base.take_deleted(field).await,
            Some(other) => {
                let fault = "is not a field of this form; the fields are slug, message, html, files, \
                             manifest, base and delete";
                Err(Refusal::invalid(quoted(other), fault))
            }
            None if is_named_in_utf_8(&field) => Err(Refusal::invalid("body", "has a part without a name")),
            None => Err(Refusal::invalid("body", "has a part whose name is not in UTF-8")),
        }
    }

    async fn take_slug(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        if self.slug.is_some() {
            return Err(Refusal::invalid("slug", "occurs twice"));
        }
        self.slug = Some(parse_slug(&text_of(field).await?)?);
        Ok(())
    }

    async fn take_message(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        if self.message.is_some() {
            return Err(Refusal::invalid("message", "occurs twice"));
        }
        self.message = parse_message(&text_of(field).await?)?;
        Ok(())
    }

    async fn take_html(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        match self.source {
            None => self.source = Some(Source::Html),
            Some(Source::Html) => return Err(Refusal::invalid("html", "occurs twice")),
            Some(Source::Files) => return Err(both()),
        }
        self.take_content(SitePath::index(), field).await?;
        // Spec 4.2: `html` is a string. A page in another encoding can be sent as a file.
        let page = self.files.last().map(|page| &page.source);
        let Some(FileSource::Sent(page)) = page else { return Ok(()) };
        match std::str::from_utf8(page) {
            Ok("") => Err(empty_html()),
            Err(_) => Err(Refusal::invalid("html", "is not in UTF-8; send such a page as files")),
            Ok(_) => Ok(()),
        }
    }

    async fn take_file(&mut self, mut field: Field<'_>, keeps: fn(&SitePath) -> bool) -> Result<(), Refusal> {
        if self.source == Some(Source::Html) {
            return Err(both());
        }
        self.source = Some(Source::Files);
        let Some(name) = file_name_of(&field).filter(|name| !name.is_empty()) else {
            return ignore_unchosen(field).await;
        };
        self.is_chosen = true;
        let path = site_path(&name)?;
        if keeps(&path) {
            return self.take_content(path, field).await;
        }
        while field.chunk().await.map_err(unreadable)?.is_some() {}
        Ok(())
    }

    async fn take_content(&mut self, path: SitePath, mut field: Field<'_>) -> Result<(), Refusal> {
        self.set.add(&path)?;
        let mut content = BytesMut::new();
        while let Some(chunk) = field.chunk().await.map_err(unreadable)? {
            self.set.grow(chunk.len())?;
            content.extend_from_slice(&chunk);
        }
        self.files.push(PlannedFile { path, source: FileSource::Sent(content.freeze()) });
        Ok(())
    }

    async fn take_manifest(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        if self.source == Some(Source::Html) {
            return Err(both());
        }
        self.source = Some(Source::Files);
        for file in named_files(field).await? {
            self.set.add(&file.path)?;
            self.files.push(file);
        }
        Ok(())
    }

    fn finish(self, memory: HeldMemory) -> Result<Uploaded, Refusal> {
        if self.set.is_empty() && !self.base.has_version() {
            return Err(match self.source {
                Some(Source::Files) if !self.is_chosen => Refusal::invalid("files", NO_FILES_CHOSEN),
                Some(Source::Files) => Refusal::invalid("files", NO_VISIBLE_FILES),
                _ => neither(),
            });
        }
        let Self { slug, message, mut files, base, .. } = self;
        // A manifest has no order, so the whole site has that of its paths. Any division into files that are
        // sent and named is then the same request.
        if files.iter().any(|file| matches!(file.source, FileSource::Stored(_))) {
            files.sort_by(|one, other| one.path.cmp(&other.path));
        }
        let site = base.into_given().plan(files)?;
        Ok(Uploaded { slug, message, expected_version: None, site, memory })
    }
}

/// A short text part. A longer one is read only as far as needed to see that it is too long.
async fn text_of(field: Field<'_>) -> Result<Vec<u8>, Refusal> {
    bytes_of(field, TEXT_BYTES_MAX).await
}

async fn bytes_of(mut field: Field<'_>, bytes_max: usize) -> Result<Vec<u8>, Refusal> {
    let mut text = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(unreadable)? {
        text.extend_from_slice(&chunk);
        if text.len() > bytes_max {
            break;
        }
    }
    Ok(text)
}

fn both() -> Refusal {
    Refusal::invalid("html", "cannot be sent together with files; send one of them")
}

fn neither() -> Refusal {
    Refusal::invalid("html", "is missing, and so is files; send one of them, or base")
}

fn empty_html() -> Refusal {
    Refusal::invalid("html", "is empty")
}

fn parse_slug(text: &[u8]) -> Result<Slug, Refusal> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or_else(Refusal::malformed_slug)
}

/// A form sends its empty fields too. An empty message counts as none.
fn parse_message(text: &[u8]) -> Result<Option<Message>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let fault = match std::str::from_utf8(text) {
        // The text is cut, perhaps within a character.
        _ if text.len() > TEXT_BYTES_MAX => MalformedMessage.to_string(),
        Err(_) => "is not in UTF-8".to_owned(),
        Ok(text) => match text.parse() {
            Ok(message) => return Ok(Some(message)),
            Err(fault @ MalformedMessage) => fault.to_string(),
        },
    };
    Err(Refusal::invalid("message", fault))
}

/// The refusal that caused a read error, if any. A body that is too long is a publish that is too large.
fn refusal_behind(error: &(dyn Error + 'static)) -> Option<Refusal> {
    body::refusal_behind(error).map(|refusal| match refusal {
        Refusal::TooLarge { limit } => Refusal::PublishTooLarge { limit },
        refusal => refusal,
    })
}

fn incomplete() -> Refusal {
    Refusal::invalid("body", "ends before its declared length")
}

/// A name from the client, cut for a message.
fn quoted(name: &str) -> String {
    name.chars().take(FIELD_NAME_LENGTH_MAX).collect()
}

fn unreadable(error: multer::Error) -> Refusal {
    use multer::Error::{DecodeHeaderValue, IncompleteFieldData, ReadHeaderFailed};
    if let Some(refusal) = refusal_behind(&error) {
        return refusal;
    }
    match &error {
        IncompleteFieldData { field_name: Some(name) } => {
            Refusal::invalid(quoted(name), "ends in the middle of the part")
        }
        ReadHeaderFailed(_) | DecodeHeaderValue { .. } => Refusal::invalid(
            "files",
            "a part's header cannot be read; has its filename a control character or a line break?",
        ),
        error => Refusal::invalid("body", format!("is not valid multipart/form-data: {error}")),
    }
}

impl Payload for Upload {
    const CONTENT_TYPE: &'static str = "multipart/form-data";

    fn check_content_type(content_type: &str) -> bool {
        let essence = content_type.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(Self::CONTENT_TYPE)
    }

    fn schema_ref() -> MetaSchemaRef {
        inline(MetaSchema {
            description: Some("Send `html` or `files`, not both. With `base`, neither is needed."),
            properties: vec![
                ("slug", slug_schema()),
                ("message", message_schema()),
                ("html", html_schema()),
                ("files", files_schema()),
                ("manifest", manifest_schema()),
                ("base", base_text_schema()),
                ("delete", delete_schema()),
            ],
            example: Some(json!({ "slug": "my-page", "html": "<h1>Hello</h1>" })),
            ..MetaSchema::new("object")
        })
    }
}

impl ParsePayload for Upload {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> poem::Result<Self> {
        Self::of(request, body)
    }
}

impl_apirequest_for_payload!(Upload);

#[cfg(test)]
mod tests;
