//! Changes of an artifact that bring no content: which version is live, who may see it, and its end.

use handbill_tests::Call;
use rand::RngExt;

use super::response::{ClientResponse, ask, ask_finally, code};
use super::{Begun, Client, Identity};
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
        // Sometimes one that is not there.
        let seq = u32::try_from(self.rng.random_range(1..=versions + 1)).expect("few versions");
        let Some(begun) = self.begin(site, Change::Activate(seq)) else { return };
        let call = self.agent(&identity).activate(&site.slug, i64::from(seq));
        self.carry_out(&identity, site, begun, "activate", &seq.to_string(), call).await;
    }

    pub(super) async fn delete(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let Some(begun) = self.begin(site, Change::Delete) else { return };
        let call = self.agent(&identity).delete(&site.slug);
        self.carry_out(&identity, site, begun, "delete", "", call).await;
    }

    /// Off the public costs, where the month is not paid yet.
    pub(super) async fn show(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let visibility = Visibility::ALL[self.rng.random_range(0..Visibility::ALL.len())];
        let Some(begun) = self.begin(site, Change::Show(visibility)) else { return };
        let agent = self.agent(&identity);
        let told = ask_finally(agent.set_visibility(&site.slug, visibility.name())).await;
        self.tell(site, begun.id, "show", visibility.name(), &told);
        let told = match told {
            ClientResponse::Refused(reply)
                if code(&reply) == "payment_required" && self.rng.random_bool(0.6) =>
            {
                let paid = agent.set_visibility(&site.slug, visibility.name()).paying("dev:0.5");
                let told = ask_finally(paid).await;
                self.tell(site, begun.id, "show, paying", visibility.name(), &told);
                if let ClientResponse::Unknown(_) = &told {
                    identity.account.books.lock().unwrap().unanswered.push(HIDDEN_MICRO);
                }
                told
            }
            told => told,
        };
        if let ClientResponse::Done(reply) = &told {
            self.note_receipt(&identity.account, reply);
        }
        self.conclude(&identity, site, begun, &told, false);
    }

    async fn carry_out(
        &self,
        identity: &Identity,
        site: &Site,
        begun: Begun,
        kind: &str,
        what: &str,
        call: Call,
    ) {
        let told = ask(call).await;
        self.tell(site, begun.id, kind, what, &told);
        self.conclude(identity, site, begun, &told, false);
    }

    pub(super) fn somewhere(&mut self) -> (Identity, usize) {
        let identity = self.identity();
        let place = self.rng.random_range(0..identity.account.sites.len());
        (identity, place)
    }
}
