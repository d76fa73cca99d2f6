//! Sends only the contents that the account does not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use domain::BlobHash;
use serde::Deserialize;

use super::{Sending, SiteFile, Upload};
use crate::reply::Reply;

const BAD_REQUEST: u16 = 400;
const CONFLICT: u16 = 409;
const CONTENT_MISSING: &str = "content_missing";

/// How many of the files of a publish are sent with their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFiles {
    pub sent: usize,
    pub total: usize,
}

/// The refusal of contents that the account lacks.
#[derive(Debug, Deserialize)]
struct ContentMissing {
    code: String,
    #[serde(default)]
    missing: BTreeSet<String>,
}

impl Upload {
    /// Adds the contents that the server lacks, according to its response. Returns whether the form is to be
    /// sent again. Every response adds files, so that this ends.
    pub fn add_missing(&mut self, reply: &Reply) -> bool {
        let sending = match reply.status {
            _ if self.sending == Sending::All => return false,
            // A server that is older than this program does not know the manifest. Its refusal of anything
            // else is repeated for the whole form.
            BAD_REQUEST => Sending::All,
            CONFLICT => match serde_json::from_str::<ContentMissing>(&reply.body) {
                Ok(refusal) if refusal.code == CONTENT_MISSING => self.lacked(&refusal.missing),
                _ => return false,
            },
            _ => return false,
        };
        self.sending = sending;
        true
    }

    fn lacked(&self, missing: &BTreeSet<String>) -> Sending {
        let hashes = self.files.iter().map(|file| file.hash);
        let named: BTreeSet<BlobHash> = hashes.filter(|hash| missing.contains(&hash.to_string())).collect();
        match &self.sending {
            Sending::None if !named.is_empty() => Sending::Only(named),
            // A content was deleted since the last response.
            _ => Sending::All,
        }
    }

    /// The files whose content the next form has.
    pub(super) fn sent(&self) -> impl Iterator<Item = &SiteFile> {
        self.files.iter().filter(|file| self.sending.has(file.hash))
    }

    /// The hashes of the other files by path, as JSON.
    pub(super) fn manifest(&self) -> Option<String> {
        let named = self.files.iter().filter(|file| !self.sending.has(file.hash));
        let named: BTreeMap<&str, String> =
            named.map(|file| (file.path.as_str(), file.hash.to_string())).collect();
        if named.is_empty() { None } else { serde_json::to_string(&named).ok() }
    }

    pub fn sent_files(&self) -> SentFiles {
        SentFiles { sent: self.sent().count(), total: self.files.len() }
    }
}

impl Sending {
    fn has(&self, hash: BlobHash) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(hashes) => hashes.contains(&hash),
        }
    }
}

impl fmt::Display for SentFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} files sent", self.sent, self.total)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use indicatif::ProgressBar;
    use serde_json::json;

    use super::*;

    fn upload() -> Upload {
        let files = [("a.txt", "a"), ("b.txt", "b"), ("copy-of-b.txt", "b")].map(|(path, content)| {
            SiteFile::new(path.parse().unwrap(), Bytes::from_static(content.as_bytes()))
        });
        Upload::new(None, None, files.to_vec(), ProgressBar::hidden()).by_hash()
    }

    fn refused(status: u16, body: &serde_json::Value) -> Reply {
        Reply { status, body: body.to_string(), retry_after: None, location: None }
    }

    fn missing(contents: &[&str]) -> Reply {
        let hashes: Vec<String> =
            contents.iter().map(|text| BlobHash::of(text.as_bytes()).to_string()).collect();
        refused(409, &json!({ "code": "content_missing", "missing": hashes }))
    }

    #[test]
    fn only_missing_contents_are_sent() {
        let mut upload = upload();
        let manifest: serde_json::Value = serde_json::from_str(&upload.manifest().unwrap()).unwrap();
        assert_eq!(manifest["a.txt"], BlobHash::of(b"a").to_string());
        assert_eq!(upload.sent_files().to_string(), "0 of 3 files sent");
        assert!(upload.add_missing(&missing(&["b", "of another site"])));
        assert_eq!(upload.sent_files().to_string(), "2 of 3 files sent");
        assert!(upload.manifest().unwrap().contains("a.txt"));
        assert!(upload.add_missing(&missing(&["a"])), "it was deleted meanwhile");
        assert_eq!((upload.sent_files().sent, upload.manifest()), (3, None));
        assert!(!upload.add_missing(&missing(&["a"])), "everything was sent");
    }

    #[test]
    fn servers_without_manifests_get_all_files() {
        let mut upload = upload();
        assert!(upload.add_missing(&refused(400, &json!({ "code": "invalid_request" }))));
        assert_eq!((upload.sent_files().sent, upload.manifest()), (3, None));
        assert!(!upload.add_missing(&refused(400, &json!({ "code": "invalid_request" }))));
    }

    #[test]
    fn other_responses_are_final() {
        let mut upload = upload();
        for (status, code) in [(201, "none"), (402, "payment_required"), (409, "idempotency_conflict")] {
            assert!(!upload.add_missing(&refused(status, &json!({ "code": code }))), "{status}");
        }
        assert_eq!(upload.sent_files().sent, 0);
    }
}
