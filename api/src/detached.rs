//! The middleware around all routes: a permit, a bounded body, a response even after a panic, one form for
//! all errors, the common headers, a log line, metrics and a trace.
//!
//! A change runs to completion even if its client disconnects. Otherwise a committed change would never be
//! sent to the edges.
//!
//! Logs, metrics and traces must never contain the real path or the query, which can hold codes and
//! signatures.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::{Chance, Refusal};
use futures::FutureExt;
use poem::http::{HeaderName, HeaderValue, Method, StatusCode, header};

use poem::{Endpoint, IntoResponse, PathPattern, Request, Response};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use crate::html::{RefusalForm, Site};
use crate::http::body::{self, BodyTerms};
use crate::http::catch_all::refusal_of;
use crate::http::client_ip::TrustedProxies;
use crate::http::client_wait::ClientWait;
use crate::http::paths::{ListedPath, Paths};
use crate::http::permits::{RequestPermit, RequestPermits};
use crate::http::rate_limit_headers;
use crate::http::terms::Terms;
use crate::http::trace::Traced;
use crate::http::upload_budget::{BodyBudget, SmallBodyBudget};
use crate::{LoadTerms, routes};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_LENGTH: usize = 12;
const TRACEPARENT: &str = "traceparent";
/// The route of a request that matched none, or whose client disconnected before routing.
const NO_ROUTE: &str = "-";

/// The middleware around all routes.
pub struct DetachedRequests<E>(Arc<DetachedState<E>>);

/// What the middleware needs.
struct DetachedState<E> {
    routes: E,
    paths: Paths,
    chance: Chance,
    proxies: TrustedProxies,
    background_tasks: BackgroundTasks,
    permits: RequestPermits,
    bodies: BodyTerms,
    uploads: BodyBudget,
    small: SmallBodyBudget,
    /// What every page shows of the service.
    site: Arc<Site>,
}

/// The requests that run to completion without their client.
#[derive(Clone, Default)]
pub struct BackgroundTasks {
    pub tracker: TaskTracker,
    /// Cancelled when the process stops.
    pub stop: CancellationToken,
}

/// A request without a response yet. If the client disconnects, dropping it records the request as gone:
/// during an outage these records are all that shows the load.
struct PendingRequest {
    method: Method,
    since: Instant,
    trace: Span,
    is_answered: bool,
}

impl PendingRequest {
    fn of(request: &Request, trace: &Span) -> Self {
        let (method, trace) = (request.method().clone(), trace.clone());
        Self { method, since: Instant::now(), trace, is_answered: false }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        record(&self.method, NO_ROUTE, telemetry::GONE, self.since, &self.trace);
        tracing::info!(
            http.method = %self.method,
            duration_ms = self.since.elapsed().as_secs_f64() * 1000.0,
            "client disconnected before the response"
        );
    }
}

impl<E: Endpoint> DetachedRequests<E> {
    pub fn new(
        routes: E,
        paths: Paths,
        chance: Chance,
        proxies: TrustedProxies,
        background_tasks: BackgroundTasks,
        load: &LoadTerms,
        site: Arc<Site>,
    ) -> Self {
        let (permits, bodies) = (RequestPermits::new(load.permits), load.bodies);
        let (uploads, small) = (BodyBudget::new(load.upload_bytes_max), SmallBodyBudget::default());
        Self(Arc::new(DetachedState {
            routes,
            paths,
            chance,
            proxies,
            background_tasks,
            permits,
            bodies,
            uploads,
            small,
            site,
        }))
    }
}

impl<E: Endpoint + 'static> DetachedState<E> {
    /// Waits for a permit. If the client disconnects while it waits, nothing is executed.
    async fn admit(self: Arc<Self>, mut request: Request, trace: Span) -> Response {
        let mut pending = PendingRequest::of(&request, &trace);
        let response = match self.permits.take(Terms::of(&request).permit).await {
            Ok(permit) => self.run_to_completion(request, permit, &mut pending).await,
            Err(refusal) => {
                // The rest of the body is read while the response is sent.
                body::bound(&mut request, self.bodies, &RequestPermit::free());
                let answer = RefusalForm::for_request(&request).respond(&refusal);
                self.finish(answer, request.method(), None, pending.since, &trace)
            }
        };
        pending.is_answered = true;
        response
    }

    /// If the connection closes, a safe request is dropped. Any other request must run to completion.
    async fn run_to_completion(
        self: Arc<Self>,
        mut request: Request,
        permit: RequestPermit,
        pending: &mut PendingRequest,
    ) -> Response {
        let trace = pending.trace.clone();
        if request.method().is_safe() {
            return self.call_routes(request, permit, pending.since, &trace).await;
        }
        // From here on the task itself records the outcome.
        pending.is_answered = true;
        let (client, _connected) = ClientWait::until_dropped(&self.background_tasks.stop);
        request.set_data(client);
        let (started, method) = (pending.since, request.method().clone());
        let form = RefusalForm::for_request(&request);
        let (state, traced) = (self.clone(), trace.clone());
        // A new task does not have the site of this one.
        let site = self.site.clone();
        let running = site.handle(async move { state.call_routes(request, permit, started, &traced).await });
        let running = running.in_current_span().instrument(trace.clone());
        self.background_tasks.tracker.spawn(running).await.unwrap_or_else(|error| {
            tracing::error!(error = %error, "a request task did not complete");
            self.finish(form.respond(&Refusal::Internal), &method, None, started, &trace)
        })
    }

    async fn call_routes(
        &self,
        mut request: Request,
        permit: RequestPermit,
        started: Instant,
        trace: &Span,
    ) -> Response {
        let method = request.method().clone();
        let form = RefusalForm::for_request(&request);
        body::bound(&mut request, self.bodies, &permit);
        if let Some(path) = self.paths.without_slash(request.uri().path()) {
            permit.release();
            return self.finish(moved_to(path, request.uri().query()), &method, None, started, trace);
        }
        request.set_data(permit.clone());
        let call = Box::pin(AssertUnwindSafe(self.routes.call(request)).catch_unwind());
        let (outcome, limits) = service::reporting_limits(call).await;
        permit.release();
        let (mut response, pattern) = match outcome {
            Ok(Ok(answer)) => {
                let response = answer.into_response();
                let pattern = response.data::<PathPattern>().cloned();
                (response, pattern)
            }
            Ok(Err(error)) => {
                let pattern = error.data::<PathPattern>().cloned();
                (form.respond(&refusal_of(&error, &method, self.listed(pattern.as_ref()))), pattern)
            }
            Err(_) => {
                // The panic hook logs the panic's message and location.
                tracing::error!("a handler panicked");
                (form.respond(&Refusal::Internal), None)
            }
        };
        rate_limit_headers::report(&mut response, &limits);
        self.finish(response, &method, pattern.as_ref(), started, trace)
    }

    /// Adds the common headers to a response and records it.
    fn finish(
        &self,
        mut response: Response,
        method: &Method,
        pattern: Option<&PathPattern>,
        started: Instant,
        trace: &Span,
    ) -> Response {
        add_common_headers(&mut response);
        let (route, status) = (self.route(pattern), response.status().as_u16());
        record(method, route, status, started, trace);
        tracing::info!(
            http.method = %method,
            http.route = route,
            http.status = status,
            duration_ms = started.elapsed().as_secs_f64() * 1000.0,
            "request answered"
        );
        response
    }

    fn listed(&self, pattern: Option<&PathPattern>) -> Option<&ListedPath> {
        self.paths.find(&pattern?.0)
    }

    /// The route's pattern as in the OpenAPI document. It bounds the number of distinct metric labels.
    fn route<'p>(&'p self, pattern: Option<&'p PathPattern>) -> &'p str {
        match (self.listed(pattern), pattern) {
            (Some(listed), _) => &listed.path,
            // The nested root has an empty pattern if nothing below it matches.
            (None, Some(pattern)) if !pattern.0.is_empty() => &pattern.0,
            (None, _) => NO_ROUTE,
        }
    }

    /// The trace of a request. It continues the caller's trace only if a trusted proxy sent it; otherwise
    /// clients could write into any trace.
    fn begin_trace(&self, request: &mut Request, id: &str) -> Span {
        let follows = request.header(TRACEPARENT).filter(|_| self.proxies.is_peer_of(request));
        let trace = telemetry::spans::request(id, follows);
        request.set_data(Traced(trace.clone()));
        trace
    }
}

impl<E: Endpoint + 'static> Endpoint for DetachedRequests<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let id = self.0.chance.base36(REQUEST_ID_LENGTH);
        let trace = self.0.begin_trace(&mut request, &id);
        request.set_data(routes::terms_of(&request));
        // The upload memory is shared by client address, which the proxies determine.
        request.set_data(self.0.proxies.clone());
        request.set_data(self.0.uploads.clone());
        request.set_data(self.0.small.clone());
        let span = tracing::info_span!("request", request.id = id);
        let running = self.0.site.clone().handle(self.0.clone().admit(request, trace.clone()));
        let mut response = running.instrument(span).instrument(trace).await;
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        Ok(response)
    }
}

/// The method and the body stay the same at the new address.
fn moved_to(path: &str, query: Option<&str>) -> Response {
    let location = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(header::LOCATION, location).finish()
}

/// Records a finished request in the metrics and the trace.
fn record(method: &Method, route: &str, status: u16, started: Instant, trace: &Span) {
    telemetry::request("api", route, method.as_str(), status, started.elapsed());
    telemetry::spans::note_answer(trace, method.as_str(), route, status);
}

// Responses contain tokens and balances, so no cache may store them unless the handler allows it.
fn add_common_headers(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use poem::endpoint::make;
    use tokio::time::{sleep, timeout};

    use super::*;

    fn middleware<E: Endpoint>(routes: E, tracker: &TaskTracker) -> DetachedRequests<E> {
        let (chance, load) = (Chance::seeded(1), LoadTerms::default());
        let tasks = BackgroundTasks { tracker: tracker.clone(), ..BackgroundTasks::default() };
        DetachedRequests::new(
            routes,
            Paths::default(),
            chance,
            TrustedProxies::default(),
            tasks,
            &load,
            Arc::default(),
        )
    }

    fn change() -> Request {
        Request::builder().method(Method::POST).finish()
    }

    #[tokio::test]
    async fn write_whose_client_disconnected_can_be_awaited() {
        let background_tasks = TaskTracker::new();
        let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let done_flag = is_done.clone();
        let routes = make(move |_| {
            let done_flag = done_flag.clone();
            async move {
                sleep(Duration::from_millis(100)).await;
                done_flag.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        });
        let middleware = middleware(routes, &background_tasks);
        assert!(
            timeout(Duration::from_millis(10), middleware.call(change())).await.is_err(),
            "the client has disconnected"
        );
        background_tasks.close();
        background_tasks.wait().await;
        assert!(is_done.load(std::sync::atomic::Ordering::SeqCst));
    }

    #[tokio::test]
    async fn disconnected_clients_are_counted_as_499() {
        let never = make(|_| std::future::pending::<()>());
        let request = || Request::builder().method(Method::OPTIONS).finish();
        let silent = middleware(never, &TaskTracker::new());
        assert!(
            timeout(Duration::from_millis(10), silent.call(request())).await.is_err(),
            "the client has disconnected"
        );
        middleware(make(|_| async {}), &TaskTracker::new()).call(request()).await.unwrap();
        let metrics = telemetry::Vitals::default().metrics().await.body;
        for status in ["499", "200"] {
            let count = format!(
                "handbill_http_requests_total{{method=\"OPTIONS\",role=\"api\",route=\"-\",status=\"{status}\"}} 1\n"
            );
            assert!(metrics.contains(&count), "{metrics}");
        }
    }

    /// A response future that panics when it is dropped, outside of the handler's panic guard.
    struct PanicOnDrop;

    impl Future for PanicOnDrop {
        type Output = poem::Result<Response>;

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
            Poll::Ready(Ok(Response::default()))
        }
    }

    impl Drop for PanicOnDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    struct PanickingEndpoint;

    impl Endpoint for PanickingEndpoint {
        type Output = Response;

        fn call(&self, _: Request) -> impl Future<Output = poem::Result<Response>> + Send {
            PanicOnDrop
        }
    }

    #[tokio::test]
    async fn panicking_request_gets_a_500_with_the_standard_headers() {
        let response = middleware(PanickingEndpoint, &TaskTracker::new()).call(change()).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.header(header::X_CONTENT_TYPE_OPTIONS), Some("nosniff"));
        assert_eq!(response.header(header::CACHE_CONTROL), Some("no-store"));
        assert!(response.header(REQUEST_ID).is_some());
    }
}
