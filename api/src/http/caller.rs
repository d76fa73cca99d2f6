//! Authentication: the only place where the credentials of a request become a [`Caller`] or a [`Person`].
//!
//! A bearer token takes precedence over a cookie. A call that relies on the cookie must not come from another
//! site's page; see [`crate::http::same_site`].

use domain::Refusal;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use service::{Caller, Person, Service};

use crate::http::origin::origin_of;
use crate::http::refusal::RefusedCall;
use crate::http::service_of::service_of;
use crate::http::{dev_mode, same_site, session_cookie};

/// Names the account that a person's call is for.
const ACCOUNT_HEADER: &str = "X-Account";

const TOKEN_SCHEME: &str = "token";
const SESSION_SCHEME: &str = "session";

// Each of these comes first among a handler's arguments, so that an unauthenticated caller learns nothing
// about other arguments.

/// A bearer token; in dev mode also a person's session.
pub struct Token(pub Caller);

/// A bearer token, or a person's session.
pub struct TokenOrSession(pub Caller);

/// A person's session.
pub struct SignedIn(pub Person);

/// A person's session. A caller with a token instead is refused with `SessionRequired`.
pub struct InPerson(pub Person);

/// How a handler's argument authenticates the caller, and which schemes the OpenAPI document lists for it.
trait Credential: Sized + Send {
    const SCHEMES: &'static [&'static str];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall>;
}

impl Credential for Token {
    const SCHEMES: &'static [&'static str] = &[TOKEN_SCHEME, SESSION_SCHEME];

    async fn read(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        // Spec 5.3: only in dev mode does the cookie stand for an account on every route.
        if !service.is_dev_mode() || !has_only_session(request, service) {
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

/// The account that `X-Account` names, if the header is there.
pub fn named_account(request: &Request) -> Option<&str> {
    // An unreadable header becomes an empty name, which no account has. It must not count as missing.
    request.headers().get(ACCOUNT_HEADER).map(|value| value.to_str().unwrap_or_default())
}

/// The person whose session the request carries, for our own pages.
pub async fn person(request: &Request, service: &Service) -> Result<Person, RefusedCall> {
    let session = session_cookie::secret(request, service.addresses()).ok_or(Refusal::NotSignedIn)?;
    same_site::demand(request, service.addresses())?;
    Ok(service.person(&session, origin_of(request)).await?)
}

/// Whether a session is the only credential of the request.
fn has_only_session(request: &Request, service: &Service) -> bool {
    authorization(request).is_none() && session_cookie::secret(request, service.addresses()).is_some()
}

async fn caller_by_either(request: &Request, service: &Service) -> Result<Caller, RefusedCall> {
    if !has_only_session(request, service) {
        return Ok(service.authenticate(bearer(request), origin_of(request)).await?);
    }
    let person = person(request, service).await?;
    Ok(service.caller_of(&person, named_account(request)).await?)
}

/// The value of `Authorization`, valid or not.
pub fn authorization(request: &Request) -> Option<&str> {
    request.headers().get("authorization").map(|value| value.to_str().unwrap_or_default())
}

/// The token after `Bearer`, if there is one.
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
        ..scheme("http", "A token from `POST /v1/signup`, sent as `Authorization: Bearer svc_sk_…`.")
    };
    let session = MetaSecurityScheme {
        name: Some(session_cookie::NAME),
        key_in: Some("cookie"),
        ..scheme(
            "apiKey",
            "The session of a signed-in person. An endpoint whose description names only a scope accepts it only \
             in dev mode, from the same machine. The header `X-Account` (an id or a handle) selects one of \
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
    fn unreadable_account_header_is_not_treated_as_absent() {
        let naming = |bytes: &[u8]| {
            let value = HeaderValue::from_bytes(bytes).unwrap();
            Request::builder().header(ACCOUNT_HEADER, value).finish()
        };
        assert_eq!(named_account(&naming(b"acct_abc")), Some("acct_abc"));
        assert_eq!(named_account(&naming(b"\xff\xfe")), Some(""));
        assert_eq!(named_account(&Request::default()), None);
    }
}
