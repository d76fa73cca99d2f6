//! Probes for liveness and readiness, and the metrics for callers with the operator's secret. Load balancers
//! call them every second, so they skip the log and the metrics of requests. Other callers get only yes or no
//! from the probes, and the 404 of an unknown path for the metrics.

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

    /// Responds to a probe. Any other request goes to the routes.
    pub async fn respond_or_pass<E>(&self, routes: Arc<E>, request: Request) -> poem::Result<Response>
    where
        E: Endpoint<Output = Response>,
    {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return routes.call(request).await;
        }
        let health = match request.uri().path() {
            "/healthz" => Vitals::alive(),
            "/readyz" => self.vitals.readiness(Audience::Stranger).await,
            "/metrics" if self.is_operator(&request) => self.vitals.metrics().await,
            _ => return routes.call(request).await,
        };
        Ok(answer(health, request.method()))
    }

    fn is_operator(&self, request: &Request) -> bool {
        let offered = request.headers().get(SECRET_HEADER);
        offered.is_some_and(|secret| self.service.is_operator(secret.as_bytes()))
    }
}

/// The response for a probe's result.
pub fn answer(health: HealthResponse, method: &Method) -> Response {
    let body = if *method == Method::HEAD { String::new() } else { health.body };
    Response::builder()
        .status(StatusCode::from_u16(health.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CONTENT_TYPE, health.content_type)
        .header(header::CACHE_CONTROL, NO_STORE)
        .header(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF)
        .body(body)
}
