//! The slug and the message of an archive, which are in the query because the archive has no fields.

use domain::{Message, Refusal, Slug};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::{message_schema, parse_message, parse_slug, slug_schema};
use crate::http::paging::parameter;
use crate::http::publish_type::PublishType;
use crate::http::refusal::RefusedCall;

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

impl<T: ArchiveText> ArchiveField<T> {
    fn of(request: &Request) -> Result<Self, Refusal> {
        let Some(PublishType::Archive(_)) = PublishType::of(request) else { return Ok(Self(None)) };
        let text = parameter(request, T::NAME)?;
        Ok(Self(text.map(|text| T::read(&text)).transpose()?.flatten()))
    }
}

impl<'a, T: ArchiveText> ApiExtractor<'a> for ArchiveField<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(T::schema())
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        Ok(Self::of(request).map_err(RefusedCall::from)?)
    }
}
