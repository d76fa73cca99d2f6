//! The errors of OAuth. They have codes of their own, which clients know.

use domain::Refusal;

use crate::Failure;

pub type OAuthResult<T> = Result<T, OAuthFailure>;

/// Why a call of OAuth failed.
#[derive(Debug)]
pub enum OAuthFailure {
    Refused(OAuthError),
    Failed(Failure),
}

/// An error of RFC 6749, 7591, 8628 or 8707.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthError {
    pub code: OAuthCode,
    pub description: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OAuthCode {
    AccessDenied,
    AuthorizationPending,
    ExpiredToken,
    InvalidClient,
    InvalidClientMetadata,
    InvalidGrant,
    InvalidRedirectUri,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    SlowDown,
    UnsupportedGrantType,
    UnsupportedResponseType,
}

impl OAuthCode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::AuthorizationPending => "authorization_pending",
            Self::ExpiredToken => "expired_token",
            Self::InvalidClient => "invalid_client",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::SlowDown => "slow_down",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }

    pub fn because(self, description: impl Into<String>) -> OAuthError {
        OAuthError { code: self, description: description.into() }
    }
}

impl From<OAuthError> for OAuthFailure {
    fn from(error: OAuthError) -> Self {
        Self::Refused(error)
    }
}

macro_rules! failures {
    ($($error:ty),+) => {$(
        impl From<$error> for OAuthFailure {
            fn from(error: $error) -> Self {
                Self::Failed(error.into())
            }
        }
    )+};
}
failures!(Failure, Refusal, anyhow::Error);
