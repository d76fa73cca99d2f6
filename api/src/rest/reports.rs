//! Reports of abuse. Anyone may send one, so they are limited by address. What a reporter writes must never
//! be shown to other users.

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
    /// Reports an abusive page to the moderators. No token is needed. People use the form at `/report`. A
    /// page that is still `pending` moves to `review` and stays online; any other status stays the same.
    #[oai(path = "/v1/reports", method = "post", operation_id = "report_page")]
    async fn report(
        &self,
        from: ClientIp,
        body: JsonBody<wire::Report>,
        service: Data<&Service>,
    ) -> ApiResult<Created<wire::ReportTaken>, ReportCall> {
        let wire::ReportWritten { label, reason, category } = body.read(service.addresses())?;
        Ok(Created::without_address(service.report(from.0, label, reason, category).await?.into()))
    }
}
