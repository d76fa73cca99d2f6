//! Everything of the account as one archive.

use poem::Request;
use poem::web::Data;
use poem_openapi::OpenApi;
use service::Service;

use super::Tag;
use crate::http::account_archive::{AccountArchive, account_archive};
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::TokenOrSession;

#[derive(Default)]
pub struct Exports;

refusals! {
    Export: Unauthorized, NotSignedIn, InsufficientScope, Forbidden, RateLimited;
}

#[OpenApi(tag = "Tag::Account")]
impl Exports {
    /// Export the account
    ///
    /// Returns everything of the account as one tar.gz: `account.json` (the account, its members, tokens
    /// without their secrets, artifacts with all versions and their files, and the audit log), `ledger.csv`,
    /// and the files of each version as `pages/<slug>/<seq>/<path>`. Deleted artifacts are not in it. The
    /// same state gives the same bytes. If the connection closes early, the archive is not complete. At most
    /// 10 exports of an account begin per minute.
    ///
    /// Needs the session of an admin or the owner, or a token with the scopes `account:manage`,
    /// `artifacts:read` and `tokens:manage` that is not pinned to an artifact.
    #[oai(path = "/v1/account/export", method = "get", operation_id = "export_account")]
    async fn export(
        &self,
        caller: TokenOrSession,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<AccountArchive, Export> {
        Ok(account_archive(&service, &caller.0, request).await?)
    }
}
