//! Who is calling: the one place where the credentials of a request become a [`Caller`] or a [`Person`].
//!
//! A bearer token outranks a cookie. A call that rests on the cookie must never come from another site's page; see
//! [`crate::http::same_site`].

use domain::Refusal;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use service::{Caller, Person, Service};

use crate::http::origin::origin_of;
use crate::http::refusal::RefusedCall;
use crate::http::service_of::service_of;
use crate::http::{dev_mode, same_site, session_cookie};

/// Names the account that a person's call is about.
const ACCOUNT_HEADER: &str = "X-Account";

const TOKEN_SCHEME: &str = "token";
const SESSION_SCHEME: &str = "session";

// Each stands first among a handler's arguments, so that nobody learns anything without a credential.

/// Whoever holds a token; in dev mode also a person with a session.
pub struct Token(pub Caller);

/// Whoever holds a token, or a person with a session.
pub struct TokenOrSession(pub Caller);

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
        if !service.is_dev_mode() || !brings_session_alone(request, service) {
            return Ok(Self(service.authenticate(bearer(request), origin_of(request)).await?));
        }
        dev_mode::demand_local(request, service)?;
        Ok(Self(caller_by_either(request, service).await?))
    }
}

impl Credential for TokenOrSession {
    const SCHEMES: &'static [&'static str] = &[TOKEN_SCHEME, SESSION_SCHEME];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        Ok(Self(caller_by_either(request, service).await?))
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
        if session_cookie::secret(request, service.addresses()).is_none() && bearer(request).is_some() {
            return Err(Refusal::SessionRequired.into());
        }
        Ok(Self(person(request, service).await?))
    }
}

/// The account that a person's call names with `X-Account`, if it names one.
pub fn named_account(request: &Request) -> Option<&str> {
    // One that cannot be read names nobody; it must not pass for none.
    request.headers().get(ACCOUNT_HEADER).map(|value| value.to_str().unwrap_or_default())
}

/// The person whose session the request carries, on a page of our own.
pub async fn person(request: &Request, service: &Service) -> Result<Person, RefusedCall> {
    let session = session_cookie::secret(request, service.addresses()).ok_or(Refusal::NotSignedIn)?;
    same_site::demand(request, service.addresses())?;
    Ok(service.person(&session, origin_of(request)).await?)
}

/// Whether a session is all that the request has to say who calls.
fn brings_session_alone(request: &Request, service: &Service) -> bool {
    authorization(request).is_none() && session_cookie::secret(request, service.addresses()).is_some()
}

async fn caller_by_either(request: &Request, service: &Service) -> Result<Caller, RefusedCall> {
    if !brings_session_alone(request, service) {
        return Ok(service.authenticate(bearer(request), origin_of(request)).await?);
    }
    let person = person(request, service).await?;
    Ok(service.caller_of(&person, named_account(request)).await?)
}

/// Whether the request tries to authenticate by a header, well or badly.
pub fn authorization(request: &Request) -> Option<&str> {
    request.headers().get("authorization").map(|value| value.to_str().unwrap_or_default())
}

/// What follows `Bearer`, if the request has such a header.
pub fn bearer(request: &Request) -> Option<&str> {
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
                Ok(<$name as Credential>::read(request, service_of(request)?).await?)
            }
        }
    )+};
}
extractors!(Token, TokenOrSession, SignedIn, InPerson);

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
        name: Some(session_cookie::NAME),
        key_in: Some("cookie"),
        ..scheme(
            "apiKey",
            "The session of a signed-in person. Where a token will do as well, it is taken in dev mode on its own machine only, but for \
             `PATCH /v1/account`, invites and members. The header `X-Account` (an id or a handle) chooses among \
             several accounts.",
        )
    };
    registry.create_security_scheme(TOKEN_SCHEME, token);
    registry.create_security_scheme(SESSION_SCHEME, session);
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    #[test]
    fn an_account_that_cannot_be_read_is_not_none() {
        let naming = |bytes: &[u8]| {
            let value = HeaderValue::from_bytes(bytes).unwrap();
            Request::builder().header(ACCOUNT_HEADER, value).finish()
        };
        assert_eq!(named_account(&naming(b"acct_abc")), Some("acct_abc"));
        assert_eq!(named_account(&naming(b"\xff\xfe")), Some(""));
        assert_eq!(named_account(&Request::default()), None);
    }
}
