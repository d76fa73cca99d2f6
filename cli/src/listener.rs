//! Accepts connections and serves the requests on them.
//!
//! The endpoints are poem's, the accept loop is not. poem's own server adds a lock and two boxes to every
//! connection, checks four cancellation tokens at every step, and spins when no more files can be opened.
//! Here the underlying HTTP library is driven directly. There must never be more connections than the
//! listener has slots; see `slots` for how they are assigned.

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

pub(crate) use shed::OverloadResponse;

/// Connections that a listener may have besides those with a slot: waiting for a slot of all or of their
/// address, and being refused.
pub(crate) const WAITING_AND_REFUSED_MAX: usize = 2 * slots::WAITING_MAX + shed::RESPONSES_MAX;
/// How long a closed listener waits for its active requests.
const STOP_WAIT: Duration = Duration::from_secs(20);
/// The pause after a failed accept, such as when no more files can be opened.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a connection without an active request may take to close.
const CLOSE_WAIT: Duration = Duration::from_millis(500);

/// The limit of response bytes in the kernel's send buffer. Without it there may be megabytes, which would
/// look as if the client had read them.
#[cfg(target_os = "linux")]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

// Memory limits of an HTTP/2 connection: per unread response, per request body, for all bodies.
const STREAM_SENDS_BYTES_MAX: usize = 64 * 1024;
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// The HTTP/1 library's default. Any other number costs an allocation per request.
const HEADERS_MAX_DEFAULT: usize = 100;

/// The settings of a listener.
pub(crate) struct ListenerLimits {
    /// The setting with its address.
    pub(crate) key: &'static str,
    /// The label in metrics.
    pub(crate) role: &'static str,
    pub(crate) limits: ConnectionLimits,
    /// Networks without a limit per address, besides this machine.
    pub(crate) proxies: Vec<IpNet>,
    pub(crate) overload_response: OverloadResponse,
}

/// A bound listener.
pub(crate) struct Listener {
    listener: TcpListener,
    state: ListenerState,
}

/// The state that all connections of a listener share.
struct ListenerState {
    local_address: SocketAddr,
    http: auto::Builder<TokioExecutor>,
    slots: Arc<ConnectionSlots>,
    pace: Arc<Pace>,
    meter: ConnectionMeter,
    overload_response: OverloadResponse,
}

impl Listener {
    pub(crate) async fn open(address: SocketAddr, terms: ListenerLimits) -> anyhow::Result<Self> {
        let ListenerLimits { key, role, limits, proxies, overload_response } = terms;
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} (setting {key})"))?;
        let local_address = listener.local_addr()?;
        let meter = ConnectionMeter::of(role);
        let state = ListenerState {
            local_address,
            http: http_of(&limits),
            slots: Arc::new(ConnectionSlots::new(&limits, proxies, meter.clone())),
            pace: Arc::new(Pace::of(&limits, meter.clone())),
            meter,
            overload_response,
        };
        Ok(Self { listener, state })
    }

    /// Counts the bytes that are sent.
    pub(crate) fn counting(self, sent_bytes: Count) -> Self {
        let pace = Arc::new(Pace::clone(&self.state.pace).counting(sent_bytes));
        Self { state: ListenerState { pace, ..self.state }, ..self }
    }

    /// Serves until stopped, and then finishes the active requests. `background_tasks` are tasks of the
    /// endpoint that outlive their connection, and are waited for, too.
    pub(crate) async fn serve<E>(
        self,
        endpoint: E,
        background_tasks: TaskTracker,
        stop: CancellationToken,
    ) -> anyhow::Result<()>
    where
        E: Endpoint + 'static,
    {
        let Self { listener, state } = self;
        let (state, mut connections) = (Arc::new(state), JoinSet::new());
        accept_all(&listener, &state, &Arc::new(endpoint), &mut connections, &stop).await;
        drop(listener);
        state.slots.close();
        background_tasks.close();
        let ended = async { while connections.join_next().await.is_some() {} };
        let ending = async { tokio::join!(ended, background_tasks.wait()) };
        if timeout(STOP_WAIT, ending).await.is_err() {
            while connections.try_join_next().is_some() {}
            let (connections, background_tasks) = (connections.len(), background_tasks.len());
            tracing::warn!(
                connections,
                requests.background = background_tasks,
                "stopping with unfinished requests"
            );
        }
        connections.shutdown().await;
        Ok(())
    }
}

/// Accepts connections until stopped. It never waits for a connection, because that would delay the next one.
async fn accept_all<E: Endpoint + 'static>(
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
                Ok((stream, client)) => {
                    let (state, endpoint) = (state.clone(), endpoint.clone());
                    match state.slots.try_acquire(client.ip()) {
                        Some(slot) => connections.spawn(state.serve(stream, client, slot, endpoint)),
                        None => connections.spawn(state.wait_and_serve(stream, client, endpoint)),
                    };
                }
                Err(error) => {
                    tracing::warn!(error = %error, "could not accept a connection");
                    // If files ran out, closing idle connections frees some.
                    state.slots.evict_idle();
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// The HTTP server with limits on everything that a client can make it buffer. It refuses some requests
/// itself, such as one with too large a head, with a status and no body.
fn http_of(limits: &ConnectionLimits) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().max_buf_size(limits.head_bytes_max);
    if limits.headers_max != HEADERS_MAX_DEFAULT {
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
    /// Serves a connection that found no free slot: it gets that of an idle connection, or is refused.
    async fn wait_and_serve<E: Endpoint + 'static>(
        self: Arc<Self>,
        stream: TcpStream,
        client: SocketAddr,
        endpoint: Arc<E>,
    ) {
        match self.slots.wait(client.ip()).await {
            Ok(slot) => self.serve(stream, client, slot, endpoint).await,
            Err(_) => self.overload_response.send(stream).await,
        }
    }

    /// Serves the requests of a connection. A disconnect is not an error.
    async fn serve<E: Endpoint + 'static>(
        self: Arc<Self>,
        stream: TcpStream,
        client: SocketAddr,
        slot: ConnectionSlot,
        endpoint: Arc<E>,
    ) {
        if prepare(&stream).is_err() {
            return;
        }
        let (requests, local_address) = (slot.requests.clone(), self.local_address);
        let stream = Connection::over(stream, requests.clone(), self.pace.clone());
        let answer = service_fn(move |request: hyper::Request<_>| {
            let active = match request.version() {
                Version::HTTP_2 => requests.start_concurrent(),
                _ => requests.start(),
            };
            let endpoint = endpoint.clone();
            let (local_address, client) =
                (LocalAddr(Addr::SocketAddr(local_address)), RemoteAddr(Addr::SocketAddr(client)));
            async move {
                let request = Request::from((request, local_address, client, Scheme::HTTP));
                let response: hyper::Response<_> = endpoint.get_response(request).await.into();
                Ok::<_, Infallible>(response.map(|body| CountedBody::to(active, body)))
            }
        });
        let mut connection = std::pin::pin!(self.http.serve_connection(TokioIo::new(stream), answer));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = slot.requests.closing() => {
                if slot.requests.is_evicted() {
                    self.meter.cut(Cut::Idle);
                }
                connection.as_mut().graceful_shutdown();
                end_or_idle(connection, &slot.requests).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended with an error");
        }
    }
}

/// Disables Nagle's algorithm, so that the last small piece of a response does not wait for an
/// acknowledgement.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES_MAX)?;
    stream.set_nodelay(true)
}

/// Waits for the active requests. A half-sent head or an unread GOAWAY must not hold up the end.
async fn end_or_idle<T, E>(
    mut connection: std::pin::Pin<&mut impl Future<Output = Result<T, E>>>,
    requests: &RequestCounter,
) -> Result<(), E> {
    loop {
        match timeout(CLOSE_WAIT, connection.as_mut()).await {
            Ok(ended) => return ended.map(drop),
            Err(_) if requests.is_idle() => return Ok(()),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
