//! The public status of the process. It must never query the database or any other part, so that it answers
//! while they are down.

use poem::Request;
use poem_openapi::payload::Json;
use poem_openapi::{Object, OpenApi};
use service::Service;

use super::Tag;

#[derive(Default)]
pub struct Status;

/// The service is running.
#[derive(Object)]
struct Alive {
    /// Always `ok`.
    status: String,
    /// The version of the service.
    version: String,
    /// Whether the service runs in dev mode, in which anyone on its machine can sign in as anyone and
    /// payments move no real money.
    dev_mode: bool,
}

#[OpenApi(tag = "Tag::Service")]
impl Status {
    /// Get the status
    ///
    /// Returns whether the service is running, and its version. Needs no credential and is never queued.
    #[oai(path = "/v1/status", method = "get", operation_id = "get_status")]
    async fn status(&self, request: &Request) -> Json<Alive> {
        let dev_mode = request.data::<Service>().is_some_and(Service::is_dev_mode);
        Json(Alive { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), dev_mode })
    }
}
