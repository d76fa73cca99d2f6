//! The files by which copies of a blocked page are recognized. They must not include files that honest pages
//! have as well.

use domain::{BlobHash, Manifest, ManifestFile};
use store::VersionCase;

use crate::Finding;
use crate::findings::findings_of;

/// Types that are read as pages, beside the documents that may run scripts.
const TEXT_TYPES: [&str; 2] = ["text/plain", "text/markdown"];

/// The contents that a block applies to: the documents that the evidence names, else the first document.
/// Content that many pages share says nothing about another page.
pub(crate) fn objected_to(version: &VersionCase) -> Vec<BlobHash> {
    objected_to_in(&version.manifest, &findings_of(version))
}

fn objected_to_in(manifest: &Manifest, findings: &[Finding]) -> Vec<BlobHash> {
    let named = findings.iter().filter_map(|finding| manifest.find(&finding.file)).filter(is_document);
    let mut contents: Vec<BlobHash> = Vec::new();
    for file in named {
        if !contents.contains(&file.hash) {
            contents.push(file.hash);
        }
    }
    if contents.is_empty() {
        // Many sites have the same page for missing files.
        let first = first_document(manifest.files()).filter(|file| file.path.as_str() != Manifest::NOT_FOUND);
        contents.extend(first.map(|file| file.hash));
    }
    contents
}

/// The document that a site opens with.
pub fn first_document(files: &[ManifestFile]) -> Option<&ManifestFile> {
    let called = |name: &str| files.iter().find(|file| file.path.as_str() == name);
    called(Manifest::INDEX).or_else(|| called(Manifest::NOT_FOUND)).or_else(|| files.iter().find(is_document))
}

/// Scripts and styles are not documents, because unrelated sites share them.
fn is_document(file: &&ManifestFile) -> bool {
    file.runs_as_document() || TEXT_TYPES.contains(&file.essence())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(paths: &[&str]) -> Manifest {
        let file = |path: &&str| {
            let path = path.parse().unwrap();
            let content_type = domain::content_type_of(&path);
            let hash = BlobHash::of(path.as_str().as_bytes());
            ManifestFile { path, hash, size_bytes: 1, content_type, variants: vec![], bundled: None }
        };
        Manifest::new(paths.iter().map(file).collect())
    }

    fn finding(file: &str) -> Finding {
        Finding { file: file.into(), ..Finding::default() }
    }

    #[test]
    fn objected_documents_are_those_in_the_evidence_or_else_the_first() {
        let site = manifest(&["a.html", "app.js", "index.html", "logo.svg", "login/index.html", "style.css"]);
        let objected = |findings: &[&str]| {
            let findings: Vec<_> = findings.iter().map(|file| finding(file)).collect();
            let contents = objected_to_in(&site, &findings);
            let path = |hash: &BlobHash| {
                site.files().iter().find(|file| file.hash == *hash).unwrap().path.to_string()
            };
            contents.iter().map(path).collect::<Vec<_>>()
        };
        assert_eq!(
            objected(&["login/index.html", "logo.svg", "login/index.html"]),
            ["login/index.html", "logo.svg"]
        );
        assert_eq!(objected(&["app.js", "a.html"]), ["a.html"]);
        // Shared files say nothing about the pages that use them.
        for others in [&[][..], &["app.js"], &["style.css"], &["gone.html"]] {
            assert_eq!(objected(others), ["index.html"], "{others:?}");
        }
    }

    #[test]
    fn custom_404_page_is_objected_to_only_if_the_evidence_names_it() {
        let site = manifest(&["404.html", "app.js"]);
        assert_eq!(objected_to_in(&site, &[]), []);
        assert_eq!(objected_to_in(&site, &[finding("404.html")]), [BlobHash::of(b"404.html")]);
    }

    #[test]
    fn first_document_of_a_site_is_its_index_or_else_the_first_one() {
        let begins = |paths: &[&str]| {
            first_document(manifest(paths).files()).map(|file| file.path.to_string()).unwrap_or_default()
        };
        assert_eq!(begins(&["404.html", "a.html", "index.html"]), "index.html");
        assert_eq!(begins(&["404.html", "a.html"]), "404.html");
        assert_eq!(begins(&["app.js", "b.html"]), "b.html");
        assert_eq!(begins(&["app.js"]), "");
    }
}
