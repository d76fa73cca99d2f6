//! Changes of an artifact without content: its live version, its visibility and its deletion.

use handbill_tests::Call;
use rand::RngExt;

use super::response::{ClientResponse, ask, ask_finally, code};
use super::{Client, Identity, PendingChange};
use crate::model::HIDDEN_MICRO;
use crate::model::account::Site;
use crate::model::state::{Change, Visibility};

impl Client {
    pub(super) async fn activate(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let versions = {
            let pages = site.model.lock().unwrap().pages();
            pages.iter().flatten().map(|page| page.versions.len()).max().unwrap_or(0)
        };
        // Sometimes a version that does not exist.
        let seq = u32::try_from(self.rng.random_range(1..=versions + 1)).expect("few versions");
        let Some(pending) = self.begin(site, Change::Activate(seq)) else { return };
        let call = self.agent(&identity).activate(&site.slug, i64::from(seq));
        self.perform(&identity, site, pending, "activate", &seq.to_string(), call).await;
    }

    pub(super) async fn delete(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let Some(pending) = self.begin(site, Change::Delete) else { return };
        let call = self.agent(&identity).delete(&site.slug);
        self.perform(&identity, site, pending, "delete", "", call).await;
    }

    /// Leaving public visibility costs money, unless the month is paid already.
    pub(super) async fn show(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let visibility = Visibility::ALL[self.rng.random_range(0..Visibility::ALL.len())];
        let Some(pending) = self.begin(site, Change::Show(visibility)) else { return };
        let agent = self.agent(&identity);
        let response = ask_finally(agent.set_visibility(&site.slug, visibility.name())).await;
        self.record(site, pending.id, "show", visibility.name(), &response);
        let response = match response {
            ClientResponse::Refused(reply)
                if code(&reply) == "payment_required" && self.rng.random_bool(0.6) =>
            {
                let paid = agent.set_visibility(&site.slug, visibility.name()).paying("dev:0.5");
                let response = ask_finally(paid).await;
                self.record(site, pending.id, "show, paying", visibility.name(), &response);
                if let ClientResponse::Unknown(_) = &response {
                    identity.account.expected_ledger.lock().unwrap().unanswered.push(HIDDEN_MICRO);
                }
                response
            }
            response => response,
        };
        if let ClientResponse::Done(reply) = &response {
            self.note_receipt(&identity.account, reply);
        }
        self.conclude(&identity, site, pending, &response, false);
    }

    async fn perform(
        &self,
        identity: &Identity,
        site: &Site,
        pending: PendingChange,
        kind: &str,
        what: &str,
        call: Call,
    ) {
        let response = ask(call).await;
        self.record(site, pending.id, kind, what, &response);
        self.conclude(identity, site, pending, &response, false);
    }

    pub(super) fn somewhere(&mut self) -> (Identity, usize) {
        let identity = self.identity();
        let place = self.rng.random_range(0..identity.account.sites.len());
        (identity, place)
    }
}
