//! Doors: how a process takes connections and answers what comes over them.
//!
//! The endpoints are poem's; the loop that serves them is not. poem's own server puts a lock and two boxes around every
//! connection, asks four tokens at every step whether to stop, and spins when no more files can be opened. Here the
//! HTTP library below it is driven directly. There must never be more connections than a door has places for; see
//! `places` for who gets one.

mod places;
mod turned_away;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use config::ConnectionLimits;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use ipnet::IpNet;
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint, Request};
use telemetry::{ConnectionMeter, Count};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connections::{Asked, Connection, Pace};
use places::{Place, Places};

pub(crate) use turned_away::TurnedAway;

/// How long a door waits, once it is closed, for the requests that it has.
const STOP_WAIT: Duration = Duration::from_secs(20);
/// When no connection can be taken, as for want of files, it is tried again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

// What a connection of HTTP/2 may have in memory: of each answer that is not taken, of each body, of all bodies.
const STREAM_SENDS_BYTES_MAX: usize = 64 * 1024;
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// As many headers as HTTP/1 is read with anyway; any other number costs an allocation for each request.
const HEADERS_MAX_AT_NO_COST: usize = 100;

/// What is said of a door before it is opened.
pub(crate) struct DoorTerms {
    /// The setting that names its address.
    pub(crate) key: &'static str,
    /// As the metrics call it.
    pub(crate) role: &'static str,
    pub(crate) limits: ConnectionLimits,
    /// Who may have any number of connections, besides this machine.
    pub(crate) proxies: Vec<IpNet>,
    pub(crate) turned_away: TurnedAway,
}

/// An address that is listened on.
pub(crate) struct Door {
    listener: TcpListener,
    address: SocketAddr,
    http: Arc<auto::Builder<TokioExecutor>>,
    places: Arc<Places>,
    pace: Arc<Pace>,
    turned_away: TurnedAway,
}

impl Door {
    pub(crate) async fn open(address: SocketAddr, terms: DoorTerms) -> anyhow::Result<Self> {
        let DoorTerms { key, role, limits, proxies, turned_away } = terms;
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("listen on {key} {address}"))?;
        let address = listener.local_addr()?;
        let meter = ConnectionMeter::of(role);
        let pace = Pace::of(&limits, meter.clone());
        Ok(Self {
            listener,
            address,
            http: Arc::new(http_of(&limits)),
            places: Arc::new(Places::new(&limits, proxies, meter)),
            pace: Arc::new(pace),
            turned_away,
        })
    }

    /// Counts the bytes that go out.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        let pace = Pace::clone(&self.pace).counting(sent_bytes);
        Self { pace: Arc::new(pace), ..self }
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
        let (endpoint, mut connections) = (Arc::new(endpoint), JoinSet::new());
        self.open_to_all(&endpoint, &mut connections, &stop).await;
        let Self { listener, places, .. } = self;
        drop(listener);
        places.close();
        carried_on.close();
        let ended = async { while connections.join_next().await.is_some() {} };
        let ending = async { tokio::join!(ended, carried_on.wait()) };
        if timeout(STOP_WAIT, ending).await.is_err() {
            while connections.try_join_next().is_some() {}
            let (connections, carried_on) = (connections.len(), carried_on.len());
            tracing::warn!(connections, requests.carried_on = carried_on, "what was begun is cut");
        }
        connections.shutdown().await;
        Ok(())
    }

    /// Takes connections until told to stop.
    async fn open_to_all<E: Endpoint + 'static>(
        &self,
        endpoint: &Arc<E>,
        connections: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) {
        // It goes on while others end: who has come and waits for a place must not be let go for that.
        let mut taking = std::pin::pin!(self.take());
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                taken = taking.as_mut() => {
                    match taken {
                        Ok(Some(connection)) => {
                            connections.spawn(connection.serve(endpoint.clone()));
                        }
                        Ok(None) => {}
                        Err(error) => {
                            tracing::warn!(error = %error, "a connection could not be taken");
                            sleep(ACCEPT_PAUSE).await;
                        }
                    }
                    taking.set(self.take());
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }

    /// The next connection, if there is a place for it.
    async fn take(&self) -> io::Result<Option<Accepted>> {
        let (stream, visitor) = self.listener.accept().await?;
        let asked = Asked::default();
        let Ok(place) = self.places.take(visitor.ip(), &asked).await else {
            self.turned_away.tell(stream);
            return Ok(None);
        };
        let (http, pace, door) = (self.http.clone(), self.pace.clone(), self.address);
        Ok(Some(Accepted { stream, visitor, door, http, pace, asked, place }))
    }
}

/// HTTP with bounds on all that a visitor may make it keep.
fn http_of(limits: &ConnectionLimits) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().max_buf_size(limits.head_bytes_max);
    if limits.headers_max != HEADERS_MAX_AT_NO_COST {
        http.http1().max_headers(limits.headers_max);
    }
    http.http2()
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .max_concurrent_streams(u32::try_from(limits.streams_max).unwrap_or(u32::MAX))
        .max_send_buf_size(STREAM_SENDS_BYTES_MAX)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
    http
}

/// A connection that has just been taken.
struct Accepted {
    stream: TcpStream,
    visitor: SocketAddr,
    door: SocketAddr,
    http: Arc<auto::Builder<TokioExecutor>>,
    pace: Arc<Pace>,
    asked: Asked,
    place: Place,
}

impl Accepted {
    /// Answers one request after the other. That the other side goes away is no news.
    async fn serve<E: Endpoint + 'static>(self, endpoint: Arc<E>) {
        let (_place, asked) = (self.place, self.asked);
        // The last small piece of an answer must not wait for the acknowledgement of the one before.
        if self.stream.set_nodelay(true).is_err() {
            return;
        }
        let (visitor, door) = (self.visitor, self.door);
        let stream = Connection::over(self.stream, asked.clone(), self.pace);
        let asking = asked.clone();
        let answer = service_fn(move |request| {
            let in_hand = asking.note();
            let endpoint = endpoint.clone();
            let (door, visitor) = (LocalAddr(Addr::SocketAddr(door)), RemoteAddr(Addr::SocketAddr(visitor)));
            async move {
                let request = Request::from((request, door, visitor, Scheme::HTTP));
                let response = endpoint.get_response(request).await;
                drop(in_hand);
                Ok::<hyper::Response<_>, Infallible>(response.into())
            }
        });
        let mut connection = std::pin::pin!(self.http.serve_connection(TokioIo::new(stream), answer));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = asked.told_to_leave() => {
                if asked.must_go() {
                    return;
                }
                // What was asked is answered.
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended");
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
