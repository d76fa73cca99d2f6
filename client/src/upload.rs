//! The content of a publish: files in memory, so that they can be sent again, and the progress bar.
//!
//! An update names all its files by hash first. The server responds with the hashes that the account lacks,
//! and only the files with these are sent.

mod archive;
mod gather;
mod ignored;
mod missing;

use std::collections::BTreeSet;
use std::convert::Infallible;

use bytes::Bytes;
use domain::{BlobHash, Message, SitePath, Slug};
use futures::stream;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use reqwest::Body;
use reqwest::multipart::{Form, Part};

pub use archive::ArchiveUpload;
pub use gather::{Content, Gathered, Snapshot, is_standard_input, read, snapshot};
pub use ignored::{IGNORE_FILE, STATE_FILE, Selection};
pub use missing::SentFiles;

/// The step of the progress bar.
const CHUNK_BYTES: usize = 64 * 1024;
const BAR: &str = "{bar:32} {decimal_bytes} of {decimal_total_bytes}, {elapsed}";

/// One file, with its path in the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    pub path: SitePath,
    pub bytes: Bytes,
    hash: BlobHash,
}

impl SiteFile {
    pub fn new(path: SitePath, bytes: Bytes) -> Self {
        let hash = BlobHash::of(&bytes);
        Self { path, bytes, hash }
    }
}

/// The form of a publish, which can be sent repeatedly.
pub struct Upload {
    pub slug: Option<Slug>,
    pub message: Option<Message>,
    pub files: Vec<SiteFile>,
    sending: Sending,
    bar: ProgressBar,
}

/// The files whose content the next form has. The others are named by hash.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sending {
    All,
    None,
    /// Those with these hashes.
    Only(BTreeSet<BlobHash>),
}

impl Upload {
    /// The bar is visible on terminals only.
    pub fn new(slug: Option<Slug>, message: Option<Message>, files: Vec<SiteFile>, bar: ProgressBar) -> Self {
        Self { slug, message, files, sending: Sending::All, bar }
    }

    /// The same, with the files named by hash until the server says which it lacks.
    #[must_use]
    pub fn by_hash(self) -> Self {
        Self { sending: Sending::None, ..self }
    }

    /// Hides the bar until the form is sent again, so that it does not overlap other output.
    pub fn hide_bar(&self) {
        self.bar.finish_and_clear();
    }

    /// The form from its start. Resets the bar.
    pub fn form(&self) -> Form {
        self.bar.reset();
        self.bar.set_length(self.sent().map(|file| file.bytes.len() as u64).sum());
        // Slashes in paths are not encoded. Quotes are escaped by the multipart encoder, and paths contain no
        // line breaks.
        let mut form = Form::new().percent_encode_noop();
        if let Some(slug) = &self.slug {
            form = form.text("slug", slug.to_string());
        }
        if let Some(message) = &self.message {
            form = form.text("message", message.to_string());
        }
        if let Some(manifest) = self.manifest() {
            form = form.text("manifest", manifest);
        }
        self.sent().fold(form, |form, file| form.part("files", self.part(file)))
    }

    fn part(&self, file: &SiteFile) -> Part {
        let body = streamed(&file.bytes, &self.bar);
        Part::stream_with_length(body, file.bytes.len() as u64).file_name(file.path.to_string())
    }
}

/// A body that moves the bar while it is sent.
fn streamed(bytes: &Bytes, bar: &ProgressBar) -> Body {
    let (bar, mut rest) = (bar.clone(), bytes.clone());
    let chunks = std::iter::from_fn(move || {
        let chunk = rest.split_to(rest.len().min(CHUNK_BYTES));
        bar.inc(chunk.len() as u64);
        (!chunk.is_empty()).then_some(Ok::<_, Infallible>(chunk))
    });
    Body::wrap_stream(stream::iter(chunks))
}

/// The progress bar of an upload of this size. It disappears when its last clone is dropped.
pub fn bar(total_bytes: u64) -> ProgressBar {
    // The test verifies the template. With a wrong one the default bar would be shown.
    let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total_bytes).with_style(style).with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_bar_template_is_valid() {
        assert!(ProgressStyle::with_template(BAR).is_ok());
    }

    #[tokio::test]
    async fn a_quote_in_a_path_does_not_end_its_name() {
        let path: SitePath = "a\"; name=\"slug.txt".parse().unwrap();
        let file = SiteFile::new(path, Bytes::from("text"));
        let form = Upload::new(None, None, vec![file], ProgressBar::hidden()).form();
        let chunks: Vec<Bytes> = futures::TryStreamExt::try_collect(form.into_stream()).await.unwrap();
        let text = String::from_utf8(chunks.concat()).unwrap();
        assert!(text.contains(r#"name="files"; filename="a\"; name=\"slug.txt""#), "{text}");
    }

    #[tokio::test]
    async fn retried_upload_sends_the_same_form_and_progress_is_counted_once() {
        let path: SitePath = "css/app.css".parse().unwrap();
        let file = SiteFile::new(path, Bytes::from(vec![b'x'; CHUNK_BYTES + 1]));
        let upload =
            Upload::new("my-page".parse().ok(), "Fix".parse().ok(), vec![file], ProgressBar::hidden());
        for _ in 0..2 {
            let form = upload.form();
            let boundary = form.boundary().to_owned();
            let chunks: Vec<_> = futures::TryStreamExt::try_collect(form.into_stream()).await.unwrap();
            let chunks: Vec<Bytes> = chunks;
            let text = String::from_utf8(chunks.concat()).unwrap().replace(&boundary, "");
            assert!(text.contains(r#"name="files"; filename="css/app.css""#), "{text:.200}");
            assert!(text.contains("my-page") && text.contains("name=\"message\""), "{text:.200}");
            assert_eq!(upload.bar.position(), CHUNK_BYTES as u64 + 1);
        }
    }
}
