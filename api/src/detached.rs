//! What every request goes through, whatever it asks for: a turn to be worked on, a bounded body, an answer even after a
//! panic, our own form for every error, the headers that all answers carry, and one line in the log.
//!
//! A change that was begun is carried to its end, also when nobody listens any more: what is done must be told to the
//! edges before anybody can see it.
//!
//! The line never holds the real path or the query: they may hold codes and signatures. Nor does a metric or a trace,
//! which are told of every answer in the same place.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::{Chance, Refusal};
use futures::FutureExt;
use poem::http::{HeaderName, HeaderValue, Method, StatusCode, header};

use poem::{Endpoint, IntoResponse, PathPattern, Request, Response};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use crate::html::RefusalForm;
use crate::http::body::{self, BodyTerms};
use crate::http::catch_all::refusal_of;
use crate::http::client_ip::TrustedProxies;
use crate::http::paths::{ListedPath, Paths};
use crate::http::permits::{RequestPermit, RequestPermits};
use crate::http::terms::Terms;
use crate::http::trace::Traced;
use crate::http::upload_budget::{BodyRoom, SmallRoom};
use crate::{LoadTerms, routes};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_LENGTH: usize = 12;
const TRACEPARENT: &str = "traceparent";
/// What is found nowhere, and what was let go of before it was known where it would be found.
const NO_ROUTE: &str = "-";

/// The door around all routes.
pub struct DetachedRequests<E>(Arc<Rooms<E>>);

/// What lies behind a door.
struct Rooms<E> {
    routes: E,
    paths: Paths,
    chance: Chance,
    proxies: TrustedProxies,
    carried_on: TaskTracker,
    permits: RequestPermits,
    bodies: BodyTerms,
    uploads: BodyRoom,
    small: SmallRoom,
}

/// Somebody who waits for an answer. Should they go before it is there, that is told like one: when nothing answers
/// any more, it is all that there is to tell.
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
        note(&self.method, NO_ROUTE, telemetry::GONE, self.since, &self.trace);
        tracing::info!(
            http.method = %self.method,
            duration_ms = self.since.elapsed().as_secs_f64() * 1000.0,
            "the caller has gone before the answer"
        );
    }
}

impl<E: Endpoint> DetachedRequests<E> {
    pub fn new(
        routes: E,
        paths: Paths,
        chance: Chance,
        proxies: TrustedProxies,
        carried_on: TaskTracker,
        load: &LoadTerms,
    ) -> Self {
        let (permits, bodies) = (RequestPermits::new(load.permits), load.bodies);
        let (uploads, small) = (BodyRoom::new(load.upload_bytes_max), SmallRoom::default());
        Self(Arc::new(Rooms { routes, paths, chance, proxies, carried_on, permits, bodies, uploads, small }))
    }
}

impl<E: Endpoint + 'static> Rooms<E> {
    /// Waits for the request's turn. Who goes meanwhile has waited for nothing, and nothing is done for them.
    async fn let_in(self: Arc<Self>, mut request: Request, trace: Span) -> Response {
        let mut waiting = PendingRequest::of(&request, &trace);
        let response = match self.permits.take(Terms::of(&request).permit).await {
            Ok(permit) => self.pass_to_the_end(request, permit, &mut waiting).await,
            Err(refusal) => {
                // What is left of the body is read beside the answer.
                body::bound(&mut request, self.bodies, &RequestPermit::free());
                let answer = RefusalForm::for_whom(&request).respond(&refusal);
                self.see_out(answer, request.method(), None, waiting.since, &trace)
            }
        };
        waiting.is_answered = true;
        response
    }

    /// A request whose connection is closed is dropped where it stands; one that changes something must not be.
    async fn pass_to_the_end(
        self: Arc<Self>,
        request: Request,
        permit: RequestPermit,
        waiting: &mut PendingRequest,
    ) -> Response {
        let trace = waiting.trace.clone();
        if request.method().is_safe() {
            return self.pass(request, permit, waiting.since, &trace).await;
        }
        // From here on it is told of when it ends.
        waiting.is_answered = true;
        let (started, method) = (waiting.since, request.method().clone());
        let form = RefusalForm::for_whom(&request);
        let (rooms, traced) = (self.clone(), trace.clone());
        let passing = async move { rooms.pass(request, permit, started, &traced).await };
        let passing = passing.in_current_span().instrument(trace.clone());
        self.carried_on.spawn(passing).await.unwrap_or_else(|error| {
            tracing::error!(error = %error, "a request came to no end");
            self.see_out(form.respond(&Refusal::Internal), &method, None, started, &trace)
        })
    }

    async fn pass(
        &self,
        mut request: Request,
        permit: RequestPermit,
        started: Instant,
        trace: &Span,
    ) -> Response {
        let method = request.method().clone();
        let form = RefusalForm::for_whom(&request);
        body::bound(&mut request, self.bodies, &permit);
        if let Some(path) = self.paths.without_slash(request.uri().path()) {
            permit.release();
            return self.see_out(moved_to(path, request.uri().query()), &method, None, started, trace);
        }
        request.set_data(permit.clone());
        let outcome = AssertUnwindSafe(self.routes.call(request)).catch_unwind().await;
        permit.release();
        let (response, pattern) = match outcome {
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
                // The panic's own message and place are told by the panic hook.
                tracing::error!("a handler panicked");
                (form.respond(&Refusal::Internal), None)
            }
        };
        self.see_out(response, &method, pattern.as_ref(), started, trace)
    }

    /// What every answer goes through.
    fn see_out(
        &self,
        mut response: Response,
        method: &Method,
        pattern: Option<&PathPattern>,
        started: Instant,
        trace: &Span,
    ) -> Response {
        dress(&mut response);
        let (route, status) = (self.route(pattern), response.status().as_u16());
        note(method, route, status, started, trace);
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

    /// The pattern of the route, as the document has it; there are as many as there are routes.
    fn route<'p>(&'p self, pattern: Option<&'p PathPattern>) -> &'p str {
        match (self.listed(pattern), pattern) {
            (Some(listed), _) => &listed.path,
            // What is nested at the root bears an empty one where nothing is found below.
            (None, Some(pattern)) if !pattern.0.is_empty() => &pattern.0,
            (None, _) => NO_ROUTE,
        }
    }

    /// The trace that a request goes on with, told by a proxy of ours. A stranger's would put what strangers do into
    /// whichever trace they like.
    fn begin_trace(&self, request: &mut Request, id: &str) -> Span {
        let follows = request.header(TRACEPARENT).filter(|_| self.proxies.have_sent(request));
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
        // Bodies take room by the address of who sends them.
        request.set_data(self.0.proxies.clone());
        request.set_data(self.0.uploads.clone());
        request.set_data(self.0.small.clone());
        let span = tracing::info_span!("request", request.id = id);
        let passing = self.0.clone().let_in(request, trace.clone());
        let mut response = passing.instrument(span).instrument(trace).await;
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

/// Tells the metrics and the trace how a request ended.
fn note(method: &Method, route: &str, status: u16, started: Instant, trace: &Span) {
    telemetry::request("api", route, method.as_str(), status, started.elapsed());
    telemetry::spans::note_answer(trace, method.as_str(), route, status);
}

// Answers hold tokens and balances: no cache keeps them, unless a handler says that it may.
fn dress(response: &mut Response) {
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

    fn door<E: Endpoint>(routes: E, carried_on: &TaskTracker) -> DetachedRequests<E> {
        let (chance, load) = (Chance::seeded(1), LoadTerms::default());
        DetachedRequests::new(
            routes,
            Paths::default(),
            chance,
            TrustedProxies::default(),
            carried_on.clone(),
            &load,
        )
    }

    fn change() -> Request {
        Request::builder().method(Method::POST).finish()
    }

    #[tokio::test]
    async fn a_change_whose_caller_has_gone_can_be_waited_for() {
        let carried_on = TaskTracker::new();
        let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let doing = is_done.clone();
        let routes = make(move |_| {
            let doing = doing.clone();
            async move {
                sleep(Duration::from_millis(100)).await;
                doing.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        });
        let door = door(routes, &carried_on);
        assert!(
            timeout(Duration::from_millis(10), door.call(change())).await.is_err(),
            "the caller has gone"
        );
        carried_on.close();
        carried_on.wait().await;
        assert!(is_done.load(std::sync::atomic::Ordering::SeqCst));
    }

    #[tokio::test]
    async fn who_goes_before_the_answer_is_counted() {
        let never = make(|_| std::future::pending::<()>());
        let look = || Request::builder().method(Method::OPTIONS).finish();
        let silent = door(never, &TaskTracker::new());
        assert!(
            timeout(Duration::from_millis(10), silent.call(look())).await.is_err(),
            "the caller has gone"
        );
        door(make(|_| async {}), &TaskTracker::new()).call(look()).await.unwrap();
        let told = telemetry::Vitals::default().metrics().await.body;
        for status in ["499", "200"] {
            let count = format!(
                "handbill_http_requests_total{{method=\"OPTIONS\",role=\"api\",route=\"-\",status=\"{status}\"}} 1\n"
            );
            assert!(told.contains(&count), "{told}");
        }
    }

    /// An answer that takes its task down with it, where no handler's panic is caught.
    struct Falls;

    impl Future for Falls {
        type Output = poem::Result<Response>;

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
            Poll::Ready(Ok(Response::default()))
        }
    }

    impl Drop for Falls {
        fn drop(&mut self) {
            panic!("at the very end");
        }
    }

    struct Falling;

    impl Endpoint for Falling {
        type Output = Response;

        fn call(&self, _: Request) -> impl Future<Output = poem::Result<Response>> + Send {
            Falls
        }
    }

    #[tokio::test]
    async fn a_request_that_came_to_no_end_is_answered_like_any_other() {
        let response = door(Falling, &TaskTracker::new()).call(change()).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.header(header::X_CONTENT_TYPE_OPTIONS), Some("nosniff"));
        assert_eq!(response.header(header::CACHE_CONTROL), Some("no-store"));
        assert!(response.header(REQUEST_ID).is_some());
    }
}
