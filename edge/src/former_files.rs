//! The files of versions that were live until recently, which `old_tabs` serves.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::site_rules::may_be_fingerprinted;
use domain::{Host, ManifestFile, Route, Time};
use store::FormerVersion;

use crate::bounds::Bounds;
use crate::page_cache::{PageCache, Weigh};
use crate::sites::{HOST_BYTES, weight_of_file};

/// For how long a version that is no longer live is served to old tabs.
pub const SERVED_FOR: Duration = Duration::from_secs(24 * 3600);
/// The versions that are read for a page. Those that were live last come first.
pub const VERSIONS_MAX: u64 = 100;
/// The size of a page's former files in memory. It is small enough for a shard of the cache.
const FILES_BYTES_MAX: u64 = 1 << 18;

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
    pub fn of(page: &Route, versions: Vec<FormerVersion>) -> Self {
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

    pub fn find(&self, path: &str, now: Time) -> Option<&ManifestFile> {
        let former = self.by_path.get(path)?;
        (now < former.live_until.plus(SERVED_FOR)).then_some(&former.file)
    }
}

impl Weigh for FormerFiles {
    fn weight_bytes(&self) -> u64 {
        self.weight_bytes
    }
}

fn is_served(file: &ManifestFile) -> bool {
    let name = file.path.as_str().rsplit('/').next().unwrap_or_default();
    may_be_fingerprinted(name) && !file.runs_as_document()
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
