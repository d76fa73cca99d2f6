//! Changes of an artifact without content: its live version, its visibility, and what is deleted or restored.

use handbill_tests::{Call, Method};
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
        let seq = self.draw_seq(site);
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

    /// Deletes an artifact for good. It may be deleted already.
    pub(super) async fn purge(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let Some(pending) = self.begin(site, Change::Purge) else { return };
        let path = format!("/v1/artifacts/{}?purge=true", site.slug);
        let call = self.agent(&identity).call(Method::DELETE, &path);
        self.perform(&identity, site, pending, "purge", "", call).await;
    }

    pub(super) async fn restore(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let Some(pending) = self.begin(site, Change::Restore) else { return };
        let call = self.agent(&identity).post(&format!("/v1/artifacts/{}/restore", site.slug));
        self.perform(&identity, site, pending, "restore", "", call).await;
    }

    pub(super) async fn delete_version(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let seq = self.draw_seq(site);
        let Some(pending) = self.begin(site, Change::DeleteVersion(seq)) else { return };
        let path = format!("/v1/artifacts/{}/versions/{seq}", site.slug);
        let call = self.agent(&identity).call(Method::DELETE, &path);
        self.perform(&identity, site, pending, "delete version", &seq.to_string(), call).await;
    }

    /// The number of a version, sometimes of one that does not exist.
    fn draw_seq(&mut self, site: &Site) -> u32 {
        let pages = site.model.lock().unwrap().pages();
        let newest = pages.iter().flatten().map(|page| page.newest).max().unwrap_or(0);
        self.rng.random_range(1..=newest + 1)
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
