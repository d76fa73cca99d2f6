//! Probes: whether the process lives and is ready, asked by whatever stands before it, every second or so; and the metrics
//! for who brings the operator's secret. They pass the door by: they are no visits, and shall fill neither the log nor the
//! metrics. A stranger hears yes or no, and for the metrics what it hears for any path that is not there.

use std::sync::Arc;

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Endpoint, Request, Response};
use service::Service;
use telemetry::{Audience, HealthResponse, Vitals};

use crate::http::operator::SECRET_HEADER;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

#[derive(Clone)]
pub struct Probes {
    vitals: Vitals,
    service: Service,
}

impl Probes {
    pub fn new(vitals: Vitals, service: Service) -> Self {
        Self { vitals, service }
    }

    /// The answer to a probe; any other request goes through the door.
    pub async fn answer_or_pass<E>(&self, door: Arc<E>, request: Request) -> poem::Result<Response>
    where
        E: Endpoint<Output = Response>,
    {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return door.call(request).await;
        }
        let told = match request.uri().path() {
            "/healthz" => Vitals::alive(),
            "/readyz" => self.vitals.readiness(Audience::Stranger).await,
            "/metrics" if self.is_operator(&request) => self.vitals.metrics().await,
            _ => return door.call(request).await,
        };
        Ok(answer(told, request.method()))
    }

    fn is_operator(&self, request: &Request) -> bool {
        let offered = request.headers().get(SECRET_HEADER);
        offered.is_some_and(|secret| self.service.is_operator(secret.as_bytes()))
    }
}

/// What the vitals told, as an answer.
pub fn answer(told: HealthResponse, method: &Method) -> Response {
    let body = if *method == Method::HEAD { String::new() } else { told.body };
    Response::builder()
        .status(StatusCode::from_u16(told.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CONTENT_TYPE, told.content_type)
        .header(header::CACHE_CONTROL, NO_STORE)
        .header(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF)
        .body(body)
}
