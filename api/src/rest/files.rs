//! The files of the account's versions.

use domain::Slug;
use poem::web::Data;
use poem_openapi::OpenApi;
use poem_openapi::param::Query;
use service::Service;

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::Token;
use crate::http::file_content::FileContent;
use crate::http::paging::{Limit, Listed};
use crate::http::path_part::{FileName, Path};
use crate::http::short_list::cut;
use crate::http::version_parameter::VersionParameter;
use crate::wire;

#[derive(Default)]
pub struct Files;

refusals! {
    ReadFiles: InvalidRequest, Unauthorized, NotSignedIn, InsufficientScope, Forbidden, NotFound;
}

#[OpenApi(tag = "Tag::Artifacts")]
impl Files {
    /// List the files of a version
    ///
    /// Returns each file with its `path`, `size_bytes`, `content_type` and `sha256`, ordered by path. Needs
    /// the scope `artifacts:read`.
    #[oai(path = "/v1/artifacts/:slug/files", method = "get", operation_id = "list_files")]
    async fn list(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// The `seq` of a version, or `live` for the live one. If omitted, the live one.
        version: VersionParameter,
        /// The maximum number of files to return; the `Link` header then holds the next page. Without it,
        /// the response has all files.
        limit: Limit,
        /// The path after which the page begins, from the `Link` header of the previous response.
        #[oai(validator(max_length = 255))]
        after: Query<Option<String>>,
        service: Data<&Service>,
    ) -> ApiResult<Listed<Vec<wire::VersionFile>>, ReadFiles> {
        let VersionParameter(version) = version;
        let files = service.version_files(&caller.0, &slug.0, version).await?;
        let is_before = |path: &str| after.0.as_deref().is_some_and(|after| path <= after);
        let rest = files.manifest.files().iter().skip_while(|file| is_before(file.path.as_str()));
        let (page, next) = cut(&limit, rest.map(wire::VersionFile::from), |file| file.path.clone());
        Ok(Listed::page(&page, next.as_deref(), &limit, &service))
    }

    /// Get a file of a version
    ///
    /// Returns the bytes of the file with its content type, exactly as they were published. The path is the
    /// one of the list, such as `css/app.css`; its slashes may be encoded as `%2F`. Needs the scope
    /// `artifacts:read`.
    #[oai(path = "/v1/artifacts/:slug/files/:path", method = "get", operation_id = "read_file")]
    async fn one(
        &self,
        caller: Token,
        /// The artifact's name within the account.
        slug: Path<Slug>,
        /// The path of the file in the site.
        path: Path<FileName>,
        /// The `seq` of a version, or `live` for the live one. If omitted, the live one.
        version: VersionParameter,
        service: Data<&Service>,
    ) -> ApiResult<FileContent, ReadFiles> {
        let (VersionParameter(version), FileName(path)) = (version, path.0);
        let file = service.version_file(&caller.0, &slug.0, version, &path).await?;
        let bytes = service.stream_file(&file).await?;
        Ok(FileContent::new(&file.file, bytes))
    }
}
