//! The moderators' review queue, for the operator's programs. The pages for people are at `/admin`.

use domain::{DecisionId, Host, Refusal};
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use service::{DecisionFilter, Service, WaitingFor};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::Header;
use crate::http::json_body::JsonBody;
use crate::http::operator::{DecidedBy, Operator};
use crate::http::paging::{AfterId, Limit, Listed};
use crate::http::path_part::Path;
use crate::wire;

#[derive(Default)]
pub struct Review;

refusals! {
    List: InvalidRequest, NotFound;
    One: InvalidRequest, NotFound;
    Decide: InvalidRequest, InvalidBody, NotFound, VersionChanged, TooLarge, UnsupportedMediaType;
    Log: InvalidRequest, NotFound;
}

#[OpenApi(tag = "Tag::Operator")]
impl Review {
    /// List the pages that wait for a moderator
    ///
    /// Returns the pages in review and all pages with open reports, without those of expired accounts.
    /// `status` lists `blocked` pages instead, or `pending` ones, which wait for their scan. Returns 404
    /// without the operator's secret.
    #[oai(path = "/internal/moderation", method = "get", operation_id = "list_moderation")]
    async fn list(
        &self,
        _operator: Operator,
        /// The pages to list. The default is `review`.
        status: Query<Option<wire::QueueStatus>>,
        /// The `next` of the previous page.
        #[oai(validator(pattern = "^-?[0-9]{1,18}[.][a-z0-9-]{8,45}$"))]
        after: Query<Option<String>>,
        /// The maximum number of pages to return. The default is 50.
        limit: Limit,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::Queue>, List> {
        let unknown = |()| Refusal::invalid("after", "is not the `next` of a list");
        let after = after.0.map(|text| text.parse()).transpose().map_err(unknown)?;
        let waiting_for = WaitingFor::from(status.0.unwrap_or(wire::QueueStatus::Review));
        let queue = service.queue(&waiting_for.into(), after.as_ref(), limit.rows_max).await?;
        let queue = wire::Queue::from(queue);
        Ok(Listed::page(&queue, queue.next.as_deref(), &limit, &service))
    }

    /// Get a page for review
    ///
    /// Returns the evidence of the last scan, the reports, the appeals, the decisions so far, and other pages
    /// with the same content. Returns 404 without the operator's secret.
    #[oai(path = "/internal/moderation/:host", method = "get", operation_id = "review_page")]
    async fn one(
        &self,
        _operator: Operator,
        /// The page's host, as in its address.
        host: Path<Host>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::ReviewItem>, One> {
        let item = service.review_item(&host.0).await?;
        Ok(Json(wire::ReviewItem::new(item, service.addresses().page(&host.0))))
    }

    /// Pass or block a page
    ///
    /// Decides on the live version, or on the newest one while none is live. The decision overrides any scan
    /// and holds until the next version. A block also applies to the page's reported versions, and to its
    /// other versions with the same content. Closes the page's open reports and appeals; with `seen`, only
    /// those up to the ones in it. Returns 404 without the operator's secret.
    #[oai(path = "/internal/moderation/:host", method = "post", operation_id = "decide_on_page")]
    async fn decide(
        &self,
        _operator: Operator,
        /// The operator who makes the decision.
        #[oai(name = "X-Operator")]
        decided_by: Header<DecidedBy>,
        /// The page's host, as in its address.
        host: Path<Host>,
        body: JsonBody<wire::Decide>,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::DecisionMade>, Decide> {
        let request = body.0.read(host.0)?;
        Ok(Json(service.decide(&decided_by.0.0, request).await?.into()))
    }

    /// List moderation decisions
    ///
    /// Returns the decisions of scans, reports and moderators, newest first. Decisions never change. Those of
    /// moderators are kept when the account is purged. Returns 404 without the operator's secret.
    #[oai(path = "/internal/audit", method = "get", operation_id = "list_decisions")]
    async fn log(
        &self,
        _operator: Operator,
        /// Only decisions on the page with this host. The page may be deleted.
        #[oai(validator(pattern = "^[a-z0-9-]{8,45}$"))]
        host: Query<Option<String>>,
        /// `true` returns only decisions of moderators.
        moderators: Query<Option<bool>>,
        /// The `next` of the previous page.
        after: AfterId<DecisionId>,
        /// The maximum number of decisions to return. The default is 100.
        limit: Limit,
        service: Data<&Service>,
    ) -> ApiResult<Listed<wire::DecisionLog>, Log> {
        let malformed = |_| Refusal::invalid("host", "is not the host of a page");
        let host = host.0.map(|text| text.parse()).transpose().map_err(malformed)?;
        let wanted = DecisionFilter { host, by_moderators: moderators.0 == Some(true), before: after.0 };
        let log = wire::DecisionLog::from(service.decisions(&wanted, limit.rows_max).await?);
        Ok(Listed::page(&log, log.next.as_deref(), &limit, &service))
    }
}
