//! An archive of a site, which the server unpacks.

use bytes::Bytes;
use domain::{ArchiveKind, FileSet, Message, Slug};
use indicatif::ProgressBar;
use reqwest::RequestBuilder;
use reqwest::header::CONTENT_TYPE;
use url::form_urlencoded::Serializer;

use super::streamed;

/// The bytes of an archive that a server accepts: the content of the files, and headers besides them.
pub const ARCHIVE_BYTES_MAX: u64 = FileSet::BYTES_MAX + 1_048_576;

/// An archive that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    pub kind: ArchiveKind,
    pub bytes: Bytes,
}

/// The archive of a publish, which can be sent repeatedly.
pub struct ArchiveUpload {
    pub slug: Option<Slug>,
    pub message: Option<Message>,
    pub archive: Archive,
    pub bar: ProgressBar,
}

impl ArchiveUpload {
    /// The path of a call, with the slug and the message in its query.
    pub fn named_in(&self, path: &str) -> String {
        let mut query = Serializer::new(String::new());
        if let Some(slug) = &self.slug {
            query.append_pair("slug", &slug.to_string());
        }
        if let Some(message) = &self.message {
            query.append_pair("message", &message.to_string());
        }
        match query.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}{}{query}", if path.contains('?') { '&' } else { '?' }),
        }
    }

    /// The body of a call. Resets the bar.
    pub fn put_into(&self, call: RequestBuilder) -> RequestBuilder {
        self.bar.reset();
        let Archive { kind, bytes } = &self.archive;
        call.header(CONTENT_TYPE, kind.content_type()).body(streamed(bytes, &self.bar))
    }

    pub fn hide_bar(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_and_message_of_an_archive_are_in_the_query() {
        let upload = |slug: Option<&str>, message: Option<&str>| ArchiveUpload {
            slug: slug.map(|slug| slug.parse().unwrap()),
            message: message.map(|message| message.parse().unwrap()),
            archive: Archive { kind: ArchiveKind::Zip, bytes: Bytes::new() },
            bar: ProgressBar::hidden(),
        };
        assert_eq!(upload(None, None).named_in("/v1/publish"), "/v1/publish");
        let named = upload(Some("my-page"), Some("a & b=ü")).named_in("/v1/publish");
        assert_eq!(named, "/v1/publish?slug=my-page&message=a+%26+b%3D%C3%BC");
        let staged = upload(None, Some("x")).named_in("/v1/artifacts/a/versions?activate=false");
        assert_eq!(staged, "/v1/artifacts/a/versions?activate=false&message=x");
    }
}
