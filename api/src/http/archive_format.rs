//! The query parameter `format` of an archive.

use domain::Refusal;
use poem::Request;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use service::ArchiveFormat;

use crate::http::query_parameter::{QueryParameter, parameter, query_parameters};

const FORMAT: &str = "format";
const ZIP: &str = "zip";
const TAR_GZ: &str = "tar.gz";

pub struct FormatParameter(pub ArchiveFormat);

impl QueryParameter for FormatParameter {
    fn of(request: &Request) -> Result<Self, Refusal> {
        match parameter(request, FORMAT)?.as_deref() {
            None | Some(ZIP) => Ok(Self(ArchiveFormat::Zip)),
            Some(TAR_GZ) => Ok(Self(ArchiveFormat::TarGz)),
            Some(_) => Err(Refusal::invalid(FORMAT, "must be zip or tar.gz")),
        }
    }

    fn schema() -> MetaSchemaRef {
        let enum_items = vec![ZIP.into(), TAR_GZ.into()];
        let schema = MetaSchema { enum_items, default: Some(ZIP.into()), ..MetaSchema::new("string") };
        MetaSchemaRef::Inline(Box::new(schema))
    }
}

query_parameters! {
    FormatParameter;
}
