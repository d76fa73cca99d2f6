//! A page as one sees it before opening it: its title, its address, and an address for a preview that counts
//! no view.

use domain::{Artifact, Manifest, ManifestFile, Missing, ModerationStatus, Refusal, SitePath, Slug};

use crate::{Caller, Service, ServiceResult};

/// A page with a live version.
#[derive(Clone, Debug)]
pub struct PageGlance {
    pub artifact: Artifact,
    /// The page's address for its members, or that of the file to open first.
    pub url: String,
    /// The same at the live version's own address, where no views are counted.
    pub preview_url: String,
    pub title: Option<String>,
    /// Whether the page is an `index.html` and nothing else.
    pub is_single_page: bool,
}

impl Service {
    /// A page of the caller's account.
    pub async fn page_glance(&self, caller: &Caller, slug: &Slug) -> ServiceResult<PageGlance> {
        let artifact = self.artifact_alone(caller, slug).await?;
        self.glance(artifact).await
    }

    /// Refused if no version is live.
    pub(crate) async fn glance(&self, artifact: Artifact) -> ServiceResult<PageGlance> {
        let live = artifact.live.ok_or(Refusal::NotFound(Missing::Version))?;
        let manifest = self.0.store.artifacts().find_manifest(artifact.id, live.seq).await?;
        let manifest = manifest.ok_or(Refusal::NotFound(Missing::Version))?;
        let entry = entry_file(&manifest);
        let title = artifact.title.clone().filter(|_| live.moderation != ModerationStatus::Blocked);
        let at = |url: String| entry.map_or(url.clone(), |file| within(&url, &file.path));
        Ok(PageGlance {
            url: at(self.member_url(&artifact)),
            preview_url: at(self.member_version_url(&artifact, live.seq)),
            title: title.map(String::from),
            is_single_page: manifest.files().len() == 1 && manifest.find(Manifest::INDEX).is_some(),
            artifact,
        })
    }
}

/// The file to open first, if the site's own address does not show it. Redirects may stand in for a front
/// page.
fn entry_file(manifest: &Manifest) -> Option<&ManifestFile> {
    if manifest.find(Manifest::REDIRECTS).is_some() {
        return None;
    }
    let entry = sitecheck::entry_page(manifest.files().iter().map(|file| &file.path))?;
    manifest.find(entry.as_str())
}

/// The address of a file within a site, whose address may have a query.
fn within(site: &str, path: &SitePath) -> String {
    match site.split_once('?') {
        Some((site, query)) => format!("{site}{}?{query}", path.in_url()),
        None => format!("{site}{}", path.in_url()),
    }
}

#[cfg(test)]
mod tests {
    use domain::BlobHash;

    use super::*;

    fn entry_of(paths: &[&str]) -> Option<String> {
        let file = |path: &&str| {
            let path: SitePath = path.parse().unwrap();
            let (hash, content_type) = (BlobHash::of(b"x"), domain::content_type_of(&path));
            ManifestFile { path, hash, size_bytes: 1, content_type, variants: vec![], bundled: None }
        };
        let manifest = Manifest::new(paths.iter().map(file).collect());
        entry_file(&manifest).map(|file| file.path.to_string())
    }

    #[test]
    fn site_without_a_front_page_opens_at_its_first_page_or_its_only_file() {
        for (paths, expected) in [
            (&["index.html", "a.html"][..], None),
            (&["b.html", "a.html", "style.css"], Some("a.html")),
            (&["notes.txt"], Some("notes.txt")),
            (&["_redirects", "a.html"], None),
            (&["a.css", "b.css"], None),
        ] {
            assert_eq!(entry_of(paths).as_deref(), expected, "{paths:?}");
        }
    }

    #[test]
    fn file_of_a_private_site_keeps_its_signature() {
        let path: SitePath = "a b.html".parse().unwrap();
        let site = "http://pages.example/site/a-b1c2/";
        assert_eq!(within(site, &path), "http://pages.example/site/a-b1c2/a%20b.html");
        let signed = within(&format!("{site}?sig=0123"), &path);
        assert_eq!(signed, "http://pages.example/site/a-b1c2/a%20b.html?sig=0123");
    }
}
