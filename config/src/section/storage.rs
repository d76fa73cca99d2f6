//! The blob store: a directory, or a bucket with its key. A bucket without a key is a fault at the start, not
//! at the first publish.

use std::path::{Path, PathBuf};

use crate::reader::Reader;
use crate::secret::Secret;
use crate::value::{Concurrency, Value, WebAddress};

/// The location of blobs.
#[derive(Clone, Debug)]
pub enum Storage {
    Folder(PathBuf),
    Bucket(Bucket),
}

/// A bucket of an S3-compatible store, with its key.
#[derive(Clone, Debug)]
pub struct Bucket {
    pub name: String,
    /// The prefix of every object's name. Without slashes at either end, and possibly empty.
    pub prefix: String,
    /// `None`: Amazon's endpoint for the region.
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key_id: Secret,
    pub secret_access_key: Secret,
    /// How many objects `handbill scrub` reads concurrently.
    pub scrub_concurrency: usize,
}

/// The value of `storage.url`.
#[derive(Clone)]
enum Location {
    Folder(PathBuf),
    Bucket { name: String, prefix: String },
}

impl Storage {
    pub(crate) fn read(reader: &mut Reader, data_dir: &Path) -> Option<Self> {
        let location = reader.derived("storage.url", "data_dir", || Location::Folder(data_dir.join("blobs")));
        let endpoint = reader.optional::<WebAddress>("storage.endpoint");
        let region = reader.required("storage.region");
        let access_key_id = reader.optional("storage.access_key_id");
        let secret_access_key = reader.optional("storage.secret_access_key");
        let scrub_concurrency = reader.required::<Concurrency>("storage.scrub_concurrency");
        let (name, prefix) = match location {
            Location::Folder(folder) => return Some(Self::Folder(folder)),
            Location::Bucket { name, prefix } => (name, prefix),
        };
        require(reader, "storage.access_key_id", &access_key_id);
        require(reader, "storage.secret_access_key", &secret_access_key);
        Some(Self::Bucket(Bucket {
            name,
            prefix,
            endpoint: endpoint.map(|endpoint| endpoint.0),
            region: region?,
            access_key_id: access_key_id?,
            secret_access_key: secret_access_key?,
            scrub_concurrency: scrub_concurrency?.0,
        }))
    }
}

fn require(reader: &mut Reader, key: &'static str, given: &Option<Secret>) {
    if given.is_none() {
        reader.fault(key, "is not set, and storage.url is s3://", "expected the access key of the bucket");
    }
}

impl Value for Location {
    const EXPECTED: &'static str = "file://<folder> or s3://<bucket>/<prefix>";

    // The directory follows `file://` literally, relative or absolute, without escapes.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        if rest.is_empty() {
            return None;
        }
        match scheme {
            "file" => Some(Self::Folder(PathBuf::from(rest))),
            "s3" => {
                let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                let is_name_character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
                let is_name = !name.is_empty() && name.chars().all(is_name_character);
                is_name.then(|| Self::Bucket { name: name.into(), prefix: prefix.trim_matches('/').into() })
            }
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Folder(folder) => format!("file://{}", folder.display()),
            Self::Bucket { name, prefix } => format!("s3://{name}/{prefix}"),
        }
    }
}
