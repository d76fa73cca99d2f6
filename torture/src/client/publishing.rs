//! Publishing: with and without an idempotency key, paid inline or on demand, retried or abandoned.

use std::sync::Arc;
use std::time::Duration;

use handbill_tests::Call;
use rand::RngExt;

use super::response::{ClientResponse, OVERLOADED, ask_finally, body, code};
use super::{Client, Identity};
use crate::model::account::Site;
use crate::model::files::FileSet;
use crate::model::state::{Change, OpId};
use crate::model::{Micro, PUBLISH_MICRO, micro};

const TRIES_MAX: usize = 6;
const BETWEEN_TRIES: Duration = Duration::from_millis(300);

/// One publish with all its attempts.
struct Publish<'a> {
    identity: &'a Identity,
    site: &'a Site,
    id: OpId,
    change: Change,
    key: Option<String>,
    payment: Option<Micro>,
    /// An attempt had no response, so a later response does not show everything that happened.
    is_doubtful: bool,
    /// A payment in an attempt without a response.
    paid_in_doubt: Option<Micro>,
}

impl Client {
    pub(super) async fn publish(&mut self) {
        let identity = self.identity();
        let account = identity.account.clone();
        let site = &account.sites[self.rng.random_range(0..account.sites.len())];
        let change = self.draw_version(site);
        let Some(pending) = self.begin(site, change.clone()) else { return };
        let mut publish = Publish {
            identity: &identity,
            site,
            id: pending.id,
            change,
            key: self.rng.random_bool(0.6).then(|| format!("publish-{}", pending.id.0)),
            payment: self.rng.random_bool(0.2).then_some(PUBLISH_MICRO),
            is_doubtful: false,
            paid_in_doubt: None,
        };
        let response = self.send_until_concluded(&mut publish).await;
        if let ClientResponse::Done(reply) = &response {
            self.note_receipt(&account, reply);
        } else if let Some(amount) = publish.paid_in_doubt {
            account.expected_ledger.lock().unwrap().unanswered.push(amount);
        }
        self.conclude(&identity, site, pending, &response, publish.is_doubtful);
    }

    fn draw_version(&mut self, site: &Site) -> Change {
        let mark = format!("{} {:08x}", site.name, self.rng.random_range(0..u32::MAX));
        let files: Arc<FileSet> = FileSet::draw(&mut self.rng, &mark);
        let may_be_there = site.model.lock().unwrap().pages().iter().any(Option::is_some);
        if may_be_there && self.rng.random_bool(0.3) {
            let activates = self.rng.random_bool(0.7);
            return Change::AddVersion { files, activates };
        }
        Change::Publish(files)
    }

    async fn send_until_concluded(&mut self, publish: &mut Publish<'_>) -> ClientResponse {
        let mut tries = 0;
        loop {
            tries += 1;
            let call = self.call_of(publish);
            let response = ask_finally(call).await;
            self.record(publish.site, publish.id, kind(&publish.change), &publish.terms(), &response);
            let goes_on = match &response {
                ClientResponse::Done(_) => false,
                ClientResponse::Refused(reply) if code(reply) == "payment_required" => {
                    publish.payment = body(reply)["amount_usd"].as_f64().map(micro);
                    self.rng.random_bool(0.8)
                }
                // Nothing was done, so that a retry is not another publish, even without a key.
                ClientResponse::Refused(reply) if code(reply) == OVERLOADED => self.rng.random_bool(0.7),
                ClientResponse::Refused(_) => false,
                ClientResponse::Unknown(_) => {
                    publish.is_doubtful = true;
                    publish.paid_in_doubt = publish.paid_in_doubt.or(publish.payment);
                    // Without a key a retry would be another publish.
                    publish.key.is_some() && self.rng.random_bool(0.7)
                }
            };
            if !goes_on || tries == TRIES_MAX {
                return response;
            }
            tokio::time::sleep(BETWEEN_TRIES).await;
        }
    }

    fn call_of(&mut self, publish: &Publish<'_>) -> Call {
        let agent = self.agent(publish.identity);
        let slug = &publish.site.slug;
        let call = match &publish.change {
            Change::AddVersion { activates, .. } => {
                let query = if *activates { "" } else { "?activate=false" };
                agent.post(&format!("/v1/artifacts/{slug}/versions{query}"))
            }
            _ => agent.post("/v1/publish").field("slug", slug.clone()),
        };
        let files = publish.change.files().into_iter().flat_map(|files| &files.files);
        let call = files.fold(call, |call, (path, content)| call.file(path, content.clone()));
        let call = match &publish.key {
            Some(key) => call.idempotency_key(key),
            None => call,
        };
        match publish.payment {
            Some(amount) => call.paying(format!("dev:{}", amount as f64 / 1e6)),
            None => call,
        }
    }
}

impl Publish<'_> {
    /// Describes it for the history.
    fn terms(&self) -> String {
        let files = self.change.files().map_or(0, |files| files.files.len());
        let key = self.key.as_deref().unwrap_or("no key");
        let payment = self.payment.map_or(String::new(), |amount| format!(", paying {amount} micro"));
        format!("{files} files ({key}{payment})")
    }
}

fn kind(change: &Change) -> &'static str {
    match change {
        Change::AddVersion { activates: false, .. } => "stage",
        Change::AddVersion { .. } => "add version",
        _ => "publish",
    }
}
