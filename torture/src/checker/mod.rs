//! Checks that the program kept its promises, when no fault is active and no request is in flight. It knows
//! the responses that clients received, and asks the program as they do. Only the ledger and the queue are
//! read by the operator's means.

mod addresses;
mod end;
mod ledger;
mod leftovers;
mod pages;
mod team;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use handbill_tests::{Call, Reply};
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::client::response::{ClientResponse, ask};
use crate::model::account::Account;
use crate::scene::Scene;

pub use end::check_the_end;
pub use leftovers::{assert_back, drain};

const AT_ONCE: usize = 4;
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Checks everything of every account.
pub async fn check(scene: &Arc<Scene>, seed: u64) {
    let accounts = scene.all_accounts();
    let checks = accounts.into_iter().enumerate().map(|(number, account)| {
        let rng = StdRng::seed_from_u64(seed.wrapping_add(number as u64));
        let scene = scene.clone();
        async move { check_account(&scene, &account, rng).await }
    });
    futures::stream::iter(checks).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

async fn check_account(scene: &Scene, account: &Account, mut rng: StdRng) {
    let Some(shown) =
        reply_to(scene, &account.name, || scene.agent(&account.owner_token, &mut rng).account()).await
    else {
        return;
    };
    let is_claimed = crate::client::response::body(&shown)["status"] == "claimed";
    for site in &account.sites {
        pages::check(scene, account, site, is_claimed, &mut rng).await;
    }
    ledger::check(scene, account, &shown, &mut rng).await;
    team::check(scene, account, is_claimed, &mut rng).await;
}

/// A response with any status. No fault is active, so that there must be one.
async fn reply_to(scene: &Scene, subject: &str, mut call: impl FnMut() -> Call) -> Option<Reply> {
    let started = Instant::now();
    loop {
        match ask(call()).await {
            ClientResponse::Done(reply) | ClientResponse::Refused(reply) => return Some(reply),
            ClientResponse::Unknown(why) if started.elapsed() > ANSWER_DEADLINE => {
                scene
                    .journal
                    .violation(subject, format!("no answer, though nothing is wrong any more: {why}"));
                return None;
            }
            ClientResponse::Unknown(_) => tokio::time::sleep(BETWEEN_TRIES).await,
        }
    }
}
