//! Serves pages that a browser loaded before a publish. They ask for scripts, styles and fonts that the new
//! version no longer has. The edge then serves the file of a version that was live within the last day.
//!
//! Only names with a fingerprint are served, because such a file is the same in every version that has it.
//! Only browsers that say that they load a part of a page get it. For others, the file does not exist.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::site_rules::may_be_fingerprinted;
use domain::{Host, ManifestFile, Route, Time};
use percent_encoding::percent_decode_str;
use poem::Response;
use poem::http::{HeaderMap, HeaderValue, header};
use store::FormerVersion;

use crate::bounds::Bounds;
use crate::closed::Failure;
use crate::gate::PURPOSE;
use crate::handler::Inner;
use crate::page_cache::{PageCache, Weigh};
use crate::resolve::Resolved;
use crate::sites::{HOST_BYTES, weight_of_file};
use crate::visit::PageVisit;

/// For how long a version that is no longer live is served to old tabs.
const SERVED_FOR: Duration = Duration::from_secs(24 * 3600);
/// The versions that are read for a page. Those that were live last come first.
const VERSIONS_MAX: u64 = 100;
/// The size of a page's former files in memory. It is small enough for a shard of the cache.
const FILES_BYTES_MAX: u64 = 1 << 18;

const BY_PURPOSE: HeaderValue = HeaderValue::from_static("Accept-Encoding, Sec-Fetch-Dest");
const SEC_FETCH_DEST: &str = "Sec-Fetch-Dest";

pub type FormerFilesCache = PageCache<Host, FormerFiles>;

/// The files with fingerprints of versions that were live until recently, by their paths. Files that the live
/// version has too are left out.
#[derive(Clone, Default)]
pub struct FormerFiles {
    by_path: Arc<HashMap<String, FormerFile>>,
    weight_bytes: u64,
}

struct FormerFile {
    file: ManifestFile,
    live_until: Time,
}

impl FormerFiles {
    pub fn cache(capacity_bytes: u64) -> FormerFilesCache {
        PageCache::new(&Bounds { capacity_bytes, entry_bytes: HOST_BYTES, largest_bytes: FILES_BYTES_MAX })
    }

    /// `versions` begin with the one that was live last. Its files take precedence.
    fn of(page: &Route, versions: Vec<FormerVersion>) -> Self {
        let (mut by_path, mut weight_bytes) = (HashMap::new(), 0);
        for FormerVersion { live_until, manifest } in versions {
            for file in manifest.files().iter().filter(|file| is_served(file)) {
                let path = file.path.as_str();
                if by_path.contains_key(path) || page.manifest.find(path).is_some() {
                    continue;
                }
                weight_bytes += weight_of_file(file) + path.len() as u64;
                if weight_bytes > FILES_BYTES_MAX {
                    return Self { by_path: Arc::new(by_path), weight_bytes };
                }
                by_path.insert(path.to_owned(), FormerFile { file: file.clone(), live_until });
            }
        }
        Self { by_path: Arc::new(by_path), weight_bytes }
    }

    fn find(&self, path: &str, now: Time) -> Option<&ManifestFile> {
        let former = self.by_path.get(path)?;
        (now < former.live_until.plus(SERVED_FOR)).then_some(&former.file)
    }
}

impl Weigh for FormerFiles {
    fn weight_bytes(&self) -> u64 {
        self.weight_bytes
    }
}

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

fn is_served(file: &ManifestFile) -> bool {
    let name = file.path.as_str().rsplit('/').next().unwrap_or_default();
    may_be_fingerprinted(name) && !file.runs_as_document()
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

#[cfg(test)]
mod tests {
    use domain::{BlobHash, Manifest, content_type_of};

    use super::*;
    use crate::tests::harness::{self, NOW};

    fn file(path: &str, content: &str) -> ManifestFile {
        let path = path.parse().unwrap();
        let (content_type, hash) = (content_type_of(&path), BlobHash::of(content.as_bytes()));
        ManifestFile { path, hash, size_bytes: 1, content_type, variants: vec![], bundled: None }
    }

    fn version(live_until: Time, files: Vec<ManifestFile>) -> FormerVersion {
        FormerVersion { live_until, manifest: Manifest::new(files) }
    }

    #[test]
    fn files_of_the_last_version_take_precedence_and_expire_after_a_day() {
        let page = harness::route(vec![file("a-11111111.js", "live")]);
        let earlier = NOW.minus(Duration::from_secs(3600));
        let former = FormerFiles::of(
            &page,
            vec![
                version(NOW, vec![file("a-11111111.js", "old"), file("b-11111111.js", "new")]),
                version(earlier, vec![file("b-11111111.js", "old"), file("c-11111111.css", "old")]),
            ],
        );
        let find = |path, now| former.find(path, now).map(|file| file.hash);
        assert_eq!(find("a-11111111.js", NOW), None, "the live version has it");
        assert_eq!(find("b-11111111.js", NOW), Some(BlobHash::of(b"new")));
        assert_eq!(find("c-11111111.css", NOW), Some(BlobHash::of(b"old")));
        let next_day = earlier.plus(SERVED_FOR);
        assert_eq!(find("c-11111111.css", next_day), None);
        assert_eq!(find("b-11111111.js", next_day), Some(BlobHash::of(b"new")));
    }

    #[test]
    fn documents_rules_and_plain_names_are_left_out() {
        let names = ["index-11111111.html", "a-11111111.svg", "app.js", "_redirects", "index.html"];
        let files = names.map(|name| file(name, "x")).into();
        let former = FormerFiles::of(&harness::route(vec![]), vec![version(NOW, files)]);
        assert!(former.by_path.is_empty());
    }

    #[test]
    fn files_in_memory_are_bounded() {
        let many = |number: usize| {
            let files = (0..50).map(|index| file(&format!("{number}/{index}-11111111.js"), "x")).collect();
            version(NOW, files)
        };
        let former = FormerFiles::of(&harness::route(vec![]), (0..100).map(many).collect());
        assert!(former.by_path.len() > 500 && former.by_path.len() < 5_000, "{}", former.by_path.len());
    }
}
