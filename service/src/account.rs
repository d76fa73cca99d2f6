//! Signing up, and what an account may know of itself.

use std::net::IpAddr;

use bus::RateLimit;
use domain::{Account, AccountSummary, Refusal, Scope, TokenSecret};
use store::NewToken;

use crate::{Answer, Caller, Service};

/// A fresh account, with the secrets that are shown this once.
#[derive(Clone, Debug)]
pub struct SignedUp {
    pub account: Account,
    pub token: String,
    pub claim_url: String,
}

impl Service {
    /// Makes a provisional account with its first token (spec 4.1).
    pub async fn sign_up(&self, from: IpAddr) -> Answer<SignedUp> {
        let now = self.0.clock.now();
        let per_minute = self.0.rules.signups_per_minute;
        let limit = RateLimit { name: "signup", key: from.to_string(), per_minute };
        self.0
            .bus
            .take(&limit, now)
            .await
            .map_err(|wait| Refusal::RateLimited { retry_after_seconds: wait.seconds })?;

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
}
