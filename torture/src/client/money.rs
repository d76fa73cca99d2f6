//! Buys credit, and reads what is left.

use rand::RngExt;

use super::Client;
use super::response::{ClientResponse, OVERLOADED, ask, ask_finally, body, code};
use crate::model::Micro;

impl Client {
    pub(super) async fn buy_credit(&mut self) {
        let owner = self.owner();
        let dollars: u32 = self.rng.random_range(1..=3);
        let amount = Micro::from(dollars) * 1_000_000;
        let call = self.agent(&owner).buy_credit(f64::from(dollars));
        let pays = self.rng.random_bool(0.9);
        let response = ask_finally(if pays { call.paying(format!("dev:{dollars}")) } else { call }).await;
        let journal = &self.scene.journal;
        journal.count_operation("credit", &response.label());
        journal.record(
            &owner.account.name,
            format!("client {} buys {dollars}: {}", self.number, response.label()),
        );
        match &response {
            ClientResponse::Done(reply) if pays => {
                self.note_receipt(&owner.account, reply);
                if body(reply)["receipt"]["amount_usd"].as_f64() != Some(f64::from(dollars)) {
                    journal.violation(&owner.account.name, format!("a wrong receipt: {}", reply.text()));
                }
            }
            ClientResponse::Unknown(_) if pays => {
                owner.account.expected_ledger.lock().unwrap().unanswered.push(amount)
            }
            ClientResponse::Refused(reply) if code(reply) == OVERLOADED => {}
            ClientResponse::Refused(reply) if !pays && code(reply) == "payment_required" => {}
            ClientResponse::Unknown(_) => {}
            ClientResponse::Done(reply) | ClientResponse::Refused(reply) => {
                journal.violation(&owner.account.name, format!("credit was answered {}", reply.text()));
            }
        }
    }

    /// The numbers change while others act, so that this checks only what can never be true.
    pub(super) async fn read_usage(&mut self) {
        let owner = self.owner();
        let response = ask(self.agent(&owner).usage()).await;
        self.scene.journal.count_operation("read usage", &response.label());
        let fault = match &response {
            ClientResponse::Unknown(_) => return,
            ClientResponse::Done(reply) => {
                body(reply)["credits_usd"].as_f64().is_none_or(|usd| usd < 0.0).then_some(reply)
            }
            ClientResponse::Refused(reply) => Some(reply),
        };
        if let Some(reply) = fault {
            self.scene.journal.violation(&owner.account.name, format!("usage was {}", reply.text()));
        }
    }
}
