//! Doors: how a process takes connections and answers what comes over them.
//!
//! The endpoints are poem's; the loop that serves them is not. poem's own server puts a lock and two boxes around every
//! connection, asks four tokens at every step whether to stop, and spins when no more files can be opened. Here the
//! HTTP library below it is driven directly. There must never be more connections than a door has places for; see
//! `places` for who gets one.

mod idle;
mod shed;
mod slots;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use config::ConnectionLimits;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use ipnet::IpNet;
use poem::http::Version;
use poem::http::uri::Scheme;
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint, Request};
use telemetry::{ConnectionMeter, Count, Cut};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connections::{Connection, CountedBody, Pace, RequestCounter};
use slots::{ConnectionSlot, ConnectionSlots};

pub(crate) use shed::TurnedAway;

/// Connections that a door may have beside those in their places: who waits for one, of all or of an address's, and who
/// is told that there is none.
pub(crate) const WAITING_AND_TOLD_MAX: usize = 2 * slots::WAITING_MAX + shed::TOLD_MAX;
/// How long a door waits, once it is closed, for the requests that it has.
const STOP_WAIT: Duration = Duration::from_secs(20);
/// When no connection can be taken, as for want of files, it is tried again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a connection that is told to leave, and has nothing in hand, may take to say goodbye.
const GOODBYE_WAIT: Duration = Duration::from_millis(500);

/// What the kernel holds of an answer that the network does not take yet: without a bound that may be megabytes, and
/// what lies there looks as if the visitor had taken it.
#[cfg(target_os = "linux")]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

// What a connection of HTTP/2 may have in memory: of each answer that is not taken, of each body, of all bodies.
const STREAM_SENDS_BYTES_MAX: usize = 64 * 1024;
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// As many headers as HTTP/1 is read with anyway; any other number costs an allocation for each request.
const HEADERS_MAX_AT_NO_COST: usize = 100;

/// What is said of a door before it is opened.
pub(crate) struct ListenerLimits {
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
pub(crate) struct Listener {
    listener: TcpListener,
    state: ListenerState,
}

/// What all connections of a door need.
struct ListenerState {
    door: SocketAddr,
    http: auto::Builder<TokioExecutor>,
    places: Arc<ConnectionSlots>,
    pace: Arc<Pace>,
    meter: ConnectionMeter,
    turned_away: TurnedAway,
}

impl Listener {
    pub(crate) async fn open(address: SocketAddr, terms: ListenerLimits) -> anyhow::Result<Self> {
        let ListenerLimits { key, role, limits, proxies, turned_away } = terms;
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("listen on {key} {address}"))?;
        let door = listener.local_addr()?;
        let meter = ConnectionMeter::of(role);
        let state = ListenerState {
            door,
            http: http_of(&limits),
            places: Arc::new(ConnectionSlots::new(&limits, proxies, meter.clone())),
            pace: Arc::new(Pace::of(&limits, meter.clone())),
            meter,
            turned_away,
        };
        Ok(Self { listener, state })
    }

    /// Counts the bytes that go out.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        let pace = Arc::new(Pace::clone(&self.state.pace).counting(sent_bytes));
        Self { state: ListenerState { pace, ..self.state }, ..self }
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
        let Self { listener, state } = self;
        let (state, mut connections) = (Arc::new(state), JoinSet::new());
        open_to_all(&listener, &state, &Arc::new(endpoint), &mut connections, &stop).await;
        drop(listener);
        state.places.close();
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
}

/// Takes connections until told to stop. Nobody is waited for here: whoever has come must not hold up the next.
async fn open_to_all<E: Endpoint + 'static>(
    listener: &TcpListener,
    state: &Arc<ListenerState>,
    endpoint: &Arc<E>,
    connections: &mut JoinSet<()>,
    stop: &CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, visitor)) => {
                    let (state, endpoint) = (state.clone(), endpoint.clone());
                    match state.places.take_now(visitor.ip()) {
                        Some(place) => connections.spawn(state.serve(stream, visitor, place, endpoint)),
                        None => connections.spawn(state.serve_when_there_is_room(stream, visitor, endpoint)),
                    };
                }
                Err(error) => {
                    tracing::warn!(error = %error, "a connection could not be taken");
                    // If it is for want of files, those who are idle have some.
                    state.places.make_room();
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// HTTP with bounds on all that a visitor may make it keep. What it refuses by itself, as a head that is too large, it
/// answers with a status alone.
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

impl ListenerState {
    /// For whoever finds all places taken: they are served in that of another who is idle, or turned away.
    async fn serve_when_there_is_room<E: Endpoint + 'static>(
        self: Arc<Self>,
        stream: TcpStream,
        visitor: SocketAddr,
        endpoint: Arc<E>,
    ) {
        match self.places.wait(visitor.ip()).await {
            Ok(place) => self.serve(stream, visitor, place, endpoint).await,
            Err(_) => self.turned_away.tell(stream).await,
        }
    }

    /// Answers one request after the other. That the other side goes away is no news.
    async fn serve<E: Endpoint + 'static>(
        self: Arc<Self>,
        stream: TcpStream,
        visitor: SocketAddr,
        place: ConnectionSlot,
        endpoint: Arc<E>,
    ) {
        if prepare(&stream).is_err() {
            return;
        }
        let (requests, door) = (place.requests.clone(), self.door);
        let stream = Connection::over(stream, requests.clone(), self.pace.clone());
        let answer = service_fn(move |request: hyper::Request<_>| {
            let in_hand = match request.version() {
                Version::HTTP_2 => requests.note_one_of_several(),
                _ => requests.note(),
            };
            let endpoint = endpoint.clone();
            let (door, visitor) = (LocalAddr(Addr::SocketAddr(door)), RemoteAddr(Addr::SocketAddr(visitor)));
            async move {
                let request = Request::from((request, door, visitor, Scheme::HTTP));
                let response: hyper::Response<_> = endpoint.get_response(request).await.into();
                Ok::<_, Infallible>(response.map(|body| CountedBody::to(in_hand, body)))
            }
        });
        let mut connection = std::pin::pin!(self.http.serve_connection(TokioIo::new(stream), answer));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = place.requests.told_to_leave() => {
                if place.requests.makes_room() {
                    self.meter.cut(Cut::Idle);
                }
                connection.as_mut().graceful_shutdown();
                end_or_idle(connection, &place.requests).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended");
        }
    }
}

/// The last small piece of an answer must not wait for the acknowledgement of the one before.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES_MAX)?;
    stream.set_nodelay(true)
}

/// What was asked is answered. But half a head may be all that ever comes, and a goodbye may never be heard.
async fn end_or_idle<T, E>(
    mut connection: std::pin::Pin<&mut impl Future<Output = Result<T, E>>>,
    requests: &RequestCounter,
) -> Result<(), E> {
    loop {
        match timeout(GOODBYE_WAIT, connection.as_mut()).await {
            Ok(ended) => return ended.map(drop),
            Err(_) if requests.is_idle() => return Ok(()),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
