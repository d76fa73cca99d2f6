//! Serves pages that a browser loaded before a publish. They ask for scripts, styles and fonts that the new
//! version no longer has. The edge then serves the file of a version that was live within the last day.
//!
//! Only names with a fingerprint are served, because such a file is the same in every version that has it.
//! Only browsers that say that they load a part of a page get it. For others, the file does not exist.

use domain::ManifestFile;
use domain::site_rules::may_be_fingerprinted;
use percent_encoding::percent_decode_str;
use poem::Response;
use poem::http::{HeaderMap, HeaderValue, header};

use crate::closed::Failure;
use crate::former_files::{FormerFiles, SERVED_FOR, VERSIONS_MAX};
use crate::gate::PURPOSE;
use crate::handler::Inner;
use crate::resolve::Resolved;
use crate::visit::PageVisit;

const BY_PURPOSE: HeaderValue = HeaderValue::from_static("Accept-Encoding, Sec-Fetch-Dest");
const SEC_FETCH_DEST: &str = "Sec-Fetch-Dest";

impl Inner {
    /// Responds for a path of which the live version has no file, in a site without rules.
    pub async fn show_absent(
        &self,
        visit: &PageVisit<'_>,
        absent: Resolved<'_>,
    ) -> Result<Response, Failure> {
        match self.former_file(visit).await? {
            Some(file) => self.show_former(visit, &file).await,
            None => Ok(varied(visit, self.show_found(visit, absent).await?)),
        }
    }

    /// The file at the visit's path in a version that was live until recently, if the request qualifies.
    pub async fn former_file(&self, visit: &PageVisit<'_>) -> Result<Option<ManifestFile>, Failure> {
        if !loads_part_of_page(visit.request.headers()) || !may_have_been_there(visit) {
            return Ok(None);
        }
        let Some(path) = decoded(visit) else { return Ok(None) };
        let (page, patience) = (visit.site, visit.patience);
        let is_covered = |read_at| self.lease.covers(read_at);
        let read = |_| async {
            let live_after = visit.now.minus(SERVED_FOR);
            let versions = self.store.routes().list_former_versions(&page.route, live_after, VERSIONS_MAX);
            Ok(FormerFiles::of(&page.route, self.read(patience, versions).await?))
        };
        let former = self.former_files.find(&page.route.host, page, is_covered, read).await?;
        Ok(former.find(&path, visit.now).cloned())
    }

    /// Serves a file of a version that was live until recently.
    pub async fn show_former(&self, visit: &PageVisit<'_>, file: &ManifestFile) -> Result<Response, Failure> {
        Ok(varied(visit, self.show(visit, file).await?))
    }
}

/// Adds `Vary`, so that no cache gives a browser's response to a plain client, or the other way round.
pub fn varied(visit: &PageVisit<'_>, mut response: Response) -> Response {
    if !may_have_been_there(visit) {
        return response;
    }
    let names_purpose =
        |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains(SEC_FETCH_DEST));
    if !response.headers().get_all(header::VARY).iter().any(names_purpose) {
        response.headers_mut().insert(header::VARY, BY_PURPOSE);
    }
    response
}

/// Whether the browser says that it loads a script, a style sheet or a font.
fn loads_part_of_page(headers: &HeaderMap) -> bool {
    let purpose = headers.get(PURPOSE).map(HeaderValue::as_bytes);
    matches!(purpose, Some(b"script" | b"style" | b"font"))
}

/// Whether the path has a name with a fingerprint, at the live address of a page.
fn may_have_been_there(visit: &PageVisit<'_>) -> bool {
    let name = visit.address.path.rsplit('/').next().unwrap_or_default();
    visit.address.label.version.is_none() && may_be_fingerprinted(name)
}

/// The path in manifests.
fn decoded(visit: &PageVisit<'_>) -> Option<String> {
    let path = visit.address.path.strip_prefix('/')?;
    Some(percent_decode_str(path).decode_utf8().ok()?.into_owned())
}
