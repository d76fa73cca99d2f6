//! The fields of a form that name what is not sent: `manifest`, `base` and `delete`.

use std::fmt;

use domain::{FileSet, MalformedVersionChoice, Refusal, SitePath};
use multer::Field;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use service::{FileSource, PlannedFile, StoredContent};

use super::source::{GivenBase, parse_hash};
use super::{bytes_of, site_path};

/// A manifest of the maximum number of files, with every character of its paths escaped, is shorter.
const MANIFEST_BYTES_MAX: usize = 256 * 1024;

/// The parts `base` and `delete` that have been read so far.
#[derive(Default)]
pub struct BaseFields(GivenBase);

impl BaseFields {
    pub async fn take_base(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        if self.0.version.is_some() {
            return Err(Refusal::invalid("base", "occurs twice"));
        }
        let text = text_of("base", field, SitePath::LENGTH_MAX).await?;
        let malformed = |fault: MalformedVersionChoice| Refusal::invalid("base", fault.to_string());
        self.0.version = Some(text.parse().map_err(malformed)?);
        Ok(())
    }

    pub async fn take_deleted(&mut self, field: Field<'_>) -> Result<(), Refusal> {
        // The plan is refused if there is one too many.
        if self.0.deleted.len() <= FileSet::FILES_MAX {
            self.0.deleted.push(text_of("delete", field, SitePath::LENGTH_MAX).await?);
        }
        Ok(())
    }

    pub fn has_version(&self) -> bool {
        self.0.version.is_some()
    }

    pub fn into_given(self) -> GivenBase {
        self.0
    }
}

/// The files that a manifest names. The caller checks their paths against the others.
pub async fn named_files(field: Field<'_>) -> Result<Vec<PlannedFile>, Refusal> {
    let text = text_of("manifest", field, MANIFEST_BYTES_MAX).await?;
    let NamedHashes(named) = serde_json::from_str(&text).map_err(|error| {
        Refusal::invalid("manifest", format!("is not a JSON object of paths and their SHA-256: {error}"))
    })?;
    let file = |(path, hash): (String, String)| {
        let path = site_path(&path)?;
        let hash = parse_hash("manifest", &hash)?;
        Ok(PlannedFile { path, source: FileSource::Stored(StoredContent { hash, size_bytes: None }) })
    };
    named.into_iter().map(file).collect()
}

async fn text_of(name: &str, field: Field<'_>, bytes_max: usize) -> Result<String, Refusal> {
    let text = bytes_of(field, bytes_max).await?;
    if text.len() > bytes_max {
        return Err(Refusal::invalid(name, format!("is longer than {bytes_max} bytes")));
    }
    String::from_utf8(text).map_err(|_| Refusal::invalid(name, "is not in UTF-8"))
}

/// The entries of a JSON object, also those with the same name.
struct NamedHashes(Vec<(String, String)>);

impl<'de> Deserialize<'de> for NamedHashes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedHashesVisitor)
    }
}

struct NamedHashesVisitor;

impl<'de> Visitor<'de> for NamedHashesVisitor {
    type Value = NamedHashes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<NamedHashes, A::Error> {
        let mut named = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            named.push(entry);
        }
        Ok(NamedHashes(named))
    }
}
