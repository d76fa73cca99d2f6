//! What every request goes through, whatever it asks for: a bounded body, an answer even after a panic, our own form
//! for every error, the headers that all answers carry, and one line in the log.
//!
//! A change that was begun is carried to its end, also when nobody listens any more: what is done must be told to the
//! edges before anybody can see it.
//!
//! The line never holds the real path or the query: they may hold codes and signatures.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::{Chance, Refusal};
use futures::FutureExt;
use poem::http::{HeaderName, HeaderValue, Method, header};

use poem::{Endpoint, IntoResponse, PathPattern, Request, Response};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::body;
use crate::catch_all::refusal_of;
use crate::pages::RefusalForm;
use crate::paths::{ListedPath, Paths};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_LENGTH: usize = 12;

/// The door around all routes.
pub struct Door<E>(Arc<Rooms<E>>);

/// What lies behind a door.
struct Rooms<E> {
    routes: E,
    paths: Paths,
    chance: Chance,
    carried_on: TaskTracker,
}

impl<E: Endpoint> Door<E> {
    pub fn new(routes: E, paths: Paths, chance: Chance, carried_on: TaskTracker) -> Self {
        Self(Arc::new(Rooms { routes, paths, chance, carried_on }))
    }
}

impl<E: Endpoint + 'static> Rooms<E> {
    /// A request whose connection is closed is dropped where it stands; one that changes something must not be.
    async fn pass_to_the_end(self: Arc<Self>, request: Request) -> Response {
        if request.method().is_safe() {
            return self.pass(request).await;
        }
        let (started, method) = (Instant::now(), request.method().clone());
        let form = RefusalForm::for_whom(&request);
        let rooms = self.clone();
        let passing = async move { rooms.pass(request).await };
        self.carried_on.spawn(passing.in_current_span()).await.unwrap_or_else(|error| {
            tracing::error!(error = %error, "a request came to no end");
            self.see_out(form.respond(&Refusal::Internal), &method, None, started)
        })
    }

    async fn pass(&self, mut request: Request) -> Response {
        let (started, method) = (Instant::now(), request.method().clone());
        let form = RefusalForm::for_whom(&request);
        body::bound(&mut request);
        let outcome = AssertUnwindSafe(self.routes.call(request)).catch_unwind().await;
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
        self.see_out(response, &method, pattern.as_ref(), started)
    }

    /// What every answer goes through.
    fn see_out(
        &self,
        mut response: Response,
        method: &Method,
        pattern: Option<&PathPattern>,
        started: Instant,
    ) -> Response {
        dress(&mut response);
        self.log(method, pattern, &response, started);
        response
    }

    fn listed(&self, pattern: Option<&PathPattern>) -> Option<&ListedPath> {
        self.paths.find(&pattern?.0)
    }

    fn log(&self, method: &Method, pattern: Option<&PathPattern>, response: &Response, started: Instant) {
        let path = match (self.listed(pattern), pattern) {
            (Some(listed), _) => &listed.path,
            (None, Some(pattern)) => &*pattern.0,
            (None, None) => "-",
        };
        tracing::info!(
            http.method = %method,
            http.route = path,
            http.status = response.status().as_u16(),
            duration_ms = started.elapsed().as_secs_f64() * 1000.0,
            "request answered"
        );
    }
}

impl<E: Endpoint + 'static> Endpoint for Door<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let id = self.0.chance.base36(REQUEST_ID_LENGTH);
        let span = tracing::info_span!("request", request.id = id);
        let mut response = self.0.clone().pass_to_the_end(request).instrument(span).await;
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        Ok(response)
    }
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
    use poem::http::StatusCode;
    use tokio::time::{sleep, timeout};

    use super::*;

    fn door<E: Endpoint>(routes: E, carried_on: &TaskTracker) -> Door<E> {
        Door::new(routes, Paths::default(), Chance::seeded(1), carried_on.clone())
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
