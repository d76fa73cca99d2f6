//! The identity of a scanned content, as a hash.

use std::fmt;

use crate::id::BlobHasher;
use crate::{BlobHash, Manifest};

/// Everything that a verdict depends on besides the rules: the paths, content types and contents of the
/// files, and whether the account is provisional, for which the scanner has stricter rules. Two versions with
/// the same value have the same verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScannedContent(BlobHash);

impl ScannedContent {
    pub fn of(manifest: &Manifest, is_provisional: bool) -> Self {
        let mut hash = BlobHasher::default();
        hash.take(if is_provisional { b"provisional\n" } else { b"claimed\n" });
        for file in manifest.files() {
            // Neither paths nor content types contain control characters, so different lists of files never
            // hash the same bytes.
            hash.take(format!("{}\0{}\0{}\n", file.path, file.content_type, file.hash).as_bytes());
        }
        Self(hash.finish())
    }
}

impl fmt::Display for ScannedContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ManifestFile, content_type_of};

    fn file(path: &str, content: &str) -> ManifestFile {
        let path = path.parse().unwrap();
        let content_type = content_type_of(&path);
        ManifestFile {
            path,
            hash: BlobHash::of(content.as_bytes()),
            size_bytes: 1,
            content_type,
            variants: vec![],
            bundled: None,
        }
    }

    #[test]
    fn scanned_content_is_equal_only_for_equal_files() {
        let of = |files: Vec<ManifestFile>| ScannedContent::of(&Manifest::new(files), false);
        let both = of(vec![file("a.html", "one"), file("b.html", "two")]);
        assert_eq!(both, of(vec![file("b.html", "two"), file("a.html", "one")]));
        let retyped = ManifestFile { content_type: "text/plain".into(), ..file("a.html", "one") };
        for other in [
            of(vec![]),
            of(vec![file("a.html", "one")]),
            of(vec![file("a.html", "two"), file("b.html", "one")]),
            of(vec![file("a.html", "one"), file("c.html", "two")]),
            of(vec![retyped, file("b.html", "two")]),
        ] {
            assert_ne!(both, other);
        }
        let manifest = Manifest::new(vec![file("a.html", "one")]);
        assert_ne!(ScannedContent::of(&manifest, false), ScannedContent::of(&manifest, true));
    }
}
