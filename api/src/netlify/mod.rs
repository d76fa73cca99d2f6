//! The part of Netlify's API that `netlify deploy` uses, so that it publishes here unmodified:
//! `NETLIFY_API_URL={base_url}/netlify/api/v1`, with a token of this service. A site is an artifact of the
//! token's account, and its id is its slug.
//!
//! The handlers map requests to operations of `service` and must contain no rules of their own. Refusals have
//! Netlify's form, which the command line prints; see [`crate::http::refusal::respond_to_netlify`].

pub mod deploys;
mod files;
mod json;
mod publishing;
pub mod sites;

use domain::{Missing, Refusal, Slug};
use poem::{FromRequest, Request, RequestBody};
use service::Caller;

use crate::http::caller::bearer;
use crate::http::origin::origin_of;
use crate::http::refusal::RefusedCall;
use crate::http::service_of::service_of;

pub use files::receive;

/// The bearer of a token, as an argument of a handler. It comes first, so that an unauthenticated caller
/// learns nothing of the other arguments.
pub struct Bearer(Caller);

impl<'a> FromRequest<'a> for Bearer {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        let caller = service_of(request)?.authenticate(bearer(request), origin_of(request)).await;
        Ok(Self(caller.map_err(RefusedCall::from)?))
    }
}

/// The slug of a site. A name that no artifact can have is that of no site.
fn slug_of(site: &str) -> Result<Slug, Refusal> {
    site.parse().map_err(|_| Refusal::NotFound(Missing::Artifact))
}
