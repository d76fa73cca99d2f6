//! Parts of a path that are parsed into types of their own and documented with their pattern.

use domain::{ArtifactName, BlobHash, Host, JobId, Missing, Queue, Refusal, Slug};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use crate::http::refusal::RefusedCall;

/// A type that a part of a path is read into.
pub trait PathName: Sized + Send {
    const PATTERN: &'static str;
    const EXAMPLE: &'static str;

    fn read(text: &str) -> Result<Self, Refusal>;
}

/// A part of the path. The argument's name is that of the parameter in the route. The macros of poem-openapi
/// recognize path parameters by the name of this type.
pub struct Path<T>(pub T);

impl PathName for Slug {
    const PATTERN: &'static str = Slug::PATTERN;
    const EXAMPLE: &'static str = "my-page";

    fn read(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::malformed_slug())
    }
}

impl PathName for ArtifactName {
    const PATTERN: &'static str = ArtifactName::PATTERN;
    const EXAMPLE: &'static str = "my-page-a1b2";

    fn read(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::invalid("slug", "is neither a slug nor a host"))
    }
}

impl PathName for Host {
    const PATTERN: &'static str = Host::PATTERN;
    const EXAMPLE: &'static str = "my-page-a1b2";

    fn read(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::invalid("host", "is not the host of a page"))
    }
}

impl PathName for Queue {
    const PATTERN: &'static str = "^(publish|scan|views|upkeep|rescan)$";
    const EXAMPLE: &'static str = "scan";

    fn read(text: &str) -> Result<Self, Refusal> {
        Queue::parse(text).ok_or(Refusal::NotFound(Missing::Queue))
    }
}

impl PathName for JobId {
    const PATTERN: &'static str = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";
    const EXAMPLE: &'static str = "01KC4GZJ2Q8W5T7RXN3VB6M9DE";

    fn read(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::invalid("id", "is not the id of a job"))
    }
}

/// The number of a version.
pub struct VersionNumber(pub u32);

impl VersionNumber {
    /// The largest number that the pattern allows.
    const MAX: u32 = 999_999_999;
}

impl PathName for VersionNumber {
    const PATTERN: &'static str = "^[1-9][0-9]{0,8}$";
    const EXAMPLE: &'static str = "2";

    fn read(text: &str) -> Result<Self, Refusal> {
        let number = text.parse().ok().filter(|number| (1..=Self::MAX).contains(number)).map(Self);
        number.ok_or_else(|| Refusal::invalid("seq", "is not the number of a version"))
    }
}

impl PathName for BlobHash {
    const PATTERN: &'static str = "^[0-9a-f]{64}$";
    const EXAMPLE: &'static str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn read(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::invalid("sha256", "is not a SHA-256 in hexadecimal"))
    }
}

/// The path of a file in a site, which may not exist.
pub struct FileName(pub String);

impl PathName for FileName {
    const PATTERN: &'static str = "^.+$";
    const EXAMPLE: &'static str = "css/app.css";

    fn read(text: &str) -> Result<Self, Refusal> {
        Ok(Self(text.to_owned()))
    }
}

/// The name of a schedule, which may not exist.
pub struct ScheduleName(pub String);

impl PathName for ScheduleName {
    const PATTERN: &'static str = "^[a-z-]{1,40}$";
    const EXAMPLE: &'static str = "sweep-records";

    fn read(text: &str) -> Result<Self, Refusal> {
        Ok(Self(text.to_owned()))
    }
}

/// The handle or id of an account, which may not exist.
pub struct AccountName(pub String);

impl PathName for AccountName {
    const PATTERN: &'static str = "^[A-Za-z0-9_]{1,70}$";
    const EXAMPLE: &'static str = "acct_k3x9m2p4q7r1";

    fn read(text: &str) -> Result<Self, Refusal> {
        Ok(Self(text.to_owned()))
    }
}

impl<'a, T: PathName> ApiExtractor<'a> for Path<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;

    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Path)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema {
            pattern: Some(T::PATTERN.to_owned()),
            example: Some(T::EXAMPLE.into()),
            ..MetaSchema::new("string")
        })))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let text = request.raw_path_param(options.name).unwrap_or_default();
        Ok(Self(T::read(text).map_err(RefusedCall::from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_pattern_has_every_queue_and_unknown_queues_are_not_found() {
        for queue in Queue::ALL {
            assert!(Queue::PATTERN.contains(queue.name()), "{}", queue.name());
            assert_eq!(<Queue as PathName>::read(queue.name()), Ok(queue));
        }
        assert_eq!(<Queue as PathName>::read("scans"), Err(Refusal::NotFound(Missing::Queue)));
    }
}
