//! The moderators' queue for the operator's programs: what waits, what is known of it, a decision, and who decided what.
//! People have the same at `/admin`.

use domain::{Host, Refusal};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::{DecisionsWanted, Service, WaitingFor};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::json_body::JsonBody;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct Review;

refusals! {
    List: InvalidRequest, NotFound;
    Look: InvalidRequest, NotFound;
    Decide: InvalidRequest, InvalidBody, NotFound, VersionChanged, TooLarge, UnsupportedMediaType;
    Log: InvalidRequest, NotFound;
}

#[OpenApi(tag = "Tag::Operator")]
impl Review {
    /// List the pages that wait for a moderator
    ///
    /// Those in review, and those with open reports whatever their status; none that have expired. `status` lists others: `blocked`, or
    /// `pending`, which wait for their scan. Without the operator's secret: 404.
    #[oai(path = "/internal/moderation", method = "get", operation_id = "list_moderation")]
    async fn list(
        &self,
        _operator: Operator,
        /// Which pages; `review` when it is left out.
        status: Query<Option<wire::QueueStatus>>,
        /// The `next` of the list before.
        #[oai(validator(pattern = "^-?[0-9]{1,18}[.][a-z0-9-]{8,45}$"))]
        after: Query<Option<String>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::Queue>, List> {
        let unknown = |()| Refusal::invalid("after", "is no `next` of a list");
        let after = after.0.map(|text| text.parse()).transpose().map_err(unknown)?;
        let waiting_for = WaitingFor::from(status.0.unwrap_or(wire::QueueStatus::Review));
        Ok(Json(service.queue(&waiting_for.into(), after.as_ref()).await?.into()))
    }

    /// Look at one page
    ///
    /// The evidence of the last scan, the reports, the decisions so far, and other pages with the same content. Without
    /// the operator's secret: 404.
    #[oai(path = "/internal/moderation/:host", method = "get", operation_id = "review_page")]
    async fn look(
        &self,
        _operator: Operator,
        /// The page's host, as it stands in its address.
        host: Path<Host>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ReviewItem>, Look> {
        let item = service.review_item(&host.0).await?;
        Ok(Json(wire::ReviewItem::new(item, service.addresses().page(&host.0))))
    }

    /// Pass or block what a page shows
    ///
    /// The word is on the version that is live and holds until the next one, whatever a scan finds. A block is also on
    /// every other version of the page that holds the same content. It answers the open reports on the page, up to the
    /// one in `seen`. Without the operator's secret: 404.
    #[oai(path = "/internal/moderation/:host", method = "post", operation_id = "decide_on_page")]
    async fn decide(
        &self,
        _operator: Operator,
        /// Who of the operator's people decides.
        #[oai(name = "X-Operator")]
        who: Header<DecidedBy>,
        /// The page's host, as it stands in its address.
        host: Path<Host>,
        body: JsonBody<wire::Decide>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DecisionMade>, Decide> {
        let request = body.0.read(host.0)?;
        Ok(Json(service.decide(&who.0.0, request).await?.into()))
    }

    /// List who decided what
    ///
    /// Every decision by scans, reports and moderators, the newest first. None is ever changed; those of moderators stay
    /// when the account is purged. Without the operator's secret: 404.
    #[oai(path = "/internal/audit", method = "get", operation_id = "list_decisions")]
    async fn log(
        &self,
        _operator: Operator,
        /// Only decisions on this page, which may be deleted by now.
        #[oai(validator(pattern = "^[a-z0-9-]{8,45}$"))]
        host: Query<Option<String>>,
        /// Only decisions that a moderator made.
        moderators: Query<Option<bool>>,
        /// The `next` of the list before.
        #[oai(validator(pattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"))]
        before: Query<Option<String>>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DecisionLog>, Log> {
        let malformed = |_| Refusal::invalid("host", "is no host of a page");
        let host = host.0.map(|text| text.parse()).transpose().map_err(malformed)?;
        let unknown = |_| Refusal::invalid("before", "is no `next` of a list");
        let before = before.0.map(|text| text.parse()).transpose().map_err(unknown)?;
        let wanted = DecisionsWanted { host, by_moderators: moderators.0 == Some(true), before };
        Ok(Json(service.decisions(&wanted).await?.into()))
    }
}
