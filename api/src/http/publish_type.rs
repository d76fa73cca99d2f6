//! The content types that the body of a publish may have.

use poem::Request;

/// The form of a publish's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishType {
    Form,
    Json,
    Archive(ArchiveKind),
}

/// The kind of an archive. gzip and zstd have a tar inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Zip,
    Tar,
    Gzip,
    Zstd,
}

impl PublishType {
    /// The type of a request's body, if a publish can have it.
    pub fn of(request: &Request) -> Option<Self> {
        let essence = request.content_type()?.split(';').next()?.trim();
        let types = [Self::Form, Self::Json].into_iter().chain(ArchiveKind::ALL.map(Self::Archive));
        types.into_iter().find(|kind| essence.eq_ignore_ascii_case(kind.content_type()))
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Form => "multipart/form-data",
            Self::Json => "application/json",
            Self::Archive(kind) => kind.content_type(),
        }
    }
}

impl ArchiveKind {
    pub const ALL: [Self; 4] = [Self::Zip, Self::Tar, Self::Gzip, Self::Zstd];

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Zip => "application/zip",
            Self::Tar => "application/x-tar",
            Self::Gzip => "application/gzip",
            Self::Zstd => "application/zstd",
        }
    }
}
