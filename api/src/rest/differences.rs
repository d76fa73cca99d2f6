//! The differences between two versions, as JSON or as a unified diff.

use domain::Slug;
use poem::http::{HeaderValue, StatusCode, header};
use poem::web::Data;
use poem::{IntoResponse, Request, Response};
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use poem_openapi::registry::{
    MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
};
use poem_openapi::{ApiResponse, OpenApi, ResponseContent};
use service::{Caller, Service};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::Token;
use crate::http::paging::Limit;
use crate::http::path_part::Path;
use crate::http::short_list::cut;
use crate::http::unified_diff::unified_diff;
use crate::http::version_parameter::{FromVersion, ToVersion};
use crate::wire;

const DIFF: &str = "text/x-diff";
const JSON: &str = "application/json";
const NEXT_PAGE: &str = "Sent with `limit`, when more files differ: the address of the next page, as `<address>; \
    rel=\"next\"`.";

#[derive(Default)]
pub struct Diffs;

refusals! {
    Compare: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, NotFound;
}

/// The response in one of its two forms.
pub enum Compared {
    /// With the value of `Link`.
    Listed(Json<wire::Differences>, Option<String>),
    Unified(String),
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Diffs {
    /// Compare two versions
    ///
    /// Returns the files that differ: each with its `path`, its `change` (`added`, `removed` or `changed`)
    /// and its sizes, ordered by path. With `Accept: text/x-diff` the response is a unified diff of the text
    /// files, which `git apply` reads. It has at most 1 MB; a longer one ends with a line that says so. Needs
    /// the scope `artifacts:read`.
    #[allow(clippy::too_many_arguments, reason = "each is a documented part of the request")]
    #[oai(path = "/v1/artifacts/:slug/diff", method = "get", operation_id = "diff_versions")]
    async fn diff(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// The version to compare from: its `seq`, or `live`.
        from: FromVersion,
        /// The version to compare with: its `seq`, or `live`. If omitted, the live one.
        to: ToVersion,
        /// The maximum number of files to return; the `Link` header then holds the next page. Without it, the
        /// response has all of them. It does not limit a unified diff.
        limit: Limit,
        /// The path after which the page begins, from the `Link` header of the previous response.
        #[oai(validator(max_length = 255))]
        after: Query<Option<String>>,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<Compared, Compare> {
        let (caller, versions): (&Caller, _) = (&caller.0, [from.0, to.0]);
        let differences = service.differences(caller, &slug.0, versions).await?;
        if !asks_for_diff(request) {
            let mut document = wire::Differences::from(&differences);
            let is_before = |path: &str| after.0.as_deref().is_some_and(|after| path <= after);
            let rest = document.files.into_iter().skip_while(|file| is_before(&file.path));
            let (page, next) = cut(&limit, rest, |file| file.path.clone());
            document.files = page;
            return Ok(Compared::Listed(Json(document), limit.link(next.as_deref(), &service)));
        }
        Ok(Compared::Unified(unified_diff(&service, request, &differences).await?))
    }
}

/// Whether `Accept` names the type of a diff, and does not prefer JSON to it.
fn asks_for_diff(request: &Request) -> bool {
    let accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<(&str, f32)> = accepted.flat_map(|value| value.split(',')).map(weighted).collect();
    let weight_of = |kind: &str| {
        let found = ranges.iter().filter(|(range, _)| range.eq_ignore_ascii_case(kind));
        found.map(|(_, weight)| *weight).fold(0.0, f32::max)
    };
    let diff = weight_of(DIFF);
    diff > 0.0 && diff >= weight_of(JSON)
}

/// A range of `Accept` with its weight.
fn weighted(range: &str) -> (&str, f32) {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    (kind, weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
}

impl IntoResponse for Compared {
    fn into_response(self) -> Response {
        let mut response = match self {
            Self::Listed(json, link) => {
                let mut response = json.into_response();
                let link = link.and_then(|link| HeaderValue::from_str(&link).ok());
                response.headers_mut().extend(link.map(|link| (header::LINK, link)));
                response
            }
            Self::Unified(text) => {
                let content_type = format!("{DIFF}; charset=utf-8");
                Response::builder().status(StatusCode::OK).content_type(&content_type).body(text)
            }
        };
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
        response
    }
}

impl ApiResponse for Compared {
    fn meta() -> MetaResponses {
        let schema = MetaSchemaRef::Inline(Box::new(MetaSchema::new("string")));
        let mut content = <Json<wire::Differences> as ResponseContent>::media_types();
        content.push(MetaMediaType { content_type: DIFF, schema });
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The files that differ, or the diff.",
                status: Some(StatusCode::OK.as_u16()),
                status_range: None,
                content,
                headers: vec![MetaHeader {
                    name: "Link".to_owned(),
                    description: Some(NEXT_PAGE.to_owned()),
                    required: false,
                    deprecated: false,
                    schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
                }],
            }],
        }
    }

    fn register(registry: &mut Registry) {
        <Json<wire::Differences> as ResponseContent>::register(registry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_sent_only_to_clients_that_name_it() {
        for (accept, expected) in [
            (None, false),
            (Some("*/*"), false),
            (Some("text/*"), false),
            (Some("application/json"), false),
            (Some("text/x-diff"), true),
            (Some("TEXT/X-DIFF;q=0.5, */*"), true),
            (Some("text/x-diff, application/json"), true),
            (Some("application/json, text/x-diff;q=0.9"), false),
            (Some("text/x-diff;q=0"), false),
        ] {
            let mut request = Request::builder();
            if let Some(accept) = accept {
                request = request.header(header::ACCEPT, accept);
            }
            assert_eq!(asks_for_diff(&request.finish()), expected, "{accept:?}");
        }
    }
}
