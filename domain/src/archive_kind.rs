//! The archives that a site can be published as.

/// The kind of an archive. gzip and zstd have a tar inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Zip,
    Tar,
    Gzip,
    Zstd,
}

impl ArchiveKind {
    pub const ALL: [Self; 4] = [Self::Zip, Self::Tar, Self::Gzip, Self::Zstd];

    /// The kind of the archive that has this file name. A compressed file without a tar inside is no archive.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Self::ALL.into_iter().find(|kind| kind.endings().iter().any(|ending| name.ends_with(ending)))
    }

    /// The kind of an archive without a name, by its first bytes. No page begins with them.
    pub fn of_content(content: &[u8]) -> Option<Self> {
        match content {
            [b'P', b'K', 3, 4, ..] => Some(Self::Zip),
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ if content.get(257..262) == Some(b"ustar") => Some(Self::Tar),
            _ => None,
        }
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Zip => "application/zip",
            Self::Tar => "application/x-tar",
            Self::Gzip => "application/gzip",
            Self::Zstd => "application/zstd",
        }
    }

    const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Zip => &[".zip"],
            Self::Tar => &[".tar"],
            Self::Gzip => &[".tar.gz", ".tgz"],
            Self::Zstd => &[".tar.zst", ".tzst"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_recognized_by_their_names() {
        for (name, kind) in [
            ("site.zip", Some(ArchiveKind::Zip)),
            ("a.b/Site.ZIP", Some(ArchiveKind::Zip)),
            ("site.tar", Some(ArchiveKind::Tar)),
            ("site.tar.gz", Some(ArchiveKind::Gzip)),
            ("site.tgz", Some(ArchiveKind::Gzip)),
            ("site.tar.zst", Some(ArchiveKind::Zstd)),
            ("data.json.gz", None),
            ("zip", None),
            ("site.zip.html", None),
        ] {
            assert_eq!(ArchiveKind::of_name(name), kind, "{name}");
        }
    }

    #[test]
    fn a_page_without_a_name_is_not_taken_for_an_archive() {
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(ArchiveKind::of_content(&tar), Some(ArchiveKind::Tar));
        assert_eq!(ArchiveKind::of_content(b"PK\x03\x04rest"), Some(ArchiveKind::Zip));
        assert_eq!(ArchiveKind::of_content(b"\x1f\x8b\x08"), Some(ArchiveKind::Gzip));
        assert_eq!(ArchiveKind::of_content(b"\x28\xb5\x2f\xfd"), Some(ArchiveKind::Zstd));
        for page in [&b"<h1>PK</h1>"[..], b"", b"PK", b"PKZIP is a program"] {
            assert_eq!(ArchiveKind::of_content(page), None, "{page:?}");
        }
    }
}
