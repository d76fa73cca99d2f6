//! How the operator's people come in at `/admin`. Nothing of a sign-in is kept here: who has one is told by its
//! signature. That a password was wrong must cost the same time whatever was wrong with it, and come slowly.

use std::net::IpAddr;

use bus::{Budget, RateLimit};
use domain::{Host, Missing, OperatorKey, OperatorName, OperatorSession, PreviewTicket, Refusal};

use crate::{Answer, Service};

/// Failed sign-ins at `/admin` per minute, from all addresses together.
const FAILURES_PER_MINUTE: u32 = 60;

/// How `/admin` is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminDoor {
    /// By a password.
    Password,
    /// By anybody on this machine: in dev mode, while no password is set.
    Open,
    /// By nobody: it must look as if it were not there.
    Closed,
}

impl Service {
    pub fn admin_door(&self) -> AdminDoor {
        match (&self.0.rules.operator_password, self.is_dev_mode()) {
            (Some(_), _) => AdminDoor::Password,
            (None, true) => AdminDoor::Open,
            (None, false) => AdminDoor::Closed,
        }
    }

    /// Signs one of the operator's people in, by the name that they give. The session's text is for a cookie.
    pub async fn sign_operator_in(&self, name: &str, password: &str, from: IpAddr) -> Answer<String> {
        let known = self.0.rules.operator_password.as_ref().ok_or(Refusal::NotFound(Missing::Endpoint))?;
        self.take_by_address("operator-login", from, self.0.rules.logins_per_minute).await?;
        let name = OperatorName::cleaned(name).ok_or_else(|| {
            Refusal::invalid("name", "is empty; it stands beside every decision that you make")
        })?;
        // Taken before the password is compared, so that attempts at the same time cannot exceed the limit.
        let failures = [failure_limit()];
        self.take_each(&failures).await?;
        if !known.is_known_to(password) {
            // Not the name: people type passwords there.
            tracing::warn!(client.ip = %from, "operator sign-in refused");
            return Err(Refusal::InvalidCredentials.into());
        }
        self.0.bus.give_back_each(&failures).await;
        tracing::info!(operator.name = %name, client.ip = %from, "operator signed in");
        Ok(OperatorSession::begin(name, self.0.clock.now()).signed(&self.operator_key()))
    }

    /// Whose session this is, while it lasts.
    pub fn operator_behind(&self, session: &str) -> Option<OperatorName> {
        let session = OperatorSession::read(session, &self.operator_key(), self.0.clock.now())?;
        Some(session.name)
    }

    /// The right to load the files of one version for a while, to be put into their address.
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
        OperatorKey::new(&rules.signing_key, rules.operator_password.as_ref())
    }
}

fn failure_limit() -> RateLimit {
    let budget = Budget::per_minute(FAILURES_PER_MINUTE);
    RateLimit { name: "operator-failures", key: "all".to_owned(), budget }
}
