//! A client that makes random requests, trusts the responses and records them.

mod changing;
mod money;
mod people;
mod publishing;
pub mod reading;
pub mod response;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use handbill_tests::{Agent, Reply, Value};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::model::account::{Account, Site};
use crate::model::micro;
use crate::model::site::{Names, ReadId, SiteModel, Untrue};
use crate::model::state::{Change, Effect, OpId};
use crate::model::team::Validity;
use crate::scene::Scene;
use response::{ClientResponse, OVERLOADED, ask, body, code};

/// The limit of accounts in one world, so that the checker finishes.
const ACCOUNTS_MAX: usize = 40;
const IDENTITIES_MAX: usize = 4;
const PAUSE_MS_MAX: u64 = 60;

/// A caller for an account.
#[derive(Clone, Debug)]
pub struct Identity {
    pub account: Arc<Account>,
    pub token: String,
}

#[derive(Debug)]
pub struct Client {
    pub number: usize,
    scene: Arc<Scene>,
    rng: StdRng,
    /// The newest is last.
    identities: Vec<Identity>,
}

/// A change that was requested.
struct PendingChange {
    id: OpId,
    change: Change,
    read: ReadId,
}

impl Client {
    pub fn new(number: usize, scene: Arc<Scene>, rng: StdRng) -> Self {
        Self { number, scene, rng, identities: Vec::new() }
    }

    /// Acts until the round is over.
    pub async fn play(mut self) -> Self {
        while !self.scene.is_over.load(Ordering::SeqCst) {
            self.act().await;
            let pause = self.rng.random_range(0..PAUSE_MS_MAX);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        self
    }

    async fn act(&mut self) {
        if self.identities.is_empty() {
            return self.sign_up().await;
        }
        match self.rng.random_range(0..100) {
            0..24 => self.publish().await,
            24..32 => self.activate().await,
            32..39 => self.show().await,
            39..43 => self.delete().await,
            43..45 => self.purge().await,
            45..50 => self.restore().await,
            50..54 => self.delete_version().await,
            54..71 => self.visit().await,
            71..77 => self.read_artifact().await,
            77..81 => self.buy_credit().await,
            81..84 => self.claim().await,
            84..87 => self.invite().await,
            87..90 => self.join().await,
            90..91 => self.revoke_invite().await,
            91..95 => self.mint().await,
            95..97 => self.revoke_token().await,
            97..99 => self.read_usage().await,
            _ => self.sign_up().await,
        }
    }

    async fn sign_up(&mut self) {
        if self.scene.all_accounts().len() >= ACCOUNTS_MAX && !self.identities.is_empty() {
            return;
        }
        let response = ask(self.scene.stranger(&mut self.rng).post("/v1/signup")).await;
        self.scene.journal.count_operation("signup", &response.label());
        let ClientResponse::Done(reply) = response else { return };
        let answer = body(&reply);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let account = Arc::new(Account::new(
            self.scene.next_account_number(),
            text(&answer["account"]["handle"]),
            text(&answer["claim_url"]),
            text(&answer["token"]),
        ));
        self.scene.journal.record(&account.name, format!("client {} signed up", self.number));
        self.scene.accounts.lock().unwrap().push(account.clone());
        let token = account.owner_token.clone();
        // A client with a new account drops the oldest one.
        self.identities.insert(0, Identity { account, token });
        self.identities.truncate(IDENTITIES_MAX);
    }

    fn add_identity(&mut self, identity: Identity) {
        if self.identities.len() >= IDENTITIES_MAX {
            self.identities.pop();
        }
        self.identities.push(identity);
    }

    /// Mostly the newest identity, sometimes another.
    fn identity(&mut self) -> Identity {
        let place =
            if self.rng.random_bool(0.6) { 0 } else { self.rng.random_range(0..self.identities.len()) };
        self.identities[place].clone()
    }

    /// The owner of the newest account.
    fn owner(&mut self) -> Identity {
        let account = self.identities[0].account.clone();
        let token = account.owner_token.clone();
        Identity { account, token }
    }

    fn agent(&mut self, identity: &Identity) -> Agent {
        self.scene.agent(&identity.token, &mut self.rng)
    }

    fn begin(&self, site: &Site, change: Change) -> Option<PendingChange> {
        let mut model = site.model.lock().unwrap();
        if !model.may_begin() {
            return None;
        }
        let (id, read) = (self.scene.next_operation(), model.begin_read());
        model.begin(id, change.clone());
        Some(PendingChange { id, change, read })
    }

    /// Applies a response to the model, and reports it if it cannot be true. `is_doubtful` after an earlier
    /// attempt without a response.
    fn conclude(
        &self,
        identity: &Identity,
        site: &Site,
        pending: PendingChange,
        response: &ClientResponse,
        is_doubtful: bool,
    ) {
        let mut model = site.model.lock().unwrap();
        let seen = model.end_read(pending.read);
        let untrue = match response {
            ClientResponse::Unknown(_) => Ok(()),
            ClientResponse::Done(reply) => acknowledge(&mut model, pending.id, reply),
            ClientResponse::Refused(reply) => {
                let (change, code) = (&pending.change, code(reply));
                // Two publishes may create the same slug.
                let is_race = code == "slug_taken" && matches!(change, Change::Publish(_));
                let is_justified = is_race
                    || seen.iter().any(|artifacts| artifacts.may_refuse(change, &code))
                    || self.is_refusable(identity, reply);
                let refused = if is_doubtful { Ok(()) } else { model.refuse(pending.id) };
                let unreasonable = || Untrue(format!("it was refused without reason: {}", reply.text()));
                if is_justified { refused } else { Err(unreasonable()) }
            }
        };
        if let Err(untrue) = untrue {
            model.give_up();
            self.scene.journal.violation(&site.name, format!("#{}: {}", pending.id.0, untrue.0));
        }
    }

    /// Refusals that depend on the account, and not on the slug.
    fn is_refusable(&self, identity: &Identity, reply: &Reply) -> bool {
        match code(reply).as_str() {
            "payment_required" | OVERLOADED => true,
            // A provisional account may store at most twenty megabytes.
            "too_large" => !identity.account.is_surely_claimed(),
            "unauthorized" => {
                let team = identity.account.team.lock().unwrap();
                team.validity_of(&identity.token) != Some(Validity::Valid)
            }
            _ => false,
        }
    }

    /// Records a receipt.
    fn note_receipt(&self, account: &Account, reply: &Reply) {
        let receipt = &body(reply)["receipt"];
        let (Some(id), Some(amount)) = (receipt["id"].as_str(), receipt["amount_usd"].as_f64()) else {
            return;
        };
        account.expected_ledger.lock().unwrap().receipts.insert(id.to_owned(), micro(amount));
    }

    /// Records an operation on a slug in the journal.
    fn record(&self, site: &Site, id: OpId, kind: &str, what: &str, response: &ClientResponse) {
        let answer = match response {
            ClientResponse::Done(reply) => {
                let body = body(reply);
                let version =
                    body["version"].as_u64().map_or(String::new(), |seq| format!(", version {seq}"));
                format!("{}{version}", reply.status)
            }
            other => other.label(),
        };
        self.scene.journal.count_operation(kind, &response.label());
        self.scene
            .journal
            .record(&site.name, format!("#{} client {} {kind} {what}: {answer}", id.0, self.number));
    }
}

fn acknowledge(model: &mut SiteModel, id: OpId, reply: &Reply) -> Result<(), Untrue> {
    let answer = body(reply);
    let is_publish = reply.status == 201;
    let seq = answer["version"].as_u64().filter(|_| is_publish).and_then(|seq| u32::try_from(seq).ok());
    let effect = model.acknowledge(id, seq, names(&answer).as_ref())?;
    let Some(Effect { made_by, .. }) = effect else { return Ok(()) };
    if is_publish {
        let url = answer["version_url"].as_str();
        let url = url.ok_or_else(|| Untrue(format!("the version has no address: {answer}")))?;
        model.addresses.note(made_by, id, url)?;
    }
    match answer["signed_url"].as_str() {
        Some(url) => model.addresses.note_signature(made_by, url),
        None => Ok(()),
    }
}

/// The artifact's names in a response.
pub fn names(answer: &Value) -> Option<Names> {
    let id = answer["artifact_id"].as_str().or(answer["id"].as_str())?;
    Some(Names { artifact_id: id.to_owned(), host: answer["host"].as_str()?.to_owned() })
}
