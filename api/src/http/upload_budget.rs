//! Memory budgets of this process: one for uploads, and a separate one for small bodies that arrive slowly. A
//! body must never wait long for memory; it is refused instead, and the client retries. Memory is counted
//! when bytes arrive, not when they are announced: otherwise a client could block others by declaring a large
//! body.
//!
//! A client's address may use at most as much of the budget as it leaves free: one alone gets half, each of
//! two a third, and so on. So a client that fills its share and stalls cannot keep others out.

use std::net::IpAddr;
use std::time::Duration;

use admission::{FairShare, Share};
use domain::{FileSet, Refusal};
use poem::Request;
use tokio::time::Instant;

use crate::http::client_ip::{client_of, network_of};

/// The default memory for all uploads of a process.
pub const UPLOAD_MEMORY_BYTES: usize = 256 * 1_048_576;
/// The memory for small bodies: 256 slow ones of the maximum length. That is ample, because a body that
/// arrives with its headers does not count, and small compared with the memory for uploads.
const SMALL_BODY_MEMORY_BYTES: usize = 16 * 1_048_576;
const MEMORY_WAIT_MAX: Duration = Duration::from_secs(1);
/// The connection limit already bounds the number of waiting bodies.
const QUEUE_MAX: usize = usize::MAX;

/// The memory that uploads share. An upload beyond it is refused, so that the process neither swaps nor runs
/// out of memory.
#[derive(Clone, Debug)]
pub struct BodyBudget {
    shares: FairShare<IpAddr>,
    /// The queue's label in the metrics.
    queue: &'static str,
}

/// The memory that small bodies share. It is separate, so that uploads cannot keep sign-ins from the same
/// address out, nor the reverse.
#[derive(Clone, Debug)]
pub struct SmallBodyBudget(pub BodyBudget);

/// The share of one client address.
#[derive(Clone, Debug)]
pub struct BodyShare {
    budget: BodyBudget,
    network: IpAddr,
}

/// The memory that one body holds so far. Dropping it frees the memory.
#[derive(Debug)]
pub struct HeldMemory {
    share: Share<IpAddr>,
    queue: &'static str,
}

impl BodyBudget {
    /// The budget for uploads.
    pub fn new(bytes: usize) -> Self {
        Self::of(bytes, "upload_bytes")
    }

    fn of(bytes: usize, queue: &'static str) -> Self {
        Self { shares: FairShare::new(bytes, QUEUE_MAX), queue }
    }

    pub fn open_to(&self, address: IpAddr) -> BodyShare {
        BodyShare { budget: self.clone(), network: network_of(address) }
    }
}

impl Default for SmallBodyBudget {
    fn default() -> Self {
        Self(BodyBudget::of(SMALL_BODY_MEMORY_BYTES, "small_bodies"))
    }
}

impl BodyShare {
    /// The share of the request's client.
    pub fn of(request: &Request) -> Self {
        let budget = request.data::<BodyBudget>().cloned();
        budget.unwrap_or_else(|| BodyBudget::new(UPLOAD_MEMORY_BYTES)).open_to(client_of(request))
    }

    /// The share of the request's client in the budget for small bodies.
    pub fn of_small(request: &Request) -> Self {
        let budget = request.data::<SmallBodyBudget>().cloned();
        budget.unwrap_or_default().0.open_to(client_of(request))
    }

    /// For a body of which no byte has arrived yet.
    pub fn enter(&self) -> HeldMemory {
        HeldMemory { share: self.budget.shares.share(Some(self.network)), queue: self.budget.queue }
    }

    /// Reserves memory for the largest possible upload.
    pub async fn reserve_largest(&self) -> Result<HeldMemory, Refusal> {
        let mut taken = self.enter();
        taken.grow(usize::try_from(FileSet::BYTES_MAX).unwrap_or(usize::MAX)).await?;
        Ok(taken)
    }
}

impl HeldMemory {
    /// Waits for memory for this many more bytes.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        let until = Instant::now() + MEMORY_WAIT_MAX;
        self.share.grow(bytes, until).await.map_err(|_| self.shed())
    }

    /// Like [`Self::grow`], without waiting.
    pub fn try_grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.share.try_grow(bytes).map_err(|_| self.shed())
    }

    fn shed(&self) -> Refusal {
        telemetry::shed("api", self.queue);
        Refusal::overloaded("the server has no memory left for uploads; your request was not processed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::client_ip::TrustedProxies;

    const LARGEST: usize = FileSet::BYTES_MAX as usize;

    fn share(budget: &BodyBudget, address: &str) -> BodyShare {
        budget.open_to(address.parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn upload_without_free_budget_gets_overloaded_with_retry_after() {
        let budget = BodyBudget::new(6 * LARGEST);
        let busy = share(&budget, "192.0.2.1");
        let mut taken = Vec::new();
        for _ in 0..3 {
            taken.push(busy.reserve_largest().await.unwrap());
        }
        let refusal = busy.reserve_largest().await.unwrap_err();
        assert_eq!((refusal.code(), refusal.retry_after_seconds()), ("overloaded", Some(2)));
        taken.pop();
        assert!(busy.reserve_largest().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_of_one_network_share_a_budget_share() {
        let budget = BodyBudget::new(4 * LARGEST);
        let _half = share(&budget, "2001:db8:1:2::1").reserve_largest().await.unwrap();
        let _other_half = share(&budget, "2001:db8:1:2::2").reserve_largest().await.unwrap();
        assert!(share(&budget, "2001:db8:1:2::3").reserve_largest().await.is_err());
        assert!(share(&budget, "2001:db8:1:3::1").reserve_largest().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn clients_behind_a_trusted_proxy_have_separate_budget_shares() {
        let budget = BodyBudget::new(4 * LARGEST);
        let sent = |trusted: &str, client: &str| {
            let request = Request::builder().header("x-forwarded-for", client);
            let proxies = TrustedProxies::new(vec![trusted.parse().unwrap()]);
            BodyShare::of(&request.extension(budget.clone()).extension(proxies).finish())
        };
        // A request that was built in a test has no peer address.
        let by_proxy = |client| sent("0.0.0.0/32", client);
        let _half = by_proxy("192.0.2.1").reserve_largest().await.unwrap();
        let _other_half = by_proxy("192.0.2.1").reserve_largest().await.unwrap();
        assert!(by_proxy("192.0.2.1").reserve_largest().await.is_err());
        assert!(by_proxy("192.0.2.2").reserve_largest().await.is_ok());
        let by_stranger = |client| sent("10.0.0.0/8", client).network;
        assert_eq!(by_stranger("192.0.2.1"), by_stranger("192.0.2.2"));
    }

    #[tokio::test(start_paused = true)]
    async fn only_received_bytes_use_budget_and_they_are_returned() {
        let budget = BodyBudget::new(UPLOAD_MEMORY_BYTES);
        let visitor = share(&budget, "192.0.2.1");
        let waiting: Vec<_> = (0..1000).map(|_| visitor.enter()).collect();
        let mut first = visitor.enter();
        first.grow(UPLOAD_MEMORY_BYTES / 4).await.unwrap();
        first.grow(UPLOAD_MEMORY_BYTES / 4).await.unwrap();
        assert!(visitor.enter().grow(1).await.is_err(), "an address cannot have more than it leaves free");
        drop(first);
        assert!(visitor.enter().grow(UPLOAD_MEMORY_BYTES / 2).await.is_ok());
        drop(waiting);
    }
}
