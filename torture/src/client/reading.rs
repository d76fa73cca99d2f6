//! Reading: pages at the edges as visitors see them, and artifacts at the API as their owners do. Each
//! response must have been true at some moment between request and response.

use std::collections::BTreeSet;
use std::fmt;

use handbill_tests::Reply;
use rand::RngExt;
use rand::seq::IteratorRandom;

use super::Client;
use super::response::{ClientResponse, ask, body};
use crate::model::files::{FRONT_PAGE, is_worn};
use crate::model::site::{SiteModel, artifacts_text};
use crate::model::state::{Artifacts, OpId, Page, Visibility};

/// What a visitor opens.
struct Sight {
    /// The artifact, by the change that created it.
    made_by: OpId,
    /// The version whose own address it is. `None`: the address of whichever version is live.
    version: Option<OpId>,
    /// The last part of the site's address.
    label: String,
    path: String,
    /// The query that opens the artifact while it is private.
    signature: Option<String>,
}

impl Client {
    /// A visitor opens a file of an artifact, most often the front page, sometimes of a deleted artifact, and
    /// sometimes at the address of one version.
    pub(super) async fn visit(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let (read, sight) = {
            let mut model = site.model.lock().unwrap();
            let Some(sight) = self.draw_sight(&model) else { return };
            (model.begin_read(), sight)
        };
        let response = ask(self.scene.visitor(&mut self.rng).open(&sight.place())).await;
        let kind = if sight.version.is_some() { "visit version" } else { "visit" };
        self.scene.journal.count_operation(kind, &response.label());
        let mut model = site.model.lock().unwrap();
        let seen = model.end_read(read);
        let (ClientResponse::Done(reply) | ClientResponse::Refused(reply)) = &response else { return };
        if model.is_given_up()
            || seen.iter().any(|artifacts| is_right_response(&model, artifacts, &sight, reply))
        {
            return;
        }
        model.give_up();
        let expected: Vec<_> = seen.iter().map(artifacts_text).collect();
        let shown = version_text(&model, reply);
        let text = format!("answered {} with {shown}, while it was {}", reply.status, expected.join(" or "));
        self.scene.journal.violation(&site.name, format!("{sight} {text}"));
    }

    /// A client with a token reads the artifact of a slug.
    pub(super) async fn read_artifact(&mut self) {
        let (identity, place) = self.somewhere();
        let site = &identity.account.sites[place];
        let read = site.model.lock().unwrap().begin_read();
        let response = ask(self.agent(&identity).artifact(&site.slug)).await;
        self.scene.journal.count_operation("look up", &response.label());
        let mut model = site.model.lock().unwrap();
        let seen = model.end_read(read);
        let is_true = match &response {
            ClientResponse::Unknown(_) => true,
            ClientResponse::Done(reply) => {
                seen.iter().filter_map(|one| one.page.as_ref()).any(|page| is_described_by(page, reply))
            }
            ClientResponse::Refused(reply) => match reply.status {
                404 => seen.iter().any(|artifacts| artifacts.page.is_none()),
                _ => self.is_refusable(&identity, reply),
            },
        };
        if is_true || model.is_given_up() {
            return;
        }
        model.give_up();
        let expected: Vec<_> = seen.iter().map(artifacts_text).collect();
        let (ClientResponse::Done(reply) | ClientResponse::Refused(reply)) = &response else { return };
        let text = format!("the API returned {} while it was {}", reply.text(), expected.join(" or "));
        self.scene.journal.violation(&site.name, text);
    }

    fn draw_sight(&mut self, model: &SiteModel) -> Option<Sight> {
        let (made_by, host) = self.draw_host(model)?;
        let address = model.addresses.of_artifact(made_by).choose(&mut self.rng);
        let address = address.filter(|_| self.rng.random_bool(0.4));
        let signature = model.addresses.signature_of(made_by).filter(|_| self.rng.random_bool(0.5));
        let version = address.map(|address| address.version);
        Some(Sight {
            made_by,
            version,
            label: address.map_or(host, |address| address.label.clone()),
            path: self.draw_path(model, made_by, version),
            signature: signature.map(str::to_owned),
        })
    }

    fn draw_host(&mut self, model: &SiteModel) -> Option<(OpId, String)> {
        let named: Vec<_> = model.named().map(|(made_by, names)| (made_by, names.host.clone())).collect();
        let newest = named.last()?.clone();
        if self.rng.random_bool(0.85) { Some(newest) } else { named.into_iter().choose(&mut self.rng) }
    }

    fn draw_path(&mut self, model: &SiteModel, made_by: OpId, version: Option<OpId>) -> String {
        if self.rng.random_bool(0.5) {
            return FRONT_PAGE.to_owned();
        }
        let pages: BTreeSet<Page> =
            model.pages().into_iter().flatten().filter(|page| page.made_by == made_by).collect();
        let versions = pages.iter().map(|page| version.unwrap_or_else(|| page.live_version()));
        let paths =
            versions.filter_map(|version| model.files_of(version)).flat_map(|files| files.files.keys());
        paths.choose(&mut self.rng).cloned().unwrap_or_else(|| FRONT_PAGE.to_owned())
    }
}

impl Sight {
    fn place(&self) -> String {
        let visible_path = if self.path == FRONT_PAGE { "" } else { &self.path };
        let query = self.signature.as_ref().map_or(String::new(), |signature| format!("?{signature}"));
        format!("/site/{}/{visible_path}{query}", self.label)
    }
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.map_or(String::new(), |version| format!(" (#{})", version.0));
        let signature = if self.signature.is_some() { ", signed," } else { "" };
        write!(f, "{}/{}{version}{signature}", self.label, self.path)
    }
}

/// Whether this is the right response to a visitor while the slug is in this state.
fn is_right_response(model: &SiteModel, artifacts: &Artifacts, sight: &Sight, reply: &Reply) -> bool {
    let page = artifacts.page.as_ref();
    let Some(page) = page.filter(|page| page.made_by == sight.made_by) else { return reply.status == 404 };
    let is_locked = page.visibility == Visibility::Private && sight.signature.is_none();
    // A locked version must not show whether it exists.
    if is_locked && sight.version.is_some() {
        return reply.status == 403;
    }
    let version = sight.version.unwrap_or_else(|| page.live_version());
    if !page.has(version) {
        return reply.status == 404;
    }
    let Some(files) = model.files_of(version) else { return false };
    // Only the checker knows whether it was scanned already.
    if files.is_abusive && reply.status == 451 {
        return true;
    }
    if is_locked {
        return reply.status == 403;
    }
    match files.files.get(&sight.path) {
        None => reply.status == 404,
        Some(content) => reply.status == 200 && is_content(&sight.path, content, reply),
    }
}

/// Whether a page is served as published. Pages of provisional accounts have a badge.
fn is_content(path: &str, content: &[u8], reply: &Reply) -> bool {
    reply.body == content || (path == FRONT_PAGE && is_worn(&reply.body, content))
}

/// The version whose file was served, if it is known.
fn version_text(model: &SiteModel, reply: &Reply) -> String {
    let Some(whose) = model.owner_of(|path, content| is_content(path, content, reply)) else {
        return format!("{} unknown bytes", reply.body.len());
    };
    format!("a file of #{}", whose.0)
}

/// Whether the API's description of a page is right.
fn is_described_by(page: &Page, reply: &Reply) -> bool {
    let answer = body(reply);
    let versions = answer["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let seqs = versions.iter().rev().map(|version| version["seq"].as_u64());
    answer["version"].as_u64() == Some(u64::from(page.live))
        && answer["visibility"] == page.visibility.name()
        && seqs.eq(page.versions.keys().map(|seq| Some(u64::from(*seq))))
}

/// Whether a host serves only these files of a page. For the checker, which reads every file.
pub fn shows(path: &str, content: &[u8], wears_badge: bool, reply: &Reply) -> bool {
    if reply.status != 200 {
        return false;
    }
    if path == FRONT_PAGE && wears_badge { is_worn(&reply.body, content) } else { reply.body == content }
}
