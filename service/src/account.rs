//! Signing up, and what an account may know of itself.

use std::net::IpAddr;

use bus::RateLimit;
use domain::{Account, AccountSummary, Refusal, Scope, Time, TokenSecret};
use store::{AgentJoin, NewToken};

use crate::{Answer, Caller, Service};

/// A fresh account, with the secrets that are shown this once.
#[derive(Clone, Debug)]
pub struct SignedUp {
    pub account: Account,
    pub token: String,
    pub claim_url: String,
}

/// The link that a person opens to claim an account.
#[derive(Clone, Debug)]
pub struct ClaimLink {
    pub claim_url: String,
    pub expires_at: Option<Time>,
}

impl Service {
    /// Makes a provisional account with its first token (spec 4.1).
    pub async fn sign_up(&self, from: IpAddr) -> Answer<SignedUp> {
        let now = self.0.clock.now();
        let per_minute = self.0.rules.signups_per_minute;
        self.take(RateLimit { name: "signup", key: from.to_string(), per_minute }).await?;
        let chance = &self.0.chance;
        let account = Account::provisional(now, self.tariff().provisional_lifetime, chance);
        let secret = TokenSecret::generate(chance);
        let token = NewToken::first_of(&account, secret.hash(), chance);
        self.0.store.insert_account(&account, &token).await?;
        tracing::info!(account.handle = %account.handle, "account signed up");
        let claim_url = self.addresses().claim(&account.claim_code);
        Ok(SignedUp { account, token: secret.reveal(), claim_url })
    }

    /// The account with its use of this month: what `GET /v1/account` and `GET /v1/usage` show.
    pub async fn account(&self, caller: &Caller) -> Answer<AccountSummary> {
        caller.may(Scope::ArtifactsRead)?;
        let summary = self.0.store.account_summary(caller.account, self.0.clock.now()).await?;
        Ok(summary.ok_or(Refusal::Unauthorized)?)
    }

    /// Switches joining by agents on or off. The account as it then is.
    pub async fn set_agent_join(&self, caller: &Caller, agent_join: AgentJoin) -> Answer<AccountSummary> {
        let now = self.0.clock.now();
        caller.may_own(now)?;
        self.0.store.set_agent_join(&self.change_by(caller), agent_join).await?;
        tracing::info!(account.handle = %caller.handle, ?agent_join, "joining by agents switched");
        let summary = self.0.store.account_summary(caller.account, now).await?;
        Ok(summary.ok_or(Refusal::Unauthorized)?)
    }

    /// Makes a new claim link; the old one leads nowhere from now on.
    pub async fn rotate_claim_link(&self, caller: &Caller) -> Answer<ClaimLink> {
        caller.may_own(self.0.clock.now())?;
        let claim_code = Account::claim_code(&self.0.chance);
        let expires_at = self.0.store.rotate_claim_code(&self.change_by(caller), &claim_code).await?;
        tracing::info!(account.handle = %caller.handle, "claim link rotated");
        Ok(ClaimLink { claim_url: self.addresses().claim(&claim_code), expires_at })
    }
}
