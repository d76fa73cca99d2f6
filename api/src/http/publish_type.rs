//! The content types that the body of a publish may have.

pub use domain::ArchiveKind;
use poem::Request;

/// The form of a publish's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishType {
    Form,
    Json,
    Archive(ArchiveKind),
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
