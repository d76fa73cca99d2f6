//! The page that a folder belongs to, in a file in the folder, so that the next publish updates that page.
//! The file holds no secret and is never published.
//!
//! A folder can come from somebody else, file included. The page is therefore updated only if the account has
//! a page with the same slug and the same host, whose random part keeps accidents apart. It is not a secret.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use domain::Slug;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::server::shown;
use crate::upload::STATE_FILE;

/// A longer file is something else.
const FILE_BYTES_MAX: u64 = 16 * 1024;

/// The page of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPage {
    /// The address of the server's API.
    pub server: String,
    pub slug: Slug,
    pub host: String,
}

#[derive(Serialize, Deserialize)]
struct Written {
    server: String,
    slug: String,
    host: String,
}

impl FolderPage {
    /// Reads the page of a folder. A folder without the file has none.
    pub fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(STATE_FILE);
        let unreadable = |error: std::io::Error| fault(&path, &format!("cannot be read: {error}"));
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
        let malformed = || fault(&path, "does not name the server, slug and host of a page");
        let written: Written = serde_json::from_str(&text).map_err(|_| malformed())?;
        let slug = written.slug.parse().map_err(|_| malformed())?;
        Ok(Some(Self { server: written.server, slug, host: written.host }))
    }

    /// Replaces the file atomically, and returns its path.
    pub fn save(&self, folder: &Path) -> std::io::Result<PathBuf> {
        let path = folder.join(STATE_FILE);
        let Self { server, slug, host } = self.clone();
        let written = Written { server, slug: slug.to_string(), host };
        let mut file = NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, &written)?;
        file.write_all(b"\n")?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(path)
    }

    pub fn is_on(&self, server: &Url) -> bool {
        self.server.trim_end_matches('/') == shown(server)
    }
}

fn fault(path: &Path, what: &str) -> Failure {
    let hint = "remove the file, or choose the page with --slug";
    Failure::usage(format!("{} {what}", path.display()), hint)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn page() -> FolderPage {
        FolderPage {
            server: "https://handbill.example".to_owned(),
            slug: "my-site".parse().unwrap(),
            host: "my-site-a1b2".to_owned(),
        }
    }

    #[test]
    fn page_of_a_folder_is_read_as_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(FolderPage::read(folder.path()).unwrap(), None);
        let path = page().save(folder.path()).unwrap();
        assert_eq!(FolderPage::read(folder.path()).unwrap(), Some(page()));
        let fields: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(fields.as_object().unwrap().len(), 3, "nothing else, such as a token");
    }

    #[test]
    fn malformed_state_file_is_a_usage_error() {
        let folder = tempfile::tempdir().unwrap();
        for bad in ["", "{}", "[1]", r#"{"server":"https://a.example","slug":"../other","host":"a"}"#] {
            fs::write(folder.path().join(STATE_FILE), bad).unwrap();
            assert_eq!(FolderPage::read(folder.path()).unwrap_err().exit as u8, 2, "{bad}");
        }
    }

    #[test]
    fn trailing_slash_of_the_server_is_ignored() {
        assert!(page().is_on(&"https://handbill.example/".parse().unwrap()));
        assert!(!page().is_on(&"https://handbill.example:8443".parse().unwrap()));
    }
}
