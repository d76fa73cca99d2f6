//! How much of this process's memory uploads may take together, and, in a room of their own, small bodies that come
//! slowly. None of them must ever wait long for room: it is told to come again instead. It takes room for what has come
//! of it, never for what it says that will come: who only says so would keep everybody else out.
//!
//! An address may have as much of the room as it leaves free: half of it for one alone, a third for each of two, and
//! so on. So nobody who fills the room and stalls can keep the others out.

use std::net::IpAddr;
use std::time::Duration;

use admission::{FairShare, Share};
use domain::{FileSet, Refusal};
use poem::Request;
use tokio::time::Instant;

use crate::http::client_ip::{client_of, network_of};

/// Bytes of uploads that may be in memory at a time, over all requests of a process, unless it is told otherwise.
pub const ROOM_BYTES: usize = 256 * 1_048_576;
/// Bytes of small bodies, likewise: of 256 that come slowly, each as long as it may be. That is many, since one that
/// comes with its head takes none of it, and little beside what uploads have.
const SMALL_ROOM_BYTES: usize = 16 * 1_048_576;
const ROOM_WAIT_MAX: Duration = Duration::from_secs(1);
/// The number of bodies that wait is bounded by the connections already.
const QUEUE_MAX: usize = usize::MAX;

/// The memory that uploads share. An upload that finds no room is told to come again, and nothing swaps or dies.
#[derive(Clone, Debug)]
pub struct BodyRoom {
    shares: FairShare<IpAddr>,
    /// The queue's label in the metrics.
    line: &'static str,
}

/// The memory that small bodies share. It is none of the uploads': whoever fills that must not keep sign-ins of the
/// same address out, nor must who fills this keep uploads out.
#[derive(Clone, Debug)]
pub struct SmallRoom(pub BodyRoom);

/// The room as it is open to one address.
#[derive(Clone, Debug)]
pub struct BodyShare {
    room: BodyRoom,
    network: IpAddr,
}

/// The part of the room that one upload has so far. It is given back when this is dropped.
#[derive(Debug)]
pub struct RoomTaken {
    share: Share<IpAddr>,
    line: &'static str,
}

impl BodyRoom {
    /// Room for uploads.
    pub fn new(bytes: usize) -> Self {
        Self::of(bytes, "upload_bytes")
    }

    fn of(bytes: usize, line: &'static str) -> Self {
        Self { shares: FairShare::new(bytes, QUEUE_MAX), line }
    }

    fn open_to(&self, address: IpAddr) -> BodyShare {
        BodyShare { room: self.clone(), network: network_of(address) }
    }
}

impl Default for SmallRoom {
    fn default() -> Self {
        Self(BodyRoom::of(SMALL_ROOM_BYTES, "small_bodies"))
    }
}

impl BodyShare {
    /// As it is open to whoever sent a request.
    pub fn of(request: &Request) -> Self {
        let room = request.data::<BodyRoom>().cloned();
        room.unwrap_or_else(|| BodyRoom::new(ROOM_BYTES)).open_to(client_of(request))
    }

    /// As the room of small bodies is open to them.
    pub fn of_small(request: &Request) -> Self {
        let room = request.data::<SmallRoom>().cloned();
        room.unwrap_or_default().0.open_to(client_of(request))
    }

    /// For an upload of which nothing has come yet.
    pub fn enter(&self) -> RoomTaken {
        RoomTaken { share: self.room.shares.share(Some(self.network)), line: self.room.line }
    }

    /// For the largest upload, where all of it comes at once.
    pub async fn take_for_largest(&self) -> Result<RoomTaken, Refusal> {
        let mut taken = self.enter();
        taken.grow(usize::try_from(FileSet::BYTES_MAX).unwrap_or(usize::MAX)).await?;
        Ok(taken)
    }
}

impl RoomTaken {
    /// Takes room for so much more.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        let until = Instant::now() + ROOM_WAIT_MAX;
        self.share.grow(bytes, until).await.map_err(|_| self.shed())
    }

    /// As [`Self::grow`], for who cannot wait.
    pub fn grow_at_once(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.share.try_grow(bytes).map_err(|_| self.shed())
    }

    fn shed(&self) -> Refusal {
        telemetry::shed("api", self.line);
        Refusal::overloaded("the server has no memory left for uploads; your request was not processed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::client_ip::TrustedProxies;

    const LARGEST: usize = FileSet::BYTES_MAX as usize;

    fn share(room: &BodyRoom, address: &str) -> BodyShare {
        room.open_to(address.parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_that_finds_no_room_is_told_to_come_again() {
        let room = BodyRoom::new(6 * LARGEST);
        let busy = share(&room, "192.0.2.1");
        let mut taken = Vec::new();
        for _ in 0..3 {
            taken.push(busy.take_for_largest().await.unwrap());
        }
        let refusal = busy.take_for_largest().await.unwrap_err();
        assert_eq!((refusal.code(), refusal.retry_after_seconds()), ("overloaded", Some(2)));
        taken.pop();
        assert!(busy.take_for_largest().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn all_addresses_of_a_network_are_one() {
        let room = BodyRoom::new(4 * LARGEST);
        let _half = share(&room, "2001:db8:1:2::1").take_for_largest().await.unwrap();
        let _other_half = share(&room, "2001:db8:1:2::2").take_for_largest().await.unwrap();
        assert!(share(&room, "2001:db8:1:2::3").take_for_largest().await.is_err());
        assert!(share(&room, "2001:db8:1:3::1").take_for_largest().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn behind_a_trusted_proxy_each_client_has_a_share_and_else_the_proxy_has_one() {
        let room = BodyRoom::new(4 * LARGEST);
        let sent = |trusted: &str, client: &str| {
            let request = Request::builder().header("x-forwarded-for", client);
            let proxies = TrustedProxies::new(vec![trusted.parse().unwrap()]);
            BodyShare::of(&request.extension(room.clone()).extension(proxies).finish())
        };
        // A request that was made by hand came from no address.
        let by_proxy = |client| sent("0.0.0.0/32", client);
        let _half = by_proxy("192.0.2.1").take_for_largest().await.unwrap();
        let _other_half = by_proxy("192.0.2.1").take_for_largest().await.unwrap();
        assert!(by_proxy("192.0.2.1").take_for_largest().await.is_err());
        assert!(by_proxy("192.0.2.2").take_for_largest().await.is_ok());
        let by_stranger = |client| sent("10.0.0.0/8", client).network;
        assert_eq!(by_stranger("192.0.2.1"), by_stranger("192.0.2.2"));
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_not_come_takes_no_room_and_what_has_come_is_given_back() {
        let room = BodyRoom::new(ROOM_BYTES);
        let visitor = share(&room, "192.0.2.1");
        let waiting: Vec<_> = (0..1000).map(|_| visitor.enter()).collect();
        let mut first = visitor.enter();
        first.grow(ROOM_BYTES / 4).await.unwrap();
        first.grow(ROOM_BYTES / 4).await.unwrap();
        assert!(visitor.enter().grow(1).await.is_err(), "it leaves no more than it has");
        drop(first);
        assert!(visitor.enter().grow(ROOM_BYTES / 2).await.is_ok());
        drop(waiting);
    }
}
