//! The terms of a route: its body limit, its permit class and who may call it. The table of routes states
//! them; code that runs before a handler reads them from the request.

use poem::Request;
use poem::http::header;

use crate::http::publish_type::PublishType;

/// The terms of one route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub area: Area,
    pub body: BodyLimit,
    pub permit: PermitClass,
    pub audience: Audience,
}

/// The kind of client that a path is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Area {
    #[default]
    Api,
    /// People open it in a browser.
    Page,
    Mcp,
    /// The command line of Netlify.
    Netlify,
}

/// The maximum length of a body, and the memory budget that it is counted against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyLimit {
    /// JSON, or a short form.
    #[default]
    Small,
    /// The files of a publish, in any content type.
    Upload,
    /// The files of a publish in a multipart form. Any other content type is [`Self::Small`].
    Form,
    /// The files of a publish in a form or an archive, or [`Self::UploadJson`]. Any other content type is
    /// [`Self::Small`].
    Publish,
    /// The files of a publish in JSON.
    UploadJson,
    /// A message to the MCP endpoint.
    Message,
    /// An event from the card processor.
    Event,
}

/// The permit that a request needs before it is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PermitClass {
    #[default]
    Request,
    /// A password is hashed, which can take seconds.
    SignIn,
    /// A liveness probe. It is handled without queueing, even under overload.
    Free,
}

/// Who may call a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    #[default]
    Anyone,
    /// A bearer token.
    Token,
    /// A bearer token or a person's session. Some routes take the session in dev mode only.
    Account,
    /// A person's session.
    Person,
    /// A person's session, or the credentials in the body.
    PersonOrBody,
    /// The operator's secret. The route is hidden from anyone else.
    Operator,
    /// The operator's staff, by their password or the operator's secret.
    Staff,
    /// The same, or the ticket of a preview.
    StaffOrTicket,
    /// Anyone, where the operator's staff have a password to sign in with.
    StaffSignIn,
}

impl Terms {
    pub fn of(request: &Request) -> Self {
        request.data().copied().unwrap_or_default()
    }

    /// The limit of this request's body.
    pub fn body_limit(self, request: &Request) -> BodyLimit {
        match self.body {
            BodyLimit::Form if is_form(request) => BodyLimit::Upload,
            BodyLimit::Form => BodyLimit::Small,
            BodyLimit::Publish => match PublishType::of(request) {
                Some(PublishType::Form | PublishType::Archive(_)) => BodyLimit::Upload,
                Some(PublishType::Json) => BodyLimit::UploadJson,
                None => BodyLimit::Small,
            },
            limit => limit,
        }
    }
}

fn is_form(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/"))
}
