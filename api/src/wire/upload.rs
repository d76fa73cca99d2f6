//! Staged uploads in responses. The address is a credential: it is in the response that creates it and must
//! never appear in another type.

use poem_openapi::Object;

use super::Timestamp;

/// An address that accepts one upload of files.
#[derive(Object)]
pub struct StagedUpload {
    /// The id of the upload. Send it to the MCP tool `publish_upload`.
    pub upload: String,
    /// The address to upload to. Anyone who has it can upload there.
    pub url: String,
    /// A command that uploads one page. Add one `-F` for each further file.
    pub curl: String,
    /// When the address expires.
    pub expires_at: Timestamp,
    /// The next call to make.
    pub hint: String,
}

/// An uploaded set of files, ready to be published.
#[derive(Debug, Object)]
pub struct KeptUpload {
    /// The id of the upload. Send it to the MCP tool `publish_upload`.
    pub upload: String,
    pub file_count: u64,
    pub total_bytes: u64,
    /// When the upload expires.
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
                "run the curl command in the folder of the files, with one -F 'files=@LOCAL;filename=PATH' for each \
                 file; then call publish_upload with {{\"upload\": \"{upload}\"}}, and a slug if you want to choose the artifact"
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
