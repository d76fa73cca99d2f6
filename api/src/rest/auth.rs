//! Signing in and out. A session begins with a cookie and ends on the server; its secret stands in that cookie and
//! nowhere else.

use poem::Request;
use poem::web::Data;
use poem_openapi::param::Query;
use poem_openapi::payload::Json;
use poem_openapi::{ApiResponse, OpenApi};
use service::Service;

use super::Tag;
use crate::html::NextPath;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::caller::SignedIn;
use crate::http::dev_mode::DevMode;
use crate::http::json_body::JsonBody;
use crate::http::origin::Client;
use crate::http::session_cookie;
use crate::wire;

#[derive(Default)]
pub struct Auth;

refusals! {
    Register:
        InvalidRequest, InvalidBody, WeakPassword, UsernameTaken, TooLarge, UnsupportedMediaType, RateLimited;
    LogIn: InvalidRequest, InvalidBody, InvalidCredentials, TooLarge, UnsupportedMediaType, RateLimited;
    LogOut: ForeignPage;
    Look: NotSignedIn;
    Dev: InvalidRequest, DevModeIsLocal, NotFound;
}

#[derive(ApiResponse)]
enum Registered {
    /// The person exists and is signed in.
    #[oai(status = 201)]
    Registered(
        Json<wire::SignedIn>,
        /// The session.
        #[oai(header = "Set-Cookie")]
        String,
        /// The API address of the person.
        #[oai(header = "Location")]
        String,
    ),
}

#[derive(ApiResponse)]
enum LoggedIn {
    /// The person is signed in.
    #[oai(status = 200)]
    LoggedIn(
        Json<wire::SignedIn>,
        /// The session.
        #[oai(header = "Set-Cookie")]
        String,
    ),
}

#[derive(ApiResponse)]
enum LoggedOut {
    /// Nobody is signed in.
    #[oai(status = 200)]
    LoggedOut(
        Json<wire::SignedOut>,
        /// Forgets the session.
        #[oai(header = "Set-Cookie")]
        String,
    ),
}

#[derive(ApiResponse)]
enum LoggedInUnasked {
    /// The person is signed in.
    #[oai(status = 200)]
    Here(
        Json<wire::SignedIn>,
        /// The session.
        #[oai(header = "Set-Cookie")]
        String,
    ),
    /// The person is signed in, and sent on to `next`.
    #[oai(status = 302)]
    SentOn(
        /// Where to.
        #[oai(header = "Location")]
        String,
        /// The session.
        #[oai(header = "Set-Cookie")]
        String,
    ),
}

#[derive(ApiResponse)]
enum Me {
    /// Who is signed in.
    #[oai(status = 200)]
    Me(
        Json<wire::Me>,
        /// The session, which lasts from its last use.
        #[oai(header = "Set-Cookie")]
        Option<String>,
    ),
}

#[OpenApi(tag = "Tag::People")]
impl Auth {
    /// Create a sign-in
    ///
    /// For people; an agent needs none. The answer signs in at once.
    #[oai(path = "/auth/register", method = "post", operation_id = "register")]
    async fn register(
        &self,
        from: Client,
        body: JsonBody<wire::Credentials>,
        service: Data<&Service>,
    ) -> ApiResult<Registered, Register> {
        let signed_in = service.register(body.0.into(), &from.0).await?;
        let cookie = session_cookie::kept(&signed_in.session, service.addresses());
        let location = service.addresses().api("/auth/me");
        Ok(Registered::Registered(Json((&signed_in.person).into()), cookie, location))
    }

    /// Sign in
    ///
    /// A wrong password and an unknown username are answered alike.
    #[oai(path = "/auth/login", method = "post", operation_id = "log_in")]
    async fn log_in(
        &self,
        from: Client,
        body: JsonBody<wire::Credentials>,
        service: Data<&Service>,
    ) -> ApiResult<LoggedIn, LogIn> {
        let signed_in = service.log_in(body.0.into(), &from.0).await?;
        let cookie = session_cookie::kept(&signed_in.session, service.addresses());
        Ok(LoggedIn::LoggedIn(Json((&signed_in.person).into()), cookie))
    }

    /// Sign out
    ///
    /// Ends the session on the server and forgets the cookie. Nothing is wrong if there was none.
    #[oai(path = "/auth/logout", method = "post", operation_id = "log_out")]
    async fn log_out(&self, request: &Request, service: Data<&Service>) -> ApiResult<LoggedOut, LogOut> {
        session_cookie::end(request, &service).await?;
        let cookie = session_cookie::forgotten(service.addresses());
        Ok(LoggedOut::LoggedOut(Json(wire::SignedOut { signed_out: true }), cookie))
    }

    /// See who is signed in
    ///
    /// The person, and the accounts that they stand for.
    #[oai(path = "/auth/me", method = "get", operation_id = "get_me")]
    async fn me(&self, person: SignedIn, request: &Request, service: Data<&Service>) -> ApiResult<Me, Look> {
        let memberships = service.memberships(&person.0).await?;
        let me = wire::Me::new(&person.0, &memberships, service.addresses());
        let cookie = session_cookie::kept_on(request, service.addresses());
        Ok(Me::Me(Json(me), cookie))
    }

    /// Sign in as anybody, in dev mode
    ///
    /// Makes the person if need be. Outside dev mode this does not exist, and in dev mode only this machine may call it.
    #[oai(path = "/auth/dev", method = "get", operation_id = "log_in_unasked")]
    async fn log_in_unasked(
        &self,
        _dev_mode: DevMode,
        /// The username.
        #[oai(validator(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{2,29}$"))]
        user: Query<String>,
        /// A path of this service to go on to; anything else is ignored.
        next: Query<Option<String>>,
        from: Client,
        service: Data<&Service>,
    ) -> ApiResult<LoggedInUnasked, Dev> {
        let signed_in = service.log_in_unasked(&user, &from.0).await?;
        let cookie = session_cookie::kept(&signed_in.session, service.addresses());
        Ok(match next.as_deref().and_then(NextPath::parse) {
            Some(next) => LoggedInUnasked::SentOn(next.into(), cookie),
            None => LoggedInUnasked::Here(Json((&signed_in.person).into()), cookie),
        })
    }
}
