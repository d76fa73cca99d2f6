//! What every request goes through, whatever it asks for: a bounded body, an answer even after a panic, our own form
//! for every error, the headers that all answers carry, and one line in the log.
//!
//! The line never holds the real path or the query: they may hold codes and signatures.

use std::panic::AssertUnwindSafe;

use domain::{Chance, Refusal};
use futures::FutureExt;
use poem::http::{HeaderName, HeaderValue, Method, header};

use poem::{Endpoint, IntoResponse, PathPattern, Request, Response};
use tokio::time::Instant;
use tracing::Instrument;

use crate::body;
use crate::catch_all::refusal_of;
use crate::pages::RefusalForm;
use crate::paths::{ListedPath, Paths};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_LENGTH: usize = 12;

/// The door around all routes.
pub struct Door<E> {
    routes: E,
    paths: Paths,
    chance: Chance,
}

impl<E: Endpoint> Door<E> {
    pub fn new(routes: E, paths: Paths, chance: Chance) -> Self {
        Self { routes, paths, chance }
    }

    async fn pass(&self, mut request: Request) -> Response {
        let (started, method) = (Instant::now(), request.method().clone());
        let form = RefusalForm::for_whom(&request);
        body::bound(&mut request);
        let outcome = AssertUnwindSafe(self.routes.call(request)).catch_unwind().await;
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
                // The panic's own message and place are told by the panic hook.
                tracing::error!("a handler panicked");
                (form.respond(&Refusal::Internal), None)
            }
        };
        dress(&mut response);
        self.log(&method, pattern.as_ref(), &response, started);
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

impl<E: Endpoint> Endpoint for Door<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let id = self.chance.base36(REQUEST_ID_LENGTH);
        let span = tracing::info_span!("request", request.id = id);
        let mut response = self.pass(request).instrument(span).await;
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
