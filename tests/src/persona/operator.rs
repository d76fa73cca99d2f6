//! The operator: who proves by the signing secret that the house is theirs.

use reqwest::{Client, Method};

use crate::{Call, World};

/// One who holds the service's signing secret.
#[derive(Clone, Debug)]
pub struct Operator {
    client: Client,
    base_url: String,
}

impl Operator {
    pub fn new(world: &World) -> Self {
        Self { client: world.client(), base_url: world.base_url() }
    }

    /// Calls an operator's route, such as `/internal/run-cleanup`.
    pub fn post(&self, path: &str) -> Call {
        Call::new(&self.client, Method::POST, format!("{}{path}", self.base_url))
            .header("X-Internal-Secret", World::SIGNING_SECRET)
    }
}
