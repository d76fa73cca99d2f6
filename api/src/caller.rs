//! Who is calling: the one place where the credentials of a request become a [`Caller`] or a [`Person`].
//!
//! A bearer token outranks a cookie. A call that rests on the cookie must never come from another site's page; see
//! [`crate::same_site`].

use anyhow::anyhow;
use domain::Refusal;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use service::{Caller, Failure, Person, Service};

use crate::refusal::RefusedCall;
use crate::same_site;

/// The cookie that carries a person's session.
pub const SESSION_COOKIE: &str = "svc_sess";
/// Names the account that a person's call is about.
const ACCOUNT_HEADER: &str = "X-Account";

const TOKEN_SCHEME: &str = "token";
const SESSION_SCHEME: &str = "session";

// Each stands first among a handler's arguments, so that nobody learns anything without a credential.

/// Whoever holds a token; in dev mode also a person with a session.
pub struct Token(pub Caller);

/// Whoever holds a token, or a person with a session.
pub struct Member(pub Caller);

/// A person with a session.
pub struct SignedIn(pub Person);

/// A person with a session; one who comes with a token instead is told that the call takes a person.
pub struct InPerson(pub Person);

/// How an argument of a handler learns who calls, and which schemes the document lists for it.
trait Credential: Sized + Send {
    const SCHEMES: &'static [&'static str];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall>;
}

impl Credential for Token {
    const SCHEMES: &'static [&'static str] = &[TOKEN_SCHEME, SESSION_SCHEME];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        // Spec 5.3: the cookie stands for an account on every route in dev mode only.
        if authorization(request).is_none() && service.is_dev_mode() && session(request).is_some() {
            return Ok(Self(caller_by_session(request, service).await?));
        }
        Ok(Self(service.authenticate(bearer(request)).await?))
    }
}

impl Credential for Member {
    const SCHEMES: &'static [&'static str] = &[TOKEN_SCHEME, SESSION_SCHEME];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        if authorization(request).is_none() && session(request).is_some() {
            return Ok(Self(caller_by_session(request, service).await?));
        }
        Ok(Self(service.authenticate(bearer(request)).await?))
    }
}

impl Credential for SignedIn {
    const SCHEMES: &'static [&'static str] = &[SESSION_SCHEME];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        Ok(Self(person(request, service).await?))
    }
}

impl Credential for InPerson {
    const SCHEMES: &'static [&'static str] = &[SESSION_SCHEME];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        if session(request).is_none() && bearer(request).is_some() {
            return Err(Refusal::SessionRequired.into());
        }
        Ok(Self(person(request, service).await?))
    }
}

/// The account that a person's call names with `X-Account`, if it names one.
pub fn named_account(request: &Request) -> Option<&str> {
    request.header(ACCOUNT_HEADER)
}

/// The person whose session the request carries, on a page of our own.
pub async fn person(request: &Request, service: &Service) -> Result<Person, RefusedCall> {
    let session = session(request).ok_or(Refusal::NotSignedIn)?;
    same_site::demand(request, service.addresses())?;
    Ok(service.person(&session).await?)
}

async fn caller_by_session(request: &Request, service: &Service) -> Result<Caller, RefusedCall> {
    let person = person(request, service).await?;
    Ok(service.caller_of(&person, named_account(request)).await?)
}

/// The secret of the session cookie.
pub fn session(request: &Request) -> Option<String> {
    let cookie = request.cookie().get(SESSION_COOKIE)?;
    let secret = cookie.value_str();
    (!secret.is_empty()).then(|| secret.to_owned())
}

/// Whether the request tries to authenticate by a header, well or badly.
pub fn authorization(request: &Request) -> Option<&str> {
    request.headers().get("authorization").map(|value| value.to_str().unwrap_or_default())
}

fn bearer(request: &Request) -> Option<&str> {
    let (scheme, secret) = authorization(request)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

macro_rules! extractors {
    ($($name:ident),+) => {$(
        impl<'a> ApiExtractor<'a> for $name {
            const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

            type ParamType = ();
            type ParamRawType = ();

            fn register(registry: &mut Registry) {
                describe_schemes(registry);
            }

            fn security_schemes() -> Vec<&'static str> {
                <$name as Credential>::SCHEMES.to_vec()
            }

            async fn from_request(
                request: &'a Request,
                _body: &mut RequestBody,
                _options: ExtractParamOptions<()>,
            ) -> poem::Result<Self> {
                let service = request.data::<Service>().ok_or_else(|| {
                    RefusedCall::from(Failure::Bug(anyhow!("the routes were built without a service")))
                })?;
                Ok(<$name as Credential>::read(request, service).await?)
            }
        }
    )+};
}
extractors!(Token, Member, SignedIn, InPerson);

fn describe_schemes(registry: &mut Registry) {
    let scheme = |ty, description| MetaSecurityScheme {
        ty,
        description: Some(description),
        name: None,
        key_in: None,
        scheme: None,
        bearer_format: None,
        flows: None,
        openid_connect_url: None,
    };
    let token = MetaSecurityScheme {
        scheme: Some("bearer"),
        bearer_format: Some("svc_sk_*"),
        ..scheme("http", "The token that `POST /v1/signup` gave, as `Authorization: Bearer svc_sk_…`.")
    };
    let session = MetaSecurityScheme {
        name: Some(SESSION_COOKIE),
        key_in: Some("cookie"),
        ..scheme(
            "apiKey",
            "The session of a signed-in person. Where a token will do as well, it is taken in dev mode only, but for \
             `PATCH /v1/account`, invites and members. The header `X-Account` (an id or a handle) chooses among \
             several accounts.",
        )
    };
    registry.create_security_scheme(TOKEN_SCHEME, token);
    registry.create_security_scheme(SESSION_SCHEME, session);
}
