//! Reporting abuse. Anyone may, so it is limited by address; nothing that a reporter writes is ever shown to others.

use poem::web::Data;
use poem_openapi::OpenApi;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, Created, refusals};
use crate::http::client_ip::ClientIp;
use crate::http::json_body::JsonBody;
use crate::wire;

#[derive(Default)]
pub struct Reports;

refusals! {
    ReportCall: InvalidRequest, InvalidBody, NotFound, TooLarge, UnsupportedMediaType, RateLimited;
}

#[OpenApi(tag = "Tag::Moderation")]
impl Reports {
    /// Report a page
    ///
    /// Tells the moderators of a page that should not be there; people use the form at `/report`. Needs no token. A
    /// page that nobody has looked at yet goes to `review` with it, and is still served; a report clears nothing.
    #[oai(path = "/v1/reports", method = "post", operation_id = "report_page")]
    async fn report(
        &self,
        from: ClientIp,
        body: JsonBody<wire::Report>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::ReportTaken>, ReportCall> {
        let wire::ReportWritten { host, reason, category } = body.read(service.addresses())?;
        Ok(Created::without_address(service.report(from.0, host, reason, category).await?.into()))
    }
}
