//! Whether the process answers. It must never ask the database or any other part: it stays true while they are away.

use poem_openapi::payload::Json;
use poem_openapi::{Object, OpenApi};

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
}

#[OpenApi(tag = "Tag::Service")]
impl Status {
    /// Is the service there?
    ///
    /// Answers at once and needs no token.
    #[oai(path = "/v1/status", method = "get", operation_id = "get_status")]
    async fn status(&self) -> Json<Alive> {
        Json(Alive { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
    }
}
