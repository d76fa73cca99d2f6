//! Doors: how a process takes connections and answers what comes over them.
//!
//! The endpoints are poem's; the loop that serves them is not. poem's own server puts a lock and two boxes around every
//! connection, asks four tokens at every step whether to stop, and spins when no more files can be opened. Here the
//! HTTP library below it is driven directly. There must never be more connections than a door has places for; who comes
//! then waits outside.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint, Request};
use telemetry::Count;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connections::{Asked, Connection};

/// How long a door waits, once it is closed, for the requests that it has.
const STOP_WAIT: Duration = Duration::from_secs(20);
/// When no connection can be taken, as for want of files, it is tried again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// An address that is listened on.
pub(crate) struct Door {
    listener: TcpListener,
    address: SocketAddr,
    places: Arc<Semaphore>,
    /// What goes out over it.
    sent_bytes: Count,
}

impl Door {
    /// `key` is the setting that names the address.
    pub(crate) async fn open(address: SocketAddr, key: &str, connections_max: usize) -> anyhow::Result<Self> {
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("listen on {key} {address}"))?;
        let address = listener.local_addr()?;
        let places = Arc::new(Semaphore::new(connections_max));
        Ok(Self { listener, address, places, sent_bytes: Count::default() })
    }

    /// Counts the bytes that go out.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        Self { sent_bytes, ..self }
    }

    /// Answers until told to stop, and then what it has begun. `carried_on` is what the endpoint carries to its end when
    /// the visitor has gone: no connection speaks for it any more, and it is waited for, too.
    pub(crate) async fn serve<E>(
        self,
        endpoint: E,
        carried_on: TaskTracker,
        stop: CancellationToken,
    ) -> anyhow::Result<()>
    where
        E: Endpoint + 'static,
    {
        let endpoint = Arc::new(endpoint);
        let (closing, mut connections) = (GracefulShutdown::new(), JoinSet::new());
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                taken = self.take() => match taken {
                    Ok(connection) => {
                        connections.spawn(connection.serve(endpoint.clone(), closing.watcher()));
                    }
                    Err(error) => {
                        tracing::warn!(error = %error, "a connection could not be taken");
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(self.listener);
        carried_on.close();
        let ending = async { tokio::join!(closing.shutdown(), carried_on.wait()) };
        if timeout(STOP_WAIT, ending).await.is_err() {
            while connections.try_join_next().is_some() {}
            let (connections, carried_on) = (connections.len(), carried_on.len());
            tracing::warn!(connections, requests.carried_on = carried_on, "what was begun is cut");
        }
        connections.shutdown().await;
        Ok(())
    }

    /// The next connection, once there is a place for it.
    async fn take(&self) -> io::Result<Accepted> {
        let place = self.places.clone().acquire_owned().await.map_err(io::Error::other)?;
        let (stream, visitor) = self.listener.accept().await?;
        let sent_bytes = self.sent_bytes.clone();
        Ok(Accepted { stream, visitor, door: self.address, place, sent_bytes })
    }
}

/// A connection that has just been taken.
struct Accepted {
    stream: TcpStream,
    visitor: SocketAddr,
    door: SocketAddr,
    place: OwnedSemaphorePermit,
    sent_bytes: Count,
}

impl Accepted {
    /// Answers one request after the other. That the other side goes away is no news.
    async fn serve<E: Endpoint + 'static>(self, endpoint: Arc<E>, closing: Watcher) {
        let _place = self.place;
        // The last small piece of an answer must not wait for the acknowledgement of the one before.
        if self.stream.set_nodelay(true).is_err() {
            return;
        }
        let (visitor, door) = (self.visitor, self.door);
        let asked = Asked::default();
        let stream = Connection::over(self.stream, asked.clone()).counting(self.sent_bytes);
        let answer = service_fn(move |request| {
            let in_hand = asked.note();
            let endpoint = endpoint.clone();
            let (door, visitor) = (LocalAddr(Addr::SocketAddr(door)), RemoteAddr(Addr::SocketAddr(visitor)));
            async move {
                let request = Request::from((request, door, visitor, Scheme::HTTP));
                let response = endpoint.get_response(request).await;
                drop(in_hand);
                Ok::<hyper::Response<_>, std::convert::Infallible>(response.into())
            }
        });
        let http = auto::Builder::new(TokioExecutor::new());
        let connection = http.serve_connection(TokioIo::new(stream), answer);
        if let Err(error) = closing.watch(connection).await {
            tracing::debug!(error = %error, "a connection ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use poem::endpoint::make;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    const PLACES: usize = 2;

    struct Opened {
        address: SocketAddr,
        carried_on: TaskTracker,
        stop: CancellationToken,
        serving: tokio::task::JoinHandle<anyhow::Result<()>>,
    }

    /// A door whose answers take a while.
    async fn open(answers_after: Duration) -> Opened {
        let door = Door::open("127.0.0.1:0".parse().unwrap(), "test", PLACES).await.unwrap();
        let (address, stop, carried_on) = (door.address, CancellationToken::new(), TaskTracker::new());
        let endpoint = make(move |_| async move {
            sleep(answers_after).await;
            "done"
        });
        let serving = tokio::spawn(door.serve(endpoint, carried_on.clone(), stop.clone()));
        Opened { address, carried_on, stop, serving }
    }

    async fn read_all(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn what_was_begun_is_answered_and_nothing_else_holds_a_stop_up() {
        let door = open(Duration::from_millis(300)).await;
        let mut silent = TcpStream::connect(door.address).await.unwrap();
        let mut asking = TcpStream::connect(door.address).await.unwrap();
        asking.write_all(REQUEST).await.unwrap();
        sleep(Duration::from_millis(100)).await;
        let stopped_at = Instant::now();
        door.stop.cancel();
        assert!(read_all(&mut asking).await.ends_with("done"));
        assert_eq!(read_all(&mut silent).await, "");
        door.serving.await.unwrap().unwrap();
        assert!(stopped_at.elapsed() < Duration::from_secs(5), "{:?}", stopped_at.elapsed());
        assert!(TcpStream::connect(door.address).await.is_err());
    }

    #[tokio::test]
    async fn a_connection_stays_open_for_the_next_request() {
        let door = open(Duration::ZERO).await;
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        for _ in 0..3 {
            stream.write_all(REQUEST).await.unwrap();
            let mut answer = [0; 512];
            let read = stream.read(&mut answer).await.unwrap();
            assert!(answer[..read].ends_with(b"done"));
        }
        door.stop.cancel();
        assert_eq!(read_all(&mut stream).await, "");
        door.serving.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_goes_on_without_its_visitor_is_waited_for() {
        let door = open(Duration::ZERO).await;
        let deed = door.carried_on.spawn(sleep(Duration::from_millis(300)));
        door.stop.cancel();
        door.serving.await.unwrap().unwrap();
        assert!(deed.is_finished());
    }

    #[tokio::test]
    async fn who_finds_no_place_waits_until_another_leaves() {
        let door = open(Duration::ZERO).await;
        let mut first = Vec::new();
        for _ in 0..PLACES {
            first.push(TcpStream::connect(door.address).await.unwrap());
        }
        let mut next = TcpStream::connect(door.address).await.unwrap();
        next.write_all(REQUEST).await.unwrap();
        let mut answer = [0; 512];
        let answered = timeout(Duration::from_millis(300), next.read(&mut answer)).await;
        assert!(answered.is_err(), "there is no place");
        drop(first.pop());
        let read = timeout(Duration::from_secs(5), next.read(&mut answer)).await.unwrap().unwrap();
        assert!(answer[..read].ends_with(b"done"));
        door.stop.cancel();
        door.serving.await.unwrap().unwrap();
    }
}
