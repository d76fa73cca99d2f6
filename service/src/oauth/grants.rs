//! Codes and refresh tokens become tokens, once. A code or a refresh token that was used before was stolen by
//! one of its two users, so the whole grant ends.

use std::net::IpAddr;
use std::time::Duration;

use domain::oauth::{CodeChallenge, RefreshToken, requested_scopes};
use domain::{Maker, Origin, Scopes, TokenSecret, hash_secret};
use store::{Change, ChangeError, Renewal, RevocationScope, StoredGrant};

use super::error::{OAuthCode, OAuthError, OAuthResult};
use super::{ACCESS_KEPT, REFRESH_KEPT};
use crate::Service;

/// Revocations from an address per minute.
const REVOCATIONS_PER_MINUTE: u32 = 60;
/// Requests for tokens from an address per minute. A device asks every five seconds.
const TOKENS_PER_MINUTE: u32 = 300;
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The parameters of a token request, as sent.
#[derive(Clone, Debug, Default)]
pub struct TokenParameters {
    pub grant_type: Option<String>,
    pub client_id: Option<String>,
    pub code: Option<String>,
    pub redirect_uri: Option<String>,
    pub code_verifier: Option<String>,
    pub refresh_token: Option<String>,
    pub device_code: Option<String>,
    pub scope: Option<String>,
    pub resource: Option<String>,
}

/// New secrets, which are shown only once.
#[derive(Debug)]
pub struct IssuedTokens {
    pub access: TokenSecret,
    pub refresh: RefreshToken,
    pub expires_in: Duration,
    pub scopes: Scopes,
}

impl Service {
    /// Issues tokens for a code, a refresh token or a device code.
    pub async fn issue_tokens(&self, sent: TokenParameters, origin: Origin) -> OAuthResult<IssuedTokens> {
        if let Some(address) = origin.address {
            self.take_by_address("oauth-token", address, TOKENS_PER_MINUTE).await?;
        }
        let client_id = needed(sent.client_id.as_deref(), "client_id")?;
        let call = TokenCall { sent: &sent, client_hash: hash_secret(client_id), origin };
        match needed(sent.grant_type.as_deref(), "grant_type")? {
            "authorization_code" => self.exchange_code(&call).await,
            "refresh_token" => self.refresh(&call).await,
            DEVICE_GRANT => {
                let device_code = needed(sent.device_code.as_deref(), "device_code")?;
                let device_hash = hash_secret(device_code);
                self.must_be_allowed(&device_hash, &call.client_hash).await?;
                let grant = self.0.store.oauth().find_by_code(&device_hash).await?;
                let grant = grant.ok_or_else(|| invalid_grant("the device code is unknown"))?;
                self.must_be_unused(&grant, &call).await?;
                self.exchange(&grant, &call).await
            }
            _ => Err(OAuthCode::UnsupportedGrantType
                .because("grant_type: must be authorization_code, refresh_token or the device code grant")
                .into()),
        }
    }

    async fn exchange_code(&self, call: &TokenCall<'_>) -> OAuthResult<IssuedTokens> {
        let code = needed(call.sent.code.as_deref(), "code")?;
        let verifier = needed(call.sent.code_verifier.as_deref(), "code_verifier")?;
        let found = self.0.store.oauth().find_by_code(&hash_secret(code)).await?;
        let grant = found.ok_or_else(|| invalid_grant("the code is unknown or has expired"))?;
        self.must_be_unused(&grant, call).await?;
        let challenge = grant.challenge.as_deref().and_then(|text| text.parse::<CodeChallenge>().ok());
        if !challenge.is_some_and(|challenge| challenge.is_met_by(verifier)) {
            return Err(invalid_grant("code_verifier: does not match the code's challenge").into());
        }
        // A client that left the address out of its first request may leave it out again.
        if call.sent.redirect_uri.is_some() && call.sent.redirect_uri != grant.redirect_uri {
            return Err(invalid_grant("redirect_uri: is not the one that the code was sent to").into());
        }
        self.exchange(&grant, call).await
    }

    /// RFC 6749, 4.1.2: a second use ends what the first one gave.
    async fn must_be_unused(&self, grant: &StoredGrant, call: &TokenCall<'_>) -> OAuthResult<()> {
        if grant.exchanged_at.is_some() {
            self.end_stolen_grant(grant, call.origin, "a code was used twice").await?;
            return Err(invalid_grant("the code was used before; the tokens that it gave are revoked").into());
        }
        if grant.code_expires_at <= self.0.clock.now() {
            return Err(invalid_grant("the code is unknown or has expired").into());
        }
        self.must_match(grant, call)
    }

    async fn exchange(&self, grant: &StoredGrant, call: &TokenCall<'_>) -> OAuthResult<IssuedTokens> {
        let (renewal, issued) = self.new_secrets(grant, RefreshToken::generate(&self.0.chance));
        if !self.0.store.oauth().exchange(grant.token, &renewal, self.0.clock.now()).await? {
            // Another request was faster, or the grant was revoked.
            self.end_stolen_grant(grant, call.origin, "a code was used twice").await?;
            return Err(invalid_grant("the code was used before or the grant was revoked").into());
        }
        Ok(issued)
    }

    async fn refresh(&self, call: &TokenCall<'_>) -> OAuthResult<IssuedTokens> {
        let unknown = || invalid_grant("the refresh token is unknown, revoked or expired");
        let sent = needed(call.sent.refresh_token.as_deref(), "refresh_token")?;
        let sent: RefreshToken = sent.parse().map_err(|()| unknown())?;
        let grant = self.0.store.oauth().find_by_family(&sent.family_hash()).await?.ok_or_else(unknown)?;
        if grant.revoked_at.is_some() || grant.ends_at <= self.0.clock.now() {
            return Err(unknown().into());
        }
        self.must_match(&grant, call)?;
        if !grant.refresh_hash.as_deref().is_some_and(|current| sent.is_current(current)) {
            return self.end_reused(&grant, call).await;
        }
        if let Some(scope) = call.sent.scope.as_deref()
            && !requested_scopes(Some(scope)).is_some_and(|scopes| grant.scopes.contains(scopes))
        {
            return Err(OAuthCode::InvalidScope.because("scope: exceeds what was granted").into());
        }
        let (renewal, issued) = self.new_secrets(&grant, sent.next(&self.0.chance));
        if !self.0.store.oauth().renew(grant.token, &sent.generation_hash(), &renewal).await? {
            return self.end_reused(&grant, call).await;
        }
        Ok(issued)
    }

    async fn end_reused(&self, grant: &StoredGrant, call: &TokenCall<'_>) -> OAuthResult<IssuedTokens> {
        self.end_stolen_grant(grant, call.origin, "a refresh token was used twice").await?;
        Err(invalid_grant("the refresh token was used before; all tokens of this grant are revoked").into())
    }

    /// Revokes the grant that a token or refresh token belongs to (RFC 7009). An unknown one is no error.
    pub async fn revoke_grant(&self, client_id: &str, secret: &str, from: Origin) -> OAuthResult<()> {
        if let Some(address) = from.address {
            self.take_revocation(address).await?;
        }
        let store = &self.0.store;
        let grant = match (secret.parse::<RefreshToken>(), secret.parse::<TokenSecret>()) {
            (Ok(refresh), _) => store.oauth().find_by_family(&refresh.family_hash()).await?,
            (_, Ok(access)) => match store.tokens().find_grant(&access.hash()).await? {
                Some(token) => store.oauth().find_by_token(token.token).await?,
                None => None,
            },
            _ => None,
        };
        match grant.filter(|grant| grant.client_hash == hash_secret(client_id)) {
            Some(grant) => {
                self.end_grant(&grant, from, RevocationScope::Nothing, "its client revoked it").await
            }
            None => Ok(()),
        }
    }

    async fn take_revocation(&self, from: IpAddr) -> OAuthResult<()> {
        Ok(self.take_by_address("oauth-revoke", from, REVOCATIONS_PER_MINUTE).await?)
    }

    /// Ends a grant of which a secret was used twice, so a thief may have used one. It also revokes what a
    /// thief could have kept: the tokens and the open invites that the grant's token created.
    async fn end_stolen_grant(
        &self,
        grant: &StoredGrant,
        origin: Origin,
        why: &'static str,
    ) -> OAuthResult<()> {
        self.end_grant(grant, origin, RevocationScope::TokensAndInvites, why).await
    }

    /// Revokes the token, which ends the grant. A suspended account does not prevent it.
    async fn end_grant(
        &self,
        grant: &StoredGrant,
        origin: Origin,
        along: RevocationScope,
        why: &'static str,
    ) -> OAuthResult<()> {
        let by = Maker { user: None, token: Some(grant.token) };
        let now = self.0.clock.now();
        let change = Change { account: grant.account, by, origin, now, chance: &self.0.chance };
        match self.0.store.tokens().revoke_leaked(&change, grant.token, along).await {
            Ok(()) => tracing::info!(token.id = %grant.token, why, "the grant of an OAuth client ended"),
            // It was revoked before.
            Err(ChangeError::Refused(_)) => {}
            Err(ChangeError::Failed(error)) => return Err(error.into()),
        }
        Ok(())
    }

    /// The client and the resource must be those of the grant.
    fn must_match(&self, grant: &StoredGrant, call: &TokenCall<'_>) -> OAuthResult<()> {
        if grant.client_hash != call.client_hash {
            return Err(invalid_grant("client_id: is not the client of this grant").into());
        }
        let resource = self.requested_resource(call.sent.resource.as_deref())?;
        if resource.is_some() && grant.resource.is_some() && resource != grant.resource {
            return Err(OAuthCode::InvalidTarget.because("resource: is not the one of this grant").into());
        }
        Ok(())
    }

    fn new_secrets(&self, grant: &StoredGrant, refresh: RefreshToken) -> (Renewal, IssuedTokens) {
        let (now, access) = (self.0.clock.now(), TokenSecret::generate(&self.0.chance));
        let renewal = Renewal {
            secret_hash: access.hash(),
            expires_at: now.plus(ACCESS_KEPT),
            family_hash: refresh.family_hash(),
            refresh_hash: refresh.generation_hash(),
            ends_at: now.plus(REFRESH_KEPT),
        };
        (renewal, IssuedTokens { access, refresh, expires_in: ACCESS_KEPT, scopes: grant.scopes })
    }
}

/// A token request of a client.
struct TokenCall<'a> {
    sent: &'a TokenParameters,
    client_hash: String,
    origin: Origin,
}

pub(super) fn needed<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, OAuthError> {
    value
        .filter(|value| !value.is_empty())
        .ok_or_else(|| OAuthCode::InvalidRequest.because(format!("{name}: is missing")))
}

fn invalid_grant(why: &str) -> OAuthError {
    OAuthCode::InvalidGrant.because(why)
}
