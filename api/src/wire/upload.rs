//! Uploads on their way to a publish. The address is a credential: it stands in the answer that gives it and must never
//! appear in another shape.

use poem_openapi::Object;

use super::Timestamp;

/// An address to which files can be uploaded, once.
#[derive(Object)]
pub struct StagedUpload {
    /// Its name, for the tool `publish_upload`.
    pub upload: String,
    /// Whoever has it may upload there.
    pub url: String,
    /// A command that uploads a page; one more `-F` for each further file.
    pub curl: String,
    /// When the address stops taking an upload.
    pub expires_at: Timestamp,
    /// The next call to make.
    pub hint: String,
}

/// Files that wait to be published.
#[derive(Debug, Object)]
pub struct KeptUpload {
    /// Its name, for the tool `publish_upload`.
    pub upload: String,
    pub file_count: u64,
    pub total_bytes: u64,
    /// Until when it can be published.
    pub expires_at: Timestamp,
    /// The next call to make.
    pub hint: String,
}

impl From<service::StagedUpload> for StagedUpload {
    fn from(staged: service::StagedUpload) -> Self {
        let service::StagedUpload { upload, url, expires_at } = staged;
        Self {
            curl: format!("curl -sS -F 'files=@index.html;filename=index.html' '{url}'"),
            hint: format!(
                "run the curl line from the folder of the files, with one -F 'files=@LOCAL;filename=PATH' for each \
                 file; then call publish_upload with {{\"upload\": \"{upload}\"}}, and the slug if there is one"
            ),
            upload: upload.to_string(),
            url,
            expires_at: expires_at.into(),
        }
    }
}

impl From<service::KeptUpload> for KeptUpload {
    fn from(kept: service::KeptUpload) -> Self {
        let service::KeptUpload { upload, file_count, total_bytes, expires_at } = kept;
        Self {
            upload: upload.to_string(),
            file_count: file_count as u64,
            total_bytes,
            expires_at: expires_at.into(),
            hint: format!(
                "nothing is published yet: call the MCP tool publish_upload with {{\"upload\": \"{upload}\"}}"
            ),
        }
    }
}
