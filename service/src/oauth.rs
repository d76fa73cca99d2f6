//! OAuth: how a client that cannot be given a token gets one, by a person's consent or for a new account.
//!
//! An access token is an ordinary token that its client renews. Clients are public: they have no secret, so
//! the proof key (PKCE) and the redirect address are what ties a code to its client.

mod authorize;
mod clients;
mod devices;
mod documents;
mod error;
mod grants;

pub use authorize::{AuthorizationParameters, AuthorizationRequest, BadAuthorization, NewAccountGrant};
pub use clients::{ClientSource, DevicesOnly, OAuthClient, RegisteredClient, RegistrationRequest};
pub use devices::{DeviceParameters, DeviceSignIn, WaitingDevice};
pub use documents::ClientDocuments;
pub use error::{OAuthCode, OAuthError, OAuthFailure, OAuthResult};
pub use grants::{IssuedTokens, TokenParameters};

use std::time::Duration;

use crate::Service;

/// How long a code from the consent page can be exchanged, the maximum that RFC 6749 recommends. A person who
/// continues without an account reads a page with a claim link first.
const CODE_KEPT: Duration = Duration::from_secs(10 * 60);
const ACCESS_KEPT: Duration = Duration::from_secs(3600);
/// A refresh token ends this long after its issue.
const REFRESH_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// About 256 bits.
const CODE_LENGTH: usize = 43;

impl Service {
    /// The identifier of this authorization server.
    pub fn issuer(&self) -> &str {
        &self.addresses().base_url
    }

    /// The resource that a client names, in our own notation; `None` unless it is one of ours.
    fn resource(&self, named: &str) -> Option<String> {
        let named = named.strip_suffix('/').unwrap_or(named);
        ["", "/mcp", "/v1"].into_iter().map(|path| self.addresses().api(path)).find(|own| own == named)
    }
}
