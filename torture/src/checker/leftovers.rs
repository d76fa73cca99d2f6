//! Recovery: the program works again by itself, and finishes its remaining work.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;

use crate::client::response::{ClientResponse, ask, body};
use crate::scene::Scene;

const BACK_DEADLINE: Duration = Duration::from_secs(60);
/// The last attempts of a job are a minute apart.
const DRAIN_DEADLINE: Duration = Duration::from_secs(180);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The content of the probe's publish.
pub const PROBE: &str = "<html><body>back</body></html>";
const LISTED_MAX: usize = 20;

/// A new client can sign up and publish, without any intervention.
pub async fn assert_back(scene: &Scene, rng: &mut StdRng) {
    let started = Instant::now();
    let mut last = String::new();
    let mut token = None;
    while started.elapsed() < BACK_DEADLINE {
        let Some(secret) = &token else {
            match ask(scene.stranger(rng).post("/v1/signup")).await {
                ClientResponse::Done(reply) => token = body(&reply)["token"].as_str().map(str::to_owned),
                response => last = response.label(),
            }
            continue;
        };
        let publish = scene.agent(secret, rng).publish("back-again", PROBE);
        match ask(publish.idempotency_key("back")).await {
            ClientResponse::Done(_) => return,
            response => last = response.label(),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    scene.journal.violation("the whole", format!("it does not come back by itself: {last}"));
}

/// No work is left, and no job is dead.
pub async fn drain(scene: &Scene) {
    let started = Instant::now();
    let mut left = Vec::new();
    while started.elapsed() < DRAIN_DEADLINE {
        left = scene.world.unfinished_jobs().await;
        if left.is_empty() {
            return;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let listed: Vec<_> = left.iter().take(LISTED_MAX).map(|job| format!("{job:?}")).collect();
    let text = format!("{} jobs are left after {DRAIN_DEADLINE:?}: {}", left.len(), listed.join("; "));
    scene.journal.violation("the queue", text);
}
