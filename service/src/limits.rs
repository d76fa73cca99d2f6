//! How often an address or a name may try something in a minute. The counts live in `bus`; here one too many becomes a
//! refusal.

use bus::RateLimit;
use domain::Refusal;

use crate::{Answer, Service};

impl Service {
    /// Takes one try of a limit, or says when the next one is free.
    pub(crate) async fn take(&self, limit: RateLimit) -> Answer<()> {
        let taken = self.0.bus.take(&limit, self.0.clock.now()).await;
        Ok(taken.map_err(|wait| Refusal::RateLimited { retry_after_seconds: wait.seconds })?)
    }
}
