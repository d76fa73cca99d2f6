//! The consent of a person to a client, or of nobody for a new account.

use std::net::IpAddr;

use domain::oauth::{CodeChallenge, RedirectTarget, RedirectUri, requested_scopes};
use domain::{
    Account, AccountId, Maker, Refusal, Rights, Scope, Scopes, TokenId, TokenName, TokenSecret, hash_secret,
};
use store::{GrantPath, NewGrant, NewToken};

use super::clients::OAuthClient;
use super::error::{OAuthCode, OAuthError, OAuthFailure};
use super::{CODE_KEPT, CODE_LENGTH};
use crate::{Caller, Person, Service, ServiceResult};

/// A state is returned unchanged in a URL.
const STATE_LENGTH_MAX: usize = 1_024;

/// The parameters of a client's request, as sent.
#[derive(Clone, Debug, Default)]
pub struct AuthorizationParameters {
    pub response_type: Option<String>,
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
    pub code_challenge: Option<String>,
    pub code_challenge_method: Option<String>,
    pub scope: Option<String>,
    pub state: Option<String>,
    pub resource: Option<String>,
}

/// A valid request of a client.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest {
    pub client: OAuthClient,
    pub redirect: RedirectUri,
    pub scopes: Scopes,
    state: Option<String>,
    resource: Option<String>,
    challenge: CodeChallenge,
}

/// Why there is nothing to consent to.
#[derive(Debug)]
pub enum BadAuthorization {
    /// Without a known client and address, the person must not be redirected.
    Shown(OAuthFailure),
    /// The client gets the error, at this URL.
    Redirected { to: String, target: RedirectTarget, fault: String },
}

/// A grant to a client for a new account.
#[derive(Clone)]
pub struct NewAccountGrant {
    pub account: Account,
    pub claim_url: String,
    /// Where the browser goes on.
    pub redirect: String,
}

/// What a grant is for.
pub(super) struct GrantTerms {
    /// The name of the token.
    pub name: TokenName,
    pub client_hash: String,
    pub resource: Option<String>,
    pub code_hash: String,
    pub by: GrantPath,
}

impl Service {
    /// Checks a client's request.
    pub async fn check_authorization(
        &self,
        sent: AuthorizationParameters,
        from: IpAddr,
    ) -> Result<AuthorizationRequest, BadAuthorization> {
        let client_id = sent.client_id.as_deref().unwrap_or_default();
        let client = self.find_client(client_id, from).await.map_err(BadAuthorization::Shown)?;
        let redirect = redirect_of(&client, sent.redirect_uri.as_deref())
            .map_err(|error| BadAuthorization::Shown(error.into()))?;
        let state = sent.state.clone().filter(|state| state.len() <= STATE_LENGTH_MAX);
        match self.requested(&sent) {
            Ok(Requested { scopes, resource, challenge }) => {
                Ok(AuthorizationRequest { client, redirect, scopes, state, resource, challenge })
            }
            Err(error) => {
                let to = self.refused(&redirect, state.as_deref(), &error);
                let (target, fault) = (redirect.target(), error.description);
                Err(BadAuthorization::Redirected { to, target, fault })
            }
        }
    }

    fn requested(&self, sent: &AuthorizationParameters) -> Result<Requested, OAuthError> {
        if sent.response_type.as_deref() != Some("code") {
            return Err(OAuthCode::UnsupportedResponseType.because("response_type: must be code"));
        }
        if sent.state.as_ref().is_some_and(|state| state.len() > STATE_LENGTH_MAX) {
            return Err(OAuthCode::InvalidRequest.because("state: is too long"));
        }
        if sent.code_challenge_method.as_deref() != Some(CodeChallenge::METHOD) {
            return Err(OAuthCode::InvalidRequest.because("code_challenge_method: must be S256"));
        }
        let challenge = sent.code_challenge.as_deref().and_then(|text| text.parse().ok());
        let challenge = challenge.ok_or_else(|| {
            OAuthCode::InvalidRequest.because("code_challenge: must be 43 characters of base64url")
        })?;
        let scopes = requested_scopes(sent.scope.as_deref())
            .ok_or_else(|| OAuthCode::InvalidScope.because("scope: has no known scope"))?;
        let resource = self.requested_resource(sent.resource.as_deref())?;
        Ok(Requested { scopes, resource, challenge })
    }

    pub(super) fn requested_resource(&self, named: Option<&str>) -> Result<Option<String>, OAuthError> {
        let Some(named) = named else { return Ok(None) };
        let own = self.resource(named);
        let error = || OAuthCode::InvalidTarget.because("resource: is not a resource of this server");
        own.ok_or_else(error).map(Some)
    }

    /// Grants a request for an account of the person. Returns the URL where the browser goes on.
    pub async fn consent(
        &self,
        request: &AuthorizationRequest,
        person: &Person,
        account: &str,
    ) -> ServiceResult<String> {
        let caller = self.caller_of(person, Some(account)).await?;
        let code = self.0.chance.alphanumeric(CODE_LENGTH);
        self.grant(&caller, request.scopes, Self::terms_of(request, &code)).await?;
        Ok(self.granted(request, &code))
    }

    /// Signs up for a new account and grants the request for it.
    pub async fn consent_with_new_account(
        &self,
        request: &AuthorizationRequest,
        from: IpAddr,
    ) -> ServiceResult<NewAccountGrant> {
        let code = self.0.chance.alphanumeric(CODE_LENGTH);
        let account = self.grant_new_account(request.scopes, Self::terms_of(request, &code), from).await?;
        let claim_url = self.addresses().claim(&account.claim_code);
        Ok(NewAccountGrant { account, claim_url, redirect: self.granted(request, &code) })
    }

    /// The URL at which the client learns that the person denied its request.
    pub fn deny(&self, request: &AuthorizationRequest) -> String {
        let error = OAuthCode::AccessDenied.because("the person denied the request");
        self.refused(&request.redirect, request.state.as_deref(), &error)
    }

    /// Grants scopes to a client, as far as the person's role allows.
    pub(super) async fn grant(
        &self,
        caller: &Caller,
        requested: Scopes,
        terms: GrantTerms,
    ) -> ServiceResult<()> {
        caller.may_write(Scope::ArtifactsRead, self.0.clock.now())?;
        let granted =
            Scope::ALL.into_iter().filter(|scope| requested.has(*scope) && caller.scopes().has(*scope));
        let scopes = granted.fold(Scopes::none(), Scopes::with);
        if scopes == Scopes::none() {
            let fault = "your role on this account does not allow what the app asks for".to_owned();
            return Err(Refusal::Forbidden { fault }.into());
        }
        let token = self.token_of(caller.account, scopes, caller.maker(), &terms);
        let grant = self.new_grant(terms);
        self.0.store.oauth().grant(&self.change_by(caller), &token, &grant).await?;
        tracing::info!(account.handle = %caller.handle, token.id = %token.id, "granted to an OAuth client");
        Ok(())
    }

    /// Signs up as any agent does, with the client's token as the account's first.
    pub(super) async fn grant_new_account(
        &self,
        scopes: Scopes,
        terms: GrantTerms,
        from: IpAddr,
    ) -> ServiceResult<Account> {
        let _permit = self.take_sign_up(from).await?;
        let (now, chance) = (self.0.clock.now(), &self.0.chance);
        let account = Account::provisional(now, self.tariff().provisional_lifetime, chance);
        let token = self.token_of(account.id, scopes, Maker::default(), &terms);
        let grant = self.new_grant(terms);
        self.0.store.oauth().grant_new_account(&account, &token, &grant).await?;
        tracing::info!(account.handle = %account.handle, "account signed up for an OAuth client");
        Ok(account)
    }

    /// The token of a grant. Nobody knows its secret: the client gets one for the code.
    fn token_of(&self, account: AccountId, scopes: Scopes, made_by: Maker, terms: &GrantTerms) -> NewToken {
        let (now, chance) = (self.0.clock.now(), &self.0.chance);
        NewToken {
            id: TokenId::new(now, chance),
            account,
            secret_hash: TokenSecret::generate(chance).hash(),
            secret_start: None,
            name: terms.name.clone(),
            rights: Rights { scopes, pinned_to: None, expires_at: Some(now.plus(CODE_KEPT)) },
            made_by,
            created_at: now,
        }
    }

    fn new_grant(&self, terms: GrantTerms) -> NewGrant {
        NewGrant {
            client_hash: terms.client_hash,
            resource: terms.resource,
            code_hash: terms.code_hash,
            code_expires_at: self.0.clock.now().plus(CODE_KEPT),
            by: terms.by,
        }
    }

    fn terms_of(request: &AuthorizationRequest, code: &str) -> GrantTerms {
        GrantTerms {
            name: request.client.metadata.name.token_name(),
            client_hash: hash_secret(&request.client.id),
            resource: request.resource.clone(),
            code_hash: hash_secret(code),
            by: GrantPath::Redirect {
                uri: request.redirect.as_str().to_owned(),
                challenge: request.challenge.as_str().to_owned(),
            },
        }
    }

    fn granted(&self, request: &AuthorizationRequest, code: &str) -> String {
        self.returning(&request.redirect, request.state.as_deref(), vec![("code", code)])
    }

    fn refused(&self, redirect: &RedirectUri, state: Option<&str>, error: &OAuthError) -> String {
        let parameters =
            vec![("error", error.code.as_str()), ("error_description", error.description.as_str())];
        self.returning(redirect, state, parameters)
    }

    /// RFC 9207: with `iss` the client knows which server a response is from.
    fn returning<'a>(
        &'a self,
        to: &RedirectUri,
        state: Option<&'a str>,
        mut parameters: Vec<(&'a str, &'a str)>,
    ) -> String {
        parameters.extend(state.map(|state| ("state", state)));
        parameters.push(("iss", self.issuer()));
        to.with(&parameters)
    }
}

/// What a request asks for.
struct Requested {
    scopes: Scopes,
    resource: Option<String>,
    challenge: CodeChallenge,
}

/// The address to return to. It may be left out if the client has only one.
fn redirect_of(client: &OAuthClient, named: Option<&str>) -> Result<RedirectUri, OAuthError> {
    let known = &client.metadata.redirect_uris;
    let Some(named) = named else {
        let [only] = known.as_slice() else {
            return Err(OAuthCode::InvalidRequest.because("redirect_uri: is missing"));
        };
        return Ok(only.clone());
    };
    let allowed = named.parse::<RedirectUri>().ok().filter(|uri| known.iter().any(|own| own.allows(uri)));
    allowed.ok_or_else(|| {
        OAuthCode::InvalidRequest.because("redirect_uri: is not one that the client has registered")
    })
}
