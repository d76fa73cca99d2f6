//! Operator access to `/admin`. Sessions are not stored; a signature proves them. Every failed password check
//! must take the same time, and failures are rate limited.

use std::net::IpAddr;

use bus::{Budget, RateLimit};
use domain::{
    Host, Missing, OperatorAccount, OperatorKey, OperatorName, OperatorSession, Password, PasswordHash,
    PreviewTicket, Refusal,
};

use crate::people::hashing;
use crate::{Service, ServiceResult};

/// Failed sign-ins at `/admin` per minute, from all addresses together.
const FAILURES_PER_MINUTE: u32 = 60;

/// How `/admin` can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorAccess {
    /// With a password.
    Password,
    /// By anybody on this machine: dev mode without a password.
    Open,
    /// By nobody. It must look like an unknown path.
    Closed,
}

impl Service {
    pub fn operator_access(&self) -> OperatorAccess {
        let rules = &self.0.rules;
        let has_password = rules.operator_password.is_some() || !rules.operators.is_empty();
        match (has_password, self.is_dev_mode()) {
            (true, _) => OperatorAccess::Password,
            (false, true) => OperatorAccess::Open,
            (false, false) => OperatorAccess::Closed,
        }
    }

    /// Signs an operator in, by their own password, or by the shared one under any name without a password of
    /// its own. Returns the session for a cookie.
    pub async fn sign_operator_in(&self, name: &str, password: &str, from: IpAddr) -> ServiceResult<String> {
        if self.operator_access() != OperatorAccess::Password {
            return Err(Refusal::NotFound(Missing::Endpoint).into());
        }
        self.take_by_address("operator-login", from, self.0.rules.logins_per_minute).await?;
        let name = OperatorName::cleaned(name).ok_or_else(|| {
            Refusal::invalid("name", "is empty; it is shown beside every decision that you make")
        })?;
        // Taken before the password is compared, so that attempts at the same time cannot exceed the limit.
        let failures = [failure_limit()];
        self.take_each(&failures).await?;
        let account = self.operator_account(&name);
        let is_right = match self.is_operator_password(account, password).await {
            Ok(is_right) => is_right,
            // Nothing was compared. A busy machine must not use up the attempts.
            Err(failure) => {
                self.give_back_each(&failures).await;
                return Err(failure);
            }
        };
        if !is_right {
            // Without the name, because people type passwords there.
            tracing::warn!(client.ip = %from, "operator sign-in refused");
            return Err(Refusal::InvalidCredentials.into());
        }
        self.give_back_each(&failures).await;
        let name = account.map_or(name, |account| account.name.clone());
        tracing::info!(operator.name = %name, client.ip = %from, "operator signed in");
        let key = self.session_key(&name);
        Ok(OperatorSession::begin(name, self.0.clock.now()).signed(&key))
    }

    /// Whether a password opens the account, or is the shared one if there is no account. An unknown name
    /// takes as long as a known one.
    async fn is_operator_password(
        &self,
        account: Option<&OperatorAccount>,
        offered: &str,
    ) -> ServiceResult<bool> {
        let rules = &self.0.rules;
        let is_shared = rules.operator_password.as_ref().is_some_and(|known| known.is_known_to(offered));
        if rules.operators.is_empty() {
            return Ok(is_shared);
        }
        let (hash, password) =
            (account.map(|account| account.hash.clone()), Password::new(offered.to_owned()));
        let is_own = hashing(move || PasswordHash::verifies(hash.as_ref(), &password)).await?;
        Ok(if account.is_some() { is_own } else { is_shared })
    }

    fn operator_account(&self, name: &OperatorName) -> Option<&OperatorAccount> {
        self.0.rules.operators.iter().find(|account| account.is_named(name))
    }

    /// The operator of a session, while it is valid.
    pub fn operator_of(&self, session: &str) -> Option<OperatorName> {
        let key = self.session_key(&OperatorSession::claimed_name(session)?);
        let session = OperatorSession::read(session, &key, self.0.clock.now())?;
        Some(session.name)
    }

    /// The right to load the files of one version for a while, as part of their URL.
    pub fn preview_ticket(&self, host: &Host, seq: u32) -> String {
        let ticket = PreviewTicket { host: host.clone(), seq };
        ticket.signed(&self.operator_key(), self.0.clock.now())
    }

    pub fn is_preview_ticket(&self, text: &str, host: &Host, seq: u32) -> bool {
        let ticket = PreviewTicket { host: host.clone(), seq };
        ticket.is(text, &self.operator_key(), self.0.clock.now())
    }

    fn operator_key(&self) -> OperatorKey {
        let rules = &self.0.rules;
        OperatorKey::of_all(&rules.signing_key, rules.operator_password.as_ref(), &rules.operators)
    }

    /// The key that signs the sessions of a name. It depends on the password that opens them.
    fn session_key(&self, name: &OperatorName) -> OperatorKey {
        let rules = &self.0.rules;
        match self.operator_account(name) {
            Some(account) => OperatorKey::of_account(&rules.signing_key, account),
            None => OperatorKey::new(&rules.signing_key, rules.operator_password.as_ref()),
        }
    }
}

fn failure_limit() -> RateLimit {
    let budget = Budget::per_minute(FAILURES_PER_MINUTE);
    RateLimit { name: "operator-failures", key: "all".to_owned(), budget }
}
