//! People and their agents: claims, invites, and tokens that are minted and revoked.

use std::sync::Arc;

use handbill_tests::{Reply, json};
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::response::{ClientResponse, ask, body, code};
use super::{Client, Identity};
use crate::model::Moment;
use crate::model::account::Account;
use crate::model::allowance::Claim;
use crate::model::team::{InviteModel, Validity};

const USES_MAX: u32 = 3;

impl Client {
    /// The same person claims, with any number of retries.
    pub(super) async fn claim(&mut self) {
        let account = self.identities[0].account.clone();
        if account.is_surely_claimed() {
            return;
        }
        let api = &self.scene.apis[self.rng.random_range(0..self.scene.apis.len())];
        let person = self.scene.world.human().at(api);
        let name = account.handle.replace("acct_", "person-").to_lowercase();
        let ClientResponse::Done(_) = ask(person.dev_login(&name)).await else { return };
        let is_first = {
            let mut claim = account.claim.lock().unwrap();
            let is_first = claim.is_none();
            claim.get_or_insert(Claim { began: Moment::now(), ended: None });
            is_first
        };
        let response = ask(person.claim(&account.claim_url)).await;
        self.record_for_account(&account, "claim", "", &response);
        let is_claimed = match &response {
            ClientResponse::Unknown(_) => return,
            ClientResponse::Done(_) => true,
            ClientResponse::Refused(reply) => !is_first && code(reply) == "already_claimed",
        };
        if is_claimed {
            let mut claim = account.claim.lock().unwrap();
            if let Some(claim) = claim.as_mut() {
                claim.ended.get_or_insert(Moment::now());
            }
            return;
        }
        self.unreasonable(&account, &response);
    }

    pub(super) async fn invite(&mut self) {
        let owner = self.owner();
        let was_claimed = owner.account.is_surely_claimed();
        let uses_max = self.rng.random_range(1..=USES_MAX);
        let response = ask(self.agent(&owner).invite(&json!({ "max_uses": uses_max }))).await;
        self.record_for_account(&owner.account, "invite", "", &response);
        match &response {
            ClientResponse::Done(reply) => {
                let code = body(reply)["code"].as_str().unwrap_or_default().to_owned();
                let invite =
                    InviteModel { code, uses_max, joined: 0, joined_perhaps: 0, validity: Validity::Valid };
                owner.account.team.lock().unwrap().invites.push(invite);
            }
            ClientResponse::Refused(_) if was_claimed => self.unreasonable(&owner.account, &response),
            _ => {}
        }
    }

    pub(super) async fn revoke_invite(&mut self) {
        let owner = self.owner();
        let drawn = {
            let mut team = owner.account.team.lock().unwrap();
            let valid = team.invites.iter_mut().filter(|invite| invite.validity == Validity::Valid);
            valid.choose(&mut self.rng).map(|invite| {
                invite.validity = Validity::Unknown;
                invite.code.clone()
            })
        };
        let Some(code) = drawn else { return };
        let response = ask(self.agent(&owner).revoke_invite(&code)).await;
        self.record_for_account(&owner.account, "revoke invite", &code, &response);
        match &response {
            ClientResponse::Done(_) => {
                let mut team = owner.account.team.lock().unwrap();
                if let Some(invite) = team.invite_mut(&code) {
                    invite.validity = Validity::Revoked;
                }
            }
            ClientResponse::Refused(_) => self.unreasonable(&owner.account, &response),
            ClientResponse::Unknown(_) => {}
        }
    }

    /// Joins an account with a known code.
    pub(super) async fn join(&mut self) {
        let Some((account, code, validity)) = self.draw_code() else { return };
        let response = ask(self.scene.stranger(&mut self.rng).join(&code)).await;
        self.record_for_account(&account, "join", &code, &response);
        let fault = {
            let mut team = account.team.lock().unwrap();
            let Some(invite) = team.invite_mut(&code) else { return };
            let others = invite.joined + invite.joined_perhaps - 1;
            let may_be_refused = invite.validity != Validity::Valid || others >= invite.uses_max;
            match &response {
                ClientResponse::Unknown(_) => {
                    team.unknown_tokens += 1;
                    false
                }
                ClientResponse::Refused(_) => {
                    invite.joined_perhaps -= 1;
                    !may_be_refused
                }
                ClientResponse::Done(reply) => {
                    invite.joined_perhaps -= 1;
                    invite.joined += 1;
                    let is_too_many = invite.joined > invite.uses_max;
                    team.note_token(&secret(reply), None);
                    is_too_many || validity == Validity::Revoked
                }
            }
        };
        if fault {
            return self.unreasonable(&account, &response);
        }
        if let ClientResponse::Done(reply) = &response {
            self.add_identity(Identity { account, token: secret(reply) });
        }
    }

    fn draw_code(&mut self) -> Option<(Arc<Account>, String, Validity)> {
        let account = self.scene.all_accounts().choose(&mut self.rng)?.clone();
        let mut team = account.team.lock().unwrap();
        let invite = team.invites.iter_mut().choose(&mut self.rng)?;
        invite.joined_perhaps += 1;
        let (code, validity) = (invite.code.clone(), invite.validity);
        drop(team);
        Some((account, code, validity))
    }

    pub(super) async fn mint(&mut self) {
        let owner = self.owner();
        let name = format!("of client {}", self.number);
        let response = ask(self.agent(&owner).mint(&json!({ "name": name }))).await;
        self.record_for_account(&owner.account, "mint", "", &response);
        match &response {
            ClientResponse::Done(reply) => {
                let id = body(reply)["id"].as_str().map(str::to_owned);
                owner.account.team.lock().unwrap().note_token(&secret(reply), id);
                let token = secret(reply);
                self.add_identity(Identity { account: owner.account, token });
            }
            ClientResponse::Unknown(_) => owner.account.team.lock().unwrap().unknown_tokens += 1,
            ClientResponse::Refused(_) => self.unreasonable(&owner.account, &response),
        }
    }

    /// A revoked token is rejected from then on.
    pub(super) async fn revoke_token(&mut self) {
        let owner = self.owner();
        let drawn = {
            let mut team = owner.account.team.lock().unwrap();
            let valid =
                team.tokens.iter_mut().filter(|one| one.validity == Validity::Valid && one.id.is_some());
            valid.choose(&mut self.rng).and_then(|token| {
                token.validity = Validity::Unknown;
                Some((token.secret.clone(), token.id.clone()?))
            })
        };
        let Some((secret, id)) = drawn else { return };
        let response = ask(self.agent(&owner).revoke_token(&id)).await;
        self.record_for_account(&owner.account, "revoke token", &id, &response);
        match &response {
            ClientResponse::Unknown(_) => return,
            ClientResponse::Refused(_) => return self.unreasonable(&owner.account, &response),
            ClientResponse::Done(_) => {}
        }
        if let Some(token) = owner.account.team.lock().unwrap().token_mut(&secret) {
            token.validity = Validity::Revoked;
        }
        self.identities.retain(|identity| identity.token != secret);
        let response = ask(self.scene.agent(&secret, &mut self.rng).account()).await;
        if let ClientResponse::Done(_) = &response {
            let text = format!("the token {id} was revoked and still opens the account");
            self.scene.journal.violation(&owner.account.name, text);
        }
    }

    fn record_for_account(&self, account: &Account, kind: &str, what: &str, response: &ClientResponse) {
        let journal = &self.scene.journal;
        journal.count_operation(kind, &response.label());
        journal.record(&account.name, format!("client {} {kind} {what}: {}", self.number, response.label()));
    }

    fn unreasonable(&self, account: &Account, response: &ClientResponse) {
        let (ClientResponse::Done(reply) | ClientResponse::Refused(reply)) = response else { return };
        let text = format!("{} was answered {} {}", reply.call, reply.status, without_secrets(reply));
        self.scene.journal.violation(&account.name, text);
    }
}

fn secret(reply: &Reply) -> String {
    body(reply)["token"].as_str().unwrap_or_default().to_owned()
}

/// The response without secrets, for the printed history.
fn without_secrets(reply: &Reply) -> String {
    if reply.status < 300 { "with success".to_owned() } else { reply.text() }
}
