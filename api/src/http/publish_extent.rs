//! The query parameters `dry_run` and `wait`, which say how far a publish goes.

use domain::Refusal;
use poem::Request;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};

use crate::http::query_parameter::{QueryParameter, parameter, query_parameters};

const DRY_RUN: &str = "dry_run";
const WAIT: &str = "wait";
/// The value of `wait`.
const SCAN: &str = "scan";

/// How far a publish goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishExtent {
    /// Only the checks.
    Rehearsal,
    Commit,
    /// The response waits for the verdict of the scan.
    Verdict,
}

/// `dry_run`: whether the publish is only rehearsed.
pub struct DryRun(bool);

/// `wait`: whether the response waits for the verdict.
pub struct Wait(bool);

impl PublishExtent {
    /// A rehearsal has no version to wait for.
    pub fn of(DryRun(is_rehearsal): DryRun, Wait(waits): Wait) -> Self {
        match (is_rehearsal, waits) {
            (true, _) => Self::Rehearsal,
            (false, true) => Self::Verdict,
            (false, false) => Self::Commit,
        }
    }
}

impl QueryParameter for DryRun {
    fn of(request: &Request) -> Result<Self, Refusal> {
        match parameter(request, DRY_RUN)?.as_deref() {
            Some("true") => Ok(Self(true)),
            None | Some("false") => Ok(Self(false)),
            Some(_) => Err(Refusal::invalid(DRY_RUN, "must be true or false")),
        }
    }

    fn schema() -> MetaSchemaRef {
        let schema = MetaSchema { default: Some(false.into()), ..MetaSchema::new("boolean") };
        MetaSchemaRef::Inline(Box::new(schema))
    }
}

impl QueryParameter for Wait {
    fn of(request: &Request) -> Result<Self, Refusal> {
        match parameter(request, WAIT)?.as_deref() {
            None => Ok(Self(false)),
            Some(SCAN) => Ok(Self(true)),
            Some(_) => Err(Refusal::invalid(WAIT, "must be scan, which waits for the verdict of the scan")),
        }
    }

    fn schema() -> MetaSchemaRef {
        let schema = MetaSchema { enum_items: vec![SCAN.into()], ..MetaSchema::new("string") };
        MetaSchemaRef::Inline(Box::new(schema))
    }
}

query_parameters! {
    DryRun;
    Wait;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(query: &str) -> Result<PublishExtent, Refusal> {
        let request = Request::builder().uri(format!("/v1/publish?{query}").parse().unwrap()).finish();
        Ok(PublishExtent::of(DryRun::of(&request)?, Wait::of(&request)?))
    }

    #[test]
    fn a_publish_is_never_made_by_a_misspelled_parameter() {
        for (query, expected) in [
            ("", PublishExtent::Commit),
            ("dry_run=false", PublishExtent::Commit),
            ("dry_run=true", PublishExtent::Rehearsal),
            ("dry_run=true&wait=scan", PublishExtent::Rehearsal),
            ("wait=scan", PublishExtent::Verdict),
        ] {
            assert_eq!(extent(query), Ok(expected), "{query}");
        }
        for query in ["dry_run=1", "dry_run=", "dry_run=TRUE", "dry_run=true&dry_run=false"] {
            assert!(extent(query).unwrap_err().message().starts_with(DRY_RUN), "{query}");
        }
        for query in ["wait=", "wait=true", "wait=SCAN", "wait=scan&wait=scan"] {
            assert!(extent(query).unwrap_err().message().starts_with(WAIT), "{query}");
        }
    }
}
