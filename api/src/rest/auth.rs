//! Registration, sign-in and sign-out. The session's secret is in its cookie and must never appear anywhere
//! else.

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
use crate::http::paging::Limit;
use crate::http::session_cookie;
use crate::http::short_list::cut_at;
use crate::wire;

#[derive(Default)]
pub struct Auth;

refusals! {
    Register:
        InvalidRequest, InvalidBody, WeakPassword, UsernameTaken, TooLarge, UnsupportedMediaType, RateLimited;
    LogIn: InvalidRequest, InvalidBody, InvalidCredentials, TooLarge, UnsupportedMediaType, RateLimited;
    LogOut: ForeignPage;
    GetMe: InvalidRequest, NotSignedIn;
    Dev: InvalidRequest, DevModeIsLocal, NotFound;
}

#[derive(ApiResponse)]
enum Registered {
    /// The user account is created, and the person is signed in.
    #[oai(status = 201)]
    Registered(
        Json<wire::SignedIn>,
        /// The session cookie.
        #[oai(header = "Set-Cookie")]
        String,
        /// The API address of the signed-in person.
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
        /// The session cookie.
        #[oai(header = "Set-Cookie")]
        String,
    ),
}

#[derive(ApiResponse)]
enum LoggedOut {
    /// The session is ended.
    #[oai(status = 200)]
    LoggedOut(
        Json<wire::SignedOut>,
        /// Deletes the session cookie.
        #[oai(header = "Set-Cookie")]
        String,
    ),
}

#[derive(ApiResponse)]
enum DevSignedIn {
    /// The person is signed in.
    #[oai(status = 200)]
    SignedIn(
        Json<wire::SignedIn>,
        /// The session cookie.
        #[oai(header = "Set-Cookie")]
        String,
    ),
    /// The person is signed in and redirected to `next`.
    #[oai(status = 302)]
    Redirected(
        /// The path in `next`.
        #[oai(header = "Location")]
        String,
        /// The session cookie.
        #[oai(header = "Set-Cookie")]
        String,
    ),
}

#[derive(ApiResponse)]
enum Me {
    /// The signed-in person.
    #[oai(status = 200)]
    Me(
        Json<wire::Me>,
        /// The session cookie with a new expiry. A session expires a fixed time after its last use.
        #[oai(header = "Set-Cookie")]
        Option<String>,
        /// Sent with `limit`, when there are more accounts: the address of the next page, as `<address>;
        /// rel="next"`.
        #[oai(header = "Link")]
        Option<String>,
    ),
}

#[OpenApi(tag = "Tag::People")]
impl Auth {
    /// Create a user account
    ///
    /// For people: creates a username with a password and signs in. Agents use `POST /v1/signup` instead.
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
    /// Signs a person in and sets the session cookie. A wrong password and an unknown username return the
    /// same error.
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
    /// Ends the session and deletes its cookie. Also succeeds without a session.
    #[oai(path = "/auth/logout", method = "post", operation_id = "log_out")]
    async fn log_out(&self, request: &Request, service: Data<&Service>) -> ApiResult<LoggedOut, LogOut> {
        session_cookie::end(request, &service).await?;
        let cookie = session_cookie::forgotten(service.addresses());
        Ok(LoggedOut::LoggedOut(Json(wire::SignedOut { signed_out: true }), cookie))
    }

    /// Get the signed-in person
    ///
    /// Returns the person and their accounts: highest role first, then oldest first.
    #[oai(path = "/auth/me", method = "get", operation_id = "get_me")]
    async fn me(
        &self,
        person: SignedIn,
        /// The maximum number of accounts to return; the `Link` header then holds the next page. Without it,
        /// the response has all of them.
        limit: Limit,
        /// The number of accounts before the page, from the `Link` header of the previous response.
        #[oai(validator(minimum(value = "0"), maximum(value = "1000000")))]
        after: Query<Option<u32>>,
        request: &Request,
        service: Data<&Service>,
    ) -> ApiResult<Me, GetMe> {
        let (page, next) = cut_at(&limit, service.memberships(&person.0).await?, after.0);
        let me = wire::Me::new(&person.0, &page, service.addresses());
        let cookie = session_cookie::kept_on(request, service.addresses());
        Ok(Me::Me(Json(me), cookie, limit.link(next.as_deref(), &service)))
    }

    /// Sign in as anyone, in dev mode
    ///
    /// Creates the user account if it does not exist. Outside dev mode this returns 404. In dev mode only the
    /// same machine may call it.
    #[oai(path = "/auth/dev", method = "get", operation_id = "log_in_unasked")]
    async fn log_in_unasked(
        &self,
        _dev_mode: DevMode,
        /// The username.
        #[oai(validator(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{2,29}$"))]
        user: Query<String>,
        /// The path of this service to redirect to. Anything else is ignored.
        next: Query<Option<String>>,
        from: Client,
        service: Data<&Service>,
    ) -> ApiResult<DevSignedIn, Dev> {
        let signed_in = service.log_in_without_password(&user, &from.0).await?;
        let cookie = session_cookie::kept(&signed_in.session, service.addresses());
        Ok(match next.as_deref().and_then(NextPath::parse) {
            Some(next) => DevSignedIn::Redirected(next.into(), cookie),
            None => DevSignedIn::SignedIn(Json((&signed_in.person).into()), cookie),
        })
    }
}
