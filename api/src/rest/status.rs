//! Whether the process answers. It must never ask the database or any other part: it stays true while they are away.

use poem::Request;
use poem_openapi::payload::Json;
use poem_openapi::{Object, OpenApi};
use service::Service;

use super::Tag;

#[derive(Default)]
pub struct Status;

/// The service is there.
#[derive(Object)]
struct Alive {
    /// Always `ok`.
    status: String,
    /// The version of the program.
    version: String,
    /// Whether the service runs in dev mode: anyone on its machine can sign in as anyone, and payments move no real money.
    dev_mode: bool,
}

#[OpenApi(tag = "Tag::Service")]
impl Status {
    /// Is the service there?
    ///
    /// Answers at once and needs no token.
    #[oai(path = "/v1/status", method = "get", operation_id = "get_status")]
    async fn status(&self, request: &Request) -> Json<Alive> {
        let dev_mode = request.data::<Service>().is_some_and(Service::is_dev_mode);
        Json(Alive { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), dev_mode })
    }
}
