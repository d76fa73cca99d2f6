//! A publish without an account: it creates one, with the page on it.

use std::net::IpAddr;

use domain::{Origin, Refusal};
use tracing::Instrument;

use crate::account::{SignUpPermit, SignedUp};
use crate::deadline::repeating;
use crate::inspect::Inspected;
use crate::{Failure, Publication, PublishRequest, Service, ServiceResult};

/// A new account and the page that was published on it.
pub struct FirstPublish {
    pub signed_up: SignedUp,
    pub publication: Publication,
}

impl Service {
    /// Signs up and publishes. A publish that is refused for a secret in its files creates no account and
    /// does not count as a sign-up.
    pub async fn sign_up_and_publish(
        &self,
        permit: SignUpPermit,
        origin: Origin,
        request: PublishRequest,
    ) -> ServiceResult<FirstPublish> {
        let inspected = self.inspect(&request, repeating(request.idempotency_key.as_deref())).await;
        let Inspected { warnings, entry_page } = match inspected {
            Ok(inspected) => inspected,
            Err(failure) => {
                if is_for_a_secret(&failure) {
                    self.give_back_sign_up(permit.from).await;
                }
                return Err(failure);
            }
        };
        let signed_up = self.sign_up_in(permit).await?;
        let caller = self.authenticate(Some(&signed_up.token.clone().reveal()), origin).await?;
        let published = self.take_on(&caller, request).instrument(telemetry::spans::publish()).await?;
        Ok(FirstPublish { signed_up, publication: self.publication(published, warnings, entry_page) })
    }

    /// Returns sign-ups to the rate limit, at most as many per minute as it grants. Beyond that a refused
    /// publish counts, because its files were read and searched all the same.
    async fn give_back_sign_up(&self, from: IpAddr) {
        let per_minute = self.0.rules.signups_per_minute;
        if self.take_by_address("signup-given-back", from, per_minute).await.is_ok() {
            self.give_back_by_address("signup", from, per_minute).await;
        }
    }
}

fn is_for_a_secret(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(refusal) if matches!(**refusal, Refusal::SecretInPublish { .. }))
}
