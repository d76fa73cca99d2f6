//! The operator, who authenticates with the signing secret.

use reqwest::{Client, Method};
use serde_json::json;

use crate::{Call, Process, World};

#[derive(Clone, Debug)]
pub struct Operator {
    client: Client,
    base_url: String,
}

impl Operator {
    pub fn new(world: &World) -> Self {
        Self { client: world.client(), base_url: world.base_url() }
    }

    /// The same operator, calling another process of the control plane.
    pub fn at(&self, api: &Process) -> Self {
        Self { base_url: api.url().to_owned(), ..self.clone() }
    }

    /// Meters the current month.
    pub fn run_metering(&self) -> Call {
        self.post("/internal/run-metering")
    }

    pub fn run_metering_of(&self, month: &str) -> Call {
        self.run_metering().json(&json!({ "month": month }))
    }

    pub fn run_cleanup(&self) -> Call {
        self.post("/internal/run-cleanup")
    }

    pub fn count_view(&self, host: &str) -> Call {
        self.post("/internal/views").json(&json!({ "host": host }))
    }

    /// Calls an operator's route, such as `/internal/run-cleanup`.
    pub fn post(&self, path: &str) -> Call {
        self.call(Method::POST, path)
    }

    pub fn call(&self, method: Method, path: &str) -> Call {
        self.call_knowing(World::SIGNING_SECRET, method, path)
    }

    /// A call with another secret, for tests of refusals.
    pub fn call_knowing(&self, secret: &str, method: Method, path: &str) -> Call {
        Call::new(&self.client, method, format!("{}{path}", self.base_url))
            .header("X-Internal-Secret", secret)
    }
}
