//! The form of the home page: pasted HTML, or files as people have them. That is a page of any name, the
//! files of a folder, or an archive.

use std::path::Path;

use domain::{Refusal, SitePath};
use poem::{FromRequest, Request, RequestBody};
use poem_openapi::payload::ParsePayload;

use super::archive::{unpack, without_common_folder};
use super::staged::ReadUpload;
use super::{Source, Upload, Uploaded};
use crate::http::publish_type::ArchiveKind;
use crate::http::upload_budget::BodyShare;

/// The one hidden folder that belongs to a site.
const WELL_KNOWN: &str = ".well-known";
const HTML: [&str; 2] = ["html", "htm"];

/// A form that has not been read yet.
pub struct DroppedUpload(Upload);

impl<'a> FromRequest<'a> for DroppedUpload {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(<Upload as ParsePayload>::from_request(request, body).await?))
    }
}

impl DroppedUpload {
    /// Reads the form without a permit. `source` says which field was sent, also if the form is refused.
    pub async fn read(self, source: &mut Option<Source>) -> Result<ReadUpload, Refusal> {
        let share = self.0.share.clone();
        let Uploaded { slug, message, site, memory, .. } = self.0.read_keeping(is_visible, source).await?;
        // Named pages and changes of pages are published through the API.
        let base = site.base.as_ref().map(|_| "base");
        let manifest = (!site.is_complete()).then_some("manifest");
        let other = slug.map(|_| "slug").or(message.map(|_| "message")).or(base).or(manifest);
        if let Some(field) = other {
            let fault = "is not a field of this form, which has html or files; use POST /v1/publish instead";
            return Err(Refusal::invalid(field, fault));
        }
        let read = ReadUpload { files: site.into_sent_files(), memory };
        if *source == Some(Source::Files) { as_site(read, &share).await } else { Ok(read) }
    }
}

async fn as_site(read: ReadUpload, share: &BodyShare) -> Result<ReadUpload, Refusal> {
    let ReadUpload { files, memory } = read;
    if let [file] = &*files
        && let Some(kind) = ArchiveKind::of_name(file.path.as_str())
    {
        let (files, memory) = unpack(kind, file.bytes.clone(), share.enter()).await.map_err(in_files)?;
        return Ok(ReadUpload { files, memory });
    }
    let mut files = without_common_folder(files);
    if let [page] = &mut *files
        && is_html(&page.path)
    {
        page.path = SitePath::index();
    }
    Ok(ReadUpload { files, memory })
}

/// The field of this form that an archive is in.
fn in_files(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::InvalidRequest { fault, .. } => Refusal::invalid("files", fault),
        refusal => refusal,
    }
}

/// A folder can have files that its owner does not see, such as those of git. They are left out, and count
/// against no limit.
fn is_visible(path: &SitePath) -> bool {
    path.as_str().split('/').all(|name| !name.starts_with('.') || name == WELL_KNOWN)
}

fn is_html(path: &SitePath) -> bool {
    let extension = Path::new(path.as_str()).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| HTML.iter().any(|html| extension.eq_ignore_ascii_case(html)))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use service::UploadedFile;

    use super::*;
    use crate::http::upload_budget::BodyBudget;

    async fn paths_of(names: &[&str]) -> Result<Vec<String>, Refusal> {
        let budget = BodyBudget::new(1_048_576);
        let share = budget.open_to(std::net::Ipv4Addr::LOCALHOST.into());
        let file =
            |name: &&str| UploadedFile { path: name.parse().unwrap(), bytes: Bytes::from_static(b"x") };
        let read = ReadUpload { files: names.iter().map(file).collect(), memory: share.enter() };
        let site = as_site(read, &share).await?;
        Ok(site.files.iter().map(|file| file.path.to_string()).collect())
    }

    #[tokio::test]
    async fn files_get_the_paths_of_a_site() {
        for (names, expected) in [
            (&["about.html"][..], &["index.html"][..]),
            (&["dist/Page.HTM"], &["index.html"]),
            (&["photo.jpg"], &["photo.jpg"]),
            (&["dist/index.html", "dist/css/app.css"], &["index.html", "css/app.css"]),
            (&["dist/about.html", "dist/app.css"], &["dist/about.html", "dist/app.css"]),
            (&["a.zip", "index.html"], &["a.zip", "index.html"]),
        ] {
            assert_eq!(paths_of(names).await.unwrap(), expected, "{names:?}");
        }
    }

    #[tokio::test]
    async fn faults_of_an_archive_are_beside_its_field() {
        for name in ["site.zip", "site.tar.gz", "site.tgz", "site.tar", "site.tar.zst"] {
            let refusal = paths_of(&[name]).await.unwrap_err();
            assert!(refusal.message().starts_with("files: "), "{name}: {refusal}");
        }
    }

    #[test]
    fn hidden_files_are_left_out() {
        for (path, expected) in [
            ("index.html", true),
            ("a/.well-known/security.txt", true),
            (".env", false),
            ("dist/.git/config", false),
        ] {
            assert_eq!(is_visible(&path.parse().unwrap()), expected, "{path}");
        }
    }
}
