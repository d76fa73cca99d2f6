//! Sign-up, and an account's view of itself: its summary, its claim link and its settings.

use std::net::IpAddr;

use domain::{Account, AccountStatus, AccountSummary, Refusal, Scope, Time, TokenSecret};
use store::{AccountSettings, AgentJoin, NewToken};

use crate::{Caller, Service, ServiceResult};

/// A new account, with the secrets that are shown only once.
#[derive(Clone)]
pub struct SignedUp {
    pub account: Account,
    pub token: TokenSecret,
    pub claim_url: String,
}

/// The right to one sign-up, taken from the rate limit.
#[derive(Debug)]
pub struct SignUpPermit {
    pub(crate) from: IpAddr,
}

/// The link that a person opens to claim an account.
#[derive(Clone)]
pub struct ClaimLink {
    pub claim_url: String,
    pub expires_at: Option<Time>,
}

impl Service {
    /// Creates a provisional account with its first token (spec 4.1).
    pub async fn sign_up(&self, from: IpAddr) -> ServiceResult<SignedUp> {
        let permit = self.take_sign_up(from).await?;
        self.sign_up_in(permit).await
    }

    /// Takes one sign-up from the rate limit, before the caller's body is read.
    pub async fn take_sign_up(&self, from: IpAddr) -> ServiceResult<SignUpPermit> {
        self.take_by_address("signup", from, self.0.rules.signups_per_minute).await?;
        Ok(SignUpPermit { from })
    }

    /// As [`Self::sign_up`], with a permit that was taken before.
    pub async fn sign_up_in(&self, _permit: SignUpPermit) -> ServiceResult<SignedUp> {
        let now = self.0.clock.now();
        let chance = &self.0.chance;
        let account = Account::provisional(now, self.tariff().provisional_lifetime, chance);
        let secret = TokenSecret::generate(chance);
        let mut token = NewToken::first_of(&account, secret.hash(), chance);
        token.secret_start = Some(secret.start());
        self.0.store.accounts().create(&account, &token).await?;
        tracing::info!(account.handle = %account.handle, "account signed up");
        let claim_url = self.addresses().claim(&account.claim_code);
        Ok(SignedUp { account, token: secret, claim_url })
    }

    /// The account with its usage this month, for `GET /v1/account` and `GET /v1/usage`.
    pub async fn account(&self, caller: &Caller) -> ServiceResult<AccountSummary> {
        caller.may(Scope::ArtifactsRead)?;
        self.summary_of(caller).await
    }

    /// How many people are on the account. The number does not reveal who they are.
    pub async fn member_count(&self, caller: &Caller) -> ServiceResult<u64> {
        caller.may(Scope::ArtifactsRead)?;
        Ok(self.0.store.members().count(caller.account).await?)
    }

    /// The claim link of a provisional account. The person who opens it becomes the owner, so only callers
    /// with the owner's rights get it.
    pub fn claim_url(&self, caller: &Caller, account: &Account) -> Option<String> {
        let is_shown = account.status == AccountStatus::Provisional && caller.has_owner_rights();
        is_shown.then(|| self.addresses().claim(&account.claim_code))
    }

    /// Changes settings of the account, and returns the changed account.
    pub async fn change_account(
        &self,
        caller: &Caller,
        settings: AccountSettings,
    ) -> ServiceResult<AccountSummary> {
        caller.may_own(self.0.clock.now())?;
        // Read before the change, because nothing may fail after it.
        let mut summary = self.summary_of(caller).await?;
        let account = &mut summary.account;
        account.retention = self.0.store.accounts().set(&self.change_by(caller), settings.clone()).await?;
        if let Some(name) = &settings.name {
            account.name.clone_from(name);
        }
        if let Some(agent_join) = settings.agent_join {
            account.allow_agent_join = agent_join == AgentJoin::Allowed;
        }
        tracing::info!(
            account.handle = %caller.handle,
            account.is_renamed = settings.name.is_some(),
            account.agent_join = ?settings.agent_join,
            account.retention = ?settings.retention,
            "account settings changed"
        );
        Ok(summary)
    }

    /// Creates a new claim link. The old one stops working.
    pub async fn rotate_claim_link(&self, caller: &Caller) -> ServiceResult<ClaimLink> {
        caller.may_own(self.0.clock.now())?;
        let claim_code = Account::claim_code(&self.0.chance);
        let expires_at =
            self.0.store.accounts().rotate_claim_code(&self.change_by(caller), &claim_code).await?;
        tracing::info!(account.handle = %caller.handle, "claim link rotated");
        Ok(ClaimLink { claim_url: self.addresses().claim(&claim_code), expires_at })
    }

    pub(crate) async fn summary_of(&self, caller: &Caller) -> ServiceResult<AccountSummary> {
        let summary = self.0.store.accounts().summary(caller.account, self.0.clock.now()).await?;
        Ok(summary.ok_or(Refusal::Unauthorized)?)
    }
}
