//! The slug and the message of an archive, which are in the query because the archive has no fields.

use domain::{Message, Refusal, Slug};
use poem::Request;
use poem_openapi::registry::MetaSchemaRef;

use super::{message_schema, parse_message, parse_slug, slug_schema};
use crate::http::publish_type::PublishType;
use crate::http::query_parameter::{QueryParameter, parameter, query_parameters};

/// The slug and the message of an archive, from the query.
#[derive(Default)]
pub struct NamedUpload {
    pub slug: Option<Slug>,
    pub message: Option<Message>,
}

/// A field of an archive. Other bodies have a field of their own, so the parameter does not apply to them.
pub struct ArchiveField<T>(pub Option<T>);

/// A type that a field is read into.
pub trait ArchiveText: Sized + Send {
    const NAME: &'static str;

    fn read(text: &str) -> Result<Option<Self>, Refusal>;

    fn schema() -> MetaSchemaRef;
}

impl ArchiveText for Slug {
    const NAME: &'static str = "slug";

    fn read(text: &str) -> Result<Option<Self>, Refusal> {
        parse_slug(text.as_bytes()).map(Some)
    }

    fn schema() -> MetaSchemaRef {
        slug_schema()
    }
}

impl ArchiveText for Message {
    const NAME: &'static str = "message";

    fn read(text: &str) -> Result<Option<Self>, Refusal> {
        parse_message(text.as_bytes())
    }

    fn schema() -> MetaSchemaRef {
        message_schema()
    }
}

impl<T: ArchiveText> QueryParameter for ArchiveField<T> {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let Some(PublishType::Archive(_)) = PublishType::of(request) else { return Ok(Self(None)) };
        let text = parameter(request, T::NAME)?;
        Ok(Self(text.map(|text| T::read(&text)).transpose()?.flatten()))
    }

    fn schema() -> MetaSchemaRef {
        T::schema()
    }
}

query_parameters! {
    ArchiveField<T> where T: ArchiveText;
}
