//! Reading: pages at the edges, as visitors see them, and artifacts at the API, as their owners do. Whatever is seen must
//! have been so at some moment between question and answer.

use std::collections::BTreeSet;

use handbill_tests::Reply;
use rand::RngExt;
use rand::seq::IteratorRandom;

use super::Client;
use super::response::{ClientResponse, ask, body};
use crate::model::files::{FRONT_PAGE, is_worn};
use crate::model::site::{SiteModel, told_page};
use crate::model::state::{OpId, Page, Visibility};

impl Client {
    /// A visitor opens a file of an artifact, the front page more often than others; sometimes of one that is gone.
    pub(super) async fn visit(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let (look, made_by, host, path) = {
            let mut model = site.model.lock().unwrap();
            let Some((made_by, host)) = self.draw_host(&model) else { return };
            let path = self.draw_path(&model, made_by);
            (model.begin_look(), made_by, host, path)
        };
        let visible_path = if path == FRONT_PAGE { "" } else { &path };
        let call = self.scene.visitor(&mut self.rng).open(&format!("/site/{host}/{visible_path}"));
        let told = ask(call).await;
        self.scene.journal.count_operation("visit", &told.label());
        let mut model = site.model.lock().unwrap();
        let seen = model.end_look(look);
        let (ClientResponse::Done(reply) | ClientResponse::Refused(reply)) = &told else { return };
        if model.is_given_up()
            || seen.iter().any(|page| is_shown(&model, page.as_ref(), made_by, &path, reply))
        {
            return;
        }
        model.give_up();
        let expected: Vec<_> = seen.iter().map(|page| told_page(page.as_ref())).collect();
        let shown = told_content(&model, reply);
        self.scene.journal.violation(
            &site.name,
            format!(
                "{host}/{path} answered {} with {shown}, while it was {}",
                reply.status,
                expected.join(" or ")
            ),
        );
    }

    /// Somebody with a token asks what there is under a slug.
    pub(super) async fn look_up(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let look = site.model.lock().unwrap().begin_look();
        let told = ask(self.agent(&identity).artifact(&site.slug)).await;
        self.scene.journal.count_operation("look up", &told.label());
        let mut model = site.model.lock().unwrap();
        let seen = model.end_look(look);
        let is_true = match &told {
            ClientResponse::Unknown(_) => true,
            ClientResponse::Done(reply) => seen.iter().flatten().any(|page| is_told(page, reply)),
            ClientResponse::Refused(reply) => match reply.status {
                404 => seen.contains(&None),
                _ => self.is_refusable(&identity, reply),
            },
        };
        if is_true || model.is_given_up() {
            return;
        }
        model.give_up();
        let expected: Vec<_> = seen.iter().map(|page| told_page(page.as_ref())).collect();
        let (ClientResponse::Done(reply) | ClientResponse::Refused(reply)) = &told else { return };
        let text = format!("the API told {} while it was {}", reply.text(), expected.join(" or "));
        self.scene.journal.violation(&site.name, text);
    }

    fn draw_host(&mut self, model: &SiteModel) -> Option<(OpId, String)> {
        let named: Vec<_> = model.named().map(|(made_by, names)| (made_by, names.host.clone())).collect();
        let newest = named.last()?.clone();
        if self.rng.random_bool(0.85) { Some(newest) } else { named.into_iter().choose(&mut self.rng) }
    }

    fn draw_path(&mut self, model: &SiteModel, made_by: OpId) -> String {
        if self.rng.random_bool(0.5) {
            return FRONT_PAGE.to_owned();
        }
        let pages: BTreeSet<Page> =
            model.pages().into_iter().flatten().filter(|page| page.made_by == made_by).collect();
        let paths = pages.iter().flat_map(|page| model.files_of(page.live_version()).files.keys());
        paths.choose(&mut self.rng).cloned().unwrap_or_else(|| FRONT_PAGE.to_owned())
    }
}

/// Whether this is what a visitor without a signature is shown of this artifact's host while the slug is so.
fn is_shown(model: &SiteModel, page: Option<&Page>, made_by: OpId, path: &str, reply: &Reply) -> bool {
    let Some(page) = page.filter(|page| page.made_by == made_by) else { return reply.status == 404 };
    let live = model.files_of(page.live_version());
    // Nobody but the checker knows whether it is scanned already.
    if live.is_abusive && reply.status == 451 {
        return true;
    }
    if page.visibility == Visibility::Private {
        return reply.status == 403;
    }
    match live.files.get(path) {
        None => reply.status == 404,
        Some(content) => reply.status == 200 && is_content(path, content, reply),
    }
}

/// Whether a page is shown as it was published; only an unclaimed account's wears a badge.
fn is_content(path: &str, content: &[u8], reply: &Reply) -> bool {
    reply.body == content || (path == FRONT_PAGE && is_worn(&reply.body, content))
}

/// The version whose file was shown, so far as it is known.
fn told_content(model: &SiteModel, reply: &Reply) -> String {
    let Some(whose) = model.owner_of(|path, content| is_content(path, content, reply)) else {
        return format!("{} bytes of nobody's", reply.body.len());
    };
    format!("a file of #{}", whose.0)
}

/// Whether the API tells of a page as it is.
fn is_told(page: &Page, reply: &Reply) -> bool {
    let answer = body(reply);
    let versions = answer["versions"].as_array().map_or(0, Vec::len);
    answer["version"].as_u64() == Some(u64::from(page.live))
        && answer["visibility"] == page.visibility.name()
        && versions == page.versions.len()
}

/// Whether a host shows nothing but these files of a page: for the checker, which sees every file.
pub fn shows(path: &str, content: &[u8], wears_badge: bool, reply: &Reply) -> bool {
    if reply.status != 200 {
        return false;
    }
    if path == FRONT_PAGE && wears_badge { is_worn(&reply.body, content) } else { reply.body == content }
}
